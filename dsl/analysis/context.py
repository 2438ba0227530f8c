"""What the checker knows while it works: the merged policy, tables of names, and the diagnostics so far."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from ...engine.policy_graph import Source
from ...engine.units import INT64_MAX, UnitError, parse_amount, parse_duration, split_quantity
from ..diagnostics import Diagnostic, DiagnosticNote, LineIndex
from ..syntax import tree
from ..syntax.items import MOST_TOLD
from ..syntax.names import LONGEST, closest, flaw, listed, shortened
from ..syntax.parser import Parsed
from .profile_merge import Merged

_LONGEST_NUMBER = 60

BUILT_IN = ("cpu", "gpu", "memory")
"""Resources that need no declaration."""

POD_COUNT = "pods"
"""The resource of which every pod asks for one. In cycles a queue may own it: it means what the field of that name means."""


MOST_COMPARED = 20_000
"""So many names are compared with unknown ones at most: a second or two. Of further unknown names none is said to be meant."""


@dataclass(slots=True)
class Context:
    """The state of one check. `parsed` is the file that the item at hand comes from."""

    merged: Merged
    parsed: Parsed
    diagnostics: list[Diagnostic] = field(default_factory=list)
    indexes: dict[str, LineIndex] = field(default_factory=dict)
    resources: list[str] = field(default_factory=list)
    flavors: dict[str, list[str]] = field(default_factory=dict)
    topologies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The levels of each topology by name, from the widest down."""
    priorities: dict[str, int] = field(default_factory=dict)
    queues: list[str] = field(default_factory=list)
    cohorts: list[str] = field(default_factory=list)
    rules: dict[str, list[str]] = field(default_factory=dict)
    as_owned: set[tuple[str, str]] = field(default_factory=set)
    """Flavors and resources of which there is as much as is owned."""
    local_queues: dict[str, tree.Spanned] = field(default_factory=dict)
    compared: int = 0
    """So many names were compared with unknown ones, to tell which were meant."""

    @property
    def in_cycles(self) -> bool:
        """Whether the policy decides in cycles that nominate, not at once and not by passes."""
        decide = self.merged.choices.get("Decide")
        return isinstance(decide, tree.Decide) and decide.period is not None and not self.by_passes

    @property
    def by_passes(self) -> bool:
        """Whether the policy decides by passes: its cycles do something else than nominate."""
        decide = self.merged.choices.get("Decide")
        return isinstance(decide, tree.Decide) and any(each.name != "nominate" for each in decide.passes)

    def passes_hold(self, name: str) -> bool:
        """Whether a cycle of the policy has a pass of this name."""
        decide = self.merged.choices.get("Decide")
        return isinstance(decide, tree.Decide) and any(each.name == name for each in decide.passes)

    def is_own(self, item: object) -> bool:
        """Whether a top-level item or a choice is the policy's own, not its profile's."""
        return self.merged.origin.get(id(item)) is self.merged.origin.get(id(self.merged.header))

    def at(self, item: object) -> None:
        """Set the item at hand: the next diagnostics are about the file that it comes from."""
        self.parsed = self.merged.origin.get(id(item), self.parsed)

    def source(self, node: tree.Spanned) -> Source:
        """The line of a node, as the graph cites it."""
        if self.parsed.file not in self.indexes:
            self.indexes[self.parsed.file] = LineIndex(self.parsed.text)
        return Source(self.parsed.file, self.indexes[self.parsed.file].line(node.span.start))

    def error(
        self, code: str, message: str, node: tree.Spanned, label: str = "", help_text: str = "", notes: tuple[DiagnosticNote, ...] = ()
    ) -> None:
        """Report an error at a node."""
        self.diagnostics.append(Diagnostic(code, "error", message, node.span, label, help_text, notes, self.parsed.file))

    def warn(
        self, code: str, message: str, node: tree.Spanned, label: str = "", help_text: str = "", notes: tuple[DiagnosticNote, ...] = ()
    ) -> None:
        """Report a warning, for something that is certainly not intended; the notes give an example that shows it."""
        self.diagnostics.append(Diagnostic(code, "warning", message, node.span, label, help_text, notes, self.parsed.file))

    def unknown(self, what: str, name: tree.Name, known: Iterable[str]) -> None:
        """Report a name that does not exist, with the one that was probably meant."""
        known = sorted(set(known))
        self.compared += len(known)
        compares = len(self.diagnostics) < MOST_TOLD and self.compared <= MOST_COMPARED  # further diagnostics are not shown
        guess = closest(name.text, known) if compares else None
        help_text = (
            f"did you mean `{guess}`?"
            if guess
            else f"known: {listed(known, like=name.text if compares else '')}"
            if known
            else f"the policy declares no {what}"
        )
        if what == "resource" and not guess:
            help_text += "; declare others, each on a line such as `resource license`"
        self.error("GP020", f"unknown {what} `{shortened(name.text)}`", name, "not declared", help_text)

    def named(self, name: tree.Name | tree.Text, what: str) -> None:
        """Report a name that is not allowed: a name must be visible in tables and events, and distinct from others."""
        wrong = flaw(name.text)
        if wrong is not None:
            help_text = f"use 1 to {LONGEST} characters that can be seen, without a space at the start or the end"
            self.error("GP036", f"the name of a {what} {wrong}", name, "this name", help_text)

    # --- quantities ---------------------------------------------------------------------------------------------

    def amount(self, number: tree.Number, resource: str) -> int | None:
        """An amount of a resource in its smallest unit."""
        if self._is_too_long(number):
            return None
        try:
            if number.text.startswith("-"):
                raise UnitError("it is below zero")
            return parse_amount(number.text, resource)
        except UnitError as error:
            self.error("GP023", f"`{number.text}` is no amount of {resource}: {error}", number, "here", _advice(number.text, resource))
            return None

    def fraction(self, number: tree.Number, what: str, lowest: Fraction | None = None, example: str = "") -> Fraction | None:
        """An exact number without a unit; `example` is what to write where it cannot be read."""
        text = number.text.removeprefix("-")
        if self._is_too_long(number):
            return None
        try:
            value, suffix = split_quantity(text)
            if suffix:
                raise UnitError(f"unexpected unit `{suffix}`")
        except UnitError as error:
            self.error(
                "GP023", f"`{number.text}` is no {what}: {error}", number, "here", example or "write a number such as `2`, `2.5` or `5/2`"
            )
            return None
        value = -value if number.text.startswith("-") else value
        if lowest is not None and value < lowest:
            self.error("GP023", f"a {what} cannot be {number.text}", number, "here", f"write a number of at least {lowest}")
            return None
        if max(abs(value.numerator), value.denominator) > INT64_MAX:
            message = f"a {what} cannot be {shortened(number.text)}: its digits are beyond 64 bits"
            self.error("GP023", message, number, "too long", f"write a number of fewer digits, at most {INT64_MAX}")
            return None
        return value

    def _is_too_long(self, number: tree.Number) -> bool:
        """Whether a number has more characters than any that is needed; then it is reported."""
        if len(number.text) <= _LONGEST_NUMBER:
            return False
        message = f"the number `{number.text[:12]}...` has {len(number.text):,} characters; at most {_LONGEST_NUMBER} are read"
        self.error("GP023", message, number, "too long", f"write a shorter one; amounts end at {INT64_MAX}")
        return True

    def at_least_zero(self, number: tree.Number, what: str, otherwise: Fraction) -> Fraction:
        """An exact number that is not below 0; `otherwise` where it cannot be read."""
        value = self.fraction(number, what, Fraction(0))
        return otherwise if value is None else value

    def integer(self, number: tree.Number, what: str, lowest: int, highest: int) -> int | None:
        """A whole number within bounds, written in digits alone."""
        example = f"write a whole number from {lowest} to {highest}"
        value = self.fraction(number, what, example=example)
        if value is None:
            return None
        if not number.text.removeprefix("-").isdigit() or not lowest <= value <= highest:
            self.error("GP023", f"`{number.text}` is no {what}", number, "here", example)
            return None
        return int(value)

    def duration(self, number: tree.Number) -> int | None:
        """A duration in microseconds."""
        if self._is_too_long(number):
            return None
        try:
            return parse_duration(number.text)
        except UnitError as error:
            self.error("GP023", f"`{number.text}` is no duration: {error}", number, "here", _duration_advice(number.text))
            return None

    def once(self, seen: dict[str, tree.Spanned], key: str, node: tree.Spanned, what: str) -> bool:
        """Whether a statement is said for the first time; the second time is an error."""
        if key in seen:
            self.error(
                "GP022", f"{what} is said twice", node, "again here", "keep one", (DiagnosticNote("first said here", seen[key].span),)
            )
            return False
        seen[key] = node
        return True


_UNITS = {"sec": "s", "second": "s", "min": "m", "minute": "m", "hr": "h", "hour": "h", "day": "d", "week": "w"}


def in_units(number: str, unit: str) -> str | None:
    """A duration in the units of the language, of one such as `10 minutes`; None where the unit is none."""
    known = _UNITS.get(unit.casefold().removesuffix("s"))
    return None if known is None else f"{number}{known}"


def _duration_advice(text: str) -> str:
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    meant = in_units(digits, text[len(digits) :])
    return f"write `{meant}`" if meant is not None else "write it as `90s`, `10m`, `1h30m` or `7d`"


def _advice(text: str, resource: str) -> str:
    if text.endswith("%"):
        return "percentages come in a later version; write the amount itself"
    return f"write it as `8 {resource}`" if resource != "memory" else "write it as `80Gi memory`"

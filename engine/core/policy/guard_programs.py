"""Guards and orders as numbers: programs for the machine in `kernels/guards.py`, lists of keys and fields."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ...guard import And, Compare, Const, Expr, Field, Not, Or, Type
from ...policy_settings import OrderKey
from .. import columns as c

_FIELDS = {
    "priority": c.F_PRIORITY,
    "pods": c.F_PODS,
    "evictions": c.F_EVICTIONS,
    "submitted": c.F_SUBMITTED,
    "admitted": c.F_ADMITTED,
    "waiting": c.F_WAITING,
    "running": c.F_RUNNING,
    "queue.share": c.F_SHARE,
    "queue.share_after": c.F_SHARE_AFTER,
}

_OPERATORS = {"<": c.LESS_THAN, "<=": c.AT_MOST, "=": c.EQUAL, "!=": c.UNEQUAL, ">": c.MORE_THAN, ">=": c.AT_LEAST}

_KINDS = {Type.DURATION: c.OF_TIME, Type.SHARE: c.OF_SHARE}

DEEPEST = 60
"""The most operands that a program may keep at a time: as many as the bits of a number."""

TextField = tuple[str, str | None]
"""The path of a text field, and the key where it is a label."""


@dataclass(slots=True)
class Programs:
    """The pool of a policy while it is made, and what its programs read of workloads.

    `patterns` are the comparisons of texts with constants, `texts` the text fields that are compared with one another, `totals` the
    resources whose totals are read: each workload's demand brings the answer to each of them. `deepest` is how many operands are kept at a
    time, `longest` the longest duration.
    """

    rounded: bool
    pool: list[int] = field(default_factory=list)
    patterns: list[tuple[TextField, str]] = field(default_factory=list)
    texts: list[TextField] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    deepest: int = 0
    longest: int = 0

    def listed(self, numbers: Sequence[int], count: int | None = None) -> int:
        """Put a list into the pool, behind its length; return where it begins."""
        at = len(self.pool)
        self.pool += [len(numbers) if count is None else count, *numbers]
        return at

    def code(self, read: Field) -> tuple[int, int]:
        """The code of a field, and its argument."""
        if read.type is Type.TEXT:
            return c.F_TEXT, _place(self.texts, (read.path, read.label))
        if read.type is Type.AMOUNT:
            return c.F_TOTAL, _place(self.totals, read.path)
        return _FIELDS[read.path], 0

    def guard(self, guard: Expr | None) -> int:
        """The program of a guard; NONE where there is none."""
        return c.NONE if guard is None else self.listed(self._operations(guard, 1))

    def compared(self, read: Sequence[Field]) -> int:
        """A list of fields, each with its subject; a text is told by its workload, so it has no number."""
        numbers: list[int] = []
        for each in read:
            code, argument = self.code(each) if each.type is not Type.TEXT else (c.F_PODS, 0)
            numbers += [c.VICTIM if each.subject == "victim" else c.WORKLOAD, code, argument]
        return self.listed(numbers, len(read))

    def victim_order(self, order: Sequence[OrderKey]) -> int:
        """The order of a rule's victims."""
        return self._keys([(*self.code(key.of_victim), key.descending) for key in order])

    def order(self, order: Sequence[OrderKey]) -> int:
        """An order of waiting workloads, or of what queues put up."""
        own = {"priority": c.F_PRIORITY, "submitted": c.F_QUEUED, "pods": c.F_PODS, "evictions": c.F_EVICTIONS}
        special = {"borrowing": c.F_BORROWING, "share": c.F_SHARE, **own}
        keys = []
        for key in order:
            code, argument = (special[key.field], 0) if key.field in special else (c.F_TOTAL, _place(self.totals, key.field))
            keys.append((code, argument, key.descending))
        return self._keys(keys)

    def _keys(self, keys: Sequence[tuple[int, int, bool]]) -> int:
        return self.listed([number for code, argument, descending in keys for number in (code, argument, int(descending))], len(keys))

    def _operations(self, guard: Expr, depth: int) -> list[int]:
        self.deepest = max(self.deepest, depth)
        match guard:
            case Compare():
                return self._comparison(guard)
            case Not(item):
                return [*self._operations(item, depth), c.NEGATE, *[0] * (c.GUARD_WIDTH - 1)]
            case And(items) | Or(items):
                joint = [c.BOTH if isinstance(guard, And) else c.EITHER, *[0] * (c.GUARD_WIDTH - 1)]
                found = self._operations(items[0], depth)
                for item in items[1:]:
                    found += [*self._operations(item, depth + 1), *joint]
                return found

    def _comparison(self, comparison: Compare) -> list[int]:
        left, right, row = comparison.left, comparison.right, [0] * c.GUARD_WIDTH
        row[c.G_CODE], row[c.G_OPERATOR], row[c.G_KIND] = c.COMPARE, _OPERATORS[comparison.op], _KINDS.get(left.type, c.OF_NUMBER)
        row[c.G_SUBJECT] = c.VICTIM if left.subject == "victim" else c.WORKLOAD
        if isinstance(right, Const) and isinstance(right.value, str):
            row[c.G_FORM], row[c.G_ARGUMENT] = c.WITH_PATTERN, _place(self.patterns, ((left.path, left.label), right.value))
            return row
        row[c.G_FIELD], row[c.G_ARGUMENT] = self.code(left)
        if isinstance(right, Field):
            row[c.G_FORM] = c.WITH_FIELD
            row[c.G_RIGHT : c.G_RIGHT + 3] = [c.VICTIM if right.subject == "victim" else c.WORKLOAD, *self.code(right)]
        elif left.type is Type.SHARE:
            row[c.G_RIGHT : c.G_RIGHT + 4] = share_constant(Fraction(right.value), self.rounded)
        else:
            row[c.G_FORM], row[c.G_RIGHT] = c.WITH_NUMBER, int(right.value)
            if left.type is Type.DURATION:
                self.longest = max(self.longest, int(right.value))
        return row


def _place(known: list[tuple[TextField, str]] | list[TextField] | list[str], wanted: object) -> int:
    """The place of something in a list, at the end of it if it is new."""
    found: list[object] = known  # type: ignore[assignment]
    if wanted not in found:
        found.append(wanted)
    return found.index(wanted)


def share_constant(value: Fraction, rounded: bool) -> list[int]:
    """A constant to compare shares with; where they are rounded the greatest double up to it, and whether the constant lies beyond that."""
    if not rounded:
        return [0, value.numerator, value.denominator, 0]
    if value == 0:
        return [0, 0, c.ZERO_EXPONENT, 0]
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 53
    scaled = value / 2**exponent if exponent >= 0 else value * 2**-exponent  # exact
    while scaled >= 1 << 53:
        scaled, exponent = scaled / 2, exponent + 1  # exact
    while scaled < 1 << 52:
        scaled, exponent = scaled * 2, exponent - 1
    digits = scaled.numerator // scaled.denominator
    return [0, digits, exponent, int(scaled != digits)]

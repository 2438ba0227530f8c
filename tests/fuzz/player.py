"""Plays the same facts through two cores and compares them after every one."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cores_by_name import Side
from gpol.engine.cores import Core
from gpol.engine.errors import FactError
from gpol.engine.events import AnyDecision, AnyEvent, WorkloadEvicted
from gpol.engine.facts import FACT, Fact, PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from place_laws import PlaceLaws
from place_ledger import BrokenLawError
from policy_draws import compiled
from questions import answers

Plain = dict[str, Any]

LAW = "law: "
"""Before what the laws of places were held to, in what was seen."""

CROWD = 30
"""Where more have to go at a time, both cores go on from a copy."""


class DifferenceError(AssertionError):
    """Two cores do not do the same; `what` says in what: decisions, refusal, next wake, state, answers, replay, crash or a change.

    Or both break a law of places, and `what` says which.
    """

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


@dataclass(frozen=True)
class Case:
    """Policies as texts and the facts of a history as plain data; `placed`: the laws of places are held to it as well."""

    texts: tuple[str, ...]
    facts: tuple[Plain, ...]
    placed: bool = False


def fact_of(plain: Plain, texts: Sequence[str]) -> tuple[Fact, PolicyGraph | None]:
    """A fact from plain data, with the policy that it activates."""
    said = {name: value for name, value in plain.items() if name not in ("impossible", "policy", "graph")}
    if plain["kind"] != "PolicyActivated":
        return FACT.validate_python(said), None
    graph = compiled(texts[plain["policy"]])
    return PolicyActivated(**{"file": "p.gpol", "text": "", "digest": graph.digest, **said}), plain.get("graph", graph)


@dataclass
class Play:
    """Two cores side by side. States are compared every so many facts (`often`), answers to all questions every so many (`seldom`).

    `seen` counts what was decided and refused, `under` the facts that were played under each policy. With `laws` those of places are
    held to the left core after each fact.
    """

    texts: tuple[str, ...]
    left: Side
    right: Side
    often: int = 10
    seldom: int = 100
    seen: Counter[str] = field(default_factory=Counter)
    under: Counter[str] = field(default_factory=Counter)
    played: list[Plain] = field(default_factory=list)
    wake: int | None = None
    laws: PlaceLaws | None = None

    def __post_init__(self) -> None:
        self.cores: list[tuple[Side, Core]] = [(side, side.new()) for side in (self.left, self.right)]
        self.events: list[tuple[AnyEvent, PolicyGraph | None]] = []
        self._active = ""

    @property
    def core(self) -> Core:
        """The left core: the next fact is drawn for its state."""
        return self.cores[0][1]

    def step(self, plain: Plain) -> None:
        """Play a fact. Raises DifferenceError where the two do not do the same."""
        self.played.append(plain)
        fact, graph = fact_of(plain, self.texts)
        before = self._states() if "impossible" in plain else None
        left, right = (self._ask(side, lambda core: core.step(fact, graph), core) for side, core in self.cores)
        if isinstance(left, str) or isinstance(right, str):
            self._refused(fact, graph, left, right, before)
        elif left != right and (one := [each.payload() for each in left]) != (other := [each.payload() for each in right]):
            raise DifferenceError("decisions", "\n".join(["", *(line.decode() for line in (*one, b"--- and", *other))]))
        else:
            self._count(left)
            if "policy" in plain:
                self._active = self.texts[plain["policy"]]
            self.under[self._active] += 1
            if way := self.right.way(self.cores[1][1]):
                self.seen[f"facts: {way}"] += 1
            new: list[tuple[AnyEvent, PolicyGraph | None]] = [(fact, graph), *((decision, None) for decision in left)]
            self.events += new
            if self.laws is not None:
                self._lawful(self.laws.follow, self.core, new)
        self.wake, other_wake = (self._ask(side, lambda core: core.next_wake(), core) for side, core in self.cores)
        if self.wake != other_wake:
            raise DifferenceError("next wake", f"{self.wake} and {other_wake}")
        if len(self.played) % self.often == 0:
            self._states()
        crowded = not isinstance(left, str) and sum(isinstance(each, WorkloadEvicted) for each in left) > CROWD
        if len(self.played) % self.seldom == 0 or crowded:
            self.seen["more than 30 evicted, then a copy"] += crowded
            self._answers()
            self._renew()

    def finish(self) -> None:
        """Compare states and answers at the end, and whether recorded events lead either core to the same state."""
        state = self._states()
        self._answers()
        for side in (self.left, self.right):
            core = side.new()
            for event, graph in self.events:
                self._ask(side, lambda core, event=event, graph=graph: core.apply(event, graph), core)
            if (again := side.freeze(core)) != state:
                raise DifferenceError("replay", differing(state, again))
        if self.laws is not None:
            self._lawful(self.laws.finish, self.events, self.right)

    def end(self) -> None:
        """Compare states, and count to what laws were held."""
        self._states()
        for what, count in self.laws.counts().items() if self.laws is not None else ():
            self.seen[f"{LAW}{what}"] += count

    def _ask(self, side: Side, call: Any, core: Core) -> Any:
        """What a call of a core returns; the message where it refuses a fact."""
        with side.around():
            try:
                return call(core)
            except FactError as error:
                return str(error)
            except Exception as error:
                raise DifferenceError("crash", f"{type(error).__name__}: {error}") from error

    def _lawful(self, hold: Callable[..., None], *told: object) -> None:
        """Hold a law to what was told."""
        try:
            hold(*told)
        except BrokenLawError as broken:
            raise DifferenceError(broken.law, str(broken)) from broken

    def _refused(self, fact: Fact, graph: PolicyGraph | None, left: Any, right: Any, before: bytes | None) -> None:
        """Both have to refuse a fact, in the same words, whenever they are asked, and change nothing."""
        if left != right:
            raise DifferenceError("refusal", f"{_told(left)}\n--- and\n{_told(right)}")
        self.seen[f"refused {type(fact).__name__}"] += 1
        for side, core in self.cores:
            if (again := self._ask(side, lambda core: core.check(fact, graph), core)) != left:
                raise DifferenceError("refusal", f"{left}\n--- and when only asked\n{again}")
        after = self._states()
        if before is not None and after != before:
            raise DifferenceError("change by a refused fact", differing(before, after))

    def _states(self) -> bytes:
        left, right = (self._ask(side, side.freeze, core) for side, core in self.cores)
        if left != right:
            raise DifferenceError("state", differing(left, right))
        return bytes(left)

    def _answers(self) -> None:
        left, right = (self._ask(side, answers, core) for side, core in self.cores)
        for one, other in zip(left, right, strict=True):
            if one != other:
                raise DifferenceError("answers", f"{one}\n--- and\n{other}")

    def _renew(self) -> None:
        """Let the left core go on as a copy, and the right one from its frozen bytes: neither may decide by what it only remembers."""
        (left, one), (right, other) = self.cores
        copy = self._ask(left, lambda core: core.copy(), one)
        thawed = self._ask(right, lambda core: right.thaw(right.freeze(core), core.graph), other)
        self.cores = [(left, copy), (right, thawed)]

    def _count(self, decisions: list[AnyDecision]) -> None:
        for decision in decisions:
            more = "".join(f", {value}" for name in ("outcome", "preemption", "waits") if (value := getattr(decision, name, "")))
            self.seen[f"{decision.kind} {decision.reason}{more}"] += 1
            if decision.why.limit is not None:
                self.seen[f"limit: {decision.why.limit.limit}"] += 1
            attempts = getattr(decision, "attempts", ()) or getattr(decision, "passed_over", ())
            self.seen.update(f"obstacle: {obstacle.kind}" for attempt in attempts for obstacle in attempt.obstacles)


def _told(result: Any) -> str:
    return f"refuses: {result}" if isinstance(result, str) else f"decides: {[each.payload().decode() for each in result]}"


def differing(left: bytes, right: bytes) -> str:
    """The parts in which two frozen states differ."""
    one, other = json.loads(left), json.loads(right)
    parts = [name for name in one if one[name] != other.get(name)] if isinstance(one, dict) else []
    return "\n".join(f"{name}: {one[name]}\n--- and\n{other.get(name)}" for name in parts) or f"{left!r}\n--- and\n{right!r}"


def difference(case: Case, left: Side, right: Side, seldom: int = 100) -> tuple[DifferenceError, int] | None:
    """The first difference in a case, and after how many facts; None where there is none. States are compared after every fact."""
    play = Play(case.texts, left, right, often=1, seldom=seldom, laws=PlaceLaws() if case.placed else None)
    for plain in case.facts:
        try:
            play.step(plain)
        except DifferenceError as found:
            return found, len(play.played)
    try:
        play.finish()
    except DifferenceError as found:
        return found, len(play.played)
    return None

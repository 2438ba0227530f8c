"""What kernels wrote on the tape, as outcomes: the same typed data that the definition returns."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from ..event_parts import DeferralOutcome, EvictionKind, LimitKind, ObstacleKind
from ..events import DeferralReason
from ..guard import Field, Type
from ..outcome.decision import Admission, BindingLimit, Deferral, Eviction, Hold, LastDeferral, Outcome, Replacement, SearchState
from ..outcome.nomination import (
    Attempt,
    Chosen,
    ComparedShares,
    FlavorAssignment,
    FlavorReason,
    Grade,
    Mode,
    Obstacle,
    PodSetFlavors,
    Request,
    RunnerUp,
    Value,
    Victim,
)
from ..policy_graph import PolicyGraph
from . import columns as c
from .demands import Demand
from .placed.place_records import PlaceRecords
from .policy.policy_tables import fraction

REASONS: tuple[FlavorReason, ...] = ("", "WaitingForQuota", "ExceedsMaxQuota", "PodTooLarge", "NoMatchingFlavor")
DEFERRALS: tuple[DeferralReason | Literal["PodTooLarge"], ...] = (
    "WaitingForQuota", "WaitingForQuota", "ExceedsMaxQuota", "PodTooLarge", "NoMatchingFlavor", "WaitingForPreemptedWorkloads",
    "PendingEvaluation", "Misconfigured", "TopologyPlacementFailed",
)  # fmt: skip
ENDS: tuple[DeferralOutcome | Literal[""], ...] = (
    "", "no fit", "no candidates", "overtaken", "overlapping", "preempting", "deferred", "turned away",
)  # fmt: skip
_OBSTACLES: tuple[ObstacleKind | Literal[""], ...] = (
    "", "missing", "not-selected", "taint", "not-nominated", "lacks-resource", "other-flavor", "exceeds", "short", "unserved",
    "too-large", "without-places", "only-with-places", "no-level", "no-places",
)  # fmt: skip
_EVICTIONS: tuple[EvictionKind, ...] = ("in-queue", "reclaim", "other", "fair-sharing", "reclaim-while-borrowing")
_LIMITS: tuple[LimitKind, ...] = ("owned", "borrowing", "capacity")


def deferral_reason(code: int) -> DeferralReason:
    """Why a head was not admitted in a cycle."""
    reason = DEFERRALS[code]
    assert reason != "PodTooLarge"  # cycles know no nodes
    return reason


def value_of(field: Field, numbers: Sequence[int], rounded: bool) -> Value:
    """The value of a field that is no text, from the three numbers that the tape has of it."""
    return fraction(numbers[0], numbers[1], numbers[2], rounded) if field.type is Type.SHARE else numbers[0]


class Tape:
    """The tape of a fact, read with what its numbers stand for: names, the demand that begins at a place, the texts of workloads, `places`
    where flavors give some."""

    def __init__(
        self,
        graph: PolicyGraph,
        tape: Sequence[int],
        names: Sequence[str],
        demand: Callable[[int], Demand],
        text: Callable[[str, Field], str],
        places: PlaceRecords | None = None,
    ) -> None:
        self.graph, self.tape, self.names, self.demand, self.text = graph, tape, names, demand, text
        self.places = places
        self.together, self.rounded = graph.settings.judges_together, graph.settings.rounded

    def at_once(self, block: int) -> Iterator[Outcome]:
        """What was decided by settling, in the order in which it was."""
        while block != c.NONE:
            admission = self.admission(block)
            limit = self.limit(block)
            for victim in admission.victims:
                yield Eviction(victim, admission.workload, admission.queue, admission.priority, limit)
            yield from self._replacement(block)
            yield admission
            block = self.tape[block + c.B_FOLLOWING]

    def in_cycle(self, block: int, hold: Callable[[str], Hold]) -> list[Outcome]:
        """What a cycle decided: admissions, what waits and how, then evictions by name. `hold` says why heads are turned away."""
        admitted: list[Outcome] = []
        deferred: list[Outcome] = []
        evicted: list[Eviction] = []
        while block != c.NONE:
            if self.tape[block + c.B_ENDED] == c.ADMITTED_NOW:
                admitted += [*self._replacement(block), self.admission(block)]
            else:
                if self.tape[block + c.B_TOLD]:
                    deferred.append(self.deferral(block, hold))
                if self.tape[block + c.B_ENDED] == c.ENDS_PREEMPTING:
                    evicted += self._evictions(block)
            block = self.tape[block + c.B_FOLLOWING]
        return [*admitted, *deferred, *sorted(evicted, key=lambda eviction: eviction.victim.workload)]

    # --- one block ------------------------------------------------------------------------------------------------------

    def _name(self, block: int) -> str:
        return self.names[self.tape[block + c.B_NAME]]

    def admission(self, block: int) -> Admission:
        """The admission of a block."""
        tape, at = self.tape, self.tape[block + c.B_REQUEST]
        rows = [tape[at + 5 * k : at + 5 * k + 5] for k in range(tape[block + c.B_REQUESTED])]
        replaced = tape[block + c.B_REPLACED]
        return Admission(
            self._name(block),
            tape[block + c.B_QUEUE],
            tape[block + c.B_PRIORITY],
            self._flavors(block),
            tuple((row[0], row[1]) for row in rows),
            tuple(row[2] for row in rows),
            tuple(row[3] for row in rows),
            tuple((row[0], row[4]) for row in rows if row[4] > 0),
            tuple(self.victims(block)),
            None if replaced == c.NONE else self.names[replaced],
        )

    def _replacement(self, block: int) -> Iterator[Replacement]:
        tape, replaced = self.tape, self.tape[block + c.B_REPLACED]
        if replaced != c.NONE:
            usage = self._usage(tape[block + c.B_HOLDS], tape[block + c.B_HELD])
            yield Replacement(self.names[replaced], tape[block + c.B_REPLACED_QUEUE], self._name(block), usage)

    def deferral(self, block: int, hold: Callable[[str], Hold]) -> Deferral:
        """How the workload of a block waits; `hold` says why it is turned away."""
        tape, ended = self.tape, ENDS[self.tape[block + c.B_ENDED]]
        assert ended
        turned_away = ended == "turned away"
        flavors = None if turned_away else self._flavors(block)
        tried: SearchState = ()
        if flavors is not None and tape[block + c.B_TRIED]:
            tried = tuple(
                (pods.name, resource, pods.flavors[resource].tried)
                for pods in flavors.pod_sets
                for resource in sorted(pods.flavors)
                if pods.flavors[resource].tried >= 0
            )
        victims = tuple(victim.workload for victim in self.victims(block)) if ended == "preempting" else ()
        parked, preempting, alike = (bool(tape[block + column]) for column in (c.B_PARKED, c.B_PREEMPTING, c.B_ALIKE))
        last = LastDeferral(deferral_reason(tape[block + c.B_REASON]), ended, parked, preempting, alike, tried, victims)
        name = self._name(block)
        return Deferral(name, tape[block + c.B_QUEUE], last, flavors, self.limit(block), hold(name) if turned_away else None)

    def _evictions(self, block: int) -> list[Eviction]:
        tape, limit = self.tape, self.limit(block)
        who = (self._name(block), tape[block + c.B_QUEUE], tape[block + c.B_PRIORITY], limit)
        return [Eviction(victim, *who) for victim in self.victims(block) if not victim.evicting]

    def limit(self, block: int) -> BindingLimit | None:
        """The limit that binds the workload of a block."""
        node, kind, slot, asked, available = self.tape[block + c.B_LIMIT : block + c.B_LIMIT + 5]
        return None if node == c.NONE else BindingLimit(node, _LIMITS[kind], slot, asked, available)

    def _usage(self, at: int, count: int) -> Request:
        return tuple((self.tape[at + 2 * k], self.tape[at + 2 * k + 1]) for k in range(count))

    # --- victims --------------------------------------------------------------------------------------------------------

    def victims(self, block: int) -> Iterator[Victim]:
        """The victims of a block."""
        preemptor = self._name(block)
        tape, at = self.tape, self.tape[block + c.B_VICTIMS]
        for _ in range(tape[block + c.B_EVICTED]):
            name, queue, kind, priority, rule, evicting, compared = tape[at : at + 7]
            numbers, at = tape[at + 7 : at + 7 + 3 * compared], at + 7 + 3 * compared
            triples = [numbers[3 * k : 3 * k + 3] for k in range(compared)]
            following, key, value, held, usage_at = tape[at], tape[at + 1], tape[at + 2 : at + 5], tape[at + 5], at + 6
            at = usage_at + 2 * held
            values: tuple[Value, ...] = ()
            shares: ComparedShares | None = None
            runner_up: RunnerUp | None = None
            if rule >= 0:
                known = self.graph.preempt[rule]
                of = {"victim": self.names[name], "workload": preemptor}
                values = tuple(self._value(field, triple, of[field.subject]) for field, triple in zip(known.compared, triples, strict=True))
                if following != c.NONE:
                    told = self._value(known.order[key].of_victim, value, self.names[following]) if key >= 0 else 0
                    runner_up = RunnerUp(self.names[following], key, told)
            elif compared:
                first, second, third = (fraction(level, above, below, self.rounded) for level, above, below in triples)
                shares = first, second, third
            yield Victim(
                self.names[name],
                queue,
                _EVICTIONS[kind],
                priority,
                self._usage(usage_at, held),
                rule,
                values,
                runner_up,
                shares,
                bool(evicting),
            )

    def _value(self, field: Field, numbers: Sequence[int], workload: str) -> Value:
        return self.text(workload, field) if field.type is Type.TEXT else value_of(field, numbers, self.rounded)

    # --- flavors --------------------------------------------------------------------------------------------------------

    def _flavors(self, block: int) -> FlavorAssignment:
        tape = self.tape
        found = FlavorAssignment(level=tape[block + c.B_LEVEL], mode=Mode(tape[block + c.B_MODE]))
        if found.mode is Mode.NO_FIT:
            found.reason = self._reason(tape[block + c.B_REASON])
        demand, at = self.demand(tape[block + c.B_SPEC]), block + c.FLAVORS_AT + 1
        for _ in range(tape[block + c.FLAVORS_AT]):
            at = self._group(found, demand, at)
        if self.places is not None and tape[block + c.B_ENDED] != c.ENDS_TURNED_AWAY:
            self.places.read(found, demand.pod_sets, tape, at)
        return found

    @staticmethod
    def _reason(code: int) -> FlavorReason:
        """Why nothing fits; the other codes say why a head waits that was not looked at."""
        return "TopologyPlacementFailed" if code == c.TOPOLOGY_PLACEMENT_FAILED else REASONS[code] if code < len(REASONS) else ""

    def _group(self, found: FlavorAssignment, demand: Demand, at: int) -> int:
        """Read what came of pod sets that get their flavors together; return where the next ones begin."""
        tape, members = self.tape, self.tape[at]
        sets, at = tape[at + 1 : at + 1 + members], at + 1 + members
        unserved, searches, at = tape[at], tape[at + 1], at + 2
        obstacles: list[Obstacle] = []
        attempts: list[Attempt] = []
        for _ in range(searches):
            why, tried, at = self._search(demand, at)
            useful = any(attempt.grade >= Grade.NO_VICTIMS for attempt in tried)
            obstacles = [*obstacles, *why] if useful else why
            attempts += tried
        if unserved != c.NONE:
            obstacles = [Obstacle("unserved", resource=demand.resources[unserved])]
        for pod_set in sets:
            count, chosen, at = tape[at], tape[at + 1], at + 2
            pods = PodSetFlavors(demand.pod_sets[pod_set], count, {}, obstacles=tuple(obstacles), attempts=tuple(attempts))
            for _ in range(chosen):
                j, flavor, grade, level, stopped = tape[at : at + 5]
                pods.flavors[demand.resources[j]] = Chosen(flavor, Grade(grade), level, stopped)
                at += 5
            found.pod_sets.append(pods)
        return at

    def _search(self, demand: Demand, at: int) -> tuple[list[Obstacle], list[Attempt], int]:
        tape, wanted, counts, tries, at = self.tape, self.tape[at], self.tape[at + 1], self.tape[at + 2], at + 3
        resources = tuple(resource for j, resource in enumerate(demand.resources) if wanted >> j & 1)
        obstacles: list[Obstacle] = []
        attempts: list[Attempt] = []
        for _ in range(tries):
            flavor, grade, level, reason, why = tape[at : at + c.ATTEMPT_WIDTH]
            at += c.ATTEMPT_WIDTH
            met = [self._obstacle(demand, at + k * c.OBSTACLE_WIDTH) for k in range(why)]
            at += why * c.OBSTACLE_WIDTH
            obstacles += met
            if grade != c.NONE:
                attempts.append(Attempt(flavor, resources, Grade(grade), level, tuple(met), self._reason(reason)))
        return obstacles if counts else [], attempts, at

    def _obstacle(self, demand: Demand, at: int) -> Obstacle:
        kind, flavor, resource, index, assumed, asked, limit = self.tape[at : at + c.OBSTACLE_WIDTH]
        name, known = "" if resource == c.NONE else demand.resources[resource], _OBSTACLES[kind]
        assert known
        return Obstacle(known, flavor, name, index, assumed, asked, limit)

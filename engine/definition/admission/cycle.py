"""Deciding in cycles: every queue puts up one workload, all are judged against what there is now, then each in turn takes its place.

Kueue: pkg/scheduler/scheduler.go, schedule and processEntry. Whoever is admitted or waits for its victims is charged for the rest of the
cycle, so that nobody behind it takes the same room; nobody is evicted for two workloads in one cycle.

A workload that takes the place of another one is charged on top of it. Kueue takes the old one's room away as if it were a victim, and so
may give it to others a second time within the cycle; here it is free for the new one alone.

Workloads that run and are to get places (`second_pass.py`) have their turns before all others where all are compared at once. Where queues
are compared level by level, each queue puts them up before its head; Kueue then looks at one workload of a queue alone, by chance or at its
head, so that a queue with a head that never fits would never give them any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ...eligibility import groups_of
from ...event_parts import DeferralOutcome
from ...intake.holds import is_inactive, turned_away
from ...outcome.decision import Deferral, Eviction, Hold, LastDeferral, Outcome, SearchState
from ...outcome.nomination import FlavorAssignment, Mode, Nomination, Request, Victim, as_request
from ...workload import Workload
from ..placement.places import PlaceBook, PodsHeld
from ..preemption.candidates import preemption_of
from ..queue.line import anything_waits, head
from ..state.state import State
from ..state.trial import Trial
from ..transition.apply import carry_out
from .binding_limit import binding_limit
from .entry_order import Entries, in_turn_again, next_entry
from .nominate import nominate
from .place_pods import places_held
from .second_pass import eviction_of, nominate_again, placing_of, to_place_again
from .settle import admission_of

MOST_IDLE = 3
"""After so many cycles in a row that changed nothing, cycles wait for the next fact. A queue with more flavors than that allows as many
as it has flavors: a search for flavors may look at one in each cycle."""


def next_cycle(state: State) -> int | None:
    """When the next cycle is due: at once after a fact, then every period; None where it would have nothing to do."""
    graph = state.graph
    assert graph.settings.cycles is not None
    longest = max((len(group.flavors) for queue in graph.queues for group in groups_of(graph, queue)), default=0)
    if state.idle >= max(MOST_IDLE, longest) or not (anything_waits(state) or any(_to_place(state, queue.node) for queue in graph.queues)):
        return None
    return state.time if state.fresh else state.time + graph.settings.cycles.period


def run_cycle(state: State) -> list[Outcome]:
    """Run one cycle at the present moment, and carry out what it decides: admissions, what waits and how, evictions."""
    entries: Entries = {}
    again: dict[int, list[Nomination]] = {}
    refused: list[tuple[Workload, Hold]] = []
    trial = Trial(state, state.active.copy())
    for queue in state.graph.queues:
        if running := _to_place(state, queue.node):
            again[queue.node] = in_turn_again(trial, [nominate_again(trial, workload) for workload in running])
        workload = head(state, queue.node) if not is_inactive(state.graph, queue.node) else None
        if workload is None:
            continue
        hold = next(turned_away(state.graph, workload), None)
        if hold is not None:
            refused.append((workload, hold))
        else:
            entries[queue.node] = nominate(trial, workload, goes_on_from(state, workload))
    ended = _Cycle(trial, state.active.places.copy()).run(entries, again)
    heads, ran = [each for each in ended if not each.nomination.again], [each for each in ended if each.nomination.again]
    uncharged = Trial(state)
    placed = [placing_of(state, each.nomination) for each in ran if each.outcome is None]
    admitted = [outcome for each in heads if each.outcome is None for outcome in admission_of(uncharged, each.nomination)]
    waiting = [_deferral(state, each) for each in heads if each.outcome is not None]
    waiting += [_turned_away(state, workload, hold) for workload, hold in refused]
    deferred = [deferral for deferral in waiting if _says_something(state, deferral)]
    replaced = {each.nomination.replaced for each in heads if each.outcome is None}
    lost = [
        eviction_of(state, each.nomination)
        for each in ran
        if each.outcome == "no fit" and each.nomination.again == "node-lost" and each.nomination.workload not in replaced
    ]
    gone = {eviction.victim.workload for eviction in lost}
    evicted = [*lost, *(eviction for each in ended for eviction in _evictions(state, each) if eviction.victim.workload not in gone)]
    outcomes = [*placed, *admitted, *deferred, *sorted(evicted, key=lambda eviction: eviction.victim.workload)]
    for outcome in outcomes:
        carry_out(state, outcome)
    return outcomes


def _to_place(state: State, queue: int) -> list[Workload]:
    """Who runs in a queue and is to get places: nobody in one that takes no part."""
    if all(tree is None for tree in state.active.places.trees) or is_inactive(state.graph, queue):
        return []
    return to_place_again(state, queue)


def goes_on_from(state: State, workload: Workload) -> SearchState:
    """Where a search for flavors goes on; at the first one again if room became free since and it is not of the cycle before."""
    scan, generation = workload.scan, state.queues[workload.queue].generation
    if scan is None or (generation > scan.generation and state.cycle - scan.cycle > 1):
        return ()
    return scan.tried


# --- one cycle --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Ended:
    """What came of a head: its nomination, and why it was not admitted (None: it was)."""

    nomination: Nomination
    outcome: DeferralOutcome | None

    @property
    def victims(self) -> tuple[Victim, ...]:
        """Whom it evicts."""
        return self.nomination.victims if self.outcome == "preempting" else ()


@dataclass(slots=True)
class _Cycle:
    """One cycle over the heads of the queues; what is charged in its course stays charged in its trial.

    `standing` has the places of those who run and of those that the cycle has admitted so far.
    """

    trial: Trial
    standing: PlaceBook
    evicted: list[Workload] = field(default_factory=list)
    replaced: list[Workload] = field(default_factory=list)

    def run(self, entries: Entries, again: Mapping[int, Sequence[Nomination]]) -> list[_Ended]:
        """Let each nomination have its turn; `again` are those of workloads that run, by queue and in order."""
        ended: list[_Ended] = []
        waiting = {queue: list(again[queue]) for queue in sorted(again)}
        if self.trial.graph.settings.flat:
            first = in_turn_again(self.trial, [nomination for queue in sorted(waiting) for nomination in waiting.pop(queue)])
            ended += [self._process(nomination) for nomination in first]
        while (nomination := next_entry(self.trial, {**entries, **{queue: waiting[queue][0] for queue in sorted(waiting)}})) is not None:
            if nomination.again:
                del waiting[nomination.queue][0]
                waiting = {queue: waiting[queue] for queue in sorted(waiting) if waiting[queue]}
            else:
                del entries[nomination.queue]
            ended.append(self._process(nomination))
        return ended

    def _process(self, nomination: Nomination) -> _Ended:
        if nomination.again and nomination.workload in {workload.name for workload in (*self.evicted, *self.replaced)}:
            return _Ended(nomination, "overtaken")
        if self._overlaps(nomination):
            nomination = self._again(nomination)
        elif self._fits(nomination) == "no places":
            nomination = self._anew(nomination)
        flavors, queue = nomination.flavors, nomination.queue
        if flavors.mode is Mode.NO_FIT:
            return _Ended(nomination, "no fit")
        if flavors.mode is Mode.PREEMPT and not nomination.victims:
            if preemption_of(self.trial, queue).reclaims != "any":
                self._charge(nomination, as_request(to_reserve(self.trial, queue, flavors)))
            return _Ended(nomination, "no candidates")
        if self._overlaps(nomination):
            return _Ended(nomination, "overlapping")
        if self._fits(nomination) or (flavors.mode is Mode.FIT and not self._has_room(nomination)):
            return _Ended(nomination, "overtaken")
        workloads = self.trial.state.workloads
        if flavors.mode is Mode.FIT:
            if nomination.replaced is not None:
                self.trial.take(workloads[nomination.replaced])
                self.replaced.append(workloads[nomination.replaced])
            self._charge(nomination, as_request(flavors.whole))
            return _Ended(nomination, None)
        self._charge(nomination, flavors.request)
        self.evicted += [workloads[victim.workload] for victim in nomination.victims]
        return _Ended(nomination, "preempting" if flavors.mode is Mode.PREEMPT else "deferred")

    def _anew(self, nomination: Nomination) -> Nomination:
        """Judge a workload once more, on its flavors."""
        if nomination.again:
            return nominate_again(self.trial, self._workload(nomination))
        return nominate(self.trial, self._workload(nomination), only=nomination.flavors.nominated())

    def _workload(self, nomination: Nomination) -> Workload:
        return self.trial.state.workloads[nomination.workload]

    def _takes(self, nomination: Nomination) -> list[PodsHeld]:
        """What a nomination takes of places."""
        return places_held(self.trial.places, self._workload(nomination), nomination.flavors)

    def _fits(self, nomination: Nomination) -> Literal["", "no quota", "no places"]:
        """What a nomination lacks once its victims and those of others are gone, with all that is charged so far; nothing if it fits."""
        workloads = self.trial.state.workloads
        gone = [*self.evicted, *(workloads[victim.workload] for victim in nomination.victims)]
        replaced = [] if nomination.replaced is None else [workloads[nomination.replaced]]
        with self.trial.without(gone):
            if not self.trial.tree.fits(nomination.queue, nomination.flavors.request):
                return "no quota"
            with self.trial.without(replaced):
                return "" if self.trial.places.seem_free(self._takes(nomination)) else "no places"

    def _has_room(self, nomination: Nomination) -> bool:
        """Whether there is room for an admission where its pods are to stand, whatever the flavor of those who stand there."""
        if not self.trial.gives_places:
            return True
        takes = self._takes(nomination)
        if nomination.replaced is not None:
            self.standing.remove(self.standing.holdings(self.trial.state.workloads[nomination.replaced]))
        if not self.standing.has_room(takes):
            return False
        self.standing.add(takes)
        return True

    def _charge(self, nomination: Nomination, request: Request) -> None:
        """Keep others from a request and from the places of a nomination for the rest of the cycle."""
        self.trial.tree.add(nomination.queue, request)
        self.trial.places.add(self._takes(nomination), everywhere=False)

    def _overlaps(self, nomination: Nomination) -> bool:
        """Whether somebody whom it would evict, or whose place it would take, is gone already."""
        gone = {workload.name for workload in (*self.evicted, *self.replaced)}
        return nomination.replaced in gone or any(victim.workload in gone for victim in nomination.victims)

    def _again(self, nomination: Nomination) -> Nomination:
        """Judge a workload again, on its flavors, as if those who go for others were gone; if it fits then, it waits for them."""
        with self.trial.without(self.evicted):
            again = self._anew(nomination)
        if again.flavors.mode is Mode.FIT:
            again.flavors = replace(again.flavors, mode=Mode.DEFERRED_FIT)
        return again


def to_reserve(trial: Trial, queue: int, flavors: FlavorAssignment) -> dict[int, int]:
    """What a workload that needs victims and has none keeps others from taking: what it may have within its queue's limits.

    Kueue: quotaResourcesToReserve.
    """
    if flavors.mode is not Mode.PREEMPT:
        return flavors.usage
    reserved = {}
    for slot, amount in sorted(flavors.usage.items()):
        quota, used = trial.graph.nodes[queue].quotas[slot], trial.tree.usage[queue][slot]
        if flavors.level == 0:
            reserved[slot] = max(0, min(amount, quota.nominal - used))
        elif quota.borrowing_limit is None:
            reserved[slot] = amount
        else:
            reserved[slot] = min(amount, quota.nominal + quota.borrowing_limit - used)
    return reserved


# --- from what came of heads to decisions -----------------------------------------------------------------------------


def _evictions(state: State, ended: _Ended) -> list[Eviction]:
    """The evictions of a head; whoever was told to stop before is not told again."""
    workload = state.workloads[ended.nomination.workload]
    limit = binding_limit(state.active, ended.nomination)
    return [Eviction(victim, workload.name, workload.queue, workload.priority, limit) for victim in ended.victims if not victim.evicting]


def _deferral(state: State, ended: _Ended) -> Deferral:
    nomination, outcome = ended.nomination, ended.outcome
    assert outcome is not None
    flavors, queue, for_victims = nomination.flavors, nomination.queue, outcome in ("preempting", "deferred")
    tried = () if for_victims else _stopped_at(flavors)
    again = state.graph.queue_at(queue).strict or bool(tried) or outcome not in ("no fit", "no candidates")
    preemptor = state.queues[queue].preemptor
    assert flavors.reason != "PodTooLarge"  # cycles know no nodes
    last = LastDeferral(
        "WaitingForPreemptedWorkloads" if for_victims else flavors.reason or "WaitingForQuota",
        outcome,
        parked=not again,
        preempting=for_victims or (again and preemptor is not None and preemptor.name == nomination.workload),
        alike=not again,
        tried=tried,
        victims=tuple(victim.workload for victim in ended.victims),
    )
    return Deferral(nomination.workload, queue, last, flavors, binding_limit(state.active, nomination))


def _turned_away(state: State, workload: Workload, hold: Hold) -> Deferral:
    parked = hold.kind == "namespace" or not state.graph.queue_at(workload.queue).strict
    last = LastDeferral("PendingEvaluation" if hold.kind == "check" else "Misconfigured", "turned away", parked)
    return Deferral(workload.name, workload.queue, last, hold=hold)


def _stopped_at(flavors: FlavorAssignment) -> SearchState:
    """The flavors at which the search stopped with others left to try."""
    return tuple(
        (pods.name, resource, pods.flavors[resource].tried)
        for pods in flavors.pod_sets
        for resource in sorted(pods.flavors)
        if pods.flavors[resource].tried >= 0
    )


def _says_something(state: State, deferral: Deferral) -> bool:
    """Whether a deferral changes the queues or tells something new; one that does neither is not decided again."""
    workload, now = state.workloads[deferral.workload], deferral.last
    before = workload.deferred
    if before is None or now.parked or now.tried or before.tried or any(victim not in before.victims for victim in now.victims):
        return True
    return (before.reason, state.queues[deferral.queue].preemptor is workload) != (now.reason, now.preempting)

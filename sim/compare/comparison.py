"""Several histories of the same jobs, compared: which jobs end in different states, which fare most differently, and why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...engine.events import WorkloadDeferred
from ...engine.facts import TimeAdvanced
from ..drive.driver import OnEvict
from ..impact.closed_impact import Told
from ..impact.standing_lookup import standings_at
from ..impact.workload_fates import Fate, Fates
from ..measure.measure import NO_QUEUE
from .played_policy import FailedPolicy, PlayedPolicy
from .policy_record import JobOutcome

MOST_TOLD = 5
"""How many are found of each sort: groups of jobs that end in different states, jobs whose waits, and jobs whose evictions differ most."""

MOST_NAMED = 5
"""How many jobs of a group are named."""

_Spread = Callable[[JobOutcome], int]


@dataclass(frozen=True, slots=True)
class UnderPolicy:
    """A job under one policy: what became of it, and why; None where it was not submitted before the history ended."""

    name: str
    outcome: JobOutcome | None
    told: Told | None


@dataclass(frozen=True, slots=True)
class DifferentJob:
    """Jobs that fare differently. `by` says in what: their `state` at the end, or how long they `wait`, or their `evictions`.

    By state it is a group of `count` jobs with the same states under each policy, of which `workloads` are the first; else one job, and
    `spread` is how far its figure differs between the policies that were played to the end.
    `under` is about the first of them, for each policy in order.
    """

    by: Literal["state", "wait", "evictions"]
    workloads: tuple[str, ...]
    count: int
    spread: int
    queue: str
    under: tuple[UnderPolicy, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Policies in the order in which they were given, what became of the same `jobs`, and who fares differently.

    `lacking` has the queues that other policies have, by the name of the policy that lacks them. Jobs are compared between the policies
    that were played to the end, and `is_compared` says that there are two of them at least.
    """

    policies: tuple[PlayedPolicy | FailedPolicy, ...]
    jobs: int
    queues: tuple[str, ...]
    lacking: dict[str, tuple[str, ...]]
    is_compared: bool
    different: tuple[DifferentJob, ...]
    states_differ: int

    @property
    def played(self) -> list[PlayedPolicy]:
        """The policies that have figures."""
        return [each for each in self.policies if isinstance(each, PlayedPolicy)]

    @property
    def to_the_end(self) -> list[PlayedPolicy]:
        """Those that were played to the end."""
        return [each for each in self.played if each.early is None]


def compare(policies: Sequence[PlayedPolicy | FailedPolicy], on_evict: OnEvict, jobs: Sequence[str]) -> Comparison:
    """Compare what policies made of jobs, which are in order of submission. Raises JournalError and DamagedError."""
    played = [each for each in policies if isinstance(each, PlayedPolicy)]
    ended = [each for each in played if each.early is None]
    queues = sorted(frozenset().union(*(each.own_queues for each in played)))
    lacking = {each.name: tuple(queue for queue in queues if queue not in each.own_queues) for each in played}
    chosen, states_differ = _chosen(ended, jobs) if len(ended) > 1 else ([], 0)
    names = list(dict.fromkeys(each.workloads[0] for each in chosen))
    told = {each.name: _told(each, on_evict, names) for each in played}
    if any(figures.submitted for each in played for figures in each.history.queues if figures.queue == NO_QUEUE):
        queues.append(NO_QUEUE)
    return Comparison(
        policies=tuple(policies),
        jobs=len(jobs),
        queues=tuple(queues),
        lacking={name: found for name, found in lacking.items() if found},
        is_compared=len(ended) > 1,
        different=tuple(_explained(each, played, told) for each in chosen),
        states_differ=states_differ,
    )


# --- who differs ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Chosen:
    by: Literal["state", "wait", "evictions"]
    workloads: list[str]
    count: int = 1
    spread: int = 0


def _chosen(ended: Sequence[PlayedPolicy], jobs: Sequence[str]) -> tuple[list[_Chosen], int]:
    """Who is told of, and how many jobs end in different states."""
    groups: dict[tuple[str, ...], _Chosen] = {}
    everywhere: list[tuple[str, list[JobOutcome]]] = []
    for name in jobs:
        found = [each.jobs[name] for each in ended]
        states = tuple(outcome.state for outcome in found)
        if len(set(states)) > 1:
            group = groups.setdefault(states, _Chosen("state", [], 0))
            group.count += 1
            if len(group.workloads) < MOST_NAMED:
                group.workloads.append(name)
        elif states[0] == "finished":
            everywhere.append((name, found))
    by_state = sorted(groups.values(), key=lambda group: -group.count)
    waits = _widest("wait", everywhere, lambda outcome: outcome.wait)
    seen = {each.workloads[0] for each in waits}
    evictions = _widest("evictions", [each for each in everywhere if each[0] not in seen], lambda outcome: outcome.evictions)
    return [*by_state[:MOST_TOLD], *waits, *evictions], sum(group.count for group in by_state)


def _widest(by: Literal["wait", "evictions"], jobs: Sequence[tuple[str, list[JobOutcome]]], figure: _Spread) -> list[_Chosen]:
    """The jobs whose figure differs most between policies, those submitted first of several."""
    spreads = [(max(map(figure, found)) - min(map(figure, found)), name) for name, found in jobs]
    widest = sorted((each for each in spreads if each[0]), key=lambda each: -each[0])[:MOST_TOLD]
    return [_Chosen(by, [name], spread=spread) for spread, name in widest]


# --- why ------------------------------------------------------------------------------------------------------------


def _told(played: PlayedPolicy, on_evict: OnEvict, names: Sequence[str]) -> dict[str, Told]:
    """What became of some jobs, looked up in the journal, with where each stood when its longest wait began."""
    followed = {name: _followed(played, on_evict, name) for name in names if name in played.jobs}
    wanted = {name: (seq, name) for name, (fate, seq) in followed.items() if fate.longest > 0}
    standings = standings_at(played.journal, wanted.values())
    return {name: Told(fate, standings.get(wanted[name]) if name in wanted else None) for name, (fate, _) in followed.items()}


def _followed(played: PlayedPolicy, on_evict: OnEvict, name: str) -> tuple[Fate, int]:
    """The fate of a job, and the event at which it is known why its longest wait began: in cycles that of the first cycle in it.

    It is made of the job's own events: a decision about it counts from its own moment, whichever fact has caused it.
    """
    fates, looks = Fates(on_evict), list[int]()
    for recorded in played.journal.of_workload(name):
        event: Any = recorded.event
        looks += [recorded.seq] if isinstance(event, WorkloadDeferred) else []
        fact, decisions = (TimeAdvanced(time=event.time), [event]) if event.is_decision else (event, [])
        fates.take(fact, decisions, recorded.seq, 1)
    fates.now = played.history.end
    fates.rest()
    [fate] = fates.over.values()
    until = fate.admission.time if fate.admission is not None else fates.now
    first = next((seq for seq in looks if seq > fate.longest_from), None)
    is_within = first is not None and played.journal.at(first).event.time <= until
    return fate, first if first is not None and is_within else fate.longest_from


def _explained(chosen: _Chosen, played: Sequence[PlayedPolicy], told: dict[str, dict[str, Told]]) -> DifferentJob:
    name = chosen.workloads[0]
    under = tuple(UnderPolicy(each.name, each.jobs.get(name), told[each.name].get(name)) for each in played)
    queue = next(each.outcome.queue for each in sorted(under, key=_in_no_queue) if each.outcome is not None)
    return DifferentJob(chosen.by, tuple(chosen.workloads), chosen.count, chosen.spread, queue, under)


def _in_no_queue(under: UnderPolicy) -> bool:
    return under.outcome is None or under.outcome.queue == NO_QUEUE

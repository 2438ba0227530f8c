"""Surplus pods of victims, taken before whole workloads go, where the policy says `shrink before evicting`.

The preempt rules say whose pods may be taken and in which order, as they say who may be evicted: in the policy's order, and of each rule
the best victim first. Its surplus goes pod by pod, of the pod set that has the greatest part of it, until the request fits or none is left
that uses what is short. Where that is not enough, it stays out while whole workloads are looked for. What is not needed is put back.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple, Protocol

from ...elastic.pod_counts import changes_between, fullness, least_pods, resized, running_pods
from ...event_parts import EvictionKind, PlacedPods, asked_by_one
from ...outcome.nomination import SurplusTaken, Victim
from ...policy_graph import PolicyGraph, PreemptRule
from ...workload import Workload, victim
from ..state.guard_values import GuardValues
from ..state.trial import Trial


class SearchByRules(Protocol):
    """What of a search by preempt rules says whose pods may go: `gpol.engine.definition.preemption.rules.RuleSearch`."""

    graph: PolicyGraph
    trial: Trial
    short: list[int]
    values: GuardValues

    def queues(self, rule: PreemptRule) -> list[int]:
        """The queues, by node, where a rule may find victims."""

    def ranked(self, rule: PreemptRule, queues: list[int]) -> Iterable[tuple[tuple[object, ...], Workload]]:
        """Everybody who may go by a rule as things stand, with the place in its order."""

    def kind(self, rule: PreemptRule, each: Workload) -> EvictionKind:
        """Why a victim of a rule goes."""

    def fits(self) -> bool:
        """Whether the request fits."""


class TakenPod(NamedTuple):
    """A pod that was taken: by which rule, of whom, of which pod set by its index, and where it stood, if anywhere."""

    rule: int
    workload: str
    pod_set: int
    place: tuple[str, ...]


class SurplusSearch:
    """Takes surplus pods in a search's trial; `taken` are those that are out."""

    def __init__(self, search: SearchByRules) -> None:
        self.search, self.trial = search, search.trial
        self.taken: list[TakenPod] = []

    def take(self) -> bool:
        """Take surplus pods until the request fits; say whether it does."""
        for index, rule in enumerate(self.search.graph.preempt):
            queues = self.search.queues(rule)
            while True:
                ranked = [(place, pod) for place, each in self.search.ranked(rule, queues) if (pod := self._next(index, each)) is not None]
                if not ranked:
                    break
                self.taken.append(min(ranked, key=itemgetter(0))[1])
                self._show(self.taken[-1].workload)
                if self.search.fits():
                    return True
        return False

    def _next(self, rule: int, workload: Workload) -> TakenPod | None:
        """The next pod of the surplus of a workload that uses something of which too little is free."""
        pods, least = running_pods(workload), least_pods(workload)
        spare = [index for index in range(len(pods)) if pods[index] > least[index] and self._uses(workload, index)]
        if not spare:
            return None
        chosen = max(spare, key=lambda index: (fullness(workload, pods, index), index))
        given = next(each for each in workload.assignments if each.pod_set == workload.fact.pod_sets[chosen].name)
        return TakenPod(rule, workload.name, chosen, given.places[-1].domain if given.places else ())

    def _uses(self, workload: Workload, index: int) -> bool:
        pod_set, slots = workload.fact.pod_sets[index], self.trial.policy.slot_index
        given = next((each for each in workload.assignments if each.pod_set == pod_set.name), None)
        flavors = {} if given is None else given.flavors
        return any(
            asked_by_one(pod_set, resource) > 0 and slots.get((flavors[resource], resource)) in self.search.short for resource in flavors
        )

    def _show(self, name: str) -> None:
        """Let the trial have a workload without the pods of it that are taken."""
        self.trial.resize(self._without(name))

    def _without(self, name: str) -> Workload:
        workload = self.trial.state.workloads[name]
        mine = [pod for pod in self.taken if pod.workload == name]
        pods = [count - sum(pod.pod_set == index for pod in mine) for index, count in enumerate(running_pods(workload))]
        places: dict[str, tuple[PlacedPods, ...]] = {}
        for index, pod_set in enumerate(workload.fact.pod_sets):
            given = next((each for each in workload.assignments if each.pod_set == pod_set.name), None)
            gone = [pod.place for pod in mine if pod.pod_set == index]
            if given is not None and gone:
                left = (place.model_copy(update={"pods": place.pods - gone.count(place.domain)}) for place in given.places)
                places[pod_set.name] = tuple(place for place in left if place.pods > 0)
        return resized(workload, self.trial.policy.slot_index, pods, places)

    def only_needed(self, fits: Callable[[], bool], gone: set[str]) -> list[Victim]:
        """Those whose pods are needed, in the order in which they were taken, all others put back; not those who are `gone` as a whole."""
        self.taken = [pod for pod in self.taken if pod.workload not in gone]
        for pod in reversed(list(self.taken)):
            at = self.taken.index(pod)
            del self.taken[at]
            self._show(pod.workload)
            if not fits():
                self.taken.insert(at, pod)
                self._show(pod.workload)
        return [self._victim(name) for name in dict.fromkeys(pod.workload for pod in self.taken)]

    def _victim(self, name: str) -> Victim:
        """A workload that gives up the pods of it that are taken, and goes on."""
        workload, after = self.trial.state.workloads[name], self._without(name)
        ran = dict(zip((pod_set.name for pod_set in workload.fact.pod_sets), running_pods(workload), strict=True))
        index = next(pod.rule for pod in self.taken if pod.workload == name)
        rule = self.search.graph.preempt[index]
        values = tuple(self.search.values.value(field, workload) for field in rule.compared)
        left = SurplusTaken(after.assignments, after.usage, changes_between(workload.assignments, after.assignments, ran))
        return replace(victim(workload, self.search.kind(rule, workload), index, values), left=left)

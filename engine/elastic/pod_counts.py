"""Elastic workloads: how many pods they have at least and at most, and what becomes of one that has more or fewer of them.

A pod set with a minimum is elastic. Its workload starts with the minimum of every pod set or not at all, and keeps them together; all pods
beyond that are surplus. KAI and Volcano have the same (`minMember` of a pod group, with more pods in it).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ..event_parts import Assignment, PlacedPods, PodSet, PodSetChange, asked_by_one
from ..facts import WorkloadSubmitted
from ..nodes.domains import DomainPath
from ..outcome.named import SlotIndex
from ..outcome.nomination import as_request
from ..workload import Workload


def is_elastic(fact: WorkloadSubmitted) -> bool:
    """Whether a workload may run with fewer pods than it asks for, and get more while it runs."""
    return any(pod_set.minimum is not None and pod_set.minimum < pod_set.count for pod_set in fact.pod_sets)


def least_of(pod_set: PodSet, left: int) -> int:
    """With how many pods at least a pod set runs of which so many are left, and not done."""
    return left if pod_set.minimum is None else min(left, pod_set.minimum)


def least_pods(workload: Workload) -> list[int]:
    """With how many pods of each pod set a workload runs at least."""
    return [least_of(pod_set, left) for pod_set, left in workload.pod_sets()]


def running_pods(workload: Workload) -> list[int]:
    """How many pods of each pod set run. Of fewer pods than are asked for, those that are done are the ones that it was not given."""
    given = {assignment.pod_set: assignment.count for assignment in workload.assignments}
    return [min(left, given.get(pod_set.name, 0)) for pod_set, left in workload.pod_sets()]


def fullness(workload: Workload, pods: Sequence[int], index: int) -> Fraction:
    """Which part of its surplus a pod set has, with so many pods of each; 1 where it may have none."""
    pod_set, most = workload.pod_sets()[index]
    least = least_of(pod_set, most)
    return Fraction(pods[index] - least, most - least) if most > least else Fraction(1)


def resized(workload: Workload, slots: SlotIndex, pods: Sequence[int], places: Mapping[str, tuple[PlacedPods, ...]]) -> Workload:
    """A running workload with so many pods of each pod set, on the flavors that it has; `places` are the new ones, by pod set."""
    amounts, given = dict(workload.usage), []
    before = dict(zip((pod_set.name for pod_set in workload.fact.pod_sets), running_pods(workload), strict=True))
    after = dict(zip(before, pods, strict=True))
    pod_sets = {pod_set.name: pod_set for pod_set in workload.fact.pod_sets}
    for each in workload.assignments:
        name, more = each.pod_set, after[each.pod_set] - before[each.pod_set]
        if more == 0:
            given.append(each)
            continue
        for resource in sorted(each.flavors):
            slot = slots.get((each.flavors[resource], resource))
            if slot is not None:  # else nothing of it was charged
                amounts[slot] = amounts.get(slot, 0) + more * asked_by_one(pod_sets[name], resource)
        given.append(each.model_copy(update={"count": after[name], "places": places.get(name, each.places)}))
    return replace(workload, usage=as_request(amounts), assignments=tuple(given))


def changes_between(before: Sequence[Assignment], after: Sequence[Assignment], pods: Mapping[str, int]) -> tuple[PodSetChange, ...]:
    """Which pods a workload gets or gives up, by pod set: `pods` has how many of each ran before."""
    found = []
    for was, now in zip(before, after, strict=True):
        more = now.count - pods[was.pod_set]
        if now is not was and more:
            moved = _difference(now.places, was.places) if more > 0 else _difference(was.places, now.places)
            found.append(PodSetChange(pod_set=now.pod_set, added=max(0, more), taken=max(0, -more), places=moved))
    return tuple(found)


def _difference(more: Sequence[PlacedPods], fewer: Sequence[PlacedPods]) -> tuple[PlacedPods, ...]:
    """The pods that stand at places of the one and not of the other."""
    there: dict[DomainPath, int] = {place.domain: place.pods for place in fewer}
    left = ((place.domain, place.pods - there.get(place.domain, 0)) for place in more)
    return tuple(PlacedPods(domain=domain, pods=pods) for domain, pods in left if pods > 0)

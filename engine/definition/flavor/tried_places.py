"""Which pod sets have to find places on a flavor that is tried, where everything is decided at once.

Of those that got their flavors before, on other flavors, only those count that fit there as things stand: where others wait for victims,
nobody knows as yet where they will stand. On the same flavor all count, as what they use of its quota does.
"""

from collections.abc import Mapping, Sequence

from ...event_parts import PodSet
from ...outcome.nomination import Grade, PodSetFlavors
from ...policy_graph import PolicyGraph
from ...workload import Workload
from ..placement.placer import ToPlace, to_place


def placed_on(
    graph: PolicyGraph,
    workload: Workload,
    served: Sequence[PodSetFlavors],
    trying: Sequence[PodSetFlavors],
    part: Sequence[str],
    flavor: int,
) -> list[ToPlace]:
    """The pod sets that have to find places where those of `trying` are to get `part` of their resources from a flavor, and those of
    `served` have got their flavors; none where the flavor gives no places."""
    if graph.flavors[flavor].topology < 0:
        return []
    flavors: dict[str, int] = {}
    for pods in served:
        given = next((each for _, each in sorted(pods.flavors.items()) if graph.flavors[each.flavor].topology >= 0), None)
        if given is not None and (given.flavor == flavor or given.grade is Grade.FIT):
            flavors[pods.name] = given.flavor
    facts = {pod_set.name: pod_set for pod_set in workload.fact.pod_sets}
    flavors |= {pods.name: flavor for pods in trying if _stands_there(pods, facts, part)}
    counts = {pods.name: pods.count for pods in (*served, *trying)}
    return to_place(workload, [counts.get(pod_set.name, 0) for pod_set in workload.fact.pod_sets], flavors)


def _stands_there(pods: PodSetFlavors, facts: Mapping[str, PodSet], part: Sequence[str]) -> bool:
    """Whether a pod set is to stand on the flavor that gives a part of its resources; one that asks for nothing stands with its group."""
    if pods.requests:
        return any(resource in pods.requests for resource in part)
    return bool(facts[pods.name].group) and facts[pods.name].asks_for_places

"""What workloads can ask for where passes decide: all else is refused by name, as no pass looks at it."""

from ..errors import FactError
from ..event_parts import PodSet
from ..facts import WorkloadSubmitted
from ..policy_graph import PolicyGraph
from ..units import format_amount, scale_of
from .search_of import search_of

_WHOLE = "gpu"
"""The resource of which pods ask for whole units: passes know no parts of a GPU."""


def check_for_passes(graph: PolicyGraph, fact: WorkloadSubmitted) -> None:
    """Raise FactError for a submission that asks for something at which no pass looks."""
    if graph.settings.passes is None:
        return
    if fact.replaces is not None:
        raise _refused(fact.workload, "takes the place of another workload", "leave `replaces` out")
    wishes = [(pod_set.within, pod_set.near) for pod_set in fact.pod_sets]
    if len(wishes) > 1 and any(within or near for within, near in wishes) and not _by_pod_set(graph):
        cause = "has several pod sets, and says within what they stand"
        raise _refused(fact.workload, cause, "let it have one pod set, or leave `within` and `near` out")
    for pod_set in fact.pod_sets:
        for cause, remedy in _beyond(graph, pod_set):
            raise _refused(fact.workload, f"{cause} in pod set `{pod_set.name}`", remedy)


def _refused(workload: str, cause: str, remedy: str) -> FactError:
    return FactError(f"workload `{workload}` {cause}, and the policy decides by passes, which do not look at that; {remedy}")


def _by_pod_set(graph: PolicyGraph) -> bool:
    """Whether each pod set may have a domain of its own."""
    return search_of(graph) == "by-scenarios"


def _beyond(graph: PolicyGraph, pod_set: PodSet) -> list[tuple[str, str]]:
    """What a pod set asks for that no pass looks at, each with the remedy."""
    found = []
    if pod_set.min_count is not None:
        found.append(("would do with fewer pods", "leave `min_count` out"))
    if pod_set.slices:
        found.append(("asks for slices", "leave `slices` out"))
    if pod_set.group:
        found.append(("is placed as a group", "leave `group` out"))
    if pod_set.flavors:
        found.append(("chooses flavors", "leave `flavors` out: there is one flavor"))
    topology = graph.topologies[graph.flavors[0].topology]
    for level in (pod_set.within, pod_set.near):
        wider = topology.levels if search_of(graph) == "by-rescheduling" else [each for each in topology.levels if each.label is not None]
        if level and level not in [each.name for each in wider]:
            names = ", ".join(f"`{each.name}`" for each in wider)
            what = "no level of the topology" if topology.level(level) is None else "the level of single nodes"
            found.append((f"names `{level}`, which is {what}", f"name one of {names}" if names else "leave it out"))
    amount = pod_set.requests.get(_WHOLE, 0)
    if amount % scale_of(_WHOLE):
        found.append((f"asks for {format_amount(amount, _WHOLE)} {_WHOLE}", "ask for whole GPUs"))
    return found

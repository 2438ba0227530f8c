"""Which nodes a running workload has pods on, which of them it has lost, and whether anything is to be done about its places.

A node goes by the last value of a place. In a topology that does not end at nodes that is the lowest domain, as in Kueue.
"""

from collections.abc import Collection, Iterable

from ..policy_graph import PolicyGraph
from ..workload import Workload


def all_nodes_of(workload: Workload) -> tuple[str, ...]:
    """The nodes on which a workload has pods, in order, whether its flavors give places under the policy or not."""
    return tuple(sorted({place.domain[-1] for given in workload.assignments for place in given.places}))


def nodes_of(graph: PolicyGraph, workload: Workload, only_nodes: bool = False) -> tuple[str, ...]:
    """The nodes on which a workload has pods on flavors that give places; with `only_nodes` without domains that are wider than a node."""
    placing = {flavor.name: graph.topologies[flavor.topology] for flavor in graph.flavors if flavor.topology >= 0}
    found = set()
    for given in workload.assignments:
        topologies = [placing[flavor] for flavor in sorted(set(given.flavors.values())) if flavor in placing]
        if any(topology.ends_at_nodes or not only_nodes for topology in topologies):
            found |= {place.domain[-1] for place in given.places}
    return tuple(sorted(found))


def lose(graph: PolicyGraph, workloads: Iterable[Workload], node: str) -> None:
    """Note that a node left: all who have pods there have lost it."""
    for workload in workloads:
        if node not in workload.lost_nodes and node in nodes_of(graph, workload, only_nodes=True):
            workload.lost_nodes = (*workload.lost_nodes, node)


def not_there(graph: PolicyGraph, workload: Workload, there: Collection[str]) -> tuple[str, ...]:
    """The nodes on which a workload has pods and that are not there, where the policy follows nodes."""
    nodes = nodes_of(graph, workload, only_nodes=True) if graph.settings.follows_nodes else ()
    return tuple(node for node in nodes if node not in there)


def lose_those_that_left(before: PolicyGraph, after: PolicyGraph, workload: Workload, there: Collection[str]) -> None:
    """Note the nodes that left while the policy before gave no places on them, of a workload that the policy after places on nodes."""
    wider = {flavor.name for flavor in before.flavors if flavor.topology >= 0 and not before.topologies[flavor.topology].ends_at_nodes}
    placing = {flavor.name for flavor in after.flavors if flavor.topology >= 0 and after.topologies[flavor.topology].ends_at_nodes}
    found: set[str] = set()
    for given in workload.assignments:
        flavors = set(given.flavors.values())
        if flavors & placing and not flavors & wider:
            found |= {place.domain[0] for place in given.places if len(place.domain) == 1}
    gone = sorted(node for node in found if node not in there and node not in workload.lost_nodes)
    workload.lost_nodes = (*workload.lost_nodes, *gone)


def find_again(workloads: Iterable[Workload], node: str) -> None:
    """Note that a node is there again: nobody has lost it any more."""
    for workload in workloads:
        if node in workload.lost_nodes:
            workload.lost_nodes = tuple(other for other in workload.lost_nodes if other != node)


def checks_of(graph: PolicyGraph, workload: Workload) -> tuple[str, ...]:
    """The checks that the queue of a running workload demands on the flavors it has, by name."""
    index = {flavor.name: number for number, flavor in enumerate(graph.flavors)}
    flavors = {index[name] for given in workload.assignments for name in sorted(set(given.flavors.values())) if name in index}
    return tuple(check.name for check in graph.queue_at(workload.queue).checks if not check.flavors or flavors.intersection(check.flavors))


def is_ready(graph: PolicyGraph, workload: Workload) -> bool:
    """Whether all checks of a running workload are ready: those that its queue demands, and all that ever said something of it."""
    demanded = checks_of(graph, workload)
    return all(workload.checks.get(name) == "Ready" for name in sorted({*demanded, *workload.checks}))


def waits_for_places(workload: Workload) -> bool:
    """Whether pods of a running workload are to get their places later."""
    return workload.admitted is not None and any(given.delayed for given in workload.assignments)


def needs_places(graph: PolicyGraph, workload: Workload) -> bool:
    """Whether pods of a running workload are to get other places, or their first ones, now.

    Kueue: pkg/workload, NeedsSecondPass. Whoever is told to stop gets none.
    """
    if workload.admitted is None or workload.evicting:
        return False
    lacks = waits_for_places(workload) or (bool(workload.lost_nodes) and graph.settings.lost_nodes != "wait")
    return lacks and is_ready(graph, workload)

"""A cycle that searches for victims node by node, as Volcano does: the passes run over a session, with what Volcano knows beside it."""

from collections.abc import Iterator, Mapping

from ...elastic.pod_counts import least_pods
from ...event_parts import EvictionKind
from ...policy_graph import PolicyGraph
from ...workload import Workload
from ..session.pods import PodAmounts, SessionWorkload
from ..session.session import Session
from ..state.state import State
from ..volcano.model.hyper_node_map import HyperNodeDomain, HyperNodeMap, hyper_nodes_under_top
from ..volcano.model.pod_group_facts import GroupPhase, NetworkWish, PodGroupFacts, SubJob, VolcanoPodFacts, VolcanoQueueFacts
from ..volcano.model.volcano_cycle import VolcanoCycle
from ..volcano.passes.volcano_passes import run_cycle
from .pass_eviction import PassesDone, PassEviction, is_let_in
from .plugin_tiers import plugin_tiers

_KINDS: Mapping[str, EvictionKind] = {"preempt": "in-queue", "reclaim": "reclaim"}


def decide_node_by_node(state: State, session: Session) -> PassesDone:
    """Run the passes over a session."""
    graph = state.graph
    groups = [_group(session, each, state.workloads[each.name]) for each in session.workloads]
    pods = [_pod(session, number) for number in range(len(session.pods))]
    queues = [VolcanoQueueFacts(), *(_queue(graph, node) for node in range(len(graph.nodes)))]  # after the node above the root
    cycle = VolcanoCycle(session, plugin_tiers(graph), groups, pods, queues, _hyper_nodes(session), state.time)
    run_cycle(cycle)
    evictions = {each.victim: PassEviction(_KINDS[each.by], session.pods[each.beneficiary].workload) for each in cycle.evictions}
    return PassesDone(evictions, frozenset(each.number for each in session.workloads if cycle.phases[each.number] is GroupPhase.INQUEUE))


def _group(session: Session, each: SessionWorkload, workload: Workload) -> PodGroupFacts:
    """A workload as a PodGroup, with the minimum of each pod set as that of a role, and what these pods ask for together."""
    whole = each.groups[0]
    roles = tuple(zip((pod_set.name for pod_set in workload.fact.pod_sets), least_pods(workload), strict=True))
    needed = [(least, _requests(session, each, name)) for name, least in roles]
    sums = tuple(sum(count * requests[index] for count, requests in needed) for index in range(len(session.resources)))
    phase = GroupPhase.INQUEUE if is_let_in(workload) else GroupPhase.PENDING
    if workload.admitted is not None:
        phase = GroupPhase.RUNNING
    wish = None
    if whole.within is not None:
        wish = NetworkWish(hard=True, highest_tier=_tier(session, whole.within[1]))
    elif whole.near is not None:
        wish = NetworkWish(hard=False)
    return PodGroupFacts(phase, sums, (SubJob(each.name, 0, network=wish),), roles, network=wish)


def _requests(session: Session, each: SessionWorkload, pod_set: str) -> PodAmounts:
    """What one pod of a pod set asks for; nothing where none is left."""
    nothing = (0,) * len(session.resources)
    return next((pod.requests for pod in session.pods_of(each) if pod.pod_set.name == pod_set), nothing)


def _pod(session: Session, number: int) -> VolcanoPodFacts:
    pod = session.pods[number]
    workload = session.workload_of(pod)
    return VolcanoPodFacts(pod.name, pod.pod_set.name, number - workload.pods[0], workload.preemptible)


def _queue(graph: PolicyGraph, node: int) -> VolcanoQueueFacts:
    """A queue or cohort; to hierarchical DRF it is a path from the root, with a weight for each step."""
    path = [node, *_above(graph, node)][::-1]
    terms = graph.nodes[node].terms
    return VolcanoQueueFacts(
        reclaimable=terms is None or terms.reclaimable,
        hierarchy="/".join(str(each) for each in path),
        hierarchy_weights="/".join(str(graph.nodes[each].weight) for each in path),
    )


def _above(graph: PolicyGraph, node: int) -> Iterator[int]:
    """The nodes above one, up to the root."""
    while (node := graph.nodes[node].parent) >= 0:
        yield node


# --- the levels of the topology as HyperNodes -------------------------------------------------------------------------


def _tier(session: Session, level: int) -> int:
    """The tier of a level: that above nodes is the first."""
    return len(session.trees[0].levels) - 1 - level


def _hyper_nodes(session: Session) -> HyperNodeMap:
    """The domains above nodes as HyperNodes, named by their paths."""
    known = list[HyperNodeDomain]()
    numbers = {node.name: node.number for node in session.nodes}
    for tree in session.trees:
        inside: dict[int, list[int]] = {}
        for leaf in tree.lowest:
            domain = tree.domains[leaf].parent
            while domain >= 0:
                inside.setdefault(domain, []).extend(numbers[name] for name in tree.domains[leaf].machines)
                domain = tree.domains[domain].parent
        for domain in sorted(inside):
            each = tree.domains[domain]
            above = "" if each.parent < 0 else "/".join(tree.domains[each.parent].path)
            children = tuple("/".join(tree.domains[child].path) for child in each.children if child in inside)
            tier = _tier(session, tree.level_of(domain))
            known.append(HyperNodeDomain("/".join(each.path), tier, above, children, tuple(sorted(inside[domain]))))
    return hyper_nodes_under_top(known, len(session.nodes))

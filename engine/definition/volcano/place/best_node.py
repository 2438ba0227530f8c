"""The best of the nodes that a pod may have. Ties end at the name of the node.

Volcano: pkg/scheduler/actions/allocate/allocate.go (`prioritizeNodes`), util/scheduler_helper.go. The original takes any of the best ones.
"""

from collections.abc import Sequence

from ...session.pods import Pod
from ..model.volcano_cycle import VolcanoCycle, fits
from ..votes.tiers import PluginTiers
from .predicates import by_shard


def by_score(tiers: PluginTiers, pod: Pod, nodes: Sequence[int], allocated_in: str = "") -> list[int]:
    """Nodes, the best one first (`SortNodes`)."""
    scores = tiers.node_scores(pod, nodes, allocated_in)
    return sorted(nodes, key=lambda node: (-scores[node], tiers.cycle.session.nodes[node].name))


def best(tiers: PluginTiers, pod: Pod, nodes: Sequence[int], allocated_in: str = "") -> int:
    """The best of some nodes (`SelectBestNodeAndScore`)."""
    scores = tiers.node_scores(pod, nodes, allocated_in)
    return min(nodes, key=lambda node: (-scores[node], tiers.cycle.session.nodes[node].name))


def best_with_room(tiers: PluginTiers, pod: Pod, nodes: Sequence[int], allocated_in: str = "") -> int | None:
    """The best node of those that have room now or, where none has, of those that will have it; of the own shard first."""
    session = tiers.cycle.session
    for room in (session.free, session.free_later):
        for some in by_shard(tiers.cycle, [node for node in nodes if fits(pod.requests, room(node))]):
            if some:
                return some[0] if len(some) == 1 else best(tiers, pod, some, allocated_in)
    return None


def place(cycle: VolcanoCycle, pod: Pod, node: int) -> bool:
    """Give a pod room on a node, now or later; whether there is any (`allocateResourcesForTask`)."""
    if fits(pod.requests, cycle.session.free(node)):
        cycle.reserve(pod, node)
    elif fits(pod.requests, cycle.session.free_later(node)):
        cycle.promise(pod, node, after_eviction=False)
    else:
        return False
    return True

"""Which nodes take a pod, and in which order KAI tries them.

KAI sums scores that stand a power of ten apart; here they are compared one after the other: domain, room now, kind of node, room left,
name.
KAI: framework/session.go (OrderedNodesByTask, FittingNode), plugins nodeavailability, resourcetype, nodeplacement, topology.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ....nodes.kept_off import kept_off
from ...session.pods import Pod, PodAmounts
from ..kai_cycle import KaiCycle
from ..quota_state import CPU, GPU


def fits(pod: Pod, room: PodAmounts) -> bool:
    """Whether what a pod asks for is there. Where more of anything is promised than there is, nothing fits, asked for or not."""
    return all(asked <= there for asked, there in zip(pod.requests, room, strict=True))


def takes(cycle: KaiCycle, pod: Pod, node: int) -> bool:
    """Whether a node takes pods like this one, whatever is free there."""
    machine = cycle.session.nodes[node].machine
    if machine.cordoned:
        return False
    pod_set = pod.pod_set
    if not (machine.taints or pod_set.node_selector or pod_set.affinity):
        return True
    return kept_off(machine, pod_set, pod_set.tolerations) is None


def in_order(cycle: KaiCycle, pod: Pod, nodes: Sequence[int], scores: Mapping[int, int] | None) -> list[int]:
    """The nodes to try for a pod, the best first. With `scores` (of domains) nodes without one are left out."""
    session = cycle.session
    resource = GPU if pod.requests[GPU] else CPU
    wanted = set(nodes)
    by_name = [node for node in cycle.by_name if node in wanted]
    left = _room_scores(cycle, resource, by_name)

    def rank(node: int) -> tuple[int, bool, bool, int | Fraction]:
        without_gpus = resource == CPU and session.nodes[node].capacity[GPU] <= 0
        return -scores[node] if scores else 0, not fits(pod, session.free(node)), not without_gpus, -left[node]

    return sorted((node for node in by_name if scores is None or node in scores), key=rank)


def _room_scores(cycle: KaiCycle, resource: int, nodes: Sequence[int]) -> dict[int, int | Fraction]:
    """How good a node is by what is free there of a resource; alike where that is the same everywhere."""
    session = cycle.session
    free = {node: session.free_later(node)[resource] for node in nodes}
    having = [node for node in nodes if session.nodes[node].capacity[resource]]
    scores: dict[int, int | Fraction] = dict.fromkeys(nodes, 0)
    if cycle.spread:
        scores.update((node, Fraction(free[node], session.nodes[node].capacity[resource])) for node in having)
        return scores
    least = min((free[node] for node in having), default=0)
    most = max((0, *(free[node] for node in having)))
    if most == 0:
        return scores
    for node in having:
        scores[node] = most - free[node] if most != least else 1
    return scores

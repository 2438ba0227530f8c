"""Which nodes a pod may have: the plugin `predicates`, and what passes ask beside it.

Volcano: pkg/scheduler/plugins/predicates/predicates.go, util/predicate_helper.go. Kubernetes' own filters follow: NodeUnschedulable,
NodeAffinity, TaintToleration. Where one of these keeps a pod off, no eviction helps; where a node has its number of pods, one does.
"""

from collections.abc import Callable, Iterable, Sequence

from ....eligibility import repelling
from ....event_parts import POD_COUNT
from ....nodes.conditions import Taint
from ....nodes.kept_off import kept_off
from ...session.pods import Pod
from ..model.volcano_cycle import VolcanoCycle, fits
from .kept_apart import is_kept_apart

CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
"""What has to be tolerated on a node that takes no more pods."""


def is_kept_off(cycle: VolcanoCycle, pod: Pod, node: int) -> bool:
    """Whether a pod can never have a node, whoever leaves it (`UnschedulableAndUnresolvable`)."""
    if not cycle.asks_predicates:
        return False
    machine = cycle.session.nodes[node].machine
    tolerations = pod.pod_set.tolerations
    if machine.cordoned and repelling([CORDONED], tolerations) is not None:
        return True
    return kept_off(machine, pod.pod_set, tolerations) is not None


def has_all_its_pods(cycle: VolcanoCycle, node: int) -> bool:
    """Whether a node has the number of pods that it takes."""
    if not cycle.asks_predicates:
        return False
    resources = cycle.session.resources
    most = cycle.session.nodes[node].capacity[resources.index(POD_COUNT)] if POD_COUNT in resources else 0
    return most <= len(cycle.seen_on(node))


def may_have(cycle: VolcanoCycle, pod: Pod, node: int) -> bool:
    """Whether a pod may have a node now, as far as the plugin says (`PredicateForAllocateAction`)."""
    if is_kept_off(cycle, pod, node) or has_all_its_pods(cycle, node):
        return False
    return not (cycle.asks_predicates and is_kept_apart(cycle, pod, node))


def may_have_with_room(cycle: VolcanoCycle, pod: Pod, node: int) -> bool:
    """The same, and the node has room for it once those who stop are gone: what pass `allocate` asks."""
    return fits(pod.requests, cycle.session.free_later(node)) and may_have(cycle, pod, node)


def could_have(cycle: VolcanoCycle, pod: Pod, node: int) -> bool:
    """Whether a pod may have a node once others leave it (`PredicateForPreemptAction`)."""
    return not is_kept_off(cycle, pod, node)


def by_shard(cycle: VolcanoCycle, nodes: Sequence[int]) -> tuple[list[int], list[int]]:
    """Nodes that are tried first, and those that are tried where no such node serves (`GetPredicatedNodeByShard`)."""
    others = [] if cycle.shard is None else [node for node in nodes if node not in cycle.shard.nodes]
    return [node for node in nodes if node not in others], others


def _is_left_out(cycle: VolcanoCycle, node: int) -> bool:
    return cycle.shard is not None and cycle.shard.only and node not in cycle.shard.nodes


class FailedNodes:
    """The nodes that a pod of a role could not have: other pods of that role of its workload are not asked about them again.

    Volcano takes pods of one role as equal (`taskPredicateErrorCache`). Pods without a role are always asked about.
    """

    def __init__(self) -> None:
        self._failed: dict[tuple[int, str], set[int]] = {}

    def nodes_for(
        self, cycle: VolcanoCycle, pod: Pod, nodes: Iterable[int], accepts: Callable[[VolcanoCycle, Pod, int], bool]
    ) -> list[int]:
        """The nodes that a pod may have, of some, in the order of their names."""
        role = cycle.pods[pod.number].role
        failed = self._failed.setdefault((pod.workload, role), set())
        before = frozenset(failed) if role else frozenset[int]()
        found = []
        for node in sorted(nodes, key=lambda node: cycle.session.nodes[node].name):
            if node in before:
                continue
            if not _is_left_out(cycle, node) and accepts(cycle, pod, node):
                found.append(node)
            else:
                failed.add(node)
        return found

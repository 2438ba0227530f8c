"""Who stands on a node and may be evicted there, before plugins are asked; and whether it would be enough if all of them left.

Volcano: pkg/scheduler/actions/preempt/preempt.go, reclaim/reclaim.go, util/scheduler_helper.go (`ValidateVictims`).
"""

from collections.abc import Callable, Sequence

from ...session.pods import Pod
from ..model.volcano_cycle import VolcanoCycle, fits


def candidates_on(cycle: VolcanoCycle, node: int, accepts: Callable[[Pod], bool]) -> list[Pod]:
    """The pods on a node that may be evicted, in the order of their uids; the original takes them in any order."""
    found = [pod for pod in cycle.session.pods_on(node) if cycle.pods[pod.number].evictable and accepts(pod)]
    return sorted(found, key=lambda pod: cycle.pods[pod.number].uid)


def would_be_enough(cycle: VolcanoCycle, pod: Pod, node: int, victims: Sequence[Pod]) -> bool:
    """Whether a pod would find room on a node if some left it."""
    room = cycle.session.free_later(node)
    return fits(pod.requests, tuple(free + sum(each.requests[index] for each in victims) for index, free in enumerate(room)))

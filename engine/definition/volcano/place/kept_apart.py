"""Pods that may not stand together: required anti-affinity, by the labels of pods and the domains of nodes.

It counts both ways: a pod keeps off where it would not stand, and where one that stands there would not have it. Evicting helps.
Kubernetes: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go.
"""

from ....eligibility import all_hold
from ...session.pods import Pod
from ..model.volcano_cycle import VolcanoCycle


def is_kept_apart(cycle: VolcanoCycle, pod: Pod, node: int) -> bool:
    """Whether a pod may not have a node because of a pod that stands in the same domain."""
    if not cycle.keeps_apart:
        return False
    own = cycle.session.nodes[node].machine.labels
    for other in cycle.session.nodes:
        for standing in cycle.seen_on(other.number):
            for key in (*_domains(cycle, pod, standing), *_domains(cycle, standing, pod)):
                if key in own and own[key] == other.machine.labels.get(key):
                    return True
    return False


def _domains(cycle: VolcanoCycle, pod: Pod, other: Pod) -> list[str]:
    """The labels of nodes that tell the domains in which a pod does not stand with another one."""
    if cycle.pods[pod.number].namespace != cycle.pods[other.number].namespace:
        return []
    labels = dict(cycle.pods[other.number].labels)
    return [apart.domain for apart in cycle.pods[pod.number].apart if all_hold(apart.selected, labels)]

"""End broken gangs: what runs with fewer pods than its minimum for too long loses all of them (KAI: actions/stalegangeviction)."""

from ...session.pods import HOLDING, PodStatus
from ..kai_cycle import NOBODY, KaiCycle, KaiEviction
from ..settings import KaiPass
from ..views import WorkloadView, gang_whole, used_pods


def end_broken(cycle: KaiCycle) -> None:
    """Evict the pods of each broken gang whose time is over."""
    for view in cycle.views:
        terms = cycle.terms.workloads[view.workload.number]
        if is_broken(cycle, view) and 0 <= terms.grace <= terms.broken:
            for pod in view.pods:
                if pod.status in HOLDING:
                    cycle.session.move(pod, PodStatus.STOPPING, pod.node, pod.leaving)
                    cycle.evictions[pod.number] = KaiEviction(KaiPass.BROKEN, NOBODY)


def is_broken(cycle: KaiCycle, view: WorkloadView) -> bool:
    """Whether a workload runs, none of its pods has ended well, and a leaf of it has fewer pods than its minimum (KAI: IsStale)."""
    if cycle.terms.workloads[view.workload.number].succeeded:
        return False
    return used_pods(view) > 0 and not gang_whole(view)

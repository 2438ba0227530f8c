"""The plugin `drf`: the workload with the least dominant share comes first and, with `Hierarchy`, the queue whose branch has least.

Volcano: pkg/scheduler/plugins/drf/drf.go.
"""

from collections.abc import Sequence
from fractions import Fraction

from ...session.pods import Pod, PodAmounts, SessionWorkload
from ..model.plugin_votes import PluginVotes
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import HIERARCHY, VolcanoPlugin
from .branch_shares import BranchShares
from .resource_rows import add, dominant

NEAR = Fraction(1, 1_000_000)
"""Shares that differ by no more are equal, where victims are looked for (`shareDelta`)."""


def open_drf(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `drf` says in a cycle."""
    drf = DominantShares(cycle)
    cycle.job_shares = drf.shares
    if HIERARCHY not in plugin.enabled:
        return PluginVotes(job_order=drf.job_order, preemptable=drf.preemptable)
    branches = BranchShares(cycle)
    return PluginVotes(job_order=drf.job_order, preemptable=drf.preemptable, queue_order=branches.queue_order, reclaimable=branches.victims)


class DominantShares:
    """The greatest part of the cluster that each workload has of any resource."""

    def __init__(self, cycle: VolcanoCycle) -> None:
        self.cycle = cycle
        self._known: dict[PodAmounts, Fraction] = {}
        """Shares by what a workload has: many have the same, and are compared again and again."""

    def share(self, workload: SessionWorkload) -> Fraction:
        """The dominant share of a workload."""
        held = self.cycle.allocated(workload)
        if held not in self._known:
            self._known[held] = dominant(held, self.cycle.total)
        return self._known[held]

    def job_order(self, left: SessionWorkload, right: SessionWorkload) -> int:
        """The workload with the lesser share comes first."""
        one, other = self.share(left), self.share(right)
        return 0 if one == other else -1 if one < other else 1

    def preemptable(self, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Candidates whose workloads have no less than the pod's once they are gone and it has its room. Those not taken count as gone."""
        session = self.cycle.session
        own = list(self.cycle.allocated(session.workload_of(pod)))
        add(own, pod.requests)
        mine = dominant(own, self.cycle.total)
        left: dict[int, list[int]] = {}
        found = []
        for candidate in candidates:
            allocated = left.setdefault(candidate.workload, list(self.cycle.allocated(session.workload_of(candidate))))
            add(allocated, candidate.requests, -1)
            theirs = dominant(allocated, self.cycle.total)
            if mine < theirs or abs(mine - theirs) <= NEAR:
                found.append(candidate)
        return found

    def shares(self) -> dict[int, Fraction]:
        """The share of each workload, by its number."""
        return {workload.number: self.share(workload) for workload in self.cycle.jobs}

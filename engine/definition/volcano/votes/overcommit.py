"""The plugin `overcommit`: PodGroups are let in while the cluster, taken somewhat larger than it is, has room for them.

Volcano: pkg/scheduler/plugins/overcommit/overcommit.go.
"""

from collections.abc import Sequence
from fractions import Fraction

from ...session.pods import PodAmounts, SessionWorkload
from ..model.job_standing import READY
from ..model.plugin_votes import PluginVotes
from ..model.pod_group_facts import GroupPhase
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin

FACTOR = Fraction(6, 5)
"""How much larger than it is the cluster is taken to be, where nothing else is said."""


def open_overcommit(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `overcommit` says in a cycle."""
    said = plugin.arguments.get("overcommit-factor")
    counted = Overcommitted(cycle, said if isinstance(said, Fraction) and said >= 1 else FACTOR)

    def enqueueable(workload: SessionWorkload) -> int:
        wanted = cycle.groups[workload.number].min_resources
        return 1 if wanted is None or counted.permits(wanted) else -1

    def enqueued(workload: SessionWorkload) -> None:
        wanted = cycle.groups[workload.number].min_resources
        if wanted is not None:
            counted.let_in(without_gated(cycle, workload, wanted))

    return PluginVotes(job_enqueueable=enqueueable, job_enqueued=enqueued)


class Overcommitted:
    """What is counted on: `room` of the cluster when the cycle began, and what PodGroups that were let in still wait for."""

    def __init__(self, cycle: VolcanoCycle, factor: Fraction = FACTOR) -> None:
        size = range(len(cycle.total))
        used = [sum(cycle.session.used[node.number][index] for node in cycle.session.nodes) for index in size]
        self.room: Sequence[Fraction] = [cycle.total[index] * factor - used[index] for index in size]
        self.waiting = [0 for _ in size]
        for workload in cycle.jobs:
            self._add(awaited(cycle, workload))

    def permits(self, wanted: PodAmounts) -> bool:
        """Whether one more PodGroup finds room; only what it asks for is compared, and without a tolerance."""
        return all(not asked or self.waiting[index] + asked <= self.room[index] for index, asked in enumerate(wanted))

    def let_in(self, wanted: PodAmounts) -> None:
        """Count a PodGroup that was let in."""
        self._add(wanted)

    def _add(self, amounts: PodAmounts) -> None:
        for index, amount in enumerate(amounts):
            self.waiting[index] += amount


def awaited(cycle: VolcanoCycle, workload: SessionWorkload) -> PodAmounts:
    """What a PodGroup that was let in before still waits for: all that it needs at least or, where it runs, what it lacks of that.

    One that runs with fewer pods than its minimum counts for nothing: some of its pods may have ended well.
    """
    group = cycle.groups[workload.number]
    nothing = tuple(0 for _ in cycle.total)
    if group.min_resources is None:
        return nothing
    if group.phase is GroupPhase.INQUEUE:
        return without_gated(cycle, workload, group.min_resources)
    allocated = cycle.session.pods_of(workload, *READY)
    if group.phase is GroupPhase.RUNNING and len(allocated) >= workload.groups[0].minimum:
        held = cycle.allocated(workload)
        lacking = tuple(max(least - has, 0) for least, has in zip(group.min_resources, held, strict=True))
        return without_gated(cycle, workload, lacking)
    return nothing


def without_gated(cycle: VolcanoCycle, workload: SessionWorkload, amounts: PodAmounts) -> PodAmounts:
    """Amounts without what pods ask for that a scheduling gate holds (`DeductSchGatedResources`)."""
    gated = [pod for pod in cycle.session.pods_of(workload) if cycle.pods[pod.number].gated]
    if not gated:
        return amounts
    return tuple(max(amount - sum(pod.requests[index] for pod in gated), 0) for index, amount in enumerate(amounts))

"""Nominating a workload: flavors for all of it, victims where it needs them, fewer pods where it may do with fewer.

Kueue: pkg/scheduler/scheduler.go, getAssignments; pkg/scheduler/flavorassigner/podset_reducer.go.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ..workload import Workload
from . import classical, fair
from .candidates import Cluster, Note, Target, Wish
from .flavors import Assigner
from .levels import level_that_fits
from .plan import Grade, Mode, Plan, Verdict
from .replacing import held_by, replaced_by

T = TypeVar("T")


@dataclass(slots=True)
class Nomination:
    """What would be done for a workload: a plan, the victims that it needs, and the one whose place it takes."""

    workload: Workload
    plan: Plan
    targets: list[Target] = field(default_factory=list)
    replaced: Workload | None = None


def search(cluster: Cluster, wish: Wish) -> list[Target]:
    """The victims for a wish, in the way that the policy chose."""
    cycles = cluster.graph.settings.cycles
    assert cycles is not None
    return classical.targets(cluster, wish) if cycles.victims == "classical" else fair.targets(cluster, wish)


def wish_of(workload: Workload, plan: Plan, notes: list[Note] | None = None) -> Wish:
    """The wish for room for a whole plan; `notes` as in `Wish`."""
    amounts = {slot: plan.usage[slot] for slot in sorted(plan.usage) if plan.usage[slot] > 0}
    return Wish(workload, amounts, sorted(plan.needing), notes)


class Nominator:
    """Nominates workloads in a cluster as it stands."""

    def __init__(self, cluster: Cluster, height: list[int]) -> None:
        self.cluster, self.height = cluster, height

    def nominate(
        self, workload: Workload, tried: dict[tuple[str, str], int], nominated: dict[tuple[str, str], int] | None = None
    ) -> Nomination:
        """Find flavors and victims; `tried` and `nominated` as in `Assigner`."""

        def simulate(slot: int, amount: int) -> Verdict:
            return self._simulate(workload, slot, amount)

        replaced = replaced_by(self.cluster, workload)
        held = held_by(self.cluster.policy, replaced)
        assigner = Assigner(self.cluster.policy, self.height, workload, simulate, tried, nominated, held)
        plan, targets = self._found(workload, assigner)
        return Nomination(workload, plan, targets, replaced)

    def _found(self, workload: Workload, assigner: Assigner) -> tuple[Plan, list[Target]]:
        """A plan for all pods if there is one, else for fewer if these will do, else the one for all with what stands in its way."""
        plan = assigner.plan(workload.remaining)
        targets = self._targets(workload, plan)
        if plan.mode is Mode.FIT or targets:
            return plan, targets
        return self._with_fewer_pods(workload, assigner) or (plan, [])

    def _simulate(self, workload: Workload, slot: int, amount: int) -> Verdict:
        """What evicting could do for an amount of one slot alone, and the level from which it would come then."""
        cluster, queue = self.cluster, workload.queue
        found = search(cluster, Wish(workload, {slot: amount}, [slot]))
        with cluster.without([target.workload for target in found]):
            level, _ = level_that_fits(cluster.tree, self.height, queue, slot, amount)
        if not found:
            return Grade.NO_CANDIDATES, level
        return Grade.PREEMPT if any(target.workload.queue == queue for target in found) else Grade.RECLAIM, level

    def _targets(self, workload: Workload, plan: Plan) -> list[Target]:
        """Victims for a whole plan, all its resources together."""
        if plan.mode is not Mode.PREEMPT:
            return []
        return search(self.cluster, wish_of(workload, plan))

    def _with_fewer_pods(self, workload: Workload, assigner: Assigner) -> tuple[Plan, list[Target]] | None:
        """The plan with the most pods that can be had, where the workload may do with fewer."""
        if all(pod_set.min_count is None for pod_set in workload.fact.pod_sets):
            return None

        def attempt(counts: list[int]) -> tuple[Plan, list[Target]] | None:
            plan = assigner.plan(counts)
            targets = self._targets(workload, plan)
            return (plan, targets) if plan.mode is Mode.FIT or targets else None

        most = [pod_set.count for pod_set in workload.fact.pod_sets]
        least = [pod_set.count if pod_set.min_count is None else pod_set.min_count for pod_set in workload.fact.pod_sets]
        return fewest_missing(most, least, attempt)


def fewest_missing(most: list[int], least: list[int], attempt: Callable[[list[int]], T | None]) -> T | None:
    """What an attempt with the fewest pods missing gives, searched for by bisection as if fewer pods always did where more do.

    Each list is by pod set; between the two each pod set gives up its part in proportion, rounded down.
    """
    spare = [high - low for high, low in zip(most, least, strict=True)]
    total = sum(spare)
    if total == 0:
        return None
    low, high = 0, total + 1
    found: tuple[int, T] | None = None
    while low < high:
        middle = (low + high) // 2
        result = attempt([count - part * middle // total for count, part in zip(most, spare, strict=True)])
        if result is None:
            low = middle + 1
        else:
            found, high = (middle, result), middle
    return found[1] if found is not None and found[0] == low else None

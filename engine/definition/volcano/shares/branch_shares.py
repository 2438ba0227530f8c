"""Hierarchical dominant resource fairness: queues are leaves of a tree that their annotations say, and branches with less come first.

A workload is below its queue. A branch counts what those below it have, each scaled down to the least dominant share among those that want
more; those that are saturated count in full. Shares are rounded to doubles as the original's are.
Source: Bhattacharya et al., SoCC 2013; Volcano: pkg/scheduler/plugins/drf/drf.go (`updateHierarchicalShare`, `compareQueues`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ...session.pods import Pod, SessionWorkload
from ..model.volcano_cycle import VolcanoCycle
from .resource_rows import ResourceAmount, add, dominant, named, over, plus, times

BranchPath = tuple[str, ...]
"""The names from the root down; that of the root is the first, whatever it is."""


@dataclass(slots=True)
class Branch:
    """A part of the tree. `jobs` are the numbers of the workloads that are directly below it."""

    weight: Fraction
    children: dict[str, "Branch"] = field(default_factory=dict)
    jobs: list[int] = field(default_factory=list)
    share: Fraction = Fraction(0)
    saturated: bool = False


class BranchShares:
    """The tree of a cycle; shares are worked out anew where pods were moved since."""

    def __init__(self, cycle: VolcanoCycle) -> None:
        self.cycle, self.session = cycle, cycle.session
        self.paths = {queue: tuple(facts.hierarchy.split("/")) for queue, facts in enumerate(cycle.queues)}
        self.requests = {workload.number: self._asked(workload) for workload in cycle.jobs}
        self.root = Branch(Fraction(1))
        for workload in cycle.jobs:
            self._place(workload)
        self._known_at = -1

    def _asked(self, workload: SessionWorkload) -> list[int]:
        """What all pods of a workload ask for, whatever became of them."""
        total = [0] * len(self.cycle.total)
        for pod in self.session.pods_of(workload):
            add(total, pod.requests)
        return total

    def _place(self, workload: SessionWorkload) -> None:
        weights = self.cycle.queues[workload.queue].hierarchy_weights.split("/")
        branch = self.root
        for depth, name in enumerate(self.paths[workload.queue][1:], start=1):
            if name not in branch.children:
                branch.children[name] = Branch(_weight(weights[depth] if depth < len(weights) else ""))
            branch = branch.children[name]
        branch.jobs.append(workload.number)

    # --- shares -----------------------------------------------------------------------------------------------------

    def _work_out(self, changed: Mapping[int, Sequence[int]]) -> None:
        """Work out the tree; `changed` has what some workloads are taken to have, instead of what they have."""
        held = {workload.number: changed.get(workload.number, self.cycle.allocated(workload)) for workload in self.cycle.jobs}
        used = [0] * len(self.cycle.total)
        for number in sorted(held):
            add(used, held[number])
        wanted = {index for index in named(self.cycle.total) if used[index] < self.cycle.total[index]}
        self._of_branch(self.root, held, wanted)

    def _of_branch(self, branch: Branch, held: Mapping[int, Sequence[int]], wanted: set[int]) -> list[ResourceAmount]:
        """What a branch counts; its share, and whether it is saturated, are set."""
        below: list[tuple[Sequence[ResourceAmount], Fraction, bool]] = []
        for name in sorted(branch.children):
            child = branch.children[name]
            amounts = self._of_branch(child, held, wanted)
            below.append((amounts, child.share, child.saturated))
        for job in branch.jobs:
            amounts_of_job = held[job]
            below.append((amounts_of_job, dominant(amounts_of_job, self.cycle.total), self._is_saturated(job, amounts_of_job, wanted)))
        least = min([Fraction(1), *(share for _, share, saturated in below if share and not saturated)])
        total: list[ResourceAmount] = [0 for _ in self.cycle.total]
        for counted, share, saturated in below:
            if share:
                scale = Fraction(1) if saturated else over(least, share)
                total = [plus(one, times(other, scale)) for one, other in zip(total, counted, strict=True)]
        branch.share = dominant(total, self.cycle.total)
        branch.saturated = all(saturated for _, _, saturated in below)
        return total

    def _is_saturated(self, job: int, held: Sequence[int], wanted: set[int]) -> bool:
        """Whether a workload has all of a resource that it asks for, or asks for one of which nothing is left."""
        asked = self.requests[job]
        return any(asked[index] and (held[index] >= asked[index] or index not in wanted) for index in named(held))

    def _order(self, left: int, right: int) -> Fraction:
        """Below 0 where the left queue comes first: level by level, who is saturated comes last, then by share and weight."""
        one, other = self.root, self.root
        depth = min(len(self.paths[left]), len(self.paths[right]))
        for level in range(depth):
            if one.saturated != other.saturated:
                return Fraction(1 if one.saturated else -1)
            difference = over(one.share, one.weight) - over(other.share, other.weight)
            if difference:
                return difference
            if level < depth - 1:
                names = self.paths[left][level + 1], self.paths[right][level + 1]
                one, other = one.children[names[0]], other.children[names[1]]
        return Fraction(0)

    # --- what it says -----------------------------------------------------------------------------------------------

    def queue_order(self, left: int, right: int) -> int:
        """The queue whose branch has less comes first."""
        if self._known_at != self.session.changes:
            self._work_out({})
            self._known_at = self.session.changes
        order = self._order(left, right)
        return 0 if order == 0 else -1 if order < 0 else 1

    def victims(self, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Candidates whose queues still come after the pod's, with the pod in its room and the candidate gone; each is looked at alone."""
        own = self.session.workload_of(pod)
        mine = list(self.cycle.allocated(own))
        add(mine, pod.requests)
        found = []
        self._known_at = -1
        for candidate in candidates:
            other = self.session.workload_of(candidate)
            theirs = list(self.cycle.allocated(other))
            add(theirs, candidate.requests, -1)
            self._work_out({own.number: mine, other.number: theirs})
            if self._order(own.queue, other.queue) < 0:
                found.append(candidate)
        return found


def _weight(said: str) -> Fraction:
    """A weight: a number, no less than 1, and 1 where it is none."""
    whole, _, part = said.partition(".")
    digits = f"{whole}{part}"
    if not digits.isascii() or not digits.isdigit() or len(digits) > 15:
        return Fraction(1)
    return max(Fraction(1), Fraction(int(digits), 10 ** len(part)))

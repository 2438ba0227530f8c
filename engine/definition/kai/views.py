"""A workload as one step of KAI's cycle sees it: some of its pods, what its groups need, and what of them is to be placed or evicted next.

KAI: api/podgroup_info (PodGroupInfo, allocation_info, eviction_info) and plugins/subgrouporder. KAI copies workloads with a part of their
pods; a view is such a copy. Groups stand after their parents.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ..session.pods import HOLDING, Pod, PodAmounts, PodStatus, SessionGroup, SessionWorkload

STARTED = frozenset({PodStatus.RESERVED, PodStatus.PLACED, PodStatus.RUNNING})
"""Statuses of pods that have their room, not only a promise of it (KAI: AllocatedStatus)."""

_USED = HOLDING | {PodStatus.STOPPING, PodStatus.STUCK}

_Next = tuple[tuple[tuple[PodStatus, bool], ...], list[Pod], PodAmounts]
"""How the pods stood, which of them were to be placed next, and what those ask for."""


class WorkloadView:
    """Some pods of a workload and the minimum of each of its groups.

    With `statuses` the pods count as they were when the view was made, whatever has become of them.
    """

    __slots__ = ("_known", "minimum", "pods", "statuses", "workload")

    def __init__(self, workload: SessionWorkload, pods: Sequence[Pod], minimum: Sequence[int], statuses: Sequence[PodStatus] = ()) -> None:
        self.workload = workload
        self.pods = tuple(pods)
        self.minimum = tuple(minimum)
        self.statuses = tuple(statuses)
        self._known: _Next | None = None

    @property
    def groups(self) -> tuple[SessionGroup, ...]:
        """The groups of the workload."""
        return self.workload.groups

    def status_of(self, at: int) -> PodStatus:
        """The status of the pod at a position."""
        return self.statuses[at] if self.statuses else self.pods[at].status

    def count(self, among: frozenset[PodStatus]) -> list[int]:
        """How many pods of each leaf have one of some statuses (0 for inner groups)."""
        counts = [0] * len(self.groups)
        for at, pod in enumerate(self.pods):
            if self.status_of(at) in among:
                counts[pod.group] += 1
        return counts

    def members(self) -> list[int]:
        """By group: the pods that a leaf holds, the children of an inner group that have their minimum.

        KAI: GetNumActiveAllocatedMembers.
        """
        return fold(self, self.count(HOLDING))

    def part(self, pods: Iterable[Pod]) -> "WorkloadView":
        """The same with fewer pods (KAI: CloneWithTasks)."""
        return WorkloadView(self.workload, tuple(pods), self.minimum)

    def started_amounts(self) -> PodAmounts:
        """What its pods have that have their room (KAI: AllocatedVector)."""
        return total(pod.requests for at, pod in enumerate(self.pods) if self.status_of(at) in STARTED)

    def pods_to_place(self, tentative: Iterable[int] = ()) -> list[Pod]:
        """The pods to place next: those that its minimum lacks, or one more (KAI: GetTasksToAllocate).

        `tentative` are pods that were evicted for a trial: they are to be placed again, if there is room.
        """
        return self._next(tentative)[1]

    def asks(self, tentative: Iterable[int] = ()) -> PodAmounts:
        """What the pods to place next ask for."""
        return self._next(tentative)[2]

    def _next(self, tentative: Iterable[int]) -> "_Next":
        """Who is next, worked out anew only where a pod has another status."""
        state = (
            () if self.statuses else tuple((pod.status, pod.status is PodStatus.STOPPING and pod.number in tentative) for pod in self.pods)
        )
        if self._known is None or self._known[0] != state:
            pods = _to_place(self, self.members(), _open(self, tentative), 0)
            self._known = (state, pods, total(pod.requests for pod in pods))
        return self._known


def whole(workload: SessionWorkload, pods: Sequence[Pod]) -> WorkloadView:
    """A workload with all of its pods; `pods` are those of the session."""
    return WorkloadView(workload, [pods[number] for number in workload.pods], [group.minimum for group in workload.groups])


def partial(view: WorkloadView, pods: Sequence[Pod]) -> WorkloadView:
    """A workload with the pods that it holds and some of those to place, as they are now, and with minimums that it can reach so.

    Where a group needs all of its children it goes on needing all, those without pods included.
    KAI: job_solver.go, getPartialJobRepresentative.
    """
    held = [pod for pod in view.pods if pod.status in HOLDING]
    kept = [*held, *pods]
    counts = [0] * len(view.groups)
    for pod in kept:
        counts[pod.group] += 1
    minimum = list(view.minimum)
    filled = list(counts)
    for number in reversed(range(len(view.groups))):
        group = view.groups[number]
        if group.children:
            filled[number] = sum(filled[child] > 0 for child in group.children)
            if minimum[number] < len(group.children):
                minimum[number] = min(minimum[number], filled[number])
        elif counts[number]:
            minimum[number] = min(minimum[number], counts[number])
    return WorkloadView(view.workload, kept, minimum, [pod.status for pod in kept])


def fold(view: WorkloadView, counts: list[int]) -> list[int]:
    """Counts by leaf, and for each inner group how many of its children have their minimum."""
    for number in reversed(range(len(view.groups))):
        children = view.groups[number].children
        if children:
            counts[number] = sum(counts[child] >= view.minimum[child] for child in children)
    return counts


def ready(view: WorkloadView) -> bool:
    """Whether it has pods enough to start at all (KAI: IsReadyForScheduling)."""
    return fold(view, view.count(HOLDING | {PodStatus.WAITING}))[0] >= view.minimum[0]


def gang_whole(view: WorkloadView) -> bool:
    """Whether each leaf has its minimum, pods that stop included (KAI: IsGangSatisfied)."""
    counts = view.count(_USED)
    return all(counts[number] >= view.minimum[number] for number, group in enumerate(view.groups) if not group.children)


def used_pods(view: WorkloadView) -> int:
    """How many of its pods have a node (KAI: GetNumActiveUsedTasks)."""
    return sum(view.count(_USED))


def readiness(view: WorkloadView) -> int:
    """0: a leaf is below its minimum, 1: all are just at it, 2: above (KAI: plugins/elastic)."""
    counts = view.count(HOLDING)
    found = 1
    for number, group in enumerate(view.groups):
        if not group.children:
            if counts[number] < view.minimum[number]:
                return 0
            if counts[number] > view.minimum[number]:
                found = 2
    return found


def pod_order(pod: Pod) -> tuple[int, int, str]:
    """Which pod of a leaf is placed first (KAI: TaskOrderFn)."""
    return -pod.priority, pod.created, pod.name


def group_order(view: WorkloadView, members: Sequence[int], number: int) -> tuple[int, Fraction, str]:
    """Which child of a group is placed first: one below its minimum, else the one that has least of it (KAI: plugins/subgrouporder)."""
    minimum, has = view.minimum[number], members[number]
    name = view.groups[number].name
    if has < minimum:
        return 0, Fraction(0), name
    return (1, Fraction(has, minimum), name) if minimum > 0 else (2, Fraction(has), name)


def ordered_children(view: WorkloadView, number: int) -> list[int]:
    """The children of a group, the one to place first first."""
    members = view.members()
    return sorted(view.groups[number].children, key=lambda child: group_order(view, members, child))


def _open(view: WorkloadView, tentative: Iterable[int]) -> list[list[Pod]]:
    """By leaf: the pods that may be placed, in order (KAI: ShouldAllocate)."""
    found: list[list[Pod]] = [[] for _ in view.groups]
    for at, pod in enumerate(view.pods):
        status = view.status_of(at)
        if status is PodStatus.WAITING or (status is PodStatus.STOPPING and pod.number in tentative):
            found[pod.group].append(pod)
    for pods in found:
        pods.sort(key=pod_order)
    return found


def _to_place(view: WorkloadView, members: Sequence[int], waiting: Sequence[list[Pod]], number: int) -> list[Pod]:
    """The pods of a group to place next: of as many children as it needs, or where it has those, of the first that can have more."""
    group = view.groups[number]
    has_minimum = members[number] >= view.minimum[number]
    if not group.children:
        missing = 1 if has_minimum else view.minimum[number] - members[number]
        return waiting[number][:missing]
    children = sorted(group.children, key=lambda child: group_order(view, members, child))
    if has_minimum:
        return next((pods for child in children if (pods := _to_place(view, members, waiting, child))), [])
    chosen = children[: view.minimum[number]]
    return [pod for child in chosen if members[child] < view.minimum[child] for pod in _to_place(view, members, waiting, child)]


def pods_to_evict(view: WorkloadView) -> tuple[list[Pod], bool]:
    """The pods that a victim loses next, and whether it holds more: a surplus pod, a surplus group, or all (KAI: GetTasksToEvict)."""
    held: list[list[Pod]] = [[] for _ in view.groups]
    for at, pod in enumerate(view.pods):
        if view.status_of(at) in HOLDING:
            held[pod.group].append(pod)
    for pods in held:
        pods.sort(key=pod_order, reverse=True)
    found = _surplus(view, view.members(), held, 0) or _all_of(view, held, 0)
    return found, len(found) < sum(map(len, held))


def _surplus(view: WorkloadView, members: Sequence[int], held: Sequence[list[Pod]], number: int) -> list[Pod]:
    group = view.groups[number]
    more = members[number] > view.minimum[number]
    if not group.children:
        return held[number][:1] if more else []
    if not members[number]:
        return []
    children = sorted(group.children, key=lambda child: group_order(view, members, child), reverse=True)
    if _has_surplus(view, members, number):
        for child in children:
            found = _surplus(view, members, held, child)
            if found:
                return found
    return next((pods for child in children if (pods := _all_of(view, held, child))), []) if more else []


def _has_surplus(view: WorkloadView, members: Sequence[int], number: int) -> bool:
    return members[number] > view.minimum[number] or any(_has_surplus(view, members, child) for child in view.groups[number].children)


def _all_of(view: WorkloadView, held: Sequence[list[Pod]], number: int) -> list[Pod]:
    children = view.groups[number].children
    return [pod for child in children for pod in _all_of(view, held, child)] if children else list(held[number])


def total(amounts: Iterable[PodAmounts]) -> PodAmounts:
    """The sum of some amounts; nothing at all is the empty amount."""
    sums: list[int] = []
    for each in filter(None, amounts):
        sums = [have + more for have, more in zip(sums, each, strict=True)] if sums else list(each)
    return tuple(sums)

"""Gathering victims: workload by workload in victim order, surplus pods one by one (KAI: solvers/pod_scenario_builder.go).

Scenarios whose victims cannot free enough are left out before anything is tried. Only the filter by topology can leave out one that
would do: it counts the pods that a group has already as if they needed room again (KAI: accumulated_scenario_filters).
"""

from collections.abc import Iterator, Sequence

from ...session.pods import NO_NODE, Pod
from ..kai_cycle import KaiCycle
from ..order.workload_line import Line
from ..quota_state import GPU
from ..views import WorkloadView, pods_to_evict
from .scenario import VictimBatch, VictimScenario


def gather(cycle: KaiCycle, claimant: WorkloadView, recorded: Sequence[VictimBatch], line: Line) -> Iterator[VictimScenario]:
    """Scenarios with ever more victims: first with those recorded alone. It is one scenario, which grows."""
    scenario = VictimScenario(claimant, tuple(recorded))
    known = frozenset(pod.number for batch in recorded for pod in batch.pods)
    if not claimant.pods_to_place():
        return
    room = _RoomForPods(cycle, claimant.pods_to_place())
    for batch in recorded:
        room.add(batch)
    if room.is_enough() and _room_for_groups(cycle, scenario):
        yield scenario
    while line:
        more = _next_batch(line, known)
        if more is not None:
            scenario.added.append(more)
            room.add(more)
            if room.is_enough() and _room_for_groups(cycle, scenario):
                yield scenario


def _next_batch(line: Line, known: frozenset[int]) -> VictimBatch | None:
    """The next victims in line; what their workload holds beyond them goes back in line. None: they are recorded already."""
    view = line.pop()
    pods, more = pods_to_evict(view)
    taken = frozenset(pod.number for pod in pods)
    if taken & known:
        rest = [pod for pod in view.pods if pod.number not in known]
        if rest:
            line.push(view.part(rest))
        return None
    if more:
        line.push(view.part(pod for pod in view.pods if pod.number not in taken))
    return VictimBatch(view.workload.number, tuple(pods))


def freed_by_node(pods: Sequence[Pod]) -> dict[int, int]:
    """The GPUs that pods would free, by node."""
    freed: dict[int, int] = {}
    for pod in pods:
        freed[pod.node] = freed.get(pod.node, 0) + pod.requests[GPU]
    return freed


def each_once(pods: Sequence[Pod]) -> list[Pod]:
    """Some pods, in the order of their numbers, each once."""
    by_number = {pod.number: pod for pod in pods}
    return [by_number[number] for number in sorted(by_number)]


class _RoomForPods:
    """For how many of some pods the nodes would have GPUs, were all as small as the smallest, as ever more victims stop."""

    def __init__(self, cycle: KaiCycle, pods: Sequence[Pod]) -> None:
        self._pods = len(pods)
        self._least = min(pod.requests[GPU] for pod in pods)
        self._room = [cycle.gpus_free_later(node.number) for node in cycle.session.nodes]
        self._counted: set[int] = set()
        self._fitting = sum(map(self._fit_on, range(len(self._room))))

    def add(self, batch: VictimBatch) -> None:
        """Count what more victims free; one that comes twice frees it once."""
        for pod in batch.pods:
            if pod.number not in self._counted and pod.node != NO_NODE:
                self._counted.add(pod.number)
                self._fitting -= self._fit_on(pod.node)
                self._room[pod.node] += pod.requests[GPU]
                self._fitting += self._fit_on(pod.node)

    def is_enough(self) -> bool:
        """Whether all might find room."""
        return not self._least or self._fitting >= self._pods

    def _fit_on(self, node: int) -> int:
        return max(self._room[node], 0) // self._least if self._least else 0


def _room_for_groups(cycle: KaiCycle, scenario: VictimScenario) -> bool:
    """Whether there are domains with GPUs for each inner group that has to lie within one, the largest groups first."""
    claimant = scenario.claimant
    asked: dict[tuple[int, int], list[int]] = {}
    for number, group in enumerate(claimant.groups):
        if group.within is not None and min(group.within) >= 0 and (group.children or number == 0):
            asked.setdefault(group.within, []).append(_gpus_in(claimant, number))
    if not asked:
        return True
    freed = freed_by_node(each_once(scenario.victims))
    for topology, level in sorted(asked):
        tree = cycle.topologies.tree(topology)
        rooms = dict.fromkeys(tree.of_level[level], 0)
        for node in tree.leaf_of:
            rooms[tree.at(node, level)] += cycle.gpus_free_later(node) + freed.get(node, 0)
        if not _match(sorted(asked[topology, level], reverse=True), sorted(rooms.values(), reverse=True)):
            return False
    return True


def _match(groups: Sequence[int], rooms: Sequence[int]) -> bool:
    """Whether each group finds a domain with enough left, in the order of the domains (KAI: greedyMatchRequirements)."""
    left = list(rooms)
    for asked in groups:
        if not asked:
            return True
        at = next((at for at, room in enumerate(left) if room >= asked), None)
        if at is None:
            return False
        left[at] -= asked
    return True


def _gpus_in(view: WorkloadView, number: int) -> int:
    """The GPUs of all pods of a group, those that it has included."""
    children = view.groups[number].children
    if children:
        return sum(_gpus_in(view, child) for child in children)
    return sum(pod.requests[GPU] for pod in view.pods if pod.group == number)

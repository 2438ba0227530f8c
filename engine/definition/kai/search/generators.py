"""Which subsets of the victims gathered so far are tried: those on one node, then those on ever more nodes.

KAI: plugins/nodelocalgreedy/generator.go; plugins/multinodegang/generator.go with solvers/sub_scenario_emitter.go. A generator goes on
only after what it gave was tried and taken back.
"""

from collections.abc import Callable, Iterator, Sequence

from ...session.pods import NO_NODE
from ..kai_cycle import KaiCycle
from ..order.workload_line import Line
from ..quota_state import GPU
from ..views import WorkloadView
from .gathering import freed_by_node, gather
from .scenario import VictimBatch, VictimScenario, by_workload

Generator = Callable[[KaiCycle, WorkloadView, Sequence[VictimBatch], Line, Sequence[int]], Iterator[VictimScenario]]
"""Gives scenarios for a workload: with the victims recorded, the line of others, and the nodes that have room without those."""


def on_one_node(
    cycle: KaiCycle, claimant: WorkloadView, recorded: Sequence[VictimBatch], line: Line, nodes: Sequence[int]
) -> Iterator[VictimScenario]:
    """For each node of the last victim: all victims so far of the workloads that would lose pods there."""
    so_far = _SoFar(recorded)
    for base in gather(cycle, claimant, recorded, line):
        if not base.added:
            if base.recorded:
                yield base
            continue
        so_far.add(base.added)
        tried: list[tuple[int, ...]] = []
        there = {pod.node for pod in cycle.views[base.added[-1].workload].pods if pod.node != NO_NODE}
        for node in (number for number in cycle.by_name if number in there):
            batches = so_far.on(node)
            key = tuple(sorted(pod.number for batch in batches for pod in batch.pods))
            if key and key not in tried:
                tried.append(key)
                yield VictimScenario(claimant, base.recorded, batches)


class _SoFar:
    """The victims so far by workload, in the order in which the workloads came, and which workloads would lose pods on a node."""

    def __init__(self, recorded: Sequence[VictimBatch]) -> None:
        self._batches: dict[int, list[VictimBatch]] = {}
        self._rank: dict[int, int] = {}
        self._on: dict[int, set[int]] = {}
        self._added = 0
        for batch in recorded:
            self._know(batch)

    def add(self, added: Sequence[VictimBatch]) -> None:
        """Take in what came since the last time."""
        for batch in added[self._added :]:
            self._know(batch)
            for pod in batch.pods:
                self._on.setdefault(pod.node, set()).add(batch.workload)
        self._added = len(added)

    def on(self, node: int) -> list[VictimBatch]:
        """All victims so far of the workloads that would lose pods on a node, by workload. Those recorded alone do not count as such."""
        workloads = sorted(self._on.get(node, ()), key=self._rank.__getitem__)
        return by_workload(batch for workload in workloads for batch in self._batches[workload])

    def _know(self, batch: VictimBatch) -> None:
        self._rank.setdefault(batch.workload, len(self._rank))
        self._batches.setdefault(batch.workload, []).append(batch)


def on_more_nodes(
    cycle: KaiCycle, claimant: WorkloadView, recorded: Sequence[VictimBatch], line: Line, nodes: Sequence[int]
) -> Iterator[VictimScenario]:
    """The victims on the fewest nodes that could do, those with least room first; then on 1, 3, 7 .. nodes more."""
    for base in gather(cycle, claimant, recorded, line):
        if base.added:
            yield from _by_nodes(cycle, base, nodes)
        else:
            yield base


def _by_nodes(cycle: KaiCycle, base: VictimScenario, nodes: Sequence[int]) -> Iterator[VictimScenario]:
    asked = [pod.requests[GPU] for pod in base.claimant.pods_to_place()]
    recorded = freed_by_node([pod for batch in base.recorded for pod in batch.pods])
    seen = list(dict.fromkeys(pod.node for batch in base.added for pod in batch.pods))
    freed = freed_by_node([pod for batch in base.added for pod in batch.pods])
    room = {node: recorded.get(node, 0) + cycle.gpus_free_later(node) + freed[node] for node in seen}
    candidates = sorted(
        (node for node in seen if not min(asked) or room[node] >= min(asked)), key=lambda node: (room[node], seen.index(node))
    )
    without = sum(cycle.gpus_free_later(node) + recorded.get(node, 0) for node in nodes if node not in room)
    count, step = _fewest([room[node] for node in candidates], sum(asked) - without), 1
    while count <= len(candidates):
        chosen = candidates[:count]
        batches = [batch for batch in base.added if any(pod.node in chosen for pod in batch.pods)]
        yield VictimScenario(base.claimant, base.recorded, batches)
        if count == len(candidates):
            return
        count, step = min(count + step, len(candidates)), step * 2


def _fewest(rooms: Sequence[int], missing: int) -> int:
    """How many nodes, from the first, have as much room as is missing; one more than there are where all have less."""
    if missing <= 0:
        return 0
    have = 0
    for count, room in enumerate(rooms, start=1):
        have += room
        if have >= missing:
            return count
    return len(rooms) + 1


GENERATORS: tuple[Generator, ...] = (on_one_node, on_more_nodes)
"""In the order in which KAI asks them; each has a search of its own."""

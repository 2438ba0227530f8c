"""The state of the cluster at a moment in figures: capacity, what each node owns and uses, what runs and what waits. Exact integers.

The figures are read from a core, live or rebuilt from a journal. `measure.py` counts the same figures from the events alone.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ...engine.cores import Core, View
from ...engine.event_parts import Charge
from ...engine.events import WorkloadEvicted
from ...engine.explain.pending import standing as standing_of
from ...engine.outcome.named import charges
from ...engine.policy_graph import Node, PolicyGraph
from ...engine.workload import Workload
from ...journal.journal import Journal
from ...journal.records import workload_stream
from .gpu_amounts import thousandths
from .lending import FlavorLending


@dataclass(frozen=True, slots=True)
class CapacityFigures:
    """One resource of one flavor in the whole cluster, in the smallest unit; `idle` is below 0 while less exists than is used."""

    flavor: str
    resource: str
    exists: int
    owned: int
    used: int

    @property
    def idle(self) -> int:
        """What exists and is not in use."""
        return self.exists - self.used


@dataclass(frozen=True, slots=True)
class Holding:
    """What a place of the tree has of one resource of one flavor, in the smallest unit.

    A queue borrows what it uses beyond what it owns, and lends what others use of what it owns and does not use (`lending.py`).
    A cohort owns what its own line says, uses what is used below it, and neither borrows nor lends: its queues do.
    """

    flavor: str
    resource: str
    owns: int
    uses: int
    borrows: int
    lends: int


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """A cohort or queue, `depth` 0 directly below the root, with its holdings that are not all 0.

    `running` and `waiting` count workloads, of a cohort all below it; those on hold are among the waiting ones, and counted by `held`.
    """

    name: str
    parent: str | None
    depth: int
    is_queue: bool
    holdings: tuple[Holding, ...]
    running: int
    waiting: int
    held: int

    def gpus(self) -> tuple[int, int, int, int]:
        """What it owns, uses, borrows and lends, in thousandths of a GPU."""
        sums = [0, 0, 0, 0]
        for each in self.holdings:
            for column, amount in enumerate((each.owns, each.uses, each.borrows, each.lends)):
                sums[column] += thousandths(each.resource, amount)
        owns, uses, borrows, lends = sums
        return owns, uses, borrows, lends


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    """A cluster after event `seq`, at `time` (microseconds). `places` are in tree order, neighbours by name.

    `machines` counts them by flavor, "" for those of none; `in_no_queue` counts waiting workloads that belong to no queue.
    """

    seq: int
    time: int
    capacity: tuple[CapacityFigures, ...]
    places: tuple[NodeFigures, ...]
    machines: tuple[tuple[str, int], ...]
    in_no_queue: int


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """A workload that is not over: since when it runs or waits (microseconds), and what it is charged.

    Of a waiting one `position` is its place among the `waiting` in its queue, from 1 (None: it stands in no line), and `reason` the token
    that `explain` tells more of.
    """

    name: str
    state: str
    since: int
    queue: str
    usage: tuple[Charge, ...]
    reason: str
    position: int | None
    waiting: int | None


def cluster_of(core: Core) -> ClusterFigures:
    """The cluster that a core stands for; empty where no policy was activated yet."""
    view, graph = core.view, core.graph
    if graph is None:
        return ClusterFigures(core.seq, core.time, (), (), (), 0)
    live = view.workloads()
    queued = [workload for workload in live if workload.queue >= 0]
    capacity, places = tuple(_capacity(view, graph)), tuple(_places(view, graph, queued))
    return ClusterFigures(core.seq, core.time, capacity, places, _machines(view, graph), len(live) - len(queued))


def _capacity(view: View, graph: PolicyGraph) -> Iterator[CapacityFigures]:
    for slot, of in enumerate(graph.slots):
        owned = sum(node.quotas[slot].nominal for node in graph.nodes)
        used = sum(view.used(queue.node, slot) for queue in graph.queues)
        yield CapacityFigures(graph.flavors[of.flavor].name, of.resource, view.capacity(slot), owned, used)


def _machines(view: View, graph: PolicyGraph) -> tuple[tuple[str, int], ...]:
    counts = Counter(view.machine_flavors())
    return tuple((graph.flavors[flavor].name if flavor >= 0 else "", counts[flavor]) for flavor in sorted(counts))


# --- the tree -------------------------------------------------------------------------------------------------------


def _places(view: View, graph: PolicyGraph, workloads: list[Workload]) -> Iterator[NodeFigures]:
    pools = [_pool(view, graph, slot) for slot in range(len(graph.slots))]
    running, waiting, on_hold = Counter[int](), Counter[int](), Counter[int]()
    for workload in workloads:
        for node in graph.path(workload.queue):
            running[node] += workload.admitted is not None
            waiting[node] += workload.admitted is None
            on_hold[node] += is_held(workload)
    for node, depth in _in_order(graph, 0, 0):
        place = graph.nodes[node]
        parent = graph.nodes[place.parent].name if place.parent > 0 else None
        holdings = tuple(_holdings(view, graph, pools, node))
        yield NodeFigures(place.name, parent, depth, place.is_queue, holdings, running[node], waiting[node], on_hold[node])


def _in_order(graph: PolicyGraph, node: int, depth: int) -> Iterator[tuple[int, int]]:
    """All places below a node, each before those below it, with their depths."""
    for child in graph.nodes[node].children:
        yield child, depth
        yield from _in_order(graph, child, depth + 1)


def _holdings(view: View, graph: PolicyGraph, pools: list[FlavorLending], node: int) -> Iterator[Holding]:
    place = graph.nodes[node]
    for slot, of in enumerate(graph.slots):
        owns, uses = place.quotas[slot].nominal, view.used(node, slot)
        borrows = pools[slot].borrows(place.name) if place.is_queue else 0
        lends = pools[slot].lends.get(place.name, 0) if place.is_queue else 0
        if owns or uses or lends:
            yield Holding(graph.flavors[of.flavor].name, of.resource, owns, uses, borrows, lends)


def _pool(view: View, graph: PolicyGraph, slot: int) -> FlavorLending:
    """Who borrows and who lends of a slot."""
    pool = FlavorLending(exists=view.capacity(slot))
    for queue in graph.queues:
        place: Node = graph.nodes[queue.node]
        pool.put(place.name, place.quotas[slot].nominal, view.used(queue.node, slot))
    pool.share_out()
    return pool


# --- workloads ------------------------------------------------------------------------------------------------------


def is_held(workload: Workload) -> bool:
    """Whether a workload waits because somebody, or a rule, keeps it waiting, whatever is free."""
    return workload.admitted is None and workload.queue >= 0 and not workload.in_line


def live_workloads(core: Core, journal: Journal, within: frozenset[str] | None = None) -> Iterator[WorkloadRow]:
    """The workloads that are not over, in the order of their submissions; `within` these queues alone.

    `core` is as of some moment of the journal, where the time of a workload's last eviction is found.
    """
    graph = core.graph
    for workload in core.view.workloads():
        standing = standing_of(core, workload.name, briefly=True) if within is None or _queue(graph, workload) in within else None
        if graph is None or standing is None:
            continue
        waits = workload.admitted is None
        yield WorkloadRow(
            name=workload.name,
            state="held" if is_held(workload) else "waiting" if waits else "running",
            since=_waiting_since(journal, workload, core.seq) if workload.admitted is None else workload.admitted,
            queue=standing.queue,
            usage=charges(graph, workload.usage),
            reason=standing.reason,
            position=standing.position,
            waiting=standing.waiting,
        )


def _queue(graph: PolicyGraph | None, workload: Workload) -> str | None:
    return graph.nodes[workload.queue].name if graph is not None and workload.queue >= 0 else None


def _waiting_since(journal: Journal, workload: Workload, seq: int) -> int:
    """When a waiting workload came into its queue or, if it ran since, was evicted."""
    if workload.evictions:
        for recorded in journal.backwards(upto=seq, stream=workload_stream(workload.name)):
            if isinstance(recorded.event, WorkloadEvicted):
                return recorded.event.time
    return workload.queued

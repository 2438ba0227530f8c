"""The cluster as it stands at a moment: what exists, who owns and uses how much of it, who runs and who waits. Exact integers.

Read off a core, which is live or was rebuilt from a journal; `measure.py` counts the same figures from the events alone.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..engine.events import Charge, WorkloadEvicted
from ..engine.graph import Node, PolicyGraph
from ..engine.reference import Core
from ..engine.reference.settle import held
from ..engine.reference.state import Active, State
from ..engine.reference.why import charges
from ..engine.reference.workload import Workload
from ..journal.journal import Journal
from ..journal.records import workload_stream
from .gpus import thousandths
from .lending import Pool


@dataclass(frozen=True, slots=True)
class Capacity:
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
class Place:
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
class Cluster:
    """A cluster after event `seq`, at `time` (microseconds). `places` are in tree order, neighbours by name.

    `machines` counts them by flavor, "" for those of none; `in_no_queue` counts waiting workloads that belong to no queue.
    """

    seq: int
    time: int
    capacity: tuple[Capacity, ...]
    places: tuple[Place, ...]
    machines: tuple[tuple[str, int], ...]
    in_no_queue: int


@dataclass(frozen=True, slots=True)
class LiveWorkload:
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


def cluster_of(core: Core) -> Cluster:
    """The cluster that a core stands for; empty where no policy was activated yet."""
    state = core.state
    if state.active is None:
        return Cluster(state.seq, state.time, (), (), (), 0)
    policy = state.active
    queued = [workload for workload in state.workloads.values() if workload.queue >= 0]
    return Cluster(
        state.seq,
        state.time,
        tuple(_capacity(policy)),
        tuple(_places(policy, queued)),
        _machines(state, policy.graph),
        len(state.workloads) - len(queued),
    )


def _capacity(policy: Active) -> Iterator[Capacity]:
    graph, tree = policy.graph, policy.tree
    for slot, of in enumerate(graph.slots):
        owned = sum(node.quotas[slot].nominal for node in graph.nodes)
        used = sum(tree.total[queue.node][slot] for queue in graph.queues)
        yield Capacity(graph.flavors[of.flavor].name, of.resource, tree.capacity[slot], owned, used)


def _machines(state: State, graph: PolicyGraph) -> tuple[tuple[str, int], ...]:
    counts = Counter(machine.flavor for machine in state.machines.values())
    return tuple((graph.flavors[flavor].name if flavor >= 0 else "", counts[flavor]) for flavor in sorted(counts))


# --- the tree -------------------------------------------------------------------------------------------------------


def _places(policy: Active, workloads: list[Workload]) -> Iterator[Place]:
    graph = policy.graph
    pools = [_pool(policy, slot) for slot in range(len(graph.slots))]
    running, waiting, on_hold = Counter[int](), Counter[int](), Counter[int]()
    for workload in workloads:
        for node in policy.tree.paths[workload.queue]:
            running[node] += workload.admitted is not None
            waiting[node] += workload.admitted is None
            on_hold[node] += is_held(policy, workload)
    for node, depth in _in_order(graph, 0, 0):
        place = graph.nodes[node]
        parent = graph.nodes[place.parent].name if place.parent > 0 else None
        holdings = tuple(_holdings(policy, pools, node))
        yield Place(place.name, parent, depth, place.is_queue, holdings, running[node], waiting[node], on_hold[node])


def _in_order(graph: PolicyGraph, node: int, depth: int) -> Iterator[tuple[int, int]]:
    """All places below a node, each before those below it, with their depths."""
    for child in graph.nodes[node].children:
        yield child, depth
        yield from _in_order(graph, child, depth + 1)


def _holdings(policy: Active, pools: list[Pool], node: int) -> Iterator[Holding]:
    graph, place = policy.graph, policy.graph.nodes[node]
    for slot, of in enumerate(graph.slots):
        owns, uses = place.quotas[slot].nominal, policy.tree.total[node][slot]
        borrows = pools[slot].borrows(place.name) if place.is_queue else 0
        lends = pools[slot].lends.get(place.name, 0) if place.is_queue else 0
        if owns or uses or lends:
            yield Holding(graph.flavors[of.flavor].name, of.resource, owns, uses, borrows, lends)


def _pool(policy: Active, slot: int) -> Pool:
    """Who borrows and who lends of a slot."""
    pool = Pool(exists=policy.tree.capacity[slot])
    for queue in policy.graph.queues:
        place: Node = policy.graph.nodes[queue.node]
        pool.put(place.name, place.quotas[slot].nominal, policy.tree.total[queue.node][slot])
    pool.share_out()
    return pool


# --- workloads ------------------------------------------------------------------------------------------------------


def is_held(policy: Active, workload: Workload) -> bool:
    """Whether a workload waits because somebody, or a rule, keeps it waiting, whatever is free."""
    if workload.admitted is not None:
        return False
    return held(policy, workload) is not None if policy.queues is None else workload.name in policy.queues.aside


def live_workloads(core: Core, journal: Journal, within: frozenset[str] | None = None) -> Iterator[LiveWorkload]:
    """The workloads that are not over, in the order of their submissions; `within` these queues alone.

    `core` is as of some moment of the journal, where the time of a workload's last eviction is found.
    """
    policy = core.state.active
    for workload in sorted(core.state.workloads.values(), key=lambda each: each.number):
        standing = core.standing(workload.name) if within is None or _queue(policy, workload) in within else None
        if policy is None or standing is None:
            continue
        waits = workload.admitted is None
        yield LiveWorkload(
            name=workload.name,
            state="held" if is_held(policy, workload) else "waiting" if waits else "running",
            since=_waiting_since(journal, workload, core.seq) if workload.admitted is None else workload.admitted,
            queue=standing.queue,
            usage=charges(policy, workload.usage),
            reason=standing.reason,
            position=standing.position,
            waiting=standing.waiting,
        )


def _queue(policy: Active | None, workload: Workload) -> str | None:
    return policy.graph.nodes[workload.queue].name if policy is not None and workload.queue >= 0 else None


def _waiting_since(journal: Journal, workload: Workload, seq: int) -> int:
    """When a waiting workload came into its queue or, if it ran since, was evicted."""
    if workload.evictions:
        for recorded in journal.backwards(upto=seq, stream=workload_stream(workload.name)):
            if isinstance(recorded.event, WorkloadEvicted):
                return recorded.event.time
    return workload.queued

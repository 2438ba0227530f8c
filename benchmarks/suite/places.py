"""Decisions where pods get places: by each way of placing, by the number of nodes, with victims and without; what a fact about a node
takes; and a cycle of the shape of Kueue's own benchmark. See `racks.py` and `kueue_places.py`.

The definition decides on the same gang of the smaller cluster, and not where that takes minutes: where many wait for whole nodes.
"""

import random
from collections.abc import Iterator
from statistics import median

import numpy as np
from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.definition.core import DefinitionCore
from kueue_places import KueuePlaces
from racks import GANG, GPUS, WAYS, WISHES, Racks

from .figure import Figure

GROUP = "places"
NODES, QUEUES, FACTS, NODE_FACTS = (1_000, 10_000), 100, 40, 30
GOALS = {False: (1.0, 5.0), True: (10.0, None)}
"""Milliseconds of a decision by the number of nodes, without victims and with them."""


def places(runs: int) -> Iterator[Figure]:
    """Gangs by each way of placing, facts about nodes, and a cycle as Kueue's benchmark has it."""
    kernels = compiled_kernels(kernel_folder())
    found: dict[tuple[str, bool], list[tuple[float, ...]]] = {}
    for way in WAYS:
        for place, nodes in enumerate(NODES):
            racks = Racks(kernels, nodes, QUEUES, way)
            racks.use_some(random.Random(1))
            for full in (False, True):
                if full:
                    racks.use_all(GPUS, 1)
                for wish in WISHES:
                    name = f"{way}, {nodes:,} nodes: a gang of {GANG}{wish}{', with victims' if full else ''}"
                    values, new, plain = _gangs(racks, wish, full, runs, place == 0 and not wish)
                    yield Figure(GROUP, name, "ms", values, goal=GOALS[full][place], definition=plain)
                    if not wish:
                        yield Figure(GROUP, "the same, such as none has come to the queue", "ms", (new,), goal=GOALS[full][place])
                        found.setdefault((way, full), []).append(values)
        for full in (False, True):
            told = ", with victims" if full else ""
            yield Figure(GROUP, f"{way}: slope by nodes{told}", "", _slopes(found[way, full]))
    yield _where_many_wait(kernels, runs)
    yield from _node_facts(kernels, runs)
    yield from _as_kueue(kernels, runs)


def _gangs(racks: Racks, wish: str, full: bool, runs: int, asks_definition: bool) -> tuple[tuple[float, ...], float, float | None]:
    """The medians of decisions in milliseconds: where such gangs came to the queues before, in each run, and where none did; and what the
    definition takes for one."""
    first = QUEUES // 2 if full else 0
    plain = racks.by_definition(WISHES[wish], first) / 1e6 if asks_definition else None
    new, *known = (median(racks.gangs(WISHES[wish], FACTS, first, full)) / 1e6 for _ in range(runs + 1))
    return tuple(known), new, plain


def _slopes(by_size: list[tuple[float, ...]]) -> tuple[float, ...]:
    """The slope of each run."""
    return tuple(float(np.polyfit(np.log(NODES), np.log(times), 1)[0]) for times in zip(*by_size, strict=True))


def _where_many_wait(kernels: KernelSet, runs: int) -> Figure:
    """Where pods are spread no node is empty, though much is free: those who wait for whole nodes are all looked at after each fact."""
    racks = Racks(kernels, NODES[0], QUEUES, "spread")
    racks.use_some(random.Random(1), waiting=True)
    racks.use_all(1, GPUS)
    waiting = racks.waiting()
    values = tuple(median(racks.gangs({}, FACTS, QUEUES // 2, None)) / 1e6 for _ in range(runs))
    name = f"spread, {NODES[0]:,} nodes: a gang of {GANG}, while {waiting} wait for whole nodes, and none is empty"
    return Figure(GROUP, name, "ms", values, goal=GOALS[True][0])


def _node_facts(kernels: KernelSet, runs: int) -> Iterator[Figure]:
    """A fact about a node after another one, and the first other fact after some, which makes the tables of places anew."""
    for empty in (True, False):
        rows = []
        for nodes in NODES:
            racks = Racks(kernels, nodes, QUEUES, "packed")
            if not empty:
                racks.use_some(random.Random(1))
            plain = DefinitionCore(racks.core.state())
            parts = [racks.node_facts(NODE_FACTS) for _ in range(runs)]
            known = [racks.node_facts(NODE_FACTS, plain) for _ in range(1)]
            told = "nobody runs" if empty else "seven tenths are in use"
            values = tuple(one / 1e6 for one, _ in parts)
            yield Figure(GROUP, f"a fact about one of {nodes:,} nodes, {told}", "ms", values, definition=known[0][0] / 1e6)
            yield Figure(GROUP, f"the next other fact, {nodes:,} nodes, {told}", "ms", tuple(after / 1e6 for _, after in parts))
            rows.append(values)
        yield Figure(GROUP, f"slope of a fact about a node by nodes, {told}", "", _slopes(rows))


def _as_kueue(kernels: KernelSet, runs: int) -> Iterator[Figure]:
    """The cycle of Kueue's benchmark, from the fact to the decisions that are told, and what of it is spent in kernels."""
    cycles = [KueuePlaces(kernels).cycle() for _ in range(runs)]
    name = f"kueue.classical: a cycle of BenchmarkSchedulerTAS's shape, {cycles[0][2]} workloads have to go"
    yield Figure(GROUP, name, "ms", tuple(whole / 1e6 for whole, _, _ in cycles), goal=97)
    yield Figure(GROUP, "of it in kernels", "ms", tuple(spent / 1e6 for _, spent, _ in cycles))

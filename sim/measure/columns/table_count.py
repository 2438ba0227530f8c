"""Counting in tables: a measure goes in, chunks are counted, and the measure is brought up to date."""

from collections.abc import Callable

import numpy as np

from ....engine.event_parts import Charge
from ....engine.outcome.history import Columns
from ....engine.policy_graph import PolicyGraph
from ..gpu_amounts import GPUS, charged
from ..measure import NO_QUEUE, AccountError, Measure
from ..queue_figures import QueueFigures
from ..workload_account import WorkloadAccount
from . import count_columns as c
from .count_tables import AnyAsks, CountTables, counted_of, pools_of, queues_in_order, tables_of, with_chunk
from .live_rows import with_live

CountKernel = Callable[[CountTables, int, int], int]
"""Counts the events from one row to before another; `kernels/count_events.py`, as it stands or compiled."""

_AREAS = (("used_area", c.USED_AREA), ("borrowed_area", c.BORROWED_AREA), ("lent_area", c.LENT_AREA))
_COUNTS = (
    ("submitted", c.SUBMITTED),
    ("admitted", c.ADMITTED),
    ("evicted", c.EVICTED),
    ("finished", c.FINISHED),
    ("cancelled", c.CANCELLED),
    ("rejected", c.REJECTED),
)
_AMOUNTS = (("used", c.USED), ("borrowed", c.BORROWED), ("lent", c.LENT))
_LONGEST = (("wait_most", c.WAIT_MOST), ("owner_wait_most", c.OWNER_WAIT_MOST))


def fits_tables(measure: Measure) -> bool:
    """Whether 64 bits are proven to be enough for what exists, what is owned and what is used."""
    owned = max((pool.owned for pool in measure.pools.values()), default=0)
    exists = max([*measure.capacity.values(), *(pool.exists for pool in measure.pools.values())], default=0)
    counted = [each for figures in measure.queues.values() for _, each in figures.all_counted()]
    used = max([*measure.used.values(), *(each.used for each in counted)], default=0)
    return owned < c.MOST_OWNED and max(exists, used) < c.MOST


class TableCount:
    """What is counted in tables, as long as they are wide enough: in a measure in which the workloads of the first rows of `asks` are live,
    if any are. `asks_of` gives the rows of submissions, with the numbers of queues by their nodes."""

    def __init__(self, measure: Measure, graph: PolicyGraph, asks_of: Callable[[dict[int, int]], AnyAsks], kernel: CountKernel) -> None:
        self._measure, self._graph, self._kernel = measure, graph, kernel
        nodes = queues_in_order(measure, graph)
        self._names = [*(graph.nodes[node].name for node in nodes), NO_QUEUE]
        self._asks = asks_of({node: number for number, node in enumerate([*nodes, c.NONE])})
        self._pools, self._counted = pools_of(graph), counted_of(graph)
        self._tables = with_live(tables_of(measure, graph, nodes, self._asks), measure, graph, self._names)

    def fits(self, events: Columns, tape: Columns) -> bool:
        """Whether 64 bits are proven to be enough for all that events add up."""
        t = self._tables
        if len(events) and int(events[:, c.E_TIME].max()) >= c.MOST:
            return False
        admitted = events[events[:, c.E_KIND] == c.ADMITTING]
        counts = admitted[:, c.E_CHARGED]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(admitted[:, c.E_CHARGES], counts) + within * c.CHARGE_WIDTH
        slots, amounts = tape[at + c.CHARGE_SLOT], tape[at + c.CHARGE_AMOUNT]
        units = np.maximum(1, t.slot[:, c.UNITS]).astype(float)
        most = float((units[slots] * amounts).sum()) + float((units * t.slot[:, c.SLOT_USED]).sum())
        return most < c.MOST / 2  # rounding loses far less than half

    def count(self, events: Columns, tape: Columns) -> None:
        """Count events that fit. Raises AccountError."""
        t = self._tables = with_chunk(self._tables, events, tape)
        found = self._kernel(t, 0, len(t.events))
        self._count_waits()
        if found != c.FINE:
            raise AccountError(self._what_is_wrong(found))

    def _what_is_wrong(self, found: int) -> str:
        """In the words of `Measure`."""
        t = self._tables
        kind, job = t.events[t.state[c.WRONG_ROW], [c.E_KIND, c.E_JOB]].tolist()
        name = f"`{self._asks.facts[job].workload}`"
        match found:
            case c.LIVE_ALREADY:
                return f"{name} is submitted, but is live already"
            case c.NOT_LIVE:
                return f"{name} {'ends' if kind == c.FINISHING else 'is decided about'}, but is not live"
            case c.RUNS_ALREADY:
                return f"{name} is admitted, but runs already"
            case c.DOES_NOT_RUN:
                return f"{name} is evicted, but does not run"
            case c.WAITS_ELSEWHERE:
                return f"{name} is admitted to a queue in which it does not wait"
        exists, used = t.slot[t.state[c.WRONG_SLOT], [c.SLOT_EXISTS, c.SLOT_USED]].tolist()
        flavor, resource = self._graph.slot_name(int(t.state[c.WRONG_SLOT]))
        return f"{used} {resource} on {flavor} are in use, {exists} exist"

    # --- as a measure -----------------------------------------------------------------------------------------------------

    def bring_up_to_date(self) -> None:
        """Make the measure what it would be, had it taken all batches itself; but for what pods were given."""
        self._sum_up()
        self._fill_queues()
        self._fill_pools()

    def _figures(self) -> list[tuple[int, QueueFigures]]:
        """The figures of each queue with its number; no queue has some only once a workload was submitted to none."""
        queues, first_of_none = self._measure.queues, self._tables.queue[-1, c.SUBMITTED] > 0
        names = self._names if first_of_none or NO_QUEUE in queues else self._names[:-1]
        return [(number, queues.setdefault(name, QueueFigures(name))) for number, name in enumerate(names)]

    def _count_waits(self) -> None:
        """Add the waits that ended in a chunk to those of each length."""
        t, queues = self._tables, dict(self._figures())
        waited = t.waited[: t.state[c.WAITED]]
        keys, counts = np.unique(waited[:, c.WAITED_SECONDS] * len(t.queue) + waited[:, c.WAITED_IN], return_counts=True)
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            queues[key % len(t.queue)].waits[key // len(t.queue)] += count

    def _sum_up(self) -> None:
        """Add what was counted to the measure, and count from 0 on."""
        t, measure = self._tables, self._measure
        measure.end = int(t.state[c.NOW])
        measure.facts += int(t.state[c.FACTS])
        measure.decisions += int(t.state[c.DECISIONS])
        for slot in np.flatnonzero(t.slot[:, c.SLOT_WAS_USED]).tolist():
            measure.used[self._graph.slot_name(slot)] = int(t.slot[slot, c.SLOT_USED])
        for number, figures in self._figures():
            row = t.queue[number].tolist()
            for name, column in _COUNTS:
                setattr(figures, name, getattr(figures, name) + row[column])
            figures.wait_total += (row[c.WAIT_TOTAL] << 62) + row[c.WAIT_TOTAL_LOW]
            for name, column in _LONGEST:
                setattr(figures, name, max(getattr(figures, name), row[column]))
            for what, amounts in zip(self._counted, t.counted[number].tolist(), strict=True):
                if any(amounts) or what in figures.others or what == GPUS:
                    counted = figures.counted(what)
                    for name, column in _AREAS:
                        setattr(counted, name, getattr(counted, name) + (amounts[column] << 62) + amounts[column + 1])
                    for name, column in _AMOUNTS:
                        setattr(counted, name, amounts[column])
        t.state[[c.FACTS, c.DECISIONS]] = 0
        t.queue[:, [column for _, column in _COUNTS]] = 0
        t.queue[:, [c.WAIT_TOTAL, c.WAIT_TOTAL_LOW]] = 0
        t.counted[:, :, [column + part for _, column in _AREAS for part in (0, 1)]] = 0

    def _fill_queues(self) -> None:
        """Give the measure who waits and who runs."""
        t, measure, facts = self._tables, self._measure, self._asks.facts
        for number, figures in self._figures():
            for pool in np.flatnonzero(t.share[number, :, c.WAS_USED]).tolist():
                what, flavor = self._pools[pool]
                figures.counted(what).uses[flavor] = int(t.share[number, pool, c.USES])
            figures.waiting, figures.running, figures.entitled, figures.waiting_gpus = {}, {}, {}, 0
        live = np.flatnonzero(t.live[:, c.STATE])
        measure.live = {}
        for row in t.live[live[np.argsort(t.live[live, c.LIVE_JOB])]].tolist():
            job, fact = row[c.LIVE_JOB], facts[row[c.LIVE_JOB]]
            figures, runs = measure.queues[self._names[row[c.LIVE_QUEUE]]], row[c.STATE] == c.RUNNING
            charges = self._charges(row[c.FIRST_CHARGE])
            measure.live[fact.workload] = WorkloadAccount(fact, figures.name, row[c.SINCE], runs, charges)
            if runs:
                figures.running[fact.workload] = charged(charges)
                continue
            figures.wait(fact.workload, self._asks.gpus[t.job[job, c.JOB_KIND]])
            if row[c.ENTITLED_SINCE] != c.NONE:
                figures.entitled[fact.workload] = row[c.ENTITLED_SINCE]

    def _charges(self, at: int) -> tuple[Charge, ...]:
        found = []
        while at != c.NONE:
            slot, amount, at = self._tables.charge[at].tolist()
            flavor, resource = self._graph.slot_name(slot)
            found.append(Charge(flavor=flavor, resource=resource, amount=amount))
        return tuple(found)

    def _fill_pools(self) -> None:
        """Give the measure what is borrowed and lent of each pool."""
        t = self._tables
        for number, key in enumerate(self._pools):
            if (pool := self._measure.pools.get(key)) is None:
                continue
            for queue, (owns, uses, lends) in enumerate(t.share[:-1, number][:, [c.OWNS, c.POOLED, c.LENDS]].tolist()):
                pool.put(self._names[queue], owns, uses)
                if t.pool[number, c.HAS_LENT]:
                    pool.lends[self._names[queue]] = lends
            pool.lent = int(t.pool[number, c.POOL_LENT])

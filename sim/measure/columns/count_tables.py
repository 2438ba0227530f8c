"""The tables over which events are counted: 64-bit integers in rows. `count_columns.py` names their columns."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....engine.outcome.history import Columns
from ....engine.policy_graph import PolicyGraph
from ..gpu_amounts import GPUS, counted_amount, counted_as
from ..measure import Measure
from . import count_columns as c
from .job_asks import JobAsks


class CountTables(NamedTuple):
    """All that counting reads and writes.

    Of the policy: `queue` [queue, column], `queue_node` (the node of each queue), `counted` [queue, what is counted, column], `share`
    [queue, pool, column], `pool`, `slot`, `order` (lists of flavors). Of the jobs: `job`, `kind`, `ask` (`job_asks.py`). Of live
    workloads: `live` [name, column], `charge` (lists of amounts). Of a chunk: `events`, `tape`, and `waited`, a row for each admission.
    `state` is one row of what there is only once.
    """

    state: Columns
    queue: Columns
    queue_node: Columns
    counted: Columns
    share: Columns
    pool: Columns
    slot: Columns
    order: Columns
    job: Columns
    kind: Columns
    ask: Columns
    live: Columns
    charge: Columns
    events: Columns
    tape: Columns
    waited: Columns


_DIMENSIONS = {"state": 1, "queue_node": 1, "counted": 3, "share": 3, "order": 1, "tape": 1}
DIMENSIONS = {name: _DIMENSIONS.get(name, 2) for name in CountTables._fields}
"""How many dimensions each table has."""


def zeros(*sizes: int) -> Columns:
    """A new table."""
    return np.zeros(sizes, np.int64)


def queues_in_order(measure: Measure, graph: PolicyGraph) -> list[int]:
    """The nodes of the queues of a policy, in the order in which they lend: that in which the measure met them."""
    nodes = {graph.nodes[queue.node].name: queue.node for queue in graph.queues}
    return [nodes[name] for name in measure.queues if name in nodes]


def pools_of(graph: PolicyGraph) -> list[tuple[str, str]]:
    """What is counted together and lent as one, and of which flavor: the GPUs of every flavor, then its other devices."""
    others = [(what, graph.flavors[of.flavor].name) for of in graph.slots if (what := counted_as(of.resource)) not in (None, GPUS)]
    return [*((GPUS, flavor.name) for flavor in graph.flavors), *((what, flavor) for what, flavor in others if what is not None)]


def counted_of(graph: PolicyGraph) -> list[str]:
    """All that is counted together, GPUS first."""
    return list(dict.fromkeys(what for what, _ in [(GPUS, ""), *pools_of(graph)]))


def tables_of(measure: Measure, graph: PolicyGraph, nodes: Sequence[int], asks: JobAsks) -> CountTables:
    """The tables of a measure in which no workload is live."""
    flavors = [flavor.name for flavor in graph.flavors]
    pools, counted = pools_of(graph), counted_of(graph)
    slot, pool = zeros(len(graph.slots), c.SLOT_WIDTH), zeros(len(pools), c.POOL_WIDTH)
    for number, of in enumerate(graph.slots):
        flavor, what = flavors[of.flavor], counted_as(of.resource)
        at, units = (0, 0) if what is None else (pools.index((what, flavor)), counted_amount(of.resource, 1))
        slot[number, : c.SLOT_USED] = at, units, measure.capacity.get((flavor, of.resource), 0)
    for number, key in enumerate(pools):
        pool[number, c.POOL_COUNTED] = counted.index(key[0])
        if (found := measure.pools.get(key)) is not None:
            pool[number, c.EXISTS], pool[number, c.OWNED], pool[number, c.IDLE] = found.exists, found.owned, found.idle
    queue, share, order = zeros(len(nodes) + 1, c.QUEUE_WIDTH), zeros(len(nodes) + 1, len(pools), c.SHARE_WIDTH), list[int]()
    queue[:, c.FIRST_WAITING] = queue[:, c.FIRST_ENTITLED] = c.NONE
    for row, node in enumerate(nodes):
        figures, usable = measure.queues[graph.nodes[node].name], list(dict.fromkeys(graph.queue_at(node).flavors))
        queue[row, c.ORDER], queue[row, c.ORDER_LENGTH] = len(order), len(usable)
        order += usable
        share[row, :, c.OWNS] = [figures.counted(what).owns.get(name, 0) for what, name in pools]
    state, live = zeros(c.STATE_WIDTH), zeros(asks.names, c.LIVE_WIDTH)
    state[c.NOW], state[c.QUEUES], state[c.COUNTED], state[c.POOLS] = measure.end, len(queue), len(counted), len(pools)
    state[c.AT_ONCE] = graph.settings.cycles is None  # in cycles there is what is owned, as in `Measure`
    state[c.FREE_CHARGE] = state[c.FIRST_TOUCHED] = c.NONE
    live[:, c.FIRST_CHARGE] = live[:, c.ENTITLED_SINCE] = c.NONE
    return CountTables(
        state=state,
        queue=queue,
        queue_node=np.array([*nodes, c.NONE], np.int64),
        counted=zeros(len(queue), len(counted), c.COUNTED_WIDTH),
        share=share,
        pool=pool,
        slot=slot,
        order=np.array(order, np.int64),
        job=asks.job,
        kind=asks.kind,
        ask=asks.ask,
        live=live,
        charge=zeros(0, c.CHARGED_WIDTH),
        events=zeros(0, c.EVENT_WIDTH),
        tape=zeros(0),
        waited=zeros(0, c.WAITED_WIDTH),
    )


def with_chunk(t: CountTables, events: Columns, tape: Columns) -> CountTables:
    """The tables with the next events, and with room for what they charge."""
    admitted = events[:, c.E_KIND] == c.ADMITTING
    t.state[c.WAITED] = 0
    missing = int(t.state[c.CHARGES]) + int(events[admitted, c.E_CHARGED].sum()) - len(t.charge)
    charge = _with_free_rows(t, missing) if missing > 0 else t.charge
    waited = zeros(int(admitted.sum()), c.WAITED_WIDTH)
    return t._replace(charge=charge, events=np.ascontiguousarray(events), tape=np.ascontiguousarray(tape), waited=waited)


def _with_free_rows(t: CountTables, missing: int) -> Columns:
    """The charges with at least so many free rows more."""
    before = len(t.charge)
    grown = zeros(before + max(missing, before), c.CHARGED_WIDTH)
    grown[:before] = t.charge
    grown[before:, c.NEXT_CHARGE] = range(before + 1, len(grown) + 1)
    grown[-1, c.NEXT_CHARGE] = t.state[c.FREE_CHARGE]
    t.state[c.FREE_CHARGE] = before
    return grown

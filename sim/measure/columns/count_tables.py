"""The tables over which events are counted: 64-bit integers in rows. `count_columns.py` names their columns."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....engine.outcome.history import Columns
from ....engine.policy_graph import PolicyGraph
from ..gpu_amounts import thousandths
from ..measure import Measure
from . import count_columns as c
from .job_asks import JobAsks


class CountTables(NamedTuple):
    """All that counting reads and writes.

    Of the policy: `queue` [queue, column], `queue_node` (the node of each queue), `share` [queue, flavor, column], `flavor`, `slot`,
    `order` (lists of flavors). Of the jobs: `job`, `kind`, `ask` (`job_asks.py`). Of live workloads: `live` [name, column], `charge`
    (lists of amounts). Of a chunk: `events`, `tape`, and `waited`, a row for each admission. `state` is one row of what there is only once.
    """

    state: Columns
    queue: Columns
    queue_node: Columns
    share: Columns
    flavor: Columns
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


_DIMENSIONS = {"state": 1, "queue_node": 1, "share": 3, "order": 1, "tape": 1}
DIMENSIONS = {name: _DIMENSIONS.get(name, 2) for name in CountTables._fields}
"""How many dimensions each table has."""


def zeros(*sizes: int) -> Columns:
    """A new table."""
    return np.zeros(sizes, np.int64)


def queues_in_order(measure: Measure, graph: PolicyGraph) -> list[int]:
    """The nodes of the queues of a policy, in the order in which they lend: that in which the measure met them."""
    nodes = {graph.nodes[queue.node].name: queue.node for queue in graph.queues}
    return [nodes[name] for name in measure.queues if name in nodes]


def tables_of(measure: Measure, graph: PolicyGraph, nodes: Sequence[int], asks: JobAsks) -> CountTables:
    """The tables of a measure in which no workload is live."""
    flavors = [flavor.name for flavor in graph.flavors]
    slot, flavor = zeros(len(graph.slots), c.SLOT_WIDTH), zeros(len(flavors), c.FLAVOR_WIDTH)
    for number, of in enumerate(graph.slots):
        exists = measure.capacity.get((flavors[of.flavor], of.resource), 0)
        slot[number, : c.SLOT_USED] = of.flavor, thousandths(of.resource, 1), exists
    for number, name in enumerate(flavors):
        if (pool := measure.pools.get(name)) is not None:
            flavor[number, c.EXISTS], flavor[number, c.OWNED], flavor[number, c.IDLE] = pool.exists, pool.owned, pool.idle
    queue, share, order = zeros(len(nodes) + 1, c.QUEUE_WIDTH), zeros(len(nodes) + 1, len(flavors), c.SHARE_WIDTH), list[int]()
    queue[:, c.FIRST_WAITING] = queue[:, c.FIRST_ENTITLED] = c.NONE
    for row, node in enumerate(nodes):
        owns, usable = measure.queues[graph.nodes[node].name].owns, list(dict.fromkeys(graph.queue_at(node).flavors))
        queue[row, c.ORDER], queue[row, c.ORDER_LENGTH] = len(order), len(usable)
        order += usable
        share[row, :, c.OWNS] = [owns.get(name, 0) for name in flavors]
    state, live = zeros(c.STATE_WIDTH), zeros(asks.names, c.LIVE_WIDTH)
    state[c.NOW], state[c.QUEUES], state[c.FLAVORS] = measure.end, len(queue), len(flavors)
    state[c.AT_ONCE] = graph.settings.cycles is None  # in cycles there is what is owned, as in `Measure`
    state[c.FREE_CHARGE] = state[c.FIRST_TOUCHED] = c.NONE
    live[:, c.FIRST_CHARGE] = live[:, c.ENTITLED_SINCE] = c.NONE
    return CountTables(
        state=state,
        queue=queue,
        queue_node=np.array([*nodes, c.NONE], np.int64),
        share=share,
        flavor=flavor,
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

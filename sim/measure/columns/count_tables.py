"""The tables over which events are counted: 64-bit integers in rows. `count_columns.py` names their columns."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....engine.outcome.history import Columns
from ....engine.policy_graph import PolicyGraph
from ..gpu_amounts import GPUS, counted_amount, counted_as
from ..lending import FlavorLending
from ..measure import Measure
from ..queue_figures import QueueFigures
from . import count_columns as c
from .given_asks import GivenAsks
from .job_asks import JobAsks

AnyAsks = JobAsks | GivenAsks
"""What submissions ask for."""


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


def tables_of(measure: Measure, graph: PolicyGraph, nodes: Sequence[int], asks: AnyAsks) -> CountTables:
    """The tables of a measure without its live workloads, but with what they use."""
    flavors = [flavor.name for flavor in graph.flavors]
    pools, counted = pools_of(graph), counted_of(graph)
    slot, pool = zeros(len(graph.slots), c.SLOT_WIDTH), zeros(len(pools), c.POOL_WIDTH)
    for number, of in enumerate(graph.slots):
        key, what = (flavors[of.flavor], of.resource), counted_as(of.resource)
        at, units = (0, 0) if what is None else (pools.index((what, key[0])), counted_amount(of.resource, 1))
        slot[number, : c.SLOT_WAS_USED] = at, units, measure.capacity.get(key, 0), measure.used.get(key, 0)
        slot[number, c.SLOT_WAS_USED] = key in measure.used
    for number, of_pool in enumerate(pools):
        pool[number, c.POOL_COUNTED] = counted.index(of_pool[0])
        if (found := measure.pools.get(of_pool)) is not None:
            pool[number, [c.EXISTS, c.OWNED, c.POOL_BORROWED, c.IDLE]] = found.exists, found.owned, found.borrowed, found.idle
            pool[number, [c.POOL_LENT, c.HAS_LENT]] = found.lent, bool(found.lends)
    queue, share, order = zeros(len(nodes) + 1, c.QUEUE_WIDTH), zeros(len(nodes) + 1, len(pools), c.SHARE_WIDTH), list[int]()
    counts = zeros(len(nodes) + 1, len(counted), c.COUNTED_WIDTH)
    queue[:, c.FIRST_WAITING] = queue[:, c.FIRST_ENTITLED] = c.NONE
    for row, node in enumerate(nodes):
        figures, usable = measure.queues[graph.nodes[node].name], list(dict.fromkeys(graph.queue_at(node).flavors))
        queue[row, c.ORDER], queue[row, c.ORDER_LENGTH] = len(order), len(usable)
        order += usable
        for number, what in enumerate(counted):
            of_queue = figures.counted(what)
            counts[row, number, [c.USED, c.BORROWED, c.LENT]] = of_queue.used, of_queue.borrowed, of_queue.lent
        share[row] = [_share(figures, pool_key, measure.pools.get(pool_key)) for pool_key in pools]
    state, live = zeros(c.STATE_WIDTH), with_names(zeros(0, c.LIVE_WIDTH), asks.names)
    state[c.NOW], state[c.QUEUES], state[c.COUNTED], state[c.POOLS] = measure.end, len(queue), len(counted), len(pools)
    state[c.AT_ONCE] = not graph.settings.in_cycles  # in cycles there is what is owned, as in `Measure`
    state[c.FREE_CHARGE] = state[c.FIRST_TOUCHED] = c.NONE
    return CountTables(
        state=state,
        queue=queue,
        queue_node=np.array([*nodes, c.NONE], np.int64),
        counted=counts,
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


def with_names(live: Columns, count: int) -> Columns:
    """The rows of `live` with more of them, for names of which no workload is live."""
    found = zeros(count, c.LIVE_WIDTH)
    found[len(live) :, [c.FIRST_CHARGE, c.ENTITLED_SINCE]] = c.NONE
    found[: len(live)] = live
    return found


def _share(figures: QueueFigures, pool: tuple[str, str], lending: FlavorLending | None) -> list[int]:
    """The row of a queue and a pool in `share`."""
    what, flavor = pool
    counted, found = figures.counted(what), [0] * c.SHARE_WIDTH
    found[c.OWNS], found[c.USES] = counted.owns.get(flavor, 0), counted.uses.get(flavor, 0)
    found[c.WAS_USED] = int(flavor in counted.uses)
    if lending is not None:
        _, found[c.POOLED] = lending.queues.get(figures.name, (0, 0))
        found[c.LENDS] = lending.lends.get(figures.name, 0)
    return found


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

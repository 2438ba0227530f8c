"""Who is live, as rows of the tables: what a measure knows of those who wait and run when counting in tables begins."""

from collections.abc import Sequence

from ....engine.policy_graph import PolicyGraph
from ..measure import Measure
from . import count_columns as c
from .count_tables import CountTables, zeros
from .kernels.workload_places import stand_in_line


def are_countable(measure: Measure, graph: PolicyGraph) -> bool:
    """Whether rows can say all of who is live: who waits is in the queue in which the policy puts it, who runs is in any queue of the
    policy and charged for slots of it, and nobody has given up pods or is to stop."""
    queues = {graph.nodes[queue.node].name for queue in graph.queues}
    slots = set(graph.slot_names)
    return all(
        not live.done
        and not live.evicting
        and (live.queue in queues if live.running else live.queue == measure.queue_of(live.fact, graph))
        and all((charge.flavor, charge.resource) in slots for charge in live.charges)
        for live in measure.live.values()
    )


def with_live(t: CountTables, measure: Measure, graph: PolicyGraph, queues: Sequence[str]) -> CountTables:
    """The tables with a row for each live workload, which are the first rows of all; `queues` has the names of queues by their numbers."""
    numbers = {name: number for number, name in enumerate(queues)}
    slots = {name: slot for slot, name in enumerate(graph.slot_names)}
    charges = list[tuple[int, int, int]]()
    for row, live in enumerate(measure.live.values()):
        queue = numbers[live.queue]
        t.live[row, [c.LIVE_JOB, c.LIVE_QUEUE, c.SINCE]] = row, queue, live.since
        if live.charges:
            t.live[row, c.FIRST_CHARGE] = len(charges)
            ends = len(charges) + len(live.charges)
            charges += [
                (slots[charge.flavor, charge.resource], charge.amount, following if following < ends else c.NONE)
                for following, charge in enumerate(live.charges, len(charges) + 1)
            ]
        if live.running:
            t.live[row, c.STATE] = c.RUNNING
            continue
        stand_in_line(t, row)
        since = measure.queues[live.queue].entitled.get(live.fact.workload)
        if since is not None:
            t.live[row, [c.ENTITLED_SINCE, c.NEXT_ENTITLED]] = since, t.queue[queue, c.FIRST_ENTITLED]
            t.queue[queue, c.FIRST_ENTITLED] = row
    t.state[c.CHARGES] = len(charges)
    table = zeros(len(charges), c.CHARGED_WIDTH)
    table[:] = charges or zeros(0, c.CHARGED_WIDTH)
    return t._replace(charge=table)

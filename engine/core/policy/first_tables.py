"""The tables of a policy before anything has happened: how wide each of them is."""

import numpy as np

from .. import columns as c
from ..tables import Ints, Tables, zeros
from .policy_tables import PolicyTables

_MOST_COUNTS, _ROWS_COUNTED = 16, 2**19
"""For how many kinds of pods it is kept what fits into each domain: so many, or as many as have so many rows together."""

_CHANGES = 4
"""How many changes are listed for each lowest domain, on average, before each is listed once again."""


def first_tables(policy: PolicyTables, spec: Ints, local_queues: int) -> Tables:
    """Tables of a policy without workloads; `spec` are its demands up to now, `local_queues` how many it has."""
    graph = policy.graph
    queues, slots, places = len(graph.queues), len(graph.slots), policy.places
    counts = min(_MOST_COUNTS, max(2, _ROWS_COUNTED // max(1, len(places.domain))))
    for column in (
        c.FREE_ROW, c.FIRST_BLOCK, c.LAST_BLOCK, c.WAKE, c.FIRST_RESERVED, c.VICTIMS_OF, c.GOES_ON, c.ONLY, c.FIRST_GAVE,
        c.FIRST_CHANGED, c.FIRST_OPEN, c.FIRST_WAITING, c.FIRST_STIRRED, c.FIRST_SUPERIOR,
    ):  # fmt: skip
        policy.state[column] = c.NONE
    policy.state[c.CELLS_NEED] = 64
    policy.state[c.MOST_POD_SETS] = policy.state[c.MOST_RESOURCES] = 1
    compared = max([3, *(len(rule.compared) for rule in graph.preempt)])
    policy.state[c.VICTIM_WIDTH] = c.V_VALUES + 3 * compared
    return Tables(
        state=policy.state,
        node=policy.node,
        quota=policy.quota,
        watch=policy.watch,
        asked=policy.asked,
        slot=policy.slot,
        pool=policy.pool,
        work=np.zeros((0, c.WORK_WIDTH), np.int32),
        when=zeros(0, c.WHEN_WIDTH),
        wait=np.zeros((0, c.WAIT_WIDTH), np.int32),
        passed=zeros(0),
        wish=zeros(0, max(1, len(graph.slots)), c.WISH_WIDTH),
        cell=zeros(0, c.CELL_WIDTH),
        spec=spec,
        text=zeros(1),
        name=np.zeros((0, c.NAME_WIDTH), np.int32),
        shape=zeros(1, c.SHAPE_WIDTH),
        local=zeros(max(1, local_queues), c.LOCAL_WIDTH),
        rival=zeros(len(graph.nodes)),
        visited=zeros(len(graph.nodes)),
        giver=zeros(len(graph.nodes)),
        key=zeros(len(graph.nodes), max(1, len(graph.settings.queue_order)), 3),
        plain=zeros(queues, slots + 1, c.PLAIN_WIDTH),
        nom=zeros(queues + 1, c.N_PODS + 1),
        choice=zeros(queues + 1, 1, 1, c.CHOICE_WIDTH),
        ask=zeros(c.ASKS + c.REQUESTS * (queues + 1), slots + 1, 3),
        pods=zeros(1),
        demand=zeros(1, c.DEMAND_WIDTH),
        held=zeros(1, 1, c.HELD_WIDTH),
        found=zeros(c.MOST_FOUND, c.FOUND_WIDTH),
        victim=zeros(1, c.V_VALUES + 3 * compared),
        taken=zeros(1),
        tape=zeros(64),
        job=zeros(0, c.JOB_WIDTH),
        ends=zeros(0, c.END_WIDTH),
        given=zeros(0, c.GIVEN_WIDTH),
        past=zeros(0, c.EVENT_WIDTH),
        tree=places.tree,
        domain=places.domain,
        room=zeros(counts, len(places.domain), c.ROOM_WIDTH),
        kept=np.full((counts, c.KEPT_WIDTH), c.NONE, np.int64),
        leaf=places.leaf,
        size=places.size,
        free=places.size.copy(),
        there=places.there,
        standing=np.zeros_like(places.there),
        lack=np.zeros_like(places.size),
        size_kept=places.size_kept,
        filled=zeros(2 * int(policy.state[c.MOST_DOMAINS]), c.FILLED_WIDTH),
        stand=zeros(0, c.STAND_WIDTH),
        placed=zeros(1),
        touched=zeros(_CHANGES * len(places.leaf)),
        tally=zeros(counts, int(policy.state[c.CAUSES]) + len(places.resources)),
    )

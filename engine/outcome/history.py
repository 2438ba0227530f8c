"""A history as columns: one row of 64-bit integers for each event, in the order in which a journal has them.

A core that plays jobs by itself (`JobLoop` in `engine/cores.py`) gives what it played in this form. Jobs, nodes and slots are numbers: jobs
in the order in which they are submitted, nodes and slots those of the policy graph.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.int64]
"""Rows of 64-bit integers."""

E_KIND, E_TIME, E_JOB, E_QUEUE, E_CHARGES, E_CHARGED, E_BLOCK, EVENT_WIDTH = range(8)
"""The columns: the kind of the event; its moment, in microseconds; the job, and the node of the queue in which it is admitted or evicted
(-1 where there is none). Of an admission, where its charges begin in `tape` and how many there are. The last one is for the core that
wrote it; of an eviction, the one for where the charges begin is so as well."""

SUBMITTING, FINISHING, ADVANCING, ADMITTING, EVICTING_ONE, REPLACING, REJECTING, DEFERRING = range(8)
"""Kinds of events: three of facts, five of decisions."""

EVENT_NAMES = {
    SUBMITTING: "WorkloadSubmitted",
    FINISHING: "WorkloadFinished",
    ADVANCING: "TimeAdvanced",
    ADMITTING: "WorkloadAdmitted",
    EVICTING_ONE: "WorkloadEvicted",
    REPLACING: "WorkloadReplaced",
    REJECTING: "WorkloadRejected",
    DEFERRING: "WorkloadDeferred",
}
"""What the events of each kind are called."""

CANCELLING = 8
"""One more kind of facts that a core may be given (`GivenFacts`): a workload ends, whether it runs or not. Once played: FINISHING."""

CHARGE_SLOT, CHARGE_AMOUNT, CHARGE_USED, CHARGE_OWNED, CHARGE_BORROWED, CHARGE_WIDTH = range(6)
"""What `tape` has of each charge of an admission: the slot, the amount, what its queue used before and owns, how much of it is borrowed."""

NumberOf = Callable[[tuple[str, ...]], int]
"""Numbers what has a name: `("queue", name)`, `("flavor", name)`, `("resource", name)`, `("slot", flavor, resource)`. Histories that are
compared are numbered alike."""

NOTHING = -(2**63)
"""What stands in `Decided.content` behind the last number of a row."""


class Decided(NamedTuple):
    """What the decisions of a chunk decide: a row for each, in their order.

    `rows` are those of its events, `queues` the numbers of their queues (-1: none counts). Two decisions of one kind about one workload
    decide the same if their queues and the numbers in `content` are the same; reasons do not count.
    """

    rows: Columns
    queues: Columns
    content: Columns

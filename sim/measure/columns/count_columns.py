"""The columns of the tables in `count_tables.py`, and the codes that stand in them. Kernels read them as `c.NAME`.

GPUs are thousandths, other devices whole ones, times microseconds.
A sum that 64 bits may not hold has two columns, `high` and `low`: it is high * 2**62 + low.
"""

from ....engine.outcome.history import *  # noqa: F403

IS_CANCELLATION = E_CHARGED  # noqa: F405
"""Of an end, which charges nothing: whether it is a cancellation. `StretchMeasure` writes it; as a kind it would count as a decision."""

NONE = -1
"""No queue, no workload, no moment; the end of a list."""

MOST = 2**62
"""Amounts and moments are below that: the sum of two of them fits 64 bits."""

MOST_OWNED = 2**31
"""What all queues together own of a flavor is below that: the product of two parts of it fits 64 bits."""

# --- state: one row -------------------------------------------------------------------------------------------------

(
    NOW, FACTS, DECISIONS, QUEUES, COUNTED, POOLS, AT_ONCE,
    CHARGES, FREE_CHARGE, FIRST_TOUCHED, WAITED,
    WRONG_ROW, WRONG_SLOT, STATE_WIDTH,
) = range(14)  # fmt: skip
"""`CHARGES` rows of `charge` are in use, and `FREE_CHARGE` is the first free one. `FIRST_TOUCHED` is the first queue about which something
changed. `WAITED` rows of `waited` are filled. `WRONG_ROW` and `WRONG_SLOT` say where the events contradict each other."""

# --- queue: one row for each queue in the order in which they lend; the last one stands for no queue -----------------------------

(
    WAIT_TOTAL, WAIT_TOTAL_LOW,
    SUBMITTED, ADMITTED, EVICTED, FINISHED, CANCELLED, REJECTED, WAIT_MOST, OWNER_WAIT_MOST,
    FIRST_WAITING, FIRST_ENTITLED, IS_TOUCHED, NEXT_TOUCHED, ORDER, ORDER_LENGTH, QUEUE_WIDTH,
) = range(17)  # fmt: skip
"""`ORDER` is where the flavors that it may use begin in `order`, best first."""

# --- counted: a row for each queue and what is counted together: first all GPUs, then each other device ----------------------

(
    USED, BORROWED, LENT, USED_AREA, USED_AREA_LOW, BORROWED_AREA, BORROWED_AREA_LOW, LENT_AREA, LENT_AREA_LOW, COUNTED_WIDTH,
) = range(10)  # fmt: skip

# --- share: a row for each queue and pool ------------------------------------------------------------------------------

OWNS, USES, POOLED, LENDS, WAS_USED, SHARE_WIDTH = range(6)
"""`POOLED` is what the queue used when lending was shared out last; `WAS_USED` says that it was charged something at least once."""

# --- pool: what is lent as one: the GPUs of each flavor, in the order of flavors, then each other device of a flavor -----------

EXISTS, OWNED, POOL_BORROWED, IDLE, POOL_LENT, IS_CHANGED, HAS_LENT, POOL_COUNTED, ROOM, LEFT, POOL_WIDTH = range(11)
"""`POOL_COUNTED` is its number in `counted`.

`ROOM` and `LEFT` are for the GPUs of one queue: what it owns and does not use, and what the pod sets of one workload leave of that."""

# --- slot ---------------------------------------------------------------------------------------------------------------

SLOT_POOL, UNITS, SLOT_EXISTS, SLOT_USED, SLOT_WAS_USED, SLOT_BEFORE, SLOT_WIDTH = range(7)
"""`UNITS` is how many units of its pool one of its resource is: thousandths of a GPU, 1 of another device, 0 if it is not counted.
`SLOT_BEFORE` was used of a slot, to which the decisions of a batch admit, before them."""

# --- what jobs ask for: job, kind, ask ---------------------------------------------------------------------------------------

JOB_QUEUE, JOB_KIND, JOB_NAME, JOB_WIDTH = range(4)
FIRST_ASK, ASKS, KIND_GPUS, KIND_WIDTH = range(4)
ASK_GPUS, MAY_USE = range(2)
"""A pod set: the GPUs it asks for, then for each flavor whether it will do."""

# --- live: a row for each name -----------------------------------------------------------------------------------------------

(
    STATE, LIVE_JOB, LIVE_QUEUE, SINCE, FIRST_CHARGE, EARLIER, LATER, ENTITLED_SINCE, NEXT_ENTITLED, LIVE_WIDTH,
) = range(10)  # fmt: skip
"""`EARLIER` and `LATER` are its neighbours among those who wait in its queue."""

GONE, WAITING, RUNNING = range(3)
"""States; a name is GONE while no workload of that name is live."""

# --- charge, waited --------------------------------------------------------------------------------------------------------

SLOT, AMOUNT, NEXT_CHARGE, CHARGED_WIDTH = range(4)
WAITED_IN, WAITED_SECONDS, WAITED_WIDTH = range(3)

# --- what counting returns ---------------------------------------------------------------------------------------------------

FINE, LIVE_ALREADY, NOT_LIVE, RUNS_ALREADY, DOES_NOT_RUN, WAITS_ELSEWHERE, BEYOND_SUPPLY = range(7)
"""That all is well, or how the events contradict each other."""

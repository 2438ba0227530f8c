"""The columns of the tables in `tables.py`, and the codes that stand in them. Kernels read them as `c.NAME`."""

from ..outcome.history import *  # noqa: F403
from ..units import LAST_MOMENT as LAST_MOMENT

NONE = -1
"""No limit, no node, no workload, no rule, no end of a list."""

NEVER, ANYTIME, BEYOND, MOST_JOINED = 2**62, -(2**62), 2**61, 2**59
"""A wish that no reach comes up to; one that every reach comes up to; a reach beyond every other wish; when `JOINED` begins anew."""

ONE_SHARE, WIDEST_SHARE = 2**20, 2**22
"""A share of one as a bound is written, and the bound of all shares that are as great or greater."""

ZERO_EXPONENT = -100_000
"""The exponent of a rounded share of nothing: less than that of any other."""

MOST_NARROW = 2**31
"""A bound of all numbers in a table of 32-bit integers."""

DONE, MORE = range(2)
"""What a kernel returns: it has done all there is to do; or the tables have to grow first, and it is to be called again."""

SETTLE, RUN_CYCLE, NEXT_CYCLE, BEGIN_CYCLE, ENTER, ENTER_ALL, LEAVE, END_WORKLOAD, PLAY, ONLY_WAITS = range(10)
"""The kernels that are called from outside."""

# --- state: one row -------------------------------------------------------------------------------------------------

(
    TIME, SEQ, CAUSE, SUBMISSIONS, CYCLE, IDLE, FRESH, LIVE, WAITING, WAITS_AT, FIRST_WAITING, FIRST_STIRRED,  # what decides
    FIRST_GAVE, ASKED_IN_ALL,  # for whom others had to go; what all who are live ask for, in cycles
    NODES, SLOTS, RESOURCES, QUEUES, FOREST, FLAT, TOGETHER, COUNTS_LEVELS, BY_RULES, TELLS_TIME, FAIR, FORMULA, ROUNDED,  # the policy
    STRATEGY_1, STRATEGY_2, PERIOD, MOST_IDLE, POD_COUNT, MOST_IN_ALL,
    KEEPS, SHARES_AFTER, RESTS_ON_QUEUE, RESTS_ON_COHORT, EVICTS_OWN, FIRST_CHANGED, FIRST_OPEN, OPENING,  # refusals that are kept
    SLOT_OF, RULES, QUEUE_KEYS, WORKLOAD_KEYS, VICTIM_KEYS,  # where things begin in the pool
    FREE_ROW, FREE_WAIT, FREE_CELL, FREE_CELLS, CELLS_NEED,  # room in the tables
    TAPE_END, PEN, FIRST_BLOCK, LAST_BLOCK, TAPE_NEED, RECORD_NEED,  # the tape
    PASS, IN_PASS, DECIDED, SETS_FREE, WAKE, WAKE_IS_KNOWN, FIRST_RESERVED, TICK, TAKEN,  # a pass or a cycle
    NOMINATED, FOUND, VICTIMS, VICTIMS_OF, FRESH_PASSED_OVER, FIRST_SUPERIOR, GOES_ON, ONLY,  # a nomination
    MOST_POD_SETS, MOST_RESOURCES, VICTIM_WIDTH,  # how wide tables are
    NEXT_JOB, ENDS, ADMISSIONS, RESUMES, HORIZON, PAST_END, STAGE, LAST_FACT, LAST_OUTSIDE, LATE, IN_CYCLES, IS_GIVEN,  # facts in a row
    PLAYS_WAKES, EVICTING_WAKES,
    PLACES, PLACING_WAY, TRIES_APART, PLACED_FLAVORS, PLACE_RESOURCES, PODS_AT, CAUSES, SIZES_KEPT, MOST_DOMAINS,  # places of a policy
    PART_WIDTH, WISH_PART, KINDS_AT, KINDS,  # how wide parts of demands are
    STAND_END, STAND_NEED, PLACING, FIT_IN, ENDED_AT,  # a search for places
    ATTEMPT, NOWHERE_FLAVOR, NOWHERE_LEADER, NOWHERE_PART,  # places in a search for flavors (`placement/tried.py`)
    COUNT_READ, COUNTS, TOUCHES, SEEN,  # what is counted, and kept (`placement/kept_rooms.py`)
    FAILED_FLAVOR, FAILED_SET, FAILED_WITH, FAILED_WISH, FAILED_PODS,
    STATE_WIDTH,
) = range(123)  # fmt: skip

# --- node: one row for each node of the quota tree; first what is read of every queue that puts up a workload ----------------

(
    PARENT, TOP, QUEUE_INDEX, WAITING_AFTER, INACTIVE, STRICT, PREEMPTOR, BY_USAGE, LINE, LOOKS_ON_BORROWING, IS_QUEUE, MEETS_AT, BEST,
    NEEDS_OF,  # of whom `plain` notes what is needed from above, until something is charged to the queue
    KEYS_OF, SHARE_IS_KNOWN, SHARE_LEVEL, SHARE_ABOVE, SHARE_BELOW,  # its keys and share, until something is charged at or below it
    SLOTS_BORROWED, BORROWER_BEFORE, BORROWER_AFTER, FIRST_BORROWER,  # of how many slots, its place in its parent's list, its own list
    WEIGHT, WEIGHT_PARTS, HEIGHT, DEPTH, FIRST_CHILD, NEXT_CHILD,
    EPOCH, STIRRED, NEXT_STIRRED, FIRST_PARKED, LAST_PARKED,  # only at the top of a tree, for all that is parked in it
    MET, FIRST_RIVAL, RIVALS, RIVALS_LEFT, GIVERS,  # whose turn it is, and who gives
    BOUND, GREATEST, GREATEST_OF, SECOND, STALE,  # whom a change may help
    LOOKS_ON_EVICTING, RATHER_EVICT, OWN, RECLAIMS, TO_BORROW, HAS_UP_TO, UP_TO,
    PROTECTED_BY, KEPT_BY_KIND, KEPT_BY_SHARES, RUNNING, FIRST_RUNNING, UNLIKE, LAST_STARTED_BY,
    WAITS, WAITING_BEFORE, ALL_PARKED, GENERATION,
    RESERVES, NEXT_VICTIM, FIRST_REFUSED,
    FIRST_ASKED, ASKED_ROW,  # where its part of `asked` begins; which row of its parent's part is its own
    CHANGED, NEXT_CHANGED, NEXT_OPEN, OPENED, LOOKED_AT, GOES_ON_FROM, WALKS, MOST_WAITING, LEAST_RUNNING,
    AFTER_OF, AFTER_LEVEL, AFTER_ABOVE, AFTER_BELOW,  # what its share would be without a workload
    NODE_WIDTH,
) = range(81)  # fmt: skip

# --- plain: a row for each queue and slot that the plain request noted of it asks for, then one that begins with NONE -----------

E_SLOT, E_ASKED, E_FROM_ABOVE, E_BORROWS, PLAIN_WIDTH = range(5)
"""Slot and amount; what has to arrive from above the queue, as its use and limit are; whether the queue would use more than it owns then.
`NEEDS_OF` of the queue's node is the row of the workload; NONE once a charge of the queue changed."""

# --- quota: a row for each node and slot, in the smallest unit -----------------------------------------------------------

(
    NOMINAL, BORROWING, OWNED, LOCAL, POTENTIAL, LENDABLE, USED, TOTAL, QUOTA_WIDTH,
) = range(9)  # fmt: skip

# --- watch: a row for each node and slot: whom a change may help ------------------------------------------------------------

JOINED, REACH, NEED, ROOM, EXTRA, LEAST_FREED, WATCH_WIDTH = range(7)

# --- asked: the trees of `watch/asked.py`; in each row the child whose leaf it is, and the least that is asked for of each slot -----

ASKER, OF_SLOT = range(2)

# --- slot ---------------------------------------------------------------------------------------------------------------

(
    CAPACITY, WORTH, RESOURCE, BY_RESOURCE, LESS, IN_USAGE, IN_WHOLE, TOUCHED, NEEDED, LEFT, LAST_SET, LAST_J, HELPS, LARGEST, SLOT_WIDTH,
) = range(15)  # fmt: skip

# --- work, when: one row for each live workload; wait: one for each that is pending, as in passed and wish ----------------------

(
    NAME, SPEC, SHAPE, QUEUE, PINNED, EVICTIONS, UID, LOCAL_QUEUE, REPLACES, HELD, TURNED_AWAY,
    WAIT,  # its row of `wait`, as long as it is pending
    HOLDING, EVICTING,  # while it runs
    EARLIER, LATER, ABOVE,  # in its queue's line, or among those who run there
    OUT, GONE,  # while something is decided
    PLACES_OF,  # a list of cells, while it runs
    WORK_WIDTH,
) = range(21)  # fmt: skip

NUMBER, SUBMITTED, QUEUED, ENTERED, ADMITTED, STARTED_BY, PRIORITY, WHEN_WIDTH = range(8)
"""Of each row of `work` what takes 64 bits: moments, the numbers of its submission and of the fact that let it run, its priority with its
boost."""

(
    IN_LINE,
    DEFERRED, DEFERRED_HOW,  # why a cycle put it off (0: none did), and how (`heads.py`)
    TRIED, SHOWN_VICTIMS,  # lists of cells; in a free row `TRIED` says where the next free one is
    WAIT_WIDTH,
) = range(6)  # fmt: skip

# --- cell: a row of some list ---------------------------------------------------------------------------------------------

NEXT, SLOT, AMOUNT = range(3)
"""What is charged, or reserved; requests in `ask` have the same columns, with their number at [0, 0]."""

CHARGES, GIVEN = range(1, 3)
"""A holding: the lists of what is charged, and of the flavors that were given."""

W_POD_SET, W_RESOURCE, W_FLAVOR, W_COUNT, CELL_WIDTH = range(1, 6)
"""A flavor that was given to a pod set."""

W_LEAF, W_STRAY, W_PODS = W_RESOURCE, W_FLAVOR, W_COUNT
"""A place: the pod set, the lowest domain as a row of `leaf`, and the pods of it that stand there. `W_STRAY`: the node belongs to their
flavor no more, and the row is of another flavor that has it."""

W_INDEX, W_NAME = W_FLAVOR, W_POD_SET
"""Where a search for flavors stopped; a name in a list of names."""

SCAN_CYCLE, SCAN_GENERATION = range(1, 3)
"""The first cell of `TRIED`, before where a search for flavors stopped: in which cycle, and how often room had become free in the queue."""

RESERVED, RESERVED_IN, RESERVED_BY, RESERVED_PLACES = range(1, 5)
"""A reservation: the list of what is charged, and the queue in which; the row of the workload, and the list of its places."""

# --- wish: of each row of `wait` and slot, the own one and the least of those below in the line's tree -----------------------

WISH, LEAST, WISH_WIDTH = range(3)

# --- name, shape, local ----------------------------------------------------------------------------------------------------

ROW, JOB, GAVE, NEXT_GAVE, MARKED, NAME_WIDTH = range(6)
"""`ROW` is the last row of a name, whose workload may be over. `MARKED` of a superior is the next one, or itself; NONE of others."""

REFUSED, HOPELESS, SHAPE_WIDTH = range(3)
USAGE_RANK, LOCAL_WIDTH = range(2)

# --- spec: what workloads ask for; a demand begins with these, and points to its parts ------------------------------------

(
    S_PODSETS, S_RESOURCES, S_PODS, S_NAMESPACE, S_SPARE, S_MOST, S_BITS, S_TEXTS, S_TOTALS, S_LIST, S_SETS, S_SET_WIDTH, S_HOLDINGS,
    S_PLACES,
    SPEC_HEAD,
) = range(15)  # fmt: skip
R_ID, R_GROUP, R_TURN, RESOURCE_WIDTH = range(4)  # R_TURN: its place in the order by which searches go on
P_LEFT, P_COUNT, P_LEAST, P_GROUP, P_NAME, P_REQUESTS = range(6)

A_ASKS, A_AMOUNTS = range(2)
"""A pod set's part about places: whether it asks for anything; what one pod takes of each resource of places; its wish on each flavor; what
keeps it off each kind of node."""

I_REFUSED, I_ALIKE, I_LEVEL, I_SLICE_LEVEL, I_REQUIRED, I_SAID, I_LOOSE, I_SLICE_SIZE, I_FIT_EMPTY, I_LAYERS = range(10)
MOST_LAYERS, MOST_LEVELS = 4, 16
I_INNER = I_LAYERS + 1 + 2 * MOST_LAYERS
WISH_PART_WIDTH = I_INNER + MOST_LEVELS + 1
"""A wish: why it cannot be (0: it can), a number that all have who fit alike, levels, whether one is named, how pods come in slices; how
many pods are known to find places on empty nodes; how many layers of slices, with level and size of each; of each level how many pods stand
together in one domain of it."""

# --- places: tree (a row for each flavor), domain, leaf (its lowest domains); filled and stand in a search -------------------------

T_LEVELS, T_OF_NODES, T_FIRST = range(3)
TREE_WIDTH = T_FIRST + 2 * MOST_LEVELS
D_PARENT, D_FIRST_CHILD, D_CHILDREN, D_LEAF, DOMAIN_WIDTH = range(5)
R_CAUSE, R_PODS, R_SLICES, R_PODS_LED, R_SLICES_LED, R_LEADERS, ROOM_WIDTH = range(7)
"""What was counted in a domain: what keeps pods off it (0: nothing), pods and slices that fit, the same beside the leader, leaders."""

K_WORKERS, K_LEADER, K_EMPTY, K_UP_TO, K_USED, KEPT_WIDTH = range(6)
"""For whom a count is: how pods and their leader are alike, whether nobody else is there; up to where in `touched` it knows of changes, and
when it was asked for last."""

L_NODE, L_TWIN, L_KIND, L_SHARED, L_DOMAIN, L_TOUCHED, L_UNLIMITED = range(7)
"""Of a lowest domain: its place among all (flavors of the same nodes share it), the next flavor's row of the same node (or itself), the
kind of its node, the row of `standing` for what flavors that share its nodes in part use together (NONE: none do), its row of `domain`,
the place of its last change in `touched` (NONE: there is none), and of each resource whether the node does not limit it."""

Z_DOMAIN, Z_PODS, Z_LEADERS, FILLED_WIDTH = range(4)
P_SET, P_LEAF, P_PODS, STAND_WIDTH = range(4)
COUNTED, PACKED, SPREAD, KEEPING_ROOM = range(4)
"""How pods are placed."""

# --- a nomination: nom, choice, demand, held, found, victim ----------------------------------------------------------------

(
    N_ROW, N_QUEUE, N_MODE, N_LEVEL, N_REPLACED, N_VICTIMS, N_ENDED,
    N_IS_PLAIN, N_NOTED, N_TRIED, N_UNSAID,  # `flavor/plain.py`, `heads.py`
    N_GRADE, N_REASON, N_FAILED, N_UNTIL, N_LATER, N_FIRST_VICTIM, N_BLOCK,
    N_PLACED, N_STAND, N_STANDS,  # whether pods need places, and where these stand in `stand`
    N_SHORT,  # whether there is too little quota on one of its flavors
    N_PODS,
) = range(23)  # fmt: skip
"""`N_NOTED` says of whom a plain request is noted, as a row plus 1 (0: of nobody). `N_TRIED` belongs to that request, so it counts where
`N_IS_PLAIN` is 1. `N_UNSAID` says whether nothing is to be told of a head that fits no more when it has its turn."""

C_FLAVOR, C_TRIED, C_GRADE, CHOICE_WIDTH = range(4)
(
    D_TOTAL, D_BEFORE, D_FOUND, D_FLAVOR, D_GRADE, D_LEVEL, D_SHORT, D_TRIED, D_NOW, D_LEVEL_NOW, D_SHORT_NOW, DEMAND_WIDTH,
) = range(12)  # fmt: skip
H_ANY, H_FLAVOR, H_AMOUNT, HELD_WIDTH = range(4)
X_GRADE, X_LEVEL, X_UNTIL, X_EVICTS, X_BY_PART, X_PLACED, X_ATTEMPT, X_FOR, X_SETS, FOUND_WIDTH = range(10)
V_ROW, V_KIND, V_RULE, V_COMPARED, V_NEXT, V_NEXT_KEY, V_NEXT_VALUE, _, _, V_VALUES = range(10)

ASK_PART, ASK_SHORT, ASK_LEFT, ASKS_FOUND = range(4)
MOST_FOUND = 512
ASKS = ASKS_FOUND + MOST_FOUND
REQUESTS = 5
"""The requests in `ask`: a part that is judged, what is short of one, what is left of one; then those searched for, then of nominations."""

NO_MATCH, EXCEEDING, MAY_NOT_EVICT, NO_VICTIMS, PROTECTED, PREEMPT, RECLAIMING, FIT = range(8)
"""Grades, as in `outcome/nomination.py`."""

NO_FIT, BY_EVICTION, DEFERRED_FIT, FITS = range(4)
"""Modes, as in `outcome/nomination.py`."""

(
    WAITING_FOR_QUOTA, EXCEEDS_MAX_QUOTA, POD_TOO_LARGE, NO_MATCHING_FLAVOR, FOR_VICTIMS, PENDING_EVALUATION, MISCONFIGURED,
    TOPOLOGY_PLACEMENT_FAILED,
) = range(1, 9)  # fmt: skip
"""Why a workload waits; 0 is none."""

(
    MISSING, NOT_SELECTED, TAINT, NOT_NOMINATED, LACKS_RESOURCE, OTHER_FLAVOR, EXCEEDS, SHORT, UNSERVED, TOO_LARGE,
    WITHOUT_PLACES, ONLY_WITH_PLACES, NO_LEVEL, NO_PLACES,
) = range(1, 15)  # fmt: skip
"""Kinds of obstacles."""

IN_QUEUE, RECLAIM, OTHER, FAIR_SHARING, WHILE_BORROWING_KIND = range(5)
"""Kinds of evictions for others."""

POLICY_NOTHING, POLICY_LOWER, POLICY_NEWER, POLICY_ANY = range(4)
"""Whom a queue may evict."""

BY_OWNED, BY_BORROWING, BY_CAPACITY = range(3)
"""Kinds of limits."""

KEEPS_NOTHING, BY_TRIGGERS, BY_SHARES = range(3)
"""Which bound keeps refusals: none, what nodes own where rules rest on that, or their shares as well."""

BY_PRIORITY, BY_ANY_GUARD = 1, 2
"""By what a workload may evict others of its own queue: all rules want a lower priority, or something else; 0 where no rule lets it."""

BY_WISHES, BY_CHARGES = 1, 2
"""What changed of a queue: what those in its line wish for, or what it uses too."""

BY_NOTHING, BY_BORROWED, BY_USE = range(3)
"""Formulas of shares."""

FINAL_SHARE, INITIAL_SHARE = 1, 2
"""Strategies of fair preemption; 0 is none."""

BY_CHECK, BY_NAMESPACE, BY_PODS = 1, 2, 3
"""Why the head of a queue is turned away."""

# --- pool: what the policy says, in lists and programs --------------------------------------------------------------------

K_FIELD, K_ARGUMENT, K_DESCENDING, KEY_WIDTH = range(4)
FIELD_WIDTH = 3
L_TRIGGER, L_SCOPE, L_SAME_COHORT, L_GUARD, L_TIMELESS, L_BY_KIND, L_BY_SHARES, L_ORDER, L_IN_ORDER, L_COMPARED, RULE_WIDTH = range(11)
FITS_QUEUE, FITS_COHORT = range(2)
SAME_QUEUE, BORROWING_QUEUES, ANY_QUEUE = range(3)
Y_QUEUE, Y_SIDE, Y_BEST, Y_FROM, YIELDING_WIDTH = range(5)
"""Of a queue where a rule may find victims: its node, the one above it (or itself) just below where its path meets the workload's, the
best victim in it, and from whom on it is looked for: nobody before that may go, whatever becomes of shares."""

(
    F_PRIORITY, F_PODS, F_EVICTIONS, F_SUBMITTED, F_QUEUED, F_ADMITTED, F_WAITING, F_RUNNING, F_TOTAL, F_TEXT, F_SHARE, F_SHARE_AFTER,
    F_BORROWING,
) = range(13)  # fmt: skip
WORKLOAD, VICTIM = range(2)

G_CODE, G_OPERATOR, G_KIND, G_SUBJECT, G_FIELD, G_ARGUMENT, G_FORM, G_RIGHT, _, _, G_BELOW_NEXT, GUARD_WIDTH = range(12)
COMPARE, NEGATE, BOTH, EITHER = range(4)
LESS_THAN, AT_MOST, EQUAL, UNEQUAL, MORE_THAN, AT_LEAST = range(6)
WITH_NUMBER, WITH_FIELD, WITH_PATTERN = range(3)
OF_NUMBER, OF_TIME, OF_SHARE = 0, 1, 2

# --- tape: what was decided ------------------------------------------------------------------------------------------------

(
    B_FOLLOWING, B_ENDED, B_NAME, B_QUEUE, B_PRIORITY, B_SPEC, B_LEVEL, B_MODE, B_REASON, B_PARKED, B_PREEMPTING, B_ALIKE, B_TRIED, B_TOLD,
    B_LIMIT, _, _, _, _, B_REQUEST, B_REQUESTED, B_REPLACED, B_REPLACED_QUEUE, B_HOLDS, B_HELD, B_VICTIMS, B_EVICTED, FLAVORS_AT,
) = range(28)  # fmt: skip
O_KIND, O_FLAVOR, O_RESOURCE, O_INDEX, O_ASSUMED, O_ASKED, O_LIMIT, OBSTACLE_WIDTH = range(8)
Q_WANTED, Q_COUNTS, Q_ATTEMPTS, SEARCH_WIDTH = range(4)
T_FLAVOR, T_GRADE, T_LEVEL, T_REASON, T_OBSTACLES, ATTEMPT_WIDTH = range(6)
(
    ADMITTED_NOW, ENDS_NO_FIT, ENDS_NO_CANDIDATES, ENDS_OVERTAKEN, ENDS_OVERLAPPING, ENDS_PREEMPTING, ENDS_DEFERRED, ENDS_TURNED_AWAY,
) = range(8)  # fmt: skip
OF_EXCEEDING, OF_NEEDED, OF_SHORT, OF_ANY = range(4)

# --- facts in a row: a row for each job, a heap of ends or given facts, what was played -----------------------------------------

(
    J_TIME, J_LENGTH, J_RANK, J_REFUSED, J_REJECTED, J_STARTED, J_ADMISSION, J_TURNS, J_TURNS_SINCE,
    J_NAME, J_SPEC, J_SHAPE, J_QUEUE, J_PRIORITY, J_PINNED, J_SUBMITTED, J_UID, J_LOCAL_QUEUE, J_REPLACES, J_HELD, J_TURNED_AWAY,
    JOB_WIDTH,
) = range(22)  # fmt: skip
END_TIME, END_ADMISSION, END_JOB, END_WIDTH = range(4)
GIVEN_KIND, GIVEN_TIME, GIVEN_JOB, GIVEN_WIDTH = range(4)
CHOOSING, DECIDING = range(2)
"""Stages of a loop: which fact is next; what follows from it."""

OVER, MORE_ROOM, ENOUGH, GIVE_UP, TOO_LATE = range(5)
"""Why a loop stops: nothing is left to play; tables have to grow; so much was played as was asked for; what comes next is not for
it (a fact that is refused, workloads that evict each other again and again, or, where only jobs are left whose end nobody knows, a wake
after `HORIZON`); a job would end after the last moment."""

MOST_TIME = 2**61
"""The latest moment and the longest duration; a quarter of what 64 bits hold, so that they can be added."""

MOST_TURNS = 16
"""How often wakes may evict a job between two other facts before the closed loop gives up."""

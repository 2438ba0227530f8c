"""How single decisions change the tables: those that are recorded, and those that a fact makes by itself."""

from ..events import AnyDecision, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted, WorkloadMoved, WorkloadPlaced, WorkloadResized
from ..intake import changes
from ..outcome.decision import Eviction, LastDeferral, Outcome, Rejection
from ..outcome.named import charged
from . import columns as c
from .kernels.places import stir
from .store import TableStore
from .tables import BeyondBoundsError
from .usage_books import UsageBooks


def apply_decision(store: TableStore, usage: UsageBooks, event: AnyDecision) -> None:
    """Change the tables by a decision as it was recorded. Raises BeyondBoundsError, with nothing changed but the time."""
    state, now = store.tables.state, event.time
    state[c.TIME] = now
    match event:
        case WorkloadAdmitted():
            request = charged(store.slot_of, event.usage)
            with usage.changing(event.workload, now):
                store.change(event.workload, lambda workload: changes.admit(workload, now, event.cause, request, event.assignments))
            usage.charge(event.workload)
            _count(store)
        case WorkloadEvicted():
            evict(store, usage, event.workload, event.beneficiary, event.by if event.preemption == "operator" else None, now)
        case WorkloadPlaced() | WorkloadMoved():
            replaces_lost = event.reason == "NodeLost"
            with usage.changing(event.workload, now):
                store.change(event.workload, lambda workload: changes.place(workload, event.assignments, replaces_lost))
            _count(store)
        case WorkloadResized():
            raise BeyondBoundsError("a workload grows")
        case WorkloadDeferred():
            tried = tuple((each.pod_set, each.resource, each.index) for each in event.tried)
            last = LastDeferral(event.reason, event.outcome, event.waits == "parked", event.preempting, event.alike, tried, event.victims)
            store.defer(event.workload, last)
        case _:
            end(store, usage, event.workload, now)


def carry_out(store: TableStore, usage: UsageBooks, outcome: Outcome) -> None:
    """Change the tables by what a fact decides by itself: an eviction for nobody, or a rejection."""
    now = int(store.tables.state[c.TIME])
    if isinstance(outcome, Eviction):
        operator = outcome.operator if outcome.victim.kind == "operator" else None
        evict(store, usage, outcome.victim.workload, outcome.beneficiary, operator, now)
    elif isinstance(outcome, Rejection):
        end(store, usage, outcome.workload, now)


def evict(store: TableStore, usage: UsageBooks, name: str, beneficiary: str | None, operator: str | None, now: int) -> None:
    """Let a running workload wait again."""
    with usage.changing(name, now):
        row = store.change(name, lambda workload: changes.evict(workload, operator, now))
    if beneficiary is not None and store.tables.state[c.BY_RULES]:
        store.grow()
        store.note_who_gave_way(name, beneficiary)
    stir(store.tables, row)
    _count(store)


def end(store: TableStore, usage: UsageBooks, name: str, now: int) -> None:
    """Let a workload be over by a decision."""
    usage.settle(name, now)
    store.end(name)
    _count(store)


def _count(store: TableStore) -> None:
    store.tables.state[c.SEQ] += 1
    store.tables.state[c.IDLE] = 0

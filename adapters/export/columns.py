"""One flat row for each event: the columns in order, and how an event fills them. `docs/export.md` describes them.

Under the same `VERSION` no column is renamed, removed or given another meaning; a new column comes before payload and chain, the last two.
Amounts are integers in the smallest unit, GPUs in thousandths; times are microseconds since the epoch. Absent values are None.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from ...engine.event_parts import Assignment, Charge, Placement, PodSet
from ...engine.events import (
    AnyDecision,
    AnyEvent,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadReplaced,
    WorkloadResized,
)
from ...engine.explain.standing import Standing
from ...engine.facts import (
    CapacityChanged,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    OperatorAction,
    PolicyActivated,
    UsageReported,
    WorkloadAdopted,
    WorkloadSubmitted,
)
from ...engine.outcome.grounds import Unplaced, Why
from ...engine.units import INT64_MAX
from ...journal.errors import JournalError
from ...journal.read.workload_origins import Origin
from ...journal.records import Recorded
from ...sim.measure.gpu_amounts import thousandths
from .table_form import FieldType, TableForm, TableRow

VERSION = 1
"""Of the columns: the `v` of a line, and `gpol.columns` in a Parquet file."""

ColumnType = Literal["integer", "text", "boolean", "time", "requests", "amounts", "assignments", "places", "operands", "resources"]
"""A plain type, or the name of a list of objects with the fields that `OBJECTS` gives."""

OBJECTS: dict[str, dict[str, FieldType]] = {
    "requests": {"pod_set": "text", "count": "integer", "resource": "text", "amount": "integer"},
    "amounts": {"flavor": "text", "resource": "text", "amount": "integer"},
    "assignments": {"pod_set": "text", "count": "integer", "resource": "text", "flavor": "text"},
    "places": {"pod_set": "text", "domain": "text", "pods": "integer"},
    "operands": {"name": "text", "value": "text"},
    "resources": {"resource": "text", "amount": "integer"},
}
"""The fields of the objects in a list."""

PLACE_COLUMNS: dict[str, ColumnType] = {
    "places": "places",
    "unplaced_flavor": "text",
    "unplaced_level": "text",
    "unplaced_fit": "integer",
    "unplaced_of": "integer",
    "unplaced_closest": "text",
}
"""Where pods stand, and why there are no places for them: what `placed` and `because` fill."""

WHY_COLUMNS: dict[str, ColumnType] = {
    "rule": "text",
    "rule_file": "text",
    "rule_line": "integer",
    "operands": "operands",
    "limit_kind": "text",
    "limit_node": "text",
    "limit_flavor": "text",
    "limit_resource": "text",
    "limit_asked": "integer",
    "limit_available": "integer",
    "limit_deficit": "integer",
    "limit_file": "text",
    "limit_line": "integer",
}
"""Why something was decided or waits: what `because` fills."""

COLUMNS: dict[str, ColumnType] = {
    "seq": "integer",
    "time": "time",
    "kind": "text",
    "is_decision": "boolean",
    "cause": "integer",
    "workload": "text",
    "submission": "integer",
    "submitted": "time",
    "queue": "text",
    "namespace": "text",
    "user": "text",
    "group": "text",
    "workload_kind": "text",
    "local_queue": "text",
    "priority": "text",
    "pods": "integer",
    "asked_gpu_milli": "integer",
    "requests": "requests",
    "gpu_milli": "integer",
    "borrowed_gpu_milli": "integer",
    "usage": "amounts",
    "borrowed": "amounts",
    "assignments": "assignments",
    "beneficiary": "text",
    "preemption": "text",
    "replaced_by": "text",
    "waits": "text",
    "reason": "text",
    **WHY_COLUMNS,
    "operator": "text",
    "action": "text",
    "flavor": "text",
    "node": "text",
    "capacity": "resources",
    "policy_file": "text",
    "policy_digest": "text",
    **PLACE_COLUMNS,
    "payload": "text",
    "chain": "text",
}
"""Every column with its type, in order."""

EVENT_ROWS = TableForm("gpol.columns", VERSION, COLUMNS, OBJECTS)
"""The table of events."""

_NOTHING: TableRow = dict.fromkeys(COLUMNS)


def row_of(recorded: Recorded, origin: Origin) -> TableRow:
    """The row of an event, all columns in order. Raises JournalError for GPUs that 64 bits do not hold in thousandths."""
    event = recorded.event
    row = {
        **_NOTHING,
        "seq": recorded.seq,
        "time": event.time,
        "kind": event.kind,
        "is_decision": event.is_decision,
        "cause": getattr(event, "cause", None),
        "workload": getattr(event, "workload", None),
        "queue": origin.queue,
        "payload": recorded.payload.decode(),
        "chain": recorded.chain.hex(),
    }
    if origin.submission is not None:
        row.update(_submission(origin.submission), submission=origin.seq)
    if isinstance(event, AnyDecision):
        row.update(_why(event))
    row.update(_own(event))
    for name in ("asked_gpu_milli", "gpu_milli", "borrowed_gpu_milli"):
        if row[name] is not None and row[name] > INT64_MAX:
            raise JournalError(f"event {recorded.seq} is about more GPUs than 64 bits hold in thousandths", "leave it out by a filter")
    return row


def _submission(submission: WorkloadSubmitted) -> TableRow:
    """What every event of a workload says of its submission."""
    return {
        "submitted": submission.time,
        "namespace": submission.namespace,
        "user": submission.user,
        "group": submission.group,
        "workload_kind": submission.workload_kind,
        "local_queue": submission.local_queue,
        "priority": None if submission.priority is None else str(submission.priority),
    }


def _why(decision: AnyDecision) -> TableRow:
    return {"reason": decision.reason, **because(decision.why)}


def because(told: Why | Standing) -> TableRow:
    """The columns that say why something was decided or waits; those about a rule, a limit and its line only where there is one."""
    row: TableRow = {"operands": [{"name": operand.name, "value": operand.value} for operand in told.operands]}
    if told.rule is not None:
        row.update(rule=told.rule.name, rule_file=told.rule.file, rule_line=told.rule.line)
    if told.places is not None:
        row.update(_unplaced(told.places))
    limit = told.limit
    if limit is None:
        return row
    row.update(limit_kind=limit.limit, limit_node=limit.node, limit_flavor=limit.flavor, limit_resource=limit.resource)
    row.update(limit_asked=limit.asked, limit_available=limit.available, limit_deficit=limit.deficit)
    if limit.source is not None:
        row.update(limit_file=limit.source.file, limit_line=limit.source.line)
    return row


def _unplaced(told: Unplaced) -> TableRow:
    """Why there are no places: on which flavor, by which level, for how many there is room, and in which domain for most."""
    return {
        "unplaced_flavor": told.flavor,
        "unplaced_level": told.level or None,
        "unplaced_fit": told.fit,
        "unplaced_of": told.of,
        "unplaced_closest": "/".join(told.closest) or None,
    }


def placed(some: Iterable[Assignment | Placement]) -> list[TableRow] | None:
    """Where the pods of pod sets stand: each domain by the values of its levels, with `/` between, a node by its name. None if nowhere."""
    found = [{"pod_set": each.pod_set, "domain": "/".join(place.domain), "pods": place.pods} for each in some for place in each.places]
    return found or None


def _assignments(given: Iterable[Assignment]) -> list[TableRow]:
    return [
        {"pod_set": each.pod_set, "count": each.count, "resource": resource, "flavor": flavor}
        for each in given
        for resource, flavor in each.flavors.items()
    ]


def _own(event: AnyEvent) -> TableRow:
    """What events of one kind alone say."""
    match event:
        case WorkloadSubmitted():
            gpus = sum(thousandths(resource, amount * pod_set.count) for pod_set in event.pod_sets for resource, amount in _of(pod_set))
            pods = sum(pod_set.count for pod_set in event.pod_sets)
            return {"pods": pods, "asked_gpu_milli": gpus, "requests": list(_requests(event.pod_sets))}
        case WorkloadAdmitted():
            told = {"assignments": _assignments(event.assignments), "places": placed(event.assignments)}
            return {**_charged(event.usage), **_borrowed(event.borrowed), **told}
        case WorkloadResized():
            told = {"assignments": _assignments(event.assignments), "places": placed(event.assignments)}
            why = {"beneficiary": event.beneficiary, "preemption": event.preemption}
            return {**_charged(event.usage), **_borrowed(event.borrowed), **told, **why}
        case WorkloadMoved():
            told = {"assignments": _assignments(event.assignments), "places": placed(event.assignments)}
            return {"beneficiary": event.beneficiary, **told}
        case WorkloadPlaced():
            return {"assignments": _assignments(event.assignments), "places": placed(event.assignments)}
        case WorkloadAdopted():
            return _adopted(event)
        case WorkloadEvicted():
            return {**_charged(event.usage), "beneficiary": event.beneficiary, "preemption": event.preemption, "operator": event.by or None}
        case WorkloadReplaced():
            return {**_charged(event.usage), "replaced_by": event.by}
        case WorkloadDeferred():
            return {"waits": event.waits}
        case OperatorAction():
            return {"operator": event.by, "action": event.action}
        case CapacityChanged():
            return {"flavor": event.flavor, "capacity": _resources(event.capacity)}
        case UsageReported():
            return {"local_queue": event.local_queue}
        case NodeRemoved():
            return {"node": event.node}
        case NodeAdded() | NodeChanged():
            return {"node": event.node, "capacity": _resources(event.capacity)}
        case PolicyActivated():
            return {"policy_file": event.file, "policy_digest": event.digest, "operator": event.by or None}
        case _:
            return {}


def _of(pod_set: PodSet) -> list[tuple[str, int]]:
    return sorted(pod_set.requests.items())


def _requests(pod_sets: Iterable[PodSet]) -> Iterator[TableRow]:
    """What one pod of each pod set asks for."""
    for pod_set in pod_sets:
        for resource, amount in _of(pod_set):
            yield {"pod_set": pod_set.name, "count": pod_set.count, "resource": resource, "amount": amount}


def _charged(charges: Iterable[Charge]) -> TableRow:
    usage = [charge.model_dump() for charge in charges]
    return {"usage": usage, "gpu_milli": _gpus(usage)}


def _borrowed(charges: Iterable[Charge]) -> TableRow:
    borrowed = [charge.model_dump() for charge in charges]
    return {"borrowed": borrowed, "borrowed_gpu_milli": _gpus(borrowed)}


def _adopted(event: WorkloadAdopted) -> TableRow:
    """A placement says flavors and amounts by resource, in two tables."""
    totals: dict[tuple[str, str], int] = {}
    assignments = []
    for placement in event.placements:
        for resource, flavor in placement.flavors.items():
            assignments.append({"pod_set": placement.pod_set, "count": placement.count, "resource": resource, "flavor": flavor})
            totals[flavor, resource] = totals.get((flavor, resource), 0) + placement.usage.get(resource, 0)
    usage = [{"flavor": flavor, "resource": resource, "amount": totals[flavor, resource]} for flavor, resource in sorted(totals)]
    return {"usage": usage, "gpu_milli": _gpus(usage), "assignments": assignments, "places": placed(event.placements)}


def _gpus(amounts: list[TableRow]) -> int:
    return sum(thousandths(each["resource"], each["amount"]) for each in amounts)


def _resources(capacity: dict[str, int]) -> list[TableRow]:
    return [{"resource": resource, "amount": amount} for resource, amount in capacity.items()]

"""The state of a cluster at a moment as rows: what exists, who runs and is charged for what, who waits and why, and for whom room is kept.

They are what somebody outside needs to judge whether an eviction was necessary. All is read through the protocol of a core. The columns are
described in `docs/state-export.md`.
"""

from collections.abc import Iterable, Iterator, Sequence

from ...engine.cores import Core
from ...engine.event_parts import Assignment, Charge
from ...engine.explain.pending import standing as standing_of
from ...engine.explain.standing import HoldStanding, Standing
from ...engine.facts import WorkloadSubmitted
from ...engine.outcome.named import assignments, charges
from ...engine.policy_graph import PolicyGraph
from ...engine.questions.standing_room import places_of
from ...engine.units import INT64_MAX
from ...engine.workload import Workload
from ...journal.errors import JournalError
from ...journal.journal import Journal
from ...journal.records import Recorded, workload_stream
from ...sim.measure.cluster_figures import is_held
from ...sim.measure.gpu_amounts import thousandths
from .columns import OBJECTS, PLACE_COLUMNS, WHY_COLUMNS, because, placed
from .table_form import FieldType, TableForm, TableRow

STATE_OBJECTS: dict[str, dict[str, FieldType]] = {
    **{name: OBJECTS[name] for name in ("requests", "amounts", "assignments", "places", "operands")},
    "holds": {"reason": "text", "rule": "text or null", "rule_file": "text or null", "rule_line": "integer or null", "said": "text"},
    "keepers": {"workload": "text", "until": "integer", "rule": "text or null"},
    "victims": {"workload": "text"},
    "supplies": {"resource": "text", "exists": "integer", "used": "integer"},
    "taints": {"key": "text", "value": "text", "effect": "text"},
}
"""The fields of the objects in a list."""

STATE_COLUMNS: dict[str, str] = {
    "seq": "integer",
    "time": "time",
    "record": "text",
    "flavor": "text",
    "resource": "text",
    "exists": "integer",
    "workload": "text",
    "submission": "integer",
    "submitted": "time",
    "queue": "text",
    "namespace": "text",
    "user": "text",
    "local_queue": "text",
    "priority": "integer",
    "asked_priority": "text",
    "never_evicted": "boolean",
    "evictions": "integer",
    "requests": "requests",
    "asked_gpu_milli": "integer",
    "admitted": "time",
    "evicting": "boolean",
    "gpu_milli": "integer",
    "usage": "amounts",
    "assignments": "assignments",
    "position": "integer",
    "line": "integer",
    "parked": "boolean",
    "queued": "time",
    "reason": "text",
    **WHY_COLUMNS,
    "holds": "holds",
    "keepers": "keepers",
    "outcome": "text",
    "victims": "victims",
    "until": "time",
    **PLACE_COLUMNS,
    "place": "text",
    "place_path": "text",
    "cordoned": "boolean",
    "taints": "taints",
    "supplies": "supplies",
    "lacks_label": "text",
    "payload": "text",
    "policy_digest": "text",
    "chain": "text",
}
"""Every column with its type, in order."""

STATE_ROWS = TableForm("gpol.state_columns", 1, STATE_COLUMNS, STATE_OBJECTS)
"""The table of a state."""

_NOTHING: TableRow = dict.fromkeys(STATE_COLUMNS)


def state_rows(core: Core, journal: Journal) -> Iterator[TableRow]:
    """The rows of the state that a core stands for, which is the one after event `core.seq` of a journal.

    First what exists and the places where pods may stand, then the workloads that are not over in the order of their submissions, then
    reservations. None before a policy.
    """
    graph = core.graph
    if graph is None:
        return
    chain = journal.at(core.seq).chain.hex()
    moment = {**_NOTHING, "seq": core.seq, "time": core.time, "policy_digest": graph.digest, "chain": chain}
    for each in (_capacity(core, graph), _places(core, graph), _workloads(core, graph, journal), _reservations(core, graph, journal)):
        for row in each:
            if any((row.get(name) or 0) > INT64_MAX for name in ("asked_gpu_milli", "gpu_milli")):
                raise JournalError(f"`{row['workload']}` is about more GPUs than 64 bits hold in thousandths", "use `gpol state`")
            yield {**moment, **row}


def _capacity(core: Core, graph: PolicyGraph) -> Iterator[TableRow]:
    for slot, of in enumerate(graph.slots):
        flavor = graph.flavors[of.flavor].name
        yield {"record": "capacity", "flavor": flavor, "resource": of.resource, "exists": core.view.capacity(slot)}


def _places(core: Core, graph: PolicyGraph) -> Iterator[TableRow]:
    """The places of flavors that give some, with what there is and what is used."""
    for each in places_of(graph, core.view.machines(), core.view.workloads()):
        yield {
            "record": "place",
            "flavor": ", ".join(graph.flavors[flavor].name for flavor in each.flavors),
            "place": "/".join(each.place),
            "place_path": "/".join(each.path),
            "cordoned": each.cordoned,
            "taints": [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in each.taints],
            "supplies": [
                {"resource": resource, "exists": each.capacity.get(resource, 0), "used": each.used.get(resource, 0)}
                for resource in sorted({*each.capacity, *each.used})
            ],
            "lacks_label": None if each.lacks is None else each.lacks.label,
        }


# --- workloads ------------------------------------------------------------------------------------------------------


def _workloads(core: Core, graph: PolicyGraph, journal: Journal) -> Iterator[TableRow]:
    for workload in core.view.workloads():
        standing = standing_of(core, workload.name)
        assert standing is not None  # it is live
        about = _about(workload, standing, _submission(journal, workload, core.seq))
        if workload.admitted is not None:
            yield {**about, "record": "running", **_running(graph, workload)}
        else:
            yield {**about, "record": "held" if is_held(workload) else "waiting", **_waiting(workload, standing)}


def _submission(journal: Journal, workload: Workload, seq: int) -> Recorded:
    """The event that submitted a live workload: the last of its name."""
    events = journal.backwards(upto=seq, stream=workload_stream(workload.name))
    return next(recorded for recorded in events if isinstance(recorded.event, WorkloadSubmitted))


def _about(workload: Workload, standing: Standing, submission: Recorded) -> TableRow:
    """What is said of every workload."""
    fact, asked = workload.fact, workload.asked_priority
    requests = list(_requests(workload))
    return {
        "workload": workload.name,
        "submission": submission.seq,
        "submitted": workload.submitted,
        "queue": standing.queue,
        "namespace": fact.namespace,
        "user": fact.user,
        "local_queue": fact.local_queue,
        "priority": workload.priority,
        "asked_priority": None if asked is None else str(asked),
        "never_evicted": workload.pinned,
        "evictions": workload.evictions,
        "requests": requests,
        "asked_gpu_milli": sum(thousandths(each["resource"], each["amount"] * each["count"]) for each in requests),
        "payload": submission.payload.decode(),
    }


def _requests(workload: Workload) -> Iterator[TableRow]:
    """What one pod of each pod set asks for, and how many of its pods are not done."""
    for pod_set, count in zip(workload.fact.pod_sets, workload.remaining, strict=True):
        for resource, amount in sorted(pod_set.requests.items()):
            yield {"pod_set": pod_set.name, "count": count, "resource": resource, "amount": amount}


def _running(graph: PolicyGraph, workload: Workload) -> TableRow:
    row = {"admitted": workload.admitted, "evicting": workload.evicting}
    return {
        **row,
        **_charged(charges(graph, workload.usage)),
        "assignments": _assigned(workload.assignments),
        "places": placed(workload.assignments),
    }


def _waiting(workload: Workload, standing: Standing) -> TableRow:
    """Why it waits: the reason with its rule, the limit that binds, what holds it, and the protections whose end it waits for."""
    row: TableRow = {
        "position": standing.position,
        "line": standing.waiting,
        "parked": workload.parked,
        "queued": workload.queued,
        "reason": standing.reason,
        **because(standing),
        "holds": _holds(workload, standing),
        "keepers": _keepers(standing),
        "outcome": standing.outcome,
        "victims": [{"workload": name} for name in standing.victims],
    }
    return row


def _holds(workload: Workload, standing: Standing) -> list[TableRow]:
    """All that keeps it from being looked at, what it is told first; nothing of one that is in line."""
    if not is_held(workload):
        return []
    first = HoldStanding(reason=standing.reason, rule=standing.rule, operands=standing.operands)
    return [
        {
            "reason": each.reason,
            "rule": each.rule.name if each.rule is not None else None,
            "rule_file": each.rule.file if each.rule is not None else None,
            "rule_line": each.rule.line if each.rule is not None else None,
            "said": ", ".join(f"{operand.name} {operand.value}" for operand in each.operands),
        }
        for each in (first, *standing.also)
    ]


def _keepers(standing: Standing) -> list[TableRow]:
    return [
        {"workload": each.workload, "until": each.until, "rule": each.protect.name if each.protect is not None else None}
        for each in standing.keepers
    ]


# --- reservations ---------------------------------------------------------------------------------------------------


def _reservations(core: Core, graph: PolicyGraph, journal: Journal) -> Iterator[TableRow]:
    """Who waits for nothing but protections to end, what room is kept for it meanwhile, and until when."""
    for nomination in core.probe.reservations():
        workload, standing = core.view.workload(nomination.workload), standing_of(core, nomination.workload)
        assert workload is not None
        assert standing is not None
        about = _about(workload, standing, _submission(journal, workload, core.seq))
        row = {**about, "record": "reservation", "until": nomination.until, "keepers": _keepers(standing)}
        charged = _charged(charges(graph, nomination.flavors.request))
        given = assignments(graph, nomination.flavors)
        yield {**row, **charged, "assignments": _assigned(given), "places": placed(given)}


# --- lists ----------------------------------------------------------------------------------------------------------


def _charged(usage: Iterable[Charge]) -> TableRow:
    found = [charge.model_dump() for charge in usage]
    return {"usage": found, "gpu_milli": sum(thousandths(each["resource"], each["amount"]) for each in found)}


def _assigned(some: Sequence[Assignment]) -> list[TableRow]:
    return [
        {"pod_set": each.pod_set, "count": each.count, "resource": resource, "flavor": flavor}
        for each in some
        for resource, flavor in each.flavors.items()
    ]

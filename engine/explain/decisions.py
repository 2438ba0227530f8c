"""From what a core decided to the events that are recorded: each with its reason, and with what it rests on as data."""

from collections.abc import Iterator, Mapping
from typing import Literal

from ..event_parts import EvictionKind, FlavorAttempt, Operand, RuleRef, Tried
from ..events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadResized,
)
from ..guard import fields
from ..outcome.decision import Admission, Deferral, Eviction, Outcome, Placing, Rejection, Relocation, Replacement, Resize
from ..outcome.grounds import Why
from ..outcome.named import assignments, charges
from ..outcome.nomination import Attempt, FlavorAssignment, Request, Victim
from ..policy.pass_settings import PassName
from ..policy_graph import PolicyGraph, Source
from .policy_lines import limit_named, local_queue_line, node_line, quota_line, rule_line
from .unplaced import place_failure, unplaced, unplaced_told
from .wording import compared, named_obstacle, show, show_share, slot_amount

_REJECTIONS = {
    "no-queue": "NoMatchingQueue",
    "several-queues": "MatchesSeveralQueues",
    "unknown-priority": "UnknownPriority",
    "denied": "Denied",
}

_EVICTIONS: dict[EvictionKind, Literal["EvictedByOperator", "Drained", "NodeLost", "GangBroken"]] = {
    "operator": "EvictedByOperator",
    "stopped": "Drained",
    "node-lost": "NodeLost",
    "broken-gang": "GangBroken",
}
"""The reasons of evictions that are for nobody; all others are preemptions."""

PASS_OF_EVICTION: Mapping[EvictionKind, PassName] = {
    "reclaim": "reclaim",
    "in-queue": "preempt",
    "consolidation": "consolidate",
    "balance": "balance",
}
"""The pass that evicts for a reason, where the policy decides by passes."""

SHARES = ("preemptor's share, with it running", "victim's share, before", "victim's share, without it")
"""What fair sharing compares."""


def tell(graph: PolicyGraph, outcomes: list[Outcome], time: int, cause: int) -> list[AnyDecision]:
    """The events of what was decided at a moment because of the fact with number `cause`."""
    return [_told(graph, outcome, time, cause) for outcome in outcomes]


def _told(graph: PolicyGraph, outcome: Outcome, time: int, cause: int) -> AnyDecision:
    match outcome:
        case Admission():
            return _admitted(graph, outcome, time, cause)
        case Eviction():
            return _evicted(graph, outcome, time, cause)
        case Placing():
            return _placed(graph, outcome, time, cause)
        case Relocation():
            return WorkloadMoved(
                time=time,
                cause=cause,
                workload=outcome.workload,
                queue=graph.nodes[outcome.queue].name,
                priority=outcome.priority,
                reason="Consolidated",
                beneficiary=outcome.beneficiary,
                moves=outcome.moves,
                assignments=outcome.assignments,
                why=Why(),
            )
        case Resize():
            return _resized(graph, outcome, time, cause)
        case Replacement():
            return WorkloadReplaced(
                time=time,
                cause=cause,
                workload=outcome.workload,
                queue=graph.nodes[outcome.queue].name,
                by=outcome.by,
                usage=charges(graph, outcome.usage),
                why=Why(),
            )
        case Rejection():
            return _rejected(graph, outcome, time, cause)
        case Deferral():
            return _deferred(graph, outcome, time, cause)


# --- admissions -------------------------------------------------------------------------------------------------------


def _admitted(graph: PolicyGraph, outcome: Admission, time: int, cause: int) -> WorkloadAdmitted:
    rule = quota_line(graph, outcome.queue, outcome.request, outcome.borrowed)
    if outcome.victims:
        rule = rule_line(graph.preempt[outcome.victims[0].rule])
    return WorkloadAdmitted(
        time=time,
        cause=cause,
        workload=outcome.workload,
        queue=graph.nodes[outcome.queue].name,
        priority=outcome.priority,
        reason="FitsAfterEviction" if outcome.victims else "FitsBorrowing" if outcome.borrowed else "FitsOwned",
        assignments=assignments(graph, outcome.flavors),
        usage=charges(graph, outcome.request),
        borrowed=charges(graph, outcome.borrowed),
        replaces=outcome.replaces,
        passed_over=tuple(_passed_over(graph, outcome.flavors)),
        why=Why(rule=rule, operands=_asked(graph, outcome.request, outcome.used, outcome.owned)),
    )


def _asked(graph: PolicyGraph, request: Request, used: tuple[int, ...], owned: tuple[int, ...]) -> tuple[Operand, ...]:
    """What is asked for of each slot, beside what the queue used of it before, and what it owns."""
    told = (("asks", [amount for _, amount in request]), ("queue uses", used), ("queue owns", owned))
    return tuple(
        Operand(name=name, value=slot_amount(graph, slot, values[at])) for at, (slot, _) in enumerate(request) for name, values in told
    )


def _passed_over(graph: PolicyGraph, flavors: FlavorAssignment) -> Iterator[FlavorAttempt]:
    """The flavors that were tried for each pod set and not taken, and what each lacked."""
    for pods in flavors.pod_sets:
        taken = {chosen.flavor for chosen in pods.flavors.values()}
        yield from (_attempt(graph, pods.name, attempt) for attempt in pods.attempts if attempt.flavor not in taken)


def _attempt(graph: PolicyGraph, pod_set: str, attempt: Attempt) -> FlavorAttempt:
    return FlavorAttempt(
        pod_set=pod_set,
        flavor=graph.flavors[attempt.flavor].name,
        resources=attempt.resources,
        borrows=attempt.level > 0,
        obstacles=tuple(named_obstacle(graph, obstacle) for obstacle in attempt.obstacles),
    )


# --- more and fewer pods ----------------------------------------------------------------------------------------------


def _resized(graph: PolicyGraph, outcome: Resize, time: int, cause: int) -> WorkloadResized:
    victim = outcome.victim
    if victim is None:
        rule = quota_line(graph, outcome.queue, outcome.added, outcome.borrowed)
        operands = _asked(graph, outcome.added, outcome.used, outcome.owned)
    elif victim.rule < 0:
        rule, operands = _pass_line(graph, victim.kind), ()
    else:
        rule, operands = rule_line(graph.preempt[victim.rule]), tuple(_by_rule(graph, victim))
    return WorkloadResized(
        time=time,
        cause=cause,
        workload=outcome.workload,
        queue=graph.nodes[outcome.queue].name,
        priority=outcome.priority,
        reason="RoomForMore" if victim is None else "Preempted",
        beneficiary=outcome.beneficiary,
        preemption=None if victim is None else victim.kind,
        changes=outcome.changes,
        assignments=outcome.assignments,
        usage=charges(graph, outcome.request),
        borrowed=charges(graph, outcome.borrowed),
        why=Why(rule=rule, operands=operands, limit=limit_named(graph, outcome.limit)),
    )


# --- places -----------------------------------------------------------------------------------------------------------


def _placed(graph: PolicyGraph, outcome: Placing, time: int, cause: int) -> WorkloadPlaced:
    operands = [Operand(name="lost node", value=node) for node in outcome.nodes]
    operands += [Operand(name="ready check", value=check) for check in outcome.checks]
    return WorkloadPlaced(
        time=time,
        cause=cause,
        workload=outcome.workload,
        queue=graph.nodes[outcome.queue].name,
        reason="NodeLost" if outcome.cause == "node-lost" else "NodesProvided",
        assignments=outcome.assignments,
        why=Why(operands=tuple(operands)),
    )


# --- evictions --------------------------------------------------------------------------------------------------------


def _evicted(graph: PolicyGraph, outcome: Eviction, time: int, cause: int) -> WorkloadEvicted:
    victim = outcome.victim
    return WorkloadEvicted(
        time=time,
        cause=cause,
        workload=victim.workload,
        queue=graph.nodes[victim.queue].name,
        priority=victim.priority,
        reason=_EVICTIONS.get(victim.kind, "Preempted"),
        beneficiary=outcome.beneficiary,
        preemption=victim.kind,
        by=outcome.operator,
        usage=charges(graph, victim.usage),
        why=Why(rule=_eviction_line(graph, outcome), operands=tuple(_comparison(graph, outcome)), limit=limit_named(graph, outcome.limit)),
    )


def _pass_line(graph: PolicyGraph, kind: EvictionKind) -> RuleRef:
    """The rule of the pass that evicts for a reason."""
    in_pass = PASS_OF_EVICTION[kind]
    return next(rule_line(rule) for rule in graph.preempt if rule.search is not None and rule.search.in_pass == in_pass)


def _eviction_line(graph: PolicyGraph, outcome: Eviction) -> RuleRef | None:
    """The line that says that a workload goes: a preempt rule, what the beneficiary's queue may evict, or what is drained."""
    victim = outcome.victim
    if victim.kind in ("operator", "node-lost", "broken-gang"):
        return None
    if victim.kind == "stopped":
        return local_queue_line(graph, victim.queue, outcome.local_queue) if outcome.local_queue else node_line(graph, victim.queue)
    if victim.rule >= 0:
        return rule_line(graph.preempt[victim.rule])
    if graph.settings.passes is not None:
        return _pass_line(graph, victim.kind)
    preemption = graph.queue_at(outcome.beneficiary_queue).preemption
    lines: dict[str, Source | None] = {"in-queue": preemption.own_source, "reclaim-while-borrowing": preemption.borrowing_source}
    return node_line(graph, outcome.beneficiary_queue, lines.get(victim.kind, preemption.reclaims_source))


def _comparison(graph: PolicyGraph, outcome: Eviction) -> Iterator[Operand]:
    """What was compared when a victim was picked."""
    victim = outcome.victim
    if outcome.note:
        yield Operand(name="note", value=outcome.note)
    yield from (Operand(name="lost node", value=node) for node in outcome.nodes)
    if outcome.unplaced is not None:
        yield Operand(name="no other place", value=unplaced_told(place_failure(graph, outcome.unplaced, if_empty=False)))
    if outcome.beneficiary is None:
        return
    if victim.rule >= 0:
        yield from _by_rule(graph, victim)
        return
    yield Operand(name="workload.priority", value=str(outcome.beneficiary_priority))
    yield Operand(name="victim.priority", value=str(victim.priority))
    for name, share in zip(SHARES, victim.shares or (), strict=False):
        yield Operand(name=name, value=show_share(share, graph.settings.rounded))


def _by_rule(graph: PolicyGraph, victim: Victim) -> Iterator[Operand]:
    """The fields of the rule's guard and order for the victim, and for the runner-up the first that differs."""
    rule, runner_up = graph.preempt[victim.rule], victim.runner_up
    yield from compared(rule.compared, victim.values)
    if runner_up is not None:
        yield Operand(name="next", value=runner_up.workload)
        if runner_up.key >= 0:
            field = rule.order[runner_up.key].of_victim
            yield Operand(name=f"next.{field}", value=show(field, runner_up.value))


# --- refusals ---------------------------------------------------------------------------------------------------------


def _rejected(graph: PolicyGraph, outcome: Rejection, time: int, cause: int) -> WorkloadRejected:
    names = sorted(graph.nodes[queue].name for queue in outcome.queues)
    rule: RuleRef | None = None
    operands: list[Operand] = []
    match outcome.cause:
        case "no-queue" | "several-queues":
            asked = [("workload.queue", outcome.named_queue)] if outcome.named_queue is not None else []
            operands = [Operand(name=name, value=value) for name, value in (*asked, *(("queue", name) for name in names))]
        case "unknown-priority":
            operands = [Operand(name="workload.priority", value=outcome.priority)]
        case "denied":
            denial = graph.admission[outcome.rule]
            rule = rule_line(denial)
            operands = [*compared(fields(denial.guard), outcome.values), Operand(name="because", value=denial.because)]
    return WorkloadRejected(
        time=time,
        cause=cause,
        workload=outcome.workload,
        queue=names[0] if len(names) == 1 else None,
        reason=_REJECTIONS[outcome.cause],
        why=Why(rule=rule, operands=tuple(operands)),
    )


def _deferred(graph: PolicyGraph, outcome: Deferral, time: int, cause: int) -> WorkloadDeferred:
    last, operands = outcome.last, tuple[Operand, ...]()
    if outcome.hold is not None:
        because = {"check": f"admission check {outcome.hold.name}", "namespace": "namespace"}.get(outcome.hold.kind, outcome.hold.name)
        operands = (Operand(name="because of", value=because),)
    pod_sets = outcome.flavors.pod_sets if outcome.flavors is not None else []
    return WorkloadDeferred(
        time=time,
        cause=cause,
        workload=outcome.workload,
        queue=graph.nodes[outcome.queue].name,
        reason=last.reason,
        outcome=last.outcome,
        waits="parked" if last.parked else "next",
        preempting=last.preempting,
        alike=last.alike,
        tried=tuple(Tried(pod_set=pod_set, resource=resource, index=index) for pod_set, resource, index in last.tried),
        attempts=tuple(_attempt(graph, pods.name, attempt) for pods in pod_sets for attempt in pods.attempts),
        victims=last.victims,
        why=Why(operands=operands, limit=limit_named(graph, outcome.limit), places=unplaced(graph, outcome.flavors)),
    )

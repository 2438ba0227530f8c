"""How events change the state: the only way it changes. Nothing is decided here, so recorded events can be applied again.

What was just decided changes the state by the same functions (`carry_out`), before anything is told about it.
"""

from ... import events, facts
from ...event_parts import Assignment, Charge, asked_by_one
from ...intake.capacity import machine
from ...intake.routing import route, set_priority
from ...outcome.decision import Admission, Deferral, Eviction, LastDeferral, Outcome, Rejection, Replacement
from ...outcome.named import assignments
from ...outcome.nomination import Request, as_request
from ...policy_graph import PolicyGraph
from ...workload import NOWHERE, Scan, Workload
from ..queue.local_usage import charge_admission, sample
from ..queue.parking import park, stir, unpark
from ..quota.decayed_usage import Consumed
from ..state.state import ActivePolicy, State
from .activate import activate, rebuild
from .listing import enter, leave


def apply(state: State, event: events.AnyEvent, graph: PolicyGraph | None = None) -> None:
    """Change the state by one event; `graph` goes with PolicyActivated. The event must be possible (`intake/check.py`)."""
    if isinstance(event, facts.Fact):
        _apply_fact(state, event, graph)
    else:
        _apply_decision(state, event)


def _apply_fact(state: State, fact: facts.Fact, graph: PolicyGraph | None) -> None:
    state.seq += 1
    state.time, state.cause = fact.time, state.seq
    if not isinstance(fact, facts.TimeAdvanced | facts.WorkloadSubmitted):
        state.gave_way.clear()
    if not isinstance(fact, facts.TimeAdvanced):
        state.idle, state.fresh = 0, True
    match fact:
        case facts.TimeAdvanced():
            _begin_cycle(state)
        case facts.SimulationStarted():
            return
        case facts.WorkloadSubmitted():
            _submit(state, fact)
        case facts.PolicyActivated():
            assert graph is not None
            activate(state, graph)
        case facts.CapacityChanged():
            for resource in sorted(fact.capacity):
                state.overrides[fact.flavor, resource] = fact.capacity[resource]
            rebuild(state)
        case facts.NodeAdded() | facts.NodeChanged():
            state.machines[fact.node] = machine(state.graph, fact.labels, fact.capacity)
            rebuild(state)
        case facts.NodeRemoved():
            del state.machines[fact.node]
            rebuild(state)
        case facts.WorkloadAdopted():
            _adopt(state, fact)
        case facts.WorkloadFinished() | facts.WorkloadCancelled():
            _end(state, fact.workload)
        case facts.UsageReported():
            as_of = fact.time if fact.as_of is None else fact.as_of
            state.consumed.setdefault(fact.local_queue, Consumed()).report(fact.consumed, as_of)
        case facts.WorkloadUpdated():
            _update(state, fact)
        case facts.OperatorAction():
            _act(state, fact)


def _apply_decision(state: State, event: events.AnyDecision) -> None:
    """Change the state by a decision as it was recorded."""
    state.time = event.time
    match event:
        case events.WorkloadAdmitted():
            _admit(state, event.workload, charged(state.active, event.usage), event.assignments, event.cause)
        case events.WorkloadEvicted():
            _evict(state, event.workload, event.beneficiary, event.by if event.preemption == "operator" else None)
        case events.WorkloadReplaced() | events.WorkloadRejected():
            _close(state, event.workload)
        case events.WorkloadDeferred():
            tried = tuple((each.pod_set, each.resource, each.index) for each in event.tried)
            parked = event.waits == "parked"
            _defer(
                state,
                event.workload,
                LastDeferral(event.reason, event.outcome, parked, event.preempting, event.alike, tried, event.victims),
            )


def carry_out(state: State, outcome: Outcome) -> None:
    """Change the state by what was just decided."""
    match outcome:
        case Admission():
            _admit(state, outcome.workload, outcome.request, assignments(state.graph, outcome.flavors), state.cause)
        case Eviction(victim=victim):
            _evict(state, victim.workload, outcome.beneficiary, outcome.operator if victim.kind == "operator" else None)
        case Replacement() | Rejection():
            _close(state, outcome.workload)
        case Deferral():
            _defer(state, outcome.workload, outcome.last)


def charged(policy: ActivePolicy, charges: tuple[Charge, ...]) -> Request:
    """Charges by name as a request by slot."""
    return tuple(sorted((policy.slot_index[charge.flavor, charge.resource], charge.amount) for charge in charges))


# --- facts ----------------------------------------------------------------------------------------------------------


def _begin_cycle(state: State) -> None:
    """Count a cycle, and return who is parked where something became free; the cycle is idle until it decides something."""
    state.cycle += 1
    state.idle += 1
    state.fresh = False
    if state.policy is not None:
        sample(state, state.time)
        unpark(state)


def _submit(state: State, fact: facts.WorkloadSubmitted) -> None:
    state.submissions += 1
    workload = Workload(
        fact=fact,
        number=state.submissions,
        queue=NOWHERE,
        asked_priority=fact.priority,
        priority=0,
        pinned=False,
        remaining=tuple(pod_set.count for pod_set in fact.pod_sets),
        boost=fact.boost,
        held_by_owner=fact.hold,
    )
    state.workloads[fact.workload] = workload
    route(state.graph, workload)
    enter(state, workload)


def _adopt(state: State, fact: facts.WorkloadAdopted) -> None:
    """Let a workload run as an outside system has it; it stays in the queue where that system admitted it."""
    policy, workload = state.active, state.workloads[fact.workload]
    leave(state, workload)
    if workload.queue != policy.node_index[fact.queue]:
        workload.queue = policy.node_index[fact.queue]
        set_priority(policy.graph, workload)
    amounts: dict[int, int] = {}
    for placement in fact.placements:
        for resource in sorted(placement.usage):
            slot = policy.slot_index[placement.flavors[resource], resource]
            amounts[slot] = amounts.get(slot, 0) + placement.usage[resource]
    workload.deferred = workload.scan = None
    workload.admitted, workload.started_by, workload.evicting, workload.held_by_owner = fact.since, state.seq, fact.evicting, False
    workload.usage = as_request(amounts)
    workload.assignments = tuple(
        Assignment(pod_set=placement.pod_set, count=placement.count, flavors=placement.flavors) for placement in fact.placements
    )
    enter(state, workload)


def _update(state: State, fact: facts.WorkloadUpdated) -> None:
    workload = state.workloads[fact.workload]
    waits_for_victims = state.queues[workload.queue].preemptor is workload
    leave(state, workload)
    if fact.priority is not None:
        workload.asked_priority = fact.priority
    if fact.boost is not None:
        workload.boost = fact.boost
    set_priority(state.graph, workload)
    if fact.requeued is not None:
        workload.requeued = fact.requeued
        if workload.evicting:  # it has stopped at last
            _stop(workload)
            stir(state, workload)
    workload.checks = {**workload.checks, **fact.checks}
    if fact.hold is not None:
        workload.held_by_owner = fact.hold
    if fact.reclaimable is not None:
        _release_pods(state.active, workload, fact.reclaimable)
        stir(state, workload)
    enter(state, workload)
    if waits_for_victims and workload.in_line and not workload.parked:
        state.queues[workload.queue].preemptor = workload


def _release_pods(policy: ActivePolicy, workload: Workload, done: dict[str, int]) -> None:
    """Let go of pods that are done: they are no longer asked for, and no longer charged.

    Of fewer pods than were asked for, those that are done count as the ones it was not given first, as in Kueue (pkg/workload,
    totalRequestsFromAdmission).
    """
    remaining = [pod_set.count - done.get(pod_set.name, pod_set.count - left) for pod_set, left in workload.pod_sets()]
    freed: dict[int, int] = {}
    given = {assignment.pod_set: assignment for assignment in workload.assignments}
    for (pod_set, left), rest in zip(workload.pod_sets(), remaining, strict=True):
        if pod_set.name in given:
            flavors, count = given[pod_set.name].flavors, given[pod_set.name].count
            for resource in sorted(flavors):
                slot = policy.slot_index.get((flavors[resource], resource), -1)  # gone where nothing of it was charged
                freed[slot] = freed.get(slot, 0) + asked_by_one(pod_set, resource) * (min(count, left) - min(count, rest))
    workload.usage = as_request({slot: amount - freed.get(slot, 0) for slot, amount in workload.usage})
    workload.remaining = tuple(remaining)


def _act(state: State, fact: facts.OperatorAction) -> None:
    """An operator holds or releases; an eviction is a decision of its own, and holds the workload."""
    if fact.action == "evict":
        return
    workload = state.workloads[fact.workload]
    leave(state, workload)
    workload.held_by_operator = fact.by if fact.action == "hold" else None
    if fact.action == "release":
        workload.held_by_owner = False
    enter(state, workload)


def _end(state: State, name: str) -> None:
    workload = state.workloads.pop(name)
    leave(state, workload)
    stir(state, workload)


def _stop(workload: Workload) -> None:
    workload.admitted, workload.usage, workload.assignments, workload.evicting = None, (), (), False


# --- decisions ------------------------------------------------------------------------------------------------------


def _admit(state: State, name: str, request: Request, given: tuple[Assignment, ...], cause: int) -> None:
    state.seq, state.idle = state.seq + 1, 0
    workload = state.workloads[name]
    leave(state, workload)
    workload.deferred = workload.scan = None
    workload.admitted, workload.started_by = state.time, cause
    workload.usage, workload.assignments = request, given
    enter(state, workload)
    charge_admission(state, workload)


def _evict(state: State, name: str, beneficiary: str | None, operator: str | None) -> None:
    state.seq, state.idle = state.seq + 1, 0
    workload = state.workloads[name]
    leave(state, workload)
    _stop(workload)
    workload.evictions += 1
    if beneficiary is not None and state.graph.settings.victims == "rules":
        state.gave_way.setdefault(name, set()).add(beneficiary)
    if operator is not None:
        workload.held_by_operator = operator
    stir(state, workload)
    enter(state, workload)


def _close(state: State, name: str) -> None:
    state.seq, state.idle = state.seq + 1, 0
    _end(state, name)


def _defer(state: State, name: str, deferred: LastDeferral) -> None:
    state.seq += 1
    state.idle = 0 if deferred.parked else state.idle
    workload = state.workloads[name]
    queue = state.queues[workload.queue]
    workload.deferred = deferred
    workload.scan = Scan(deferred.tried, state.cycle, queue.generation) if deferred.tried else None
    if deferred.preempting:
        queue.preemptor = workload
    elif queue.preemptor is workload:
        queue.preemptor = None
    if deferred.parked:
        park(state, workload, deferred.alike)

"""How events change the state: the only way it changes. Nothing is decided here, so recorded events can be applied again."""

from ..events import (
    AnyEvent,
    Assignment,
    CapacityChanged,
    Charge,
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    OperatorAction,
    PodSet,
    PolicyActivated,
    TimeAdvanced,
    UsageReported,
    WorkloadAdmitted,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadFinished,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ..graph import PolicyGraph
from .activate import activated, capacity, machine
from .cycles.admissible import aside
from .cycles.usage import Consumed
from .order import line_key, shape_of, victim_key, victim_shape
from .quota import QuotaTree, Request
from .route import matching_queues, rank
from .shares import Shares
from .state import Active, State
from .workload import Scan, Workload, asked_by_one

NOWHERE = -1
"""The queue of a workload that belongs to none, until its rejection is applied."""


def apply(state: State, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
    """Change the state by one event; `graph` goes with PolicyActivated. The event must be possible (`check.py`)."""
    state.seq += 1
    state.time = event.time
    state.settled = False
    if isinstance(event, Fact):
        state.cause = state.seq
        if not isinstance(event, TimeAdvanced | WorkloadSubmitted):
            state.gave_way.clear()
    queues = state.active.queues if state.active is not None else None
    if queues is not None and not isinstance(event, TimeAdvanced):
        queues.note(event)
    match event:
        case TimeAdvanced():
            if queues is not None:
                queues.begin_cycle(event.time)
            return
        case WorkloadSubmitted():
            _submit(state, event)
            return
        case PolicyActivated():
            assert graph is not None
            _activate(state, graph)
        case CapacityChanged():
            for resource in sorted(event.capacity):
                state.overrides[event.flavor, resource] = event.capacity[resource]
            _rebuild(state)
        case NodeAdded() | NodeChanged():
            state.machines[event.node] = machine(active(state).graph, event.labels, event.capacity)
            _rebuild(state)
        case NodeRemoved():
            del state.machines[event.node]
            _rebuild(state)
        case WorkloadAdmitted():
            _admit(state, event)
        case WorkloadAdopted():
            _adopt(state, event)
        case WorkloadDeferred():
            _defer(state, event)
        case WorkloadEvicted():
            _evict(state, event)
        case WorkloadFinished() | WorkloadCancelled() | WorkloadReplaced() | WorkloadRejected():
            workload = state.workloads.pop(event.workload)
            _take_out(state, workload)
            _stir(state, workload)
        case UsageReported():
            as_of = event.time if event.as_of is None else event.as_of
            state.consumed.setdefault(event.local_queue, Consumed()).report(event.consumed, as_of)
        case WorkloadUpdated():
            _update(state, event)
        case OperatorAction():
            if event.action != "evict":  # an eviction is a decision of its own, and holds the workload
                workload = state.workloads[event.workload]
                _take_out(state, workload)
                workload.held_by_operator = event.operator if event.action == "hold" else None
                if event.action == "release":
                    workload.held_by_owner = False
                _put_in(state, workload)
    state.version += 1


def active(state: State) -> Active:
    """The active policy; there must be one."""
    assert state.active is not None
    return state.active


# --- policy and capacity --------------------------------------------------------------------------------------------


def _activate(state: State, graph: PolicyGraph) -> None:
    for name in sorted(state.machines):
        known = state.machines[name]
        state.machines[name] = machine(graph, known.labels, known.capacity)
    before, state.active = state.active, activated(state, graph)
    for workload in sorted(state.workloads.values(), key=lambda workload: workload.number):
        workload.deferral = workload.scan = None
        if workload.admitted is None or before is None:
            _route(state.active, workload)
        else:
            _move(before, state.active, workload)
        _put_in(state, workload)


def _move(before: Active, after: Active, workload: Workload) -> None:
    """Keep a running workload in the queue and the slots of the same names under another policy."""
    workload.queue = after.name_index[before.graph.nodes[workload.queue].name]
    _set_rank(after, workload)
    named = [(before.graph.flavors[before.graph.slots[slot].flavor].name, before.graph.slots[slot].resource) for slot, _ in workload.usage]
    amounts = [amount for _, amount in workload.usage]
    workload.usage = tuple(sorted(zip((after.slot_index[name] for name in named), amounts, strict=True)))


def _rebuild(state: State) -> None:
    """Build the tree anew for the capacity there is now, and charge it for all that runs."""
    policy = active(state)
    policy.tree = QuotaTree(policy.graph, capacity(state, policy.graph))
    policy.shares = Shares(policy.graph, policy.tree)
    for workload in sorted(state.workloads.values(), key=lambda workload: workload.number):
        if workload.admitted is not None:
            policy.tree.add(workload.queue, workload.usage)


# --- workloads ------------------------------------------------------------------------------------------------------


def _submit(state: State, fact: WorkloadSubmitted) -> None:
    state.submissions += 1
    workload = Workload(
        fact=fact,
        number=state.submissions,
        queue=NOWHERE,
        asked_priority=fact.priority,
        priority=0,
        pinned=False,
        remaining=[pod_set.count for pod_set in fact.pod_sets],
        boost=fact.boost,
        held_by_owner=fact.hold,
    )
    state.workloads[fact.workload] = workload
    _route(active(state), workload)
    _put_in(state, workload)


def _route(policy: Active, workload: Workload) -> None:
    queues = matching_queues(policy.graph, workload.fact)
    workload.queue = queues[0] if len(queues) == 1 else NOWHERE
    _set_rank(policy, workload)


def _set_rank(policy: Active, workload: Workload) -> None:
    if workload.queue != NOWHERE:
        counts = rank(policy.graph, workload.queue, workload.asked_priority)
        if counts is None:
            workload.queue = NOWHERE
        else:
            workload.priority, workload.pinned = counts.priority + workload.boost, counts.pinned


def _put_in(state: State, workload: Workload) -> None:
    """List a workload among those that wait or run in its queue, and charge it if it runs."""
    policy = active(state)
    if workload.queue == NOWHERE:
        return
    if workload.admitted is None:
        if policy.queues is None:
            list_waiting(policy, workload)
        elif aside(policy, workload) is not None:
            policy.queues.aside[workload.name] = workload
        else:
            policy.queues.add_waiting(workload)
        return
    if policy.queues is not None:
        policy.queues.fade(workload, state.time)
    list_running(policy, workload)


def list_running(policy: Active, workload: Workload) -> None:
    """List a workload among those that run in its queue, and charge it."""
    policy.tree.add(workload.queue, workload.usage)
    if policy.queues is not None:
        policy.queues.states[workload.queue].running[workload.name] = workload
    for pool in policy.pools:
        pool.lines[workload.queue].add(victim_key(pool.rule, workload), victim_shape(pool.read, workload), workload)


def list_waiting(policy: Active, workload: Workload) -> None:
    """List a workload among those that wait in its queue, in a policy that decides at once."""
    policy.lines[workload.queue].add(line_key(policy.graph, workload), shape_of(workload, policy.shape_is_name), workload)


def _take_out(state: State, workload: Workload) -> None:
    """Undo `_put_in`; every key must still be what it was then."""
    policy = active(state)
    if workload.queue == NOWHERE:
        return
    if workload.admitted is None:
        if policy.queues is None:
            policy.lines[workload.queue].drop(line_key(policy.graph, workload), shape_of(workload, policy.shape_is_name))
        else:
            policy.queues.drop_waiting(workload)
        return
    policy.tree.remove(workload.queue, workload.usage)
    if policy.queues is not None:
        policy.queues.fade(workload, state.time)
        del policy.queues.states[workload.queue].running[workload.name]
    for pool in policy.pools:
        pool.lines[workload.queue].drop(victim_key(pool.rule, workload), victim_shape(pool.read, workload))


def _stir(state: State, workload: Workload) -> None:
    """Note that what a workload held, or its place, became free."""
    queues = active(state).queues
    if queues is not None and workload.queue != NOWHERE:
        queues.stir(workload.queue)


def _admit(state: State, event: WorkloadAdmitted) -> None:
    workload = state.workloads[event.workload]
    _take_out(state, workload)
    workload.deferral = workload.scan = None
    workload.admitted, workload.started_by = event.time, event.cause
    workload.usage, workload.assignments = as_request(active(state), event.usage), event.assignments
    _put_in(state, workload)
    queues = active(state).queues
    if queues is not None:
        queues.charge(workload)


def _adopt(state: State, fact: WorkloadAdopted) -> None:
    """Let a workload run as an outside system has it; it stays in the queue where that system admitted it."""
    policy, workload = active(state), state.workloads[fact.workload]
    _take_out(state, workload)
    if workload.queue != policy.name_index[fact.queue]:
        workload.queue = policy.name_index[fact.queue]
        _set_rank(policy, workload)
    amounts: dict[int, int] = {}
    for placement in fact.placements:
        for resource in sorted(placement.usage):
            slot = policy.slot_index[placement.flavors[resource], resource]
            amounts[slot] = amounts.get(slot, 0) + placement.usage[resource]
    workload.admitted, workload.started_by, workload.evicting, workload.held_by_owner = fact.since, state.seq, fact.evicting, False
    workload.usage = tuple((slot, amounts[slot]) for slot in sorted(amounts) if amounts[slot] > 0)
    workload.assignments = tuple(
        Assignment(pod_set=placement.pod_set, count=placement.count, flavors=placement.flavors) for placement in fact.placements
    )
    _put_in(state, workload)


def _defer(state: State, event: WorkloadDeferred) -> None:
    workload, queues = state.workloads[event.workload], active(state).queues
    assert queues is not None
    place = queues.states[workload.queue]
    workload.deferral = event
    workload.scan = None
    if event.tried:
        tried = {(tried.pod_set, tried.resource): tried.index for tried in event.tried}
        workload.scan = Scan(tried, queues.cycle, place.generation)
    if event.preempting:
        place.preemptor = workload
    elif place.preemptor is workload:
        place.preemptor = None
    if event.waits == "parked":
        queues.park(workload, event.alike)


def as_request(policy: Active, charges: tuple[Charge, ...]) -> Request:
    """Charges by name as a request by slot."""
    return tuple(sorted((policy.slot_index[charge.flavor, charge.resource], charge.amount) for charge in charges))


def _evict(state: State, event: WorkloadEvicted) -> None:
    workload = state.workloads[event.workload]
    _take_out(state, workload)
    workload.admitted, workload.usage, workload.assignments, workload.evicting = None, (), (), False
    workload.evictions += 1
    if event.beneficiary is not None and active(state).queues is None:
        state.gave_way.setdefault(workload.name, set()).add(event.beneficiary)
    _stir(state, workload)
    if event.preemption == "operator":
        workload.held_by_operator = next((operand.value for operand in event.why.operands if operand.name == "operator"), "")
    _put_in(state, workload)


def _update(state: State, event: WorkloadUpdated) -> None:
    workload = state.workloads[event.workload]
    _take_out(state, workload)
    if event.priority is not None:
        workload.asked_priority = event.priority
    if event.boost is not None:
        workload.boost = event.boost
    if workload.queue != NOWHERE:
        _set_rank(active(state), workload)
    if event.requeued is not None:
        workload.requeued = event.requeued
        if workload.evicting:  # it has stopped at last
            workload.admitted, workload.usage, workload.assignments, workload.evicting = None, (), (), False
            _stir(state, workload)
    workload.checks = {**workload.checks, **event.checks}
    if event.hold is not None:
        workload.held_by_owner = event.hold
    if event.reclaimable is not None:
        _release_pods(active(state), workload, event.reclaimable)
        _stir(state, workload)
    _put_in(state, workload)


def _release_pods(policy: Active, workload: Workload, done: dict[str, int]) -> None:
    """Let go of pods that are done: they are no longer asked for, and no longer charged.

    Of fewer pods than were asked for, those that are done count as the ones it was not given first, as in Kueue (pkg/workload,
    totalRequestsFromAdmission).
    """
    remaining = [pod_set.count - done.get(pod_set.name, pod_set.count - left) for pod_set, left in _pod_sets(workload)]
    freed: dict[int, int] = {}
    given = {assignment.pod_set: assignment for assignment in workload.assignments}
    for (pod_set, left), rest in zip(_pod_sets(workload), remaining, strict=True):
        if pod_set.name in given:
            flavors, count = given[pod_set.name].flavors, given[pod_set.name].count
            for resource in sorted(flavors):
                slot = policy.slot_index.get((flavors[resource], resource), -1)  # gone where nothing of it was charged
                freed[slot] = freed.get(slot, 0) + asked_by_one(pod_set, resource) * (min(count, left) - min(count, rest))
    usage = ((slot, amount - freed.get(slot, 0)) for slot, amount in workload.usage)
    workload.usage = tuple((slot, amount) for slot, amount in usage if amount > 0)
    workload.remaining = remaining
    workload.count()


def _pod_sets(workload: Workload) -> list[tuple[PodSet, int]]:
    return list(zip(workload.fact.pod_sets, workload.remaining, strict=True))

"""How events change the state: the only way it changes. Nothing is decided here, so recorded events can be applied again.

What was just decided changes the state by the same functions (`carry_out`), before anything is told about it.
"""

from ... import events, facts
from ...event_parts import Assignment
from ...intake.capacity import capacity, machine, node_sizes, take_in
from ...intake.changes import act, admit, adopt, carry_over, evict, place, resize, stops, submitted, update
from ...intake.holds import is_queued
from ...intake.local_usage import charge_admission, report_usage, sample, settle_usage
from ...intake.routing import route
from ...intake.shapes import shape_of
from ...nodes.lost_nodes import find_again, lose, lose_those_that_left
from ...outcome.decision import Admission, Deferral, Eviction, LastDeferral, Outcome, Placing, Rejection, Relocation, Replacement, Resize
from ...outcome.named import assignments, charged
from ...outcome.nomination import Request
from ...policy_graph import PolicyGraph
from ...workload import NOWHERE, Scan, Workload
from ..queue.line import line_key, park, stir, unpark
from ..state.state import ActivePolicy, QueueState, State


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
        case facts.CapacityChanged() | facts.NodeAdded() | facts.NodeChanged() | facts.NodeRemoved():
            take_in(fact, state.graph, state.machines, state.overrides)
            rebuild(state)
            _follow_nodes(state, fact)
        case facts.WorkloadAdopted():
            _adopt(state, fact)
        case facts.WorkloadFinished() | facts.WorkloadCancelled():
            _end(state, fact.workload)
        case facts.UsageReported():
            report_usage(state.consumed, fact)
        case facts.WorkloadUpdated():
            _update(state, fact)
        case facts.OperatorAction():
            _act(state, fact)


def _apply_decision(state: State, event: events.AnyDecision) -> None:
    """Change the state by a decision as it was recorded."""
    state.time = event.time
    match event:
        case events.WorkloadAdmitted():
            _admit(state, event.workload, charged(state.active.slot_index, event.usage), event.assignments, event.cause)
        case events.WorkloadEvicted():
            _evict(state, event.workload, event.beneficiary, event.by if event.preemption == "operator" else None)
        case events.WorkloadPlaced():
            _place(state, event.workload, event.assignments, in_place_of_lost=event.reason == "NodeLost")
        case events.WorkloadMoved():
            _place(state, event.workload, event.assignments, in_place_of_lost=False)
        case events.WorkloadResized():
            _resize(state, event.workload, charged(state.active.slot_index, event.usage), event.assignments)
        case events.WorkloadReplaced() | events.WorkloadRejected():
            _close(state, event.workload)
        case events.WorkloadDeferred():
            tried = tuple((each.pod_set, each.resource, each.index) for each in event.tried)
            parked = event.waits == "parked"
            last = LastDeferral(event.reason, event.outcome, parked, event.preempting, event.alike, tried, event.victims)
            _defer(state, event.workload, last)


def carry_out(state: State, outcome: Outcome) -> None:
    """Change the state by what was just decided."""
    match outcome:
        case Admission():
            _admit(state, outcome.workload, outcome.request, assignments(state.graph, outcome.flavors), state.cause)
        case Eviction(victim=victim):
            _evict(state, victim.workload, outcome.beneficiary, outcome.operator if victim.kind == "operator" else None)
        case Placing():
            _place(state, outcome.workload, outcome.assignments, in_place_of_lost=outcome.cause == "node-lost")
        case Relocation():
            _place(state, outcome.workload, outcome.assignments, in_place_of_lost=False)
        case Resize():
            _resize(state, outcome.workload, outcome.request, outcome.assignments)
        case Replacement() | Rejection():
            _close(state, outcome.workload)
        case Deferral():
            _defer(state, outcome.workload, outcome.last)


# --- facts ----------------------------------------------------------------------------------------------------------


def _begin_cycle(state: State) -> None:
    """Count a cycle, and return who is parked where something became free; the cycle is idle until it decides something."""
    state.cycle += 1
    state.idle += 1
    state.fresh = False
    if state.policy is not None:
        sample(state.graph, state.consumed, state.time, state.running)
        unpark(state)


def _submit(state: State, fact: facts.WorkloadSubmitted) -> None:
    state.submissions += 1
    workload = state.workloads[fact.workload] = submitted(fact, state.submissions)
    route(state.graph, workload)
    enter(state, workload)


def _adopt(state: State, fact: facts.WorkloadAdopted) -> None:
    workload = state.workloads[fact.workload]
    leave(state, workload)
    adopt(state.graph, state.active.slot_index, workload, fact, state.seq, state.machines)
    enter(state, workload)


def _update(state: State, fact: facts.WorkloadUpdated) -> None:
    workload = state.workloads[fact.workload]
    waits_for_victims, stopped = state.queues[workload.queue].preemptor is workload, stops(workload, fact)
    leave(state, workload)
    update(state.graph, state.active.slot_index, workload, fact)
    if stopped:
        stir(state, workload)
    if fact.reclaimable is not None:
        stir(state, workload)
    enter(state, workload)
    if waits_for_victims and workload.in_line and not workload.parked:
        state.queues[workload.queue].preemptor = workload


def _act(state: State, fact: facts.OperatorAction) -> None:
    if fact.action == "evict":
        return
    workload = state.workloads[fact.workload]
    leave(state, workload)
    act(state.graph, workload, fact)
    enter(state, workload)


def _end(state: State, name: str) -> None:
    workload = state.workloads.pop(name)
    leave(state, workload)
    stir(state, workload)


def _follow_nodes(state: State, fact: facts.AboutSupply) -> None:
    """Where that counts, a node that left is lost to all who have pods there, until it is there again."""
    if not state.graph.settings.follows_nodes:
        return
    match fact:
        case facts.NodeRemoved():
            lose(state.graph, state.in_order(), fact.node)
        case facts.NodeAdded():
            find_again(state.in_order(), fact.node)
        case _:
            return


# --- decisions ------------------------------------------------------------------------------------------------------


def _admit(state: State, name: str, request: Request, given: tuple[Assignment, ...], cause: int) -> None:
    state.seq, state.idle = state.seq + 1, 0
    workload = state.workloads[name]
    leave(state, workload)
    admit(workload, state.time, cause, request, given)
    enter(state, workload)
    charge_admission(state.graph, state.consumed, workload)


def _evict(state: State, name: str, beneficiary: str | None, operator: str | None) -> None:
    state.seq, state.idle = state.seq + 1, 0
    workload = state.workloads[name]
    leave(state, workload)
    evict(workload, operator, state.time)
    if beneficiary is not None and state.graph.settings.victims == "rules":
        state.gave_way.setdefault(name, set()).add(beneficiary)
    stir(state, workload)
    enter(state, workload)


def _place(state: State, name: str, given: tuple[Assignment, ...], in_place_of_lost: bool) -> None:
    state.seq, state.idle = state.seq + 1, 0
    workload = state.workloads[name]
    leave(state, workload)
    place(workload, given, in_place_of_lost)
    enter(state, workload)


def _resize(state: State, name: str, request: Request, given: tuple[Assignment, ...]) -> None:
    state.seq, state.idle = state.seq + 1, 0
    workload = state.workloads[name]
    leave(state, workload)
    resize(workload, request, given)
    stir(state, workload)
    enter(state, workload)


def _close(state: State, name: str) -> None:
    state.seq, state.idle = state.seq + 1, 0
    _end(state, name)


def _defer(state: State, name: str, deferred: LastDeferral) -> None:
    state.seq += 1
    state.idle = 0 if deferred.parked or deferred.outcome == "let in" else state.idle
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


# --- policies -----------------------------------------------------------------------------------------------------------


def activate(state: State, graph: PolicyGraph) -> None:
    """Let a policy decide from now on. Whoever runs keeps its queue, its flavors, amounts and places; whoever waits is matched anew.

    Places count again where the policy gives some on these nodes. Nobody followed the nodes under a policy that gives none, so those that
    left meanwhile are lost now. Whoever runs without places goes on so: where its pods stand is not known.
    """
    for name in sorted(state.machines):
        state.machines[name] = machine(graph, state.machines[name])
    before = state.policy
    take_over(state, graph)
    for workload in state.in_order():
        assert before is not None  # nothing is submitted before the first policy
        carry_over(before.graph, graph, state.active.slot_index, workload, state.time)
        if graph.settings.follows_nodes:
            lose_those_that_left(before.graph, graph, workload, state.machines)
        enter(state, workload)


def take_over(state: State, graph: PolicyGraph) -> None:
    """Make a policy the active one, over what exists; no workload has its place in it yet."""
    exists, sizes = capacity(graph, state.machines, state.overrides), node_sizes(graph, state.machines)
    state.policy = ActivePolicy.of(graph, exists, sizes, state.machines)
    state.queues, state.stirred = [QueueState() for _ in graph.nodes], set()
    state.cycle, state.idle, state.fresh = 0, 0, True


def rebuild(state: State) -> None:
    """Make the quota tree anew for the capacity there is now, and charge it for all that runs."""
    exists = capacity(state.graph, state.machines, state.overrides)
    state.policy = state.active.over(state.graph, exists, node_sizes(state.graph, state.machines), state.machines)


# --- the places of a workload: among those of its queue, in its line or in the charges of the quota tree -----------------


def enter(state: State, workload: Workload) -> None:
    """Give a workload its places: in its queue's line if it waits and nothing holds it, in the charges if it runs."""
    workload.place, workload.parked = None, False
    if workload.queue == NOWHERE:
        return
    policy, queue = state.active, state.queues[workload.queue]
    if workload.admitted is not None:
        settle_usage(policy.graph, state.consumed, workload, state.time, state.running)
        policy.tree.add(workload.queue, workload.usage)
        policy.places.add(policy.places.holdings(workload))
    elif is_queued(policy.graph, workload):
        workload.place, workload.shape = line_key(policy.graph, workload), shape_of(workload, policy.tells_apart)
        workload.parked = workload.shape in queue.hopeless
    queue.join(workload)


def leave(state: State, workload: Workload) -> None:
    """Undo `enter`, before anything about the workload changes: its place is found by what it said then."""
    if workload.queue == NOWHERE:
        return
    policy, queue = state.active, state.queues[workload.queue]
    if workload.admitted is not None:
        policy.tree.remove(workload.queue, workload.usage)
        policy.places.remove(policy.places.holdings(workload))
        settle_usage(policy.graph, state.consumed, workload, state.time, state.running)
    workload.place, workload.parked = None, False
    if queue.preemptor is workload:
        queue.preemptor = None
    queue.part(workload)

"""From one cycle to its decisions: admissions, what waits and how, evictions; and when the next cycle is due.

Only decisions change the state, so a cycle that is applied again from them leaves the same queues behind.
"""

from collections.abc import Iterator

from ...events import AnyDecision, Operand, Tried, Why, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted, WorkloadReplaced
from ..state import Active, State
from ..why import charges
from ..workload import Workload
from .admissible import NAMESPACE, inactive, inadmissible
from .candidates import as_request
from .cycle import Cycle, End, Outcome
from .plan import PodSetPlan
from .queues import Queues
from .reasons import admission_why, assignments, eviction_why, refusal_why, used_by_others

MOST_IDLE = 3
"""After so many cycles in a row that changed nothing, cycles wait for the next fact; after more only where a search for flavors that
goes on from cycle to cycle may take more."""


def run_cycle(state: State, policy: Active, queues: Queues) -> list[AnyDecision]:
    """Run one cycle at the present moment; the decisions are not applied yet."""
    cluster = queues.cluster(policy)
    refused: list[tuple[Workload, str, str]] = []
    heads: list[tuple[Workload, dict[tuple[str, str], int]]] = []
    for queue in policy.graph.queues:
        workload = queues.head(queue.node) if inactive(policy, queue.node) == "" else None
        if workload is None:
            continue
        reason, detail = inadmissible(policy, workload)
        if reason:
            refused.append((workload, reason, detail))
        else:
            heads.append((workload, _tried(queues, workload)))
    outcomes = Cycle(cluster, queues.height).run(heads)
    admitted = [event for outcome in outcomes if outcome.end is End.ADMITTED for event in _admission(state, policy, outcome)]
    waiting = [_deferral(state, policy, queues, outcome) for outcome in outcomes if outcome.end is not End.ADMITTED]
    turned_away = [_refusal(state, policy, queues, workload, reason, detail) for workload, reason, detail in refused]
    deferred = [event for event in (*waiting, *turned_away) if _says_something(state, event)]
    evicted = [
        _eviction(state, policy, outcome, index)
        for outcome in outcomes
        for index, target in enumerate(outcome.targets)
        if not target.workload.evicting
    ]
    return [*admitted, *deferred, *sorted(evicted, key=lambda event: event.workload)]


def next_cycle(state: State, policy: Active, queues: Queues) -> int | None:
    """When the next cycle is due: at once after a fact, then every period; None where it would have nothing to do."""
    cycles = policy.graph.settings.cycles
    assert cycles is not None
    if queues.idle >= max(MOST_IDLE, queues.longest) or not queues.anything_waits():
        return None
    return state.time if queues.fresh else state.time + cycles.period


# --- decisions ------------------------------------------------------------------------------------------------------


def _tried(queues: Queues, workload: Workload) -> dict[tuple[str, str], int]:
    """Where a search for flavors goes on; at the first one again if room became free since and it is not of the cycle before."""
    scan, state = workload.scan, queues.states[workload.queue]
    if scan is None or (state.generation > scan.generation and queues.cycle - scan.cycle > 1):
        return {}
    return scan.tried


def _admission(state: State, policy: Active, outcome: Outcome) -> Iterator[AnyDecision]:
    """An admission, after the end of the workload whose place it takes."""
    workload, old, tree = outcome.workload, outcome.nomination.replaced, policy.tree
    request = as_request(outcome.nomination.plan.whole)
    queue = workload.queue
    used = used_by_others(policy, outcome)
    borrowed = tuple(
        (slot, beyond) for slot, amount in request if (beyond := min(amount, max(0, used[slot] + amount - tree.subtree[queue][slot]))) > 0
    )
    if old is not None:
        yield WorkloadReplaced(
            time=state.time,
            cause=state.cause,
            workload=old.name,
            queue=policy.graph.nodes[queue].name,
            by=workload.name,
            usage=charges(policy, old.usage),
            why=Why(reason="WorkloadSliceReplaced"),
        )
    yield WorkloadAdmitted(
        time=state.time,
        cause=state.cause,
        workload=workload.name,
        queue=policy.graph.nodes[queue].name,
        assignments=assignments(outcome.nomination.plan, policy),
        usage=charges(policy, request),
        borrowed=charges(policy, borrowed),
        why=admission_why(policy, outcome, bool(borrowed)),
    )


def _eviction(state: State, policy: Active, outcome: Outcome, index: int) -> WorkloadEvicted:
    target = outcome.targets[index]
    return WorkloadEvicted(
        time=state.time,
        cause=state.cause,
        workload=target.workload.name,
        queue=policy.graph.nodes[target.workload.queue].name,
        beneficiary=outcome.workload.name,
        preemption=target.kind,
        usage=charges(policy, target.workload.usage),
        why=eviction_why(policy, outcome, target),
    )


def _deferral(state: State, policy: Active, queues: Queues, outcome: Outcome) -> WorkloadDeferred:
    workload, plan = outcome.workload, outcome.nomination.plan
    tried = () if outcome.end in (End.PREEMPTING, End.DEFERRED) else _scan_of(plan.pod_sets)
    again = queues.strict(workload.queue) or bool(tried) or outcome.end not in (End.NO_FIT, End.NO_CANDIDATES)
    return WorkloadDeferred(
        time=state.time,
        cause=state.cause,
        workload=workload.name,
        queue=policy.graph.nodes[workload.queue].name,
        waits="next" if again else "parked",
        preempting=outcome.end is End.PREEMPTING or (again and queues.states[workload.queue].preemptor is workload),
        alike=not again,
        tried=tried,
        why=refusal_why(policy, outcome),
    )


def _refusal(state: State, policy: Active, queues: Queues, workload: Workload, reason: str, detail: str) -> WorkloadDeferred:
    parked = detail == NAMESPACE or not queues.strict(workload.queue)
    return WorkloadDeferred(
        time=state.time,
        cause=state.cause,
        workload=workload.name,
        queue=policy.graph.nodes[workload.queue].name,
        waits="parked" if parked else "next",
        why=Why(reason=reason, operands=(Operand(name="because of", value=detail),)),
    )


def _scan_of(pod_sets: list[PodSetPlan]) -> tuple[Tried, ...]:
    """The flavors at which the search stopped with others left to try."""
    return tuple(
        Tried(pod_set=pod_set.name, resource=resource, index=pod_set.flavors[resource].tried)
        for pod_set in pod_sets
        for resource in sorted(pod_set.flavors)
        if pod_set.flavors[resource].tried >= 0
    )


def _says_something(state: State, event: WorkloadDeferred) -> bool:
    """Whether a deferral changes the queues or tells something new; one that does neither is not decided again."""
    before = state.workloads[event.workload].deferral
    if before is None or event.waits == "parked" or event.tried or before.tried:
        return True
    return (before.why.reason, before.preempting) != (event.why.reason, event.preempting)

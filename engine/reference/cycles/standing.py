"""Where a waiting workload stands in a policy that decides in cycles: in Kueue's words, and why nobody could go for it."""

from typing import Literal

from ...events import Limit, Operand, RuleRef
from ..remedies import Remedy, ending, limits
from ..route import reference
from ..state import Active
from ..whereabouts import CandidateStanding, FlavorStanding, Standing
from ..workload import Workload
from .admissible import aside, inactive, inadmissible
from .candidates import Cluster, Note, Wish, as_request, satisfies
from .nominate import Nomination, Nominator, search
from .plan import WAITING, Attempt, Grade, Mode
from .queues import Queues
from .reasons import binding_limit, limit_of

Outcome = Literal["taken", "spared", "not reached", "not allowed", "not borrowing", "only without borrowing", "share"]


def pending(policy: Active, queues: Queues, workload: Workload, base: Standing) -> Standing:
    """The standing of a waiting workload, filled in. The tree is as before afterwards."""
    if workload.queue < 0:
        asked = Operand(name="local queue", value=workload.fact.local_queue or workload.fact.queue or "none")
        return base.model_copy(update={"reason": "Misconfigured", "operands": (asked,)})
    why = aside(policy, workload)
    if why is not None:
        return base.model_copy(update={"reason": why.reason, "rule": why.rule, "operands": why.operands})
    stopped = inactive(policy, workload.queue)
    if stopped:
        node = policy.graph.nodes[workload.queue]
        because = Operand(name="queue", value=stopped)
        return base.model_copy(update={"reason": "Suspended", "rule": reference(node.name, node.source), "operands": (because,)})
    reason, detail = inadmissible(policy, workload)
    line = queues.line(workload.queue)
    place = {"position": line.index(workload) + 1, "waiting": len(line)}
    if reason:
        return base.model_copy(update={**place, "reason": reason, "operands": (Operand(name="because of", value=detail),)})
    cluster = Cluster(policy, queues.running(), queues.rank if queues.usage is not None else None)
    nomination = Nominator(cluster, queues.height).nominate(workload, {})
    found = _judged(policy, queues, cluster, nomination)
    return base.model_copy(update={**place, **found, **_reason(queues, nomination, line)})


def _reason(queues: Queues, nomination: Nomination, line: list[Workload]) -> dict[str, object]:
    """The token: of the last cycle that looked at it, else what would come of it now, else that it is still to be looked at."""
    workload, plan = nomination.workload, nomination.plan
    if workload.deferral is not None:
        return {"reason": workload.deferral.why.reason}
    if not queues.is_waiting(workload):  # parked with others of its shape
        return {"reason": plan.reason or WAITING}
    return {"reason": "PendingEvaluation", "operands": (Operand(name="first in line", value=line[0].name),)}


def _judged(policy: Active, queues: Queues, cluster: Cluster, nomination: Nomination) -> dict[str, object]:
    """Limit, flavors, candidates and remedies, as things stand now."""
    workload, plan = nomination.workload, nomination.plan
    limit = binding_limit(policy, workload.queue, plan)
    found: dict[str, object] = {
        "limit": limit,
        "rule": limit.source if limit is not None else None,
        "flavors": tuple(
            _flavor(policy, workload.queue, pod_set.name, attempt) for pod_set in plan.pod_sets for attempt in pod_set.attempts
        ),
        "candidates": _candidates(policy, queues, cluster, nomination),
    }
    request = as_request(plan.usage)
    if plan.mode is Mode.PREEMPT and request:
        running = [place[name] for place in queues.running() for name in sorted(place)]
        remedies = []
        ends = ending(policy, workload, request, running)
        if ends:
            remedies.append(Remedy(kind="ends", workloads=tuple(ends)))
        grown = limits(policy, workload, request)
        if grown:
            remedies.append(Remedy(kind="limits", limits=tuple(grown)))
        found["remedies"] = tuple(remedies)
    return found


def _flavor(policy: Active, queue: int, pod_set: str, attempt: Attempt) -> FlavorStanding:
    """Why a flavor does not serve; in Kueue's words, and `Preempt` where somebody could go for it."""
    reasons = {Grade.FIT: "Fits", Grade.NO_CANDIDATES: WAITING, Grade.PREEMPT: "Preempt", Grade.RECLAIM: "Preempt"}
    found: list[Limit] = [limit_of(policy, queue, obstacle) for obstacle in attempt.obstacles if obstacle.kind in ("short", "exceeds")]
    return FlavorStanding(
        pod_set=pod_set,
        resources=attempt.resources,
        flavor=attempt.flavor,
        reason=reasons.get(attempt.grade, attempt.reason),
        limit=max(found, key=lambda limit: limit.deficit, default=None),
    )


def _candidates(policy: Active, queues: Queues, cluster: Cluster, nomination: Nomination) -> tuple[CandidateStanding, ...]:
    """Everybody in the tree who uses a slot on which the workload needs room, and what came of each."""
    workload, plan = nomination.workload, nomination.plan
    if plan.mode is not Mode.PREEMPT:
        return ()
    slots = sorted(plan.needing)
    notes: list[Note] = []
    amounts = {slot: plan.usage[slot] for slot in sorted(plan.usage) if plan.usage[slot] > 0}
    found = bool(search(cluster, Wish(workload, amounts, slots, notes)))
    last = {note.workload.name: note for note in notes}
    users = [
        other
        for node in queues.trees[policy.tree.paths[workload.queue][-1]]
        for _, other in sorted(queues.states[node].running.items())
        if any(slot in slots for slot, _ in other.usage)
    ]
    return tuple(_candidate(policy, cluster, workload, other, last.get(other.name), found, slots) for other in users)


def _candidate(
    policy: Active, cluster: Cluster, workload: Workload, other: Workload, note: Note | None, found: bool, slots: list[int]
) -> CandidateStanding:
    outcome, rule = _outcome(policy, cluster, workload, other, note, slots)
    operands = [Operand(name="workload.priority", value=str(workload.priority)), Operand(name="victim.priority", value=str(other.priority))]
    operands += [Operand(name=name, value=value) for name, value in (note.operands if note is not None else ())]
    if outcome == "taken" and not found:
        operands.append(Operand(name="enough", value="no"))
    return CandidateStanding(
        workload=other.name, queue=policy.graph.nodes[other.queue].name, outcome=outcome, rule=rule, operands=tuple(operands)
    )


def _outcome(
    policy: Active, cluster: Cluster, workload: Workload, other: Workload, note: Note | None, slots: list[int]
) -> tuple[Outcome, RuleRef | None]:
    if note is not None:
        return note.outcome, None
    preemption, place = cluster.preemption(workload.queue), policy.graph.nodes[workload.queue]
    own = other.queue == workload.queue
    wanted: str = preemption.own if own else preemption.reclaims
    if not satisfies(wanted, workload, other):
        source = preemption.own_source if own else preemption.reclaims_source
        return "not allowed", reference(place.name, source or place.source)
    if not own and not _borrows(policy, workload.queue, other.queue, slots):
        return "not borrowing", None
    return "not reached", None


def _borrows(policy: Active, queue: int, other: int, slots: list[int]) -> bool:
    """Whether another queue, and every cohort between it and the common ancestor, uses more than it owns of some slot."""
    path, theirs = policy.tree.paths[other], policy.tree.sides(queue, other)[1]
    return all(policy.tree.borrows(node, slots) for node in path[: path.index(theirs) + 1])

"""Where a waiting workload stands in a policy that decides in cycles: in Kueue's words, and why nobody could go for it."""

from collections.abc import Iterator

from ...events import Limit, Operand
from ..remedies import Remedy
from ..route import reference
from ..state import Active
from ..whereabouts import FlavorStanding, Standing
from ..workload import Workload
from .admissible import Barrier, barriers, released
from .candidates import Cluster
from .considered import considered
from .flavors import groups_of
from .nominate import Nomination, Nominator
from .plan import NO_MATCH, WAITING, Attempt, Grade, Mode, PodSetPlan
from .queues import Queues
from .reasons import binding_limit, describe, limit_of, tightest
from .remedies import evicting, remedies, runs


def pending(policy: Active, queues: Queues, workload: Workload, base: Standing) -> Standing:
    """The standing of a waiting workload, filled in. The tree is as before afterwards."""
    if workload.queue < 0:
        asked = Operand(name="local queue", value=workload.fact.local_queue or workload.fact.queue or "none")
        return base.model_copy(update={"reason": "Misconfigured", "operands": (asked,)})
    barred = barriers(policy, workload)
    policy = released(policy, workload.queue) if barred else policy
    cluster = queues.cluster(policy)
    nomination = Nominator(cluster, queues.height).nominate(workload, {})
    place = {} if workload.name in queues.aside else _place(queues, workload)
    if barred:
        return base.model_copy(update={**place, **_barred(barred, nomination)})
    found = {**place, **_reason(policy, queues, nomination), **_judged(policy, queues, cluster, nomination)}
    return base.model_copy(update=found)


def _barred(barred: list[Barrier], nomination: Nomination) -> dict[str, object]:
    """The reason of a workload that no cycle would nominate, whatever is free, and whether it would run if all barriers went."""
    first, *others = (barrier.why for barrier in barred)
    helps = all(barrier.known for barrier in barred) and runs(nomination)
    release = (Remedy(kind="release", evicting=evicting(nomination)),) if helps else ()
    return {"reason": first.reason, "rule": first.rule, "operands": first.operands, "also": tuple(others), "remedies": release}


# --- in its queue -------------------------------------------------------------------------------------------------------


def _place(queues: Queues, workload: Workload) -> dict[str, object]:
    line = queues.line(workload.queue)
    return {"position": line.index(workload) + 1, "waiting": len(line), "parked": not queues.is_waiting(workload)}


def _reason(policy: Active, queues: Queues, nomination: Nomination) -> dict[str, object]:
    """The token: of the last cycle that looked at it, else of those with whom it is parked, else that it is still to be looked at."""
    workload, plan = nomination.workload, nomination.plan
    parked = not queues.is_waiting(workload)
    limit = binding_limit(policy, workload.queue, plan)
    rule = limit.source if limit is not None else None
    found: dict[str, object] = {"limit": limit, "rule": rule, "operands": tuple(_operands(queues, workload, parked))}
    deferral = workload.deferral
    if deferral is not None and (deferral.waits == "parked" or not parked):
        outcome = next((operand.value for operand in deferral.why.operands if operand.name == "outcome"), None)
        victims = tuple(operand.value for operand in deferral.why.operands if operand.name == "evicts")
        return {**found, "reason": deferral.why.reason, "outcome": outcome, "victims": victims}
    if parked:
        return {**found, "reason": plan.reason or WAITING}
    place = policy.graph.nodes[workload.queue]
    blocked = queues.strict(workload.queue) and queues.head(workload.queue) is not workload
    return {**found, "reason": "PendingEvaluation", "rule": reference(place.name, place.source) if blocked else rule}


def _operands(queues: Queues, workload: Workload, parked: bool) -> Iterator[Operand]:
    """Who is before it, with whom it is parked, and what decides before priority where its queue admits by usage."""
    first = queues.head(workload.queue)
    alike = queues.parked_with(workload) if parked else None
    if alike is not None and alike is not workload:
        yield Operand(name="parked with", value=alike.name)
    if not parked and first is not None and first is not workload:
        strict = ", whom nobody passes in this queue" if queues.strict(workload.queue) else ""
        yield Operand(name="first in line", value=first.name + strict)
    yield from _usage(queues, workload)
    if not parked and first is not None and first.fact.local_queue != workload.fact.local_queue:
        yield from _usage(queues, first)


def _usage(queues: Queues, workload: Workload) -> Iterator[Operand]:
    """The usage by which a workload stands in a queue that admits by usage."""
    if queues.ranks(workload):
        last, usage = queues.rank(workload)
        thousandths = int(usage * 1000)
        shown = "weight 0, comes last" if last else f"{thousandths // 1000}.{thousandths % 1000:03}"
        yield Operand(name=f"usage of {workload.fact.local_queue}", value=shown)


def _judged(policy: Active, queues: Queues, cluster: Cluster, nomination: Nomination) -> dict[str, object]:
    """What a cycle could do, flavors, candidates and remedies, as things stand now."""
    return {
        "now": "fits" if nomination.plan.mode is Mode.FIT else "evicts" if nomination.targets else "waits",
        "flavors": tuple(flavors(policy, nomination)),
        "candidates": considered(policy, queues, cluster, nomination),
        "remedies": remedies(policy, queues, nomination),
    }


# --- flavors ------------------------------------------------------------------------------------------------------------


def flavors(policy: Active, nomination: Nomination) -> Iterator[FlavorStanding]:
    """Every flavor of every pod set that was looked at: those that were tried, and those that come after one that was good enough."""
    workload, graph = nomination.workload, policy.graph
    groups = groups_of(graph, graph.queue_at(workload.queue))
    for pod_set in nomination.plan.pod_sets:
        yield from _unserved(pod_set)
        yield from (_flavor(policy, nomination, pod_set, attempt) for attempt in pod_set.attempts)
        for group in groups:
            tried = [attempt for attempt in pod_set.attempts if set(attempt.resources) <= set(group.resources)]
            names = [graph.flavors[index].name for index in group.flavors]
            if tried:
                last = tried[-1]
                for name in names[names.index(last.flavor) + 1 :]:
                    because = (f"{last.flavor} is good enough",)
                    yield FlavorStanding(
                        pod_set=pod_set.name, resources=last.resources, flavor=name, reason="NotTried", limit=None, because=because
                    )


def _unserved(pod_set: PodSetPlan) -> Iterator[FlavorStanding]:
    """A resource of which the queue has no flavor at all."""
    for obstacle in pod_set.obstacles:
        if obstacle.kind == "unavailable":
            resources, because = (obstacle.resource,), (describe(obstacle),)
            yield FlavorStanding(pod_set=pod_set.name, resources=resources, flavor="", reason=NO_MATCH, limit=None, because=because)


def _flavor(policy: Active, nomination: Nomination, pod_set: PodSetPlan, attempt: Attempt) -> FlavorStanding:
    """Why a flavor does not serve; in Kueue's words, and `Preempt` where somebody could go for it."""
    reasons = {Grade.FIT: "Fits", Grade.NO_CANDIDATES: WAITING, Grade.PREEMPT: "Preempt", Grade.RECLAIM: "Preempt"}
    by_quota = [obstacle for obstacle in attempt.obstacles if obstacle.kind in ("short", "exceeds")]
    limits: list[Limit] = [limit_of(policy, nomination.workload.queue, obstacle) for obstacle in by_quota]
    return FlavorStanding(
        pod_set=pod_set.name,
        resources=attempt.resources,
        flavor=attempt.flavor,
        reason=reasons.get(attempt.grade, attempt.reason),
        limit=tightest(limits),
        limits=tuple(limits),
        because=tuple(_because(policy, nomination, pod_set, attempt)),
        borrows=attempt.level > 0,
    )


def _because(policy: Active, nomination: Nomination, pod_set: PodSetPlan, attempt: Attempt) -> Iterator[str]:
    """What keeps a flavor from serving that no limit says."""
    yield from (describe(obstacle) for obstacle in attempt.obstacles if obstacle.kind not in ("short", "exceeds"))
    chosen = {policy.graph.flavors[choice.flavor].name for choice in pod_set.flavors.values()}
    if attempt.grade is Grade.NO_CANDIDATES:
        yield "nobody whom it may evict makes room for it"
    elif attempt.reason == WAITING:
        yield "it would have to borrow, and its queue evicts nobody for that"
    elif attempt.mode is Mode.PREEMPT and attempt.flavor in chosen and not nomination.targets:
        yield "victims make room for each resource alone, but not for all it asks for"

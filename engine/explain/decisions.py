"""Why a cycle decided what it did, as data: the limit that binds, what each flavor lacked, what was compared for each victim."""

from collections.abc import Iterator
from fractions import Fraction

from ...events import Assignment, Limit, Operand, RuleRef, Why
from ...graph import Source
from ...units import format_amount
from ..quota import Binding
from ..route import reference
from ..state import Active
from ..why import limit_at, quota_line
from .candidates import Target, as_request
from .cycle import Outcome
from .plan import EXCEEDS, Attempt, Obstacle, Plan


def assignments(plan: Plan, policy: Active) -> tuple[Assignment, ...]:
    """The flavors of each pod set by name."""
    names = [flavor.name for flavor in policy.graph.flavors]
    return tuple(
        Assignment(
            pod_set=pod_set.name,
            count=pod_set.count,
            flavors={resource: names[pod_set.flavors[resource].flavor] for resource in sorted(pod_set.flavors)},
        )
        for pod_set in plan.pod_sets
    )


def admission_why(policy: Active, outcome: Outcome, borrows: bool) -> Why:
    """Why a workload is admitted: the line that lets it, what it asks, uses and owns of each slot, and which flavors were worse."""
    workload, old, used = outcome.workload, outcome.nomination.replaced, used_by_others(policy, outcome)
    plan = outcome.nomination.plan
    request = as_request(plan.whole)
    operands = [Operand(name="replaces", value=old.name)] if old is not None else []
    for slot, amount in request:
        resource, flavor = policy.graph.slots[slot].resource, policy.graph.flavors[policy.graph.slots[slot].flavor].name
        for name, value in (("asks", amount), ("queue uses", used[slot]), ("queue owns", policy.tree.subtree[workload.queue][slot])):
            operands.append(Operand(name=name, value=f"{format_amount(value, resource)} {resource} on {flavor}"))
    operands += _passed_over(policy, plan)
    rule = quota_line(policy, workload.queue, request, borrows)
    return Why(reason="FitsBorrowing" if borrows else "FitsOwned", rule=rule, operands=tuple(operands))


def used_by_others(policy: Active, outcome: Outcome) -> list[int]:
    """What its queue uses of each slot, without the workload whose place is taken."""
    used, old = list(policy.tree.usage[outcome.workload.queue]), outcome.nomination.replaced
    for slot, amount in old.usage if old is not None else ():
        used[slot] -= amount
    return used


def refusal_why(policy: Active, outcome: Outcome) -> Why:
    """Why a workload was not admitted: the most severe limit, and for each flavor that was tried what it lacked."""
    plan = outcome.nomination.plan
    operands = [Operand(name="outcome", value=outcome.end.value)]
    operands += [_tried(pod_set.name, attempt) for pod_set in plan.pod_sets for attempt in pod_set.attempts]
    operands += [Operand(name="evicts", value=target.workload.name) for target in outcome.targets]
    return Why(reason=outcome.reason, operands=tuple(operands), limit=binding_limit(policy, outcome.workload.queue, plan))


def _passed_over(policy: Active, plan: Plan) -> Iterator[Operand]:
    """The flavors that were tried for each pod set and not taken, and what each lacked."""
    for pod_set in plan.pod_sets:
        taken = {policy.graph.flavors[chosen.flavor].name for chosen in pod_set.flavors.values()}
        yield from (_tried(pod_set.name, attempt) for attempt in pod_set.attempts if attempt.flavor not in taken)


def _tried(pod_set: str, attempt: Attempt) -> Operand:
    fits = "fits, borrowing" if attempt.level > 0 else "fits"
    return Operand(name=f"{pod_set} on {attempt.flavor}", value="; ".join(describe(obstacle) for obstacle in attempt.obstacles) or fits)


def describe(obstacle: Obstacle) -> str:
    """What an obstacle is, in one clause."""
    match obstacle.kind:
        case "unavailable":
            return f"the queue serves no {obstacle.resource}"
        case "missing":
            return "nothing defines the flavor"
        case "taint":
            return f"taint {obstacle.detail} is not tolerated"
        case "affinity":
            return "the pod set selects other nodes"
        case "other-flavor":
            return "another flavor was nominated"
        case "replaces":
            return f"the workload that it replaces runs on {obstacle.detail or 'no flavor'} for {obstacle.resource}"
        case "exceeds":
            asked = format_amount(obstacle.assumed + obstacle.asked, obstacle.resource)
            return f"asks for {asked} {obstacle.resource} of at most {format_amount(obstacle.limit, obstacle.resource)}"
        case _:
            return f"{format_amount(obstacle.deficit, obstacle.resource)} {obstacle.resource} more needed"


def binding_limit(policy: Active, queue: int, plan: Plan) -> Limit | None:
    """The limit that binds a plan: what asks for more than could ever be, else the slots on which others have to go; the tightest."""
    obstacles = [obstacle for pod_set in plan.pod_sets for obstacle in pod_set.obstacles if obstacle.kind in ("short", "exceeds")]
    exceeding = [each for each in obstacles if each.kind == "exceeds" and plan.reason == EXCEEDS]
    needing = [each for each in obstacles if policy.slot_index[each.flavor, each.resource] in plan.needing]
    short = [each for each in obstacles if each.kind == "short"]
    return tightest([limit_of(policy, queue, obstacle) for obstacle in exceeding or needing or short or obstacles])


def tightest(limits: list[Limit]) -> Limit | None:
    """The limit that leaves the greatest part of what is asked unserved, as amounts of two resources don't compare; then the deficit."""
    return max(limits, key=lambda limit: (Fraction(limit.deficit, limit.asked), limit.deficit), default=None)


def limit_of(policy: Active, queue: int, obstacle: Obstacle) -> Limit:
    """The limit that an obstacle of kind `short` or `exceeds` met."""
    slot = policy.slot_index[obstacle.flavor, obstacle.resource]
    binding = policy.tree.binding(queue, slot) if obstacle.kind == "short" else most(policy, queue, slot)
    available = min(binding.available, obstacle.limit)  # there was less in the middle of a cycle, and less than nothing in a debt
    return limit_at(policy, slot, obstacle.assumed + obstacle.asked, available, binding.node, binding.limit)


def most(policy: Active, queue: int, slot: int) -> Binding:
    """The limit that a queue could never exceed, were everything else idle."""
    tree, node = policy.tree, queue
    while tree.parent[node] >= 0:
        limit = policy.graph.nodes[node].quotas[slot].borrowing_limit
        if limit is not None and tree.potential[node][slot] == tree.subtree[node][slot] + limit:
            return Binding(tree.potential[queue][slot], node, "borrowing")
        node = tree.parent[node]
    return Binding(tree.potential[queue][slot], node, "owned")


def eviction_why(policy: Active, outcome: Outcome, target: Target) -> Why:
    """Why a workload goes: the line that lets its beneficiary's queue evict it, priorities, and shares where they were compared."""
    beneficiary, victim = outcome.workload, target.workload
    operands = [
        Operand(name="workload.priority", value=str(beneficiary.priority)),
        Operand(name="victim.priority", value=str(victim.priority)),
        *(Operand(name=name, value=value) for name, value in target.operands),
    ]
    limit = binding_limit(policy, beneficiary.queue, outcome.nomination.plan)
    return Why(reason="Preempted", rule=_line(policy, beneficiary.queue, target), operands=tuple(operands), limit=limit)


def _line(policy: Active, node: int, target: Target) -> RuleRef | None:
    place = policy.graph.nodes[node]
    preemption = policy.graph.queues[place.queue].preemption
    source: Source | None = {
        "in-queue": preemption.own_source,
        "reclaim-while-borrowing": preemption.borrowing_source,
    }.get(target.kind, preemption.reclaims_source)
    return reference(place.name, source or place.source)

"""From what the core compared to the decisions it makes, each with its reason as data."""

from ..events import AnyDecision, Charge, Limit, Operand, RuleRef, Why, WorkloadAdmitted, WorkloadEvicted
from ..graph import PreemptRule, Source
from ..units import format_amount
from .flavors import Plan
from .quota import Request
from .route import reference
from .state import Active
from .victims import Victim
from .workload import Workload


def charges(policy: Active, request: Request) -> tuple[Charge, ...]:
    """A request by slot as charges by name."""
    slots, flavors = policy.graph.slots, policy.graph.flavors
    return tuple(Charge(flavor=flavors[slots[slot].flavor].name, resource=slots[slot].resource, amount=amount) for slot, amount in request)


def binding_limit(policy: Active, queue: int, request: Request) -> Limit | None:
    """The limit that keeps a queue from taking a request now: of all slots that are short, the one with the greatest deficit."""
    limits = []
    for slot, amount in request:
        binding = policy.tree.binding(queue, slot)
        if amount > binding.available:
            limits.append(limit_at(policy, slot, amount, binding.available, binding.node, binding.limit))
    return max(limits, key=lambda limit: limit.deficit, default=None)


def greatest_limit(policy: Active, queue: int, request: Request) -> Limit | None:
    """The limit that a request exceeds even were everything else idle."""
    tree = policy.tree
    for slot, amount in request:
        reach = min(tree.potential[queue][slot], tree.capacity[slot])
        if amount > reach:
            if tree.capacity[slot] <= tree.potential[queue][slot]:
                return limit_at(policy, slot, amount, max(0, reach), 0, "capacity")
            node = next((node for node in tree.paths[queue][:-1] if _borrowing_decides(policy, node, slot)), 0)
            return limit_at(policy, slot, amount, max(0, reach), node, "borrowing" if node else "owned")
    return None


def _borrowing_decides(policy: Active, node: int, slot: int) -> bool:
    """Whether a node's borrowing limit, and not what its parent has, is what it could use at most."""
    tree, limit = policy.tree, policy.graph.nodes[node].quotas[slot].borrowing_limit
    return limit is not None and tree.potential[node][slot] == tree.subtree[node][slot] + limit


def limit_at(policy: Active, slot: int, asked: int, available: int, node: int, kind: str) -> Limit:
    """A limit of this kind at a node, with the line that sets it."""
    graph = policy.graph
    place, flavor, quota = graph.nodes[node], graph.flavors[graph.slots[slot].flavor], graph.nodes[node].quotas[slot]
    source: Source | None = flavor.source
    if node:
        source = (quota.borrowing_source if kind == "borrowing" else quota.nominal_source) or place.source
    return Limit.model_validate(
        {
            "node": place.name,
            "limit": kind,
            "flavor": flavor.name,
            "resource": graph.slots[slot].resource,
            "asked": asked,
            "available": available,
            "deficit": asked - available,
            "source": reference(place.name if node else flavor.name, source),
        }
    )


def quota_line(policy: Active, queue: int, request: Request, borrows: bool) -> RuleRef | None:
    """The line of the policy that lets a queue use a request: what it owns, or how it may borrow; else the queue itself."""
    place = policy.graph.nodes[queue]
    quotas = [place.quotas[slot] for slot, _ in request]
    lines = [quota.borrowing_source if borrows else quota.nominal_source for quota in quotas]
    return reference(place.name, next((line for line in lines if line is not None), place.source))


def decisions_of(policy: Active, workload: Workload, plan: Plan, victims: list[Victim], now: int, cause: int) -> list[AnyDecision]:
    """The evictions that make room for a workload, in the order in which they were chosen, and its admission."""
    limit = binding_limit(policy, workload.queue, plan.request)
    evictions: list[AnyDecision] = [
        WorkloadEvicted(
            time=now,
            cause=cause,
            workload=victim.workload.name,
            queue=policy.graph.nodes[victim.workload.queue].name,
            beneficiary=workload.name,
            preemption=_kind(victim, workload),
            usage=charges(policy, victim.workload.usage),
            why=Why(reason="Preempted", rule=_rule(victim.rule), operands=victim.operands, limit=limit),
        )
        for victim in victims
    ]
    return [*evictions, _admission(policy, workload, plan, victims, now, cause)]


def _kind(victim: Victim, workload: Workload) -> str:
    if victim.workload.queue == workload.queue:
        return "in-queue"
    return "reclaim" if victim.rule.trigger is not None else "other"


def _rule(rule: PreemptRule) -> RuleRef | None:
    return reference(rule.name, rule.source)


def _admission(policy: Active, workload: Workload, plan: Plan, victims: list[Victim], now: int, cause: int) -> WorkloadAdmitted:
    tree, queue = policy.tree, workload.queue
    for victim in victims:
        tree.remove(victim.workload.queue, victim.workload.usage)
    used_before = [tree.usage[queue][slot] for slot, _ in plan.request]
    borrowed = tuple((slot, beyond) for slot, amount in plan.request if (beyond := _beyond_owned(policy, queue, slot, amount)) > 0)
    for victim in victims:
        tree.add(victim.workload.queue, victim.workload.usage)
    operands = []
    for (slot, amount), used in zip(plan.request, used_before, strict=True):
        resource, flavor = policy.graph.slots[slot].resource, policy.graph.flavors[policy.graph.slots[slot].flavor].name
        for name, value in (("asks", amount), ("queue uses", used), ("queue owns", tree.subtree[queue][slot])):
            operands.append(Operand(name=name, value=f"{format_amount(value, resource)} {resource} on {flavor}"))
    reason = "FitsAfterEviction" if victims else "FitsBorrowing" if borrowed else "FitsOwned"
    rule = _rule(victims[0].rule) if victims else quota_line(policy, queue, plan.request, bool(borrowed))
    return WorkloadAdmitted(
        time=now,
        cause=cause,
        workload=workload.name,
        queue=policy.graph.nodes[queue].name,
        assignments=plan.assignments,
        usage=charges(policy, plan.request),
        borrowed=charges(policy, borrowed),
        why=Why(reason=reason, rule=rule, operands=tuple(operands)),
    )


def _beyond_owned(policy: Active, queue: int, slot: int, amount: int) -> int:
    """How much of an amount a queue would borrow: what lies beyond what it owns, at most the amount itself."""
    tree = policy.tree
    return min(amount, max(0, tree.usage[queue][slot] + amount - tree.subtree[queue][slot]))

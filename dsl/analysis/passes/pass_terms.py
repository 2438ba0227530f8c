"""What cohorts, queues and priorities say beyond quotas and values where passes decide."""

from fractions import Fraction

from ....engine.policy.pass_settings import QueueTerms
from ...syntax import tree
from ..context import Context


def terms(
    context: Context,
    item: tree.CohortItem | tree.QueueItem,
    weight: Fraction,
    resources: tuple[str, ...],
    limits: dict[int, int],
    owns_all: set[int],
    guaranteed: dict[int, int],
) -> QueueTerms | None:
    """The terms of a node, whose `weight` counts where nothing is said of a resource; None where the policy decides in another way.

    `resources` are those of the slots; what the quota statements say is given by slot.
    """
    if not context.by_passes:
        return None
    weights = _weights(context, item)
    slots = range(len(resources))
    return QueueTerms(
        limits=tuple(limits.get(slot) for slot in slots),
        owns_all=tuple(slot in owns_all for slot in slots),
        guaranteed=tuple(guaranteed.get(slot, 0) for slot in slots),
        weights=tuple(weights.get(resource, weight) for resource in resources),
        priority=_priority(context, item),
        reclaimable=not any(isinstance(part, tree.NeverReclaimed) for part in item.body),
    )


def _weights(context: Context, item: tree.CohortItem | tree.QueueItem) -> dict[str, Fraction]:
    seen: dict[str, tree.Spanned] = {}
    made: dict[str, Fraction] = {}
    for part in item.body:
        if not isinstance(part, tree.ResourceWeight):
            continue
        resource = part.resource.text
        if resource not in context.resources:
            context.unknown("resource", part.resource, context.resources)
        elif context.once(seen, resource, part, f"the weight of `{item.name.text}` for `{resource}`"):
            made[resource] = context.at_least_zero(part.number, "weight", Fraction(1))
    return made


def _priority(context: Context, item: tree.CohortItem | tree.QueueItem) -> int:
    seen: dict[str, tree.Spanned] = {}
    priority = 0
    for part in item.body:
        if isinstance(part, tree.QueuePriority) and context.once(seen, "priority", part, f"the priority of `{item.name.text}`"):
            priority = context.integer(part.number, "priority", -(2**31), 2**31 - 1) or 0
    return priority


def queue_limits(context: Context, item: tree.PriorityItem) -> tuple[tuple[str, Fraction], ...]:
    """How much of what exists one queue may use for a priority, by resource in order of name."""
    seen: dict[str, tree.Spanned] = {}
    made = []
    for number, resource in item.limits.parts if item.limits is not None and context.by_passes else ():
        if resource.text not in context.resources:
            context.unknown("resource", resource, context.resources)
        elif context.once(seen, resource.text, resource, f"how much `{resource.text}` a queue uses for `{item.name.text}`"):
            made.append((resource.text, context.at_least_zero(number, "part", Fraction(1))))
    return tuple(sorted(made))

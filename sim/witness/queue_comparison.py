"""Compares what a queue may admit under two policies: more, less or the same, as far as the policy graphs prove it.

The question is whether a workload with one pod set, which names the queue and is alone in the declared cluster, may be admitted. It may if
no rule keeps it out and, for each of its resource groups, some flavor of the queue accepts it within what the queue can reach. Each of
these conditions is monotone. So if none became stricter, everything that could be admitted still can.
"""

from collections.abc import Iterator
from typing import Any, Literal

from ...dsl.diff.guard_order import implies, meaning
from ...engine.guard import Expr, fields
from ...engine.policy_graph import Level, covers
from .boundary_values import Side, SlotName

QueueChange = Literal["equal", "more", "less", "incomparable", "changed"]
"""The new policy compared with the old one. `changed`: they differ, but the graphs do not prove in which direction."""

_Order = Literal["equal", "more", "less", "changed"]


def queue_change(old: Side, new: Side, queue: str) -> QueueChange:
    """What may be admitted alone in a queue that both policies have."""
    if _is_shut(old, queue) or _is_shut(new, queue):
        return _compared(not _is_shut(old, queue), not _is_shut(new, queue))
    amounts = {_amount(old, new, queue, slot) for slot in {**old.slots, **new.slots}} - {"equal"}
    others = {*_others(old, new, queue)} - {"equal"}
    orders = amounts | others
    if not orders:
        return "equal"
    if "changed" in orders:
        return "changed"
    if len(orders) == 1:
        return "more" if "more" in orders else "less"
    only_amounts = not others and not _refusals(old, queue)
    return "incomparable" if only_amounts else "changed"


def _is_shut(side: Side, queue: str) -> bool:
    """Whether no workload at all is admitted: the queue is stopped, allows no namespace, or a rule keeps every workload out."""
    said = side.graph.queue_at(side.queues[queue])
    nobody = any(test.operator == "In" and not test.values for test in said.namespaces or ())
    return bool(said.stopped) or nobody or None in _refusals(side, queue)


def _compared(old: bool | int, new: bool | int) -> Literal["equal", "more", "less"]:
    return "equal" if old == new else "more" if old < new else "less"


# --- how much -------------------------------------------------------------------------------------------------------


def _amount(old: Side, new: Side, queue: str, slot: SlotName) -> _Order:
    """What the queue can reach of a slot; where nodes say how much there is, nothing is known but that equal trees reach as far."""
    if any(_from_nodes(side, slot) for side in (old, new)):
        return "equal" if _tree(old, slot) == _tree(new, slot) else "changed"
    return _compared(old.reach(queue, slot), new.reach(queue, slot))


def _from_nodes(side: Side, slot: SlotName) -> bool:
    return any(flavor.name == slot[0] and flavor.nodes is not None for flavor in side.graph.flavors)


def _tree(side: Side, slot: SlotName) -> object:
    """Everything that decides how far queues reach for a slot, whatever there is of it."""
    if slot not in side.slots:
        return None
    graph, index = side.graph, side.slots[slot]
    selector = next(flavor.nodes for flavor in graph.flavors if flavor.name == slot[0])
    quotas = [(node.name, node.parent and graph.nodes[node.parent].name, node.quotas[index]) for node in graph.nodes]
    limits = [(name, above, quota.nominal, quota.borrowing_limit, quota.lending_limit) for name, above, quota in quotas]
    users = [graph.nodes[queue.node].name for queue in graph.queues if graph.slots[index].flavor in queue.flavors]
    return selector, limits, users


# --- what else ------------------------------------------------------------------------------------------------------


def _others(old: Side, new: Side, queue: str) -> Iterator[_Order]:
    yield "equal" if _are_alike(old, new, queue) else "changed"
    yield _sets({each.name for each in old.graph.priorities}, {each.name for each in new.graph.priorities})
    tests = [set(side.graph.queue_at(side.queues[queue]).namespaces or ()) for side in (new, old)]  # each test keeps somebody out
    yield _sets(*tests)
    refused = [_refusals(side, queue) for side in (old, new)]
    more, less = _implied_by(*refused), _implied_by(*reversed(refused))
    yield "equal" if more and less else "more" if more else "less" if less else "changed"
    if any(field.path == "priority" for guards in refused for guard in guards for field in fields(guard)):
        yield "equal" if _ranks(old, queue) == _ranks(new, queue) else "changed"


def _sets(old: set[Any], new: set[Any]) -> _Order:
    return "equal" if old == new else "more" if old < new else "less" if new < old else "changed"


def _implied_by(wide: list[Expr | None], narrow: list[Expr | None]) -> bool:
    """Whether each of the narrow guards implies one of the wide ones."""
    return all(any(implies(guard, other) for other in wide) for guard in narrow)


def _refusals(side: Side, queue: str) -> list[Expr | None]:
    """The guards of the deny and hold rules that look at the queue."""
    path, rules = side.graph.path(side.queues[queue]), side.graph.admission
    return [meaning(rule.guard) for rule in rules if covers(rule, path)]


def _are_alike(old: Side, new: Side, queue: str) -> bool:
    """Whether amounts are comparable: the same resources count and go together, flavors that both use have the same nodes, and pods get
    the same places: where some flavors give places and others none, it depends on all of them who gets which.
    """
    ways = [(side.graph.settings.cycles is None, side.graph.ignored, sorted(_groups(side, queue))) for side in (old, new)]
    before, after = (_shapes(side, queue) for side in (old, new))
    places = [_places(side, queue) for side in (old, new)]
    placed = any(levels is not None for side in places for levels in side.values())
    same_places = not placed or places[0] == places[1]
    return ways[0] == ways[1] and same_places and all(before[name] == after[name] for name in before if name in after)


def _groups(side: Side, queue: str) -> list[tuple[str, ...]]:
    said = side.graph.queue_at(side.queues[queue])
    return [group.resources for group in said.groups] if said.groups else list(side.graph.groups)


def _shapes(side: Side, queue: str) -> dict[str, object]:
    """What decides whether a flavor of the queue takes a pod set, by name, and what it serves here."""
    graph, said = side.graph, side.graph.queue_at(side.queues[queue])
    serves = {index: group.resources for group in said.groups for index in group.flavors}
    flavors = [(graph.flavors[index], serves.get(index)) for index in said.flavors]
    return {each.name: (each.labels, each.taints, each.tolerations, each.missing, resources) for each, resources in flavors}


def _places(side: Side, queue: str) -> dict[str, tuple[Level, ...] | None]:
    """The levels of the places that each flavor of the queue gives, by name; None where it gives none."""
    graph, said = side.graph, side.graph.queue_at(side.queues[queue])
    flavors = [graph.flavors[index] for index in said.flavors]
    return {each.name: graph.topologies[each.topology].levels if each.topology >= 0 else None for each in flavors}


def _ranks(side: Side, queue: str) -> object:
    """The priority that workloads of the queue count with."""
    said = side.graph.queue_at(side.queues[queue])
    return said.ceiling, said.default_priority, [(each.name, each.value) for each in side.graph.priorities]

"""A policy with a single change from another policy. It separates the effect of one change from the effects of all others.

A graph refers to its parts by number, so a part that is copied from another graph gets the numbers of the graph that it comes to.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...dsl.diff.differences import Change
from ...engine.policy_graph import Node, PolicyGraph, Slot
from ..drive.policy import Policy

_LISTS = {
    "topology": "topologies",
    "flavor": "flavors",
    "priority": "priorities",
    "cohort": "nodes",
    "queue": "nodes",
    "preempt rule": "preempt",
    "protect rule": "protect",
    "deny rule": "admission",
    "hold rule": "admission",
}
"""The list of a graph in which a subject stands."""

_OF_NODES = ("parent", "weight")
"""The fields of a queue that its node has."""


def with_change(base: Policy, other: Policy, change: Change) -> Policy | None:
    """`base` with one change taken from `other`; None if the change cannot be made alone, such as a new queue."""
    graph = _graph_with_change(base.graph, other.graph, change)
    return None if graph is None else replace(base, graph=graph)


def _graph_with_change(base: PolicyGraph, other: PolicyGraph, change: Change) -> PolicyGraph | None:
    kind = change.subject.kind
    if kind == "policy":
        return _with_rules_of(base, other) if change.fields == ("preempt",) else _with_fields(base, other, change.fields)
    if kind not in _LISTS or change.direction == "renamed":
        return None
    name, mine, theirs = _LISTS[kind], _part(base, change), _part(other, change)
    parts: tuple[Any, ...] = getattr(base, name)
    if mine is None or theirs is None:
        return (
            None
            if name in ("topologies", "flavors", "nodes")
            else _with_list(base, name, _added_or_dropped(base, other, parts, mine, theirs))
        )
    if name == "nodes":
        return _with_node(base, other, change, parts.index(mine), theirs)
    if name == "flavors" and [resource for resource, _ in mine.capacity] != [resource for resource, _ in theirs.capacity]:
        return None  # other slots
    if change.fields == ("topology",):
        return _placed(base, other, parts.index(mine), theirs.topology)
    made = _with_fields(mine, _carried(base, other, theirs, change.fields), change.fields)
    return _with_list(base, name, _with_part(parts, parts.index(mine), made))


def _placed(base: PolicyGraph, other: PolicyGraph, flavor: int, topology: int) -> PolicyGraph:
    """The graph with one of its flavors placed in a topology of the other, which comes along where the base has none of its name."""
    topologies = base.topologies
    if topology >= 0:
        found = _renumbered(other.topologies, topologies, [topology])
        topologies = topologies if found else (*topologies, other.topologies[topology])
        topology = found[0] if found else len(base.topologies)
    flavors = _with_part(base.flavors, flavor, replace(base.flavors[flavor], topology=topology))
    return replace(base, topologies=topologies, flavors=flavors)


def _with_list(base: PolicyGraph, name: str, parts: tuple[Any, ...]) -> PolicyGraph:
    changes: dict[str, Any] = {name: parts}
    return replace(base, **changes)


def _part(graph: PolicyGraph, change: Change) -> Any:
    """The part of a graph that a change is about; None where the graph has none."""
    kind, name = change.subject
    action = {"deny rule": "deny", "hold rule": "hold"}.get(kind)
    parts = (part for part in getattr(graph, _LISTS[kind]) if part.name == name)
    return next((part for part in parts if action is None or part.action == action), None)


def _with_part(parts: Sequence[Any], index: int, part: Any) -> tuple[Any, ...]:
    return (*parts[:index], part, *parts[index + 1 :])


def _with_fields(mine: Any, theirs: Any, fields: tuple[str, ...]) -> Any:
    """A part with some fields as another has them; a dot leads into a part of it, which is taken whole where one of the two lacks it."""
    for field in fields:
        head, _, rest = field.partition(".")
        inner, wanted = getattr(mine, head), getattr(theirs, head)
        if rest and inner is not None and wanted is not None:
            wanted = _with_fields(inner, wanted, (rest,))
        mine = replace(mine, **{head: wanted})
    return mine


# --- rules and classes that one side lacks, and their order ---------------------------------------------------------


def _with_rules_of(base: PolicyGraph, other: PolicyGraph) -> PolicyGraph:
    """The preempt rules that the other has, in its order, each as the base has it if it does."""
    own = {rule.name: rule for rule in base.preempt}
    return replace(base, preempt=tuple(own.get(rule.name, rule) for rule in other.preempt))


def _added_or_dropped(base: PolicyGraph, other: PolicyGraph, parts: tuple[Any, ...], mine: Any, theirs: Any) -> tuple[Any, ...]:
    if theirs is None:
        return tuple(part for part in parts if part is not mine)
    index = other.preempt.index(theirs) if theirs in other.preempt else len(parts)
    return (*parts[:index], _carried(base, other, theirs, ("nodes",)), *parts[index:])


# --- numbers --------------------------------------------------------------------------------------------------------


def _carried(base: PolicyGraph, other: PolicyGraph, part: Any, fields: tuple[str, ...]) -> Any:
    """A part of the other graph with the numbers of the base; what the base lacks is left out."""
    changes: dict[str, Any] = {}
    for field in fields:
        value: Any = getattr(part, field.partition(".")[0], None)
        if field == "nodes" and value is not None and hasattr(part, "guard"):
            changes[field] = tuple(sorted(_renumbered(other.nodes, base.nodes, value)))
        elif field == "flavors":
            changes[field] = _renumbered(other.flavors, base.flavors, value)
        elif field in ("groups", "checks"):
            changes[field] = tuple(replace(each, flavors=_renumbered(other.flavors, base.flavors, each.flavors)) for each in value)
    return replace(part, **changes) if changes else part


def _renumbered(theirs: Sequence[Any], mine: Sequence[Any], numbers: Sequence[int]) -> tuple[int, ...]:
    index = {part.name: number for number, part in enumerate(mine)}
    return tuple(index[theirs[number].name] for number in numbers if theirs[number].name in index)


# --- cohorts and queues ---------------------------------------------------------------------------------------------


def _with_node(base: PolicyGraph, other: PolicyGraph, change: Change, index: int, theirs: Node) -> PolicyGraph | None:
    mine = base.nodes[index]
    if change.slot is not None:
        return _with_quota(base, other, change, index, theirs)
    if change.fields == ("parent",):
        above = _renumbered(other.nodes, base.nodes, [theirs.parent])
        return _moved(base, index, above[0]) if above and not base.nodes[above[0]].is_queue else None
    if change.fields[0] in _OF_NODES:
        return replace(base, nodes=_with_part(base.nodes, index, _with_fields(mine, theirs, change.fields)))
    wanted = _carried(base, other, other.queues[theirs.queue], change.fields)
    return replace(base, queues=_with_part(base.queues, mine.queue, _with_fields(base.queues[mine.queue], wanted, change.fields)))


def _with_quota(base: PolicyGraph, other: PolicyGraph, change: Change, index: int, theirs: Node) -> PolicyGraph | None:
    assert change.slot is not None
    places = [_slot(graph, change.slot) for graph in (base, other)]
    if places[0] is None or places[1] is None:
        return None
    quotas = base.nodes[index].quotas
    made = _with_fields(quotas[places[0]], theirs.quotas[places[1]], change.fields)
    return replace(base, nodes=_with_part(base.nodes, index, replace(base.nodes[index], quotas=_with_part(quotas, places[0], made))))


def _slot(graph: PolicyGraph, name: tuple[str, str]) -> int | None:
    flavor = next((number for number, each in enumerate(graph.flavors) if each.name == name[0]), -1)
    return graph.slots.index(Slot(flavor, name[1])) if Slot(flavor, name[1]) in graph.slots else None


def _moved(base: PolicyGraph, index: int, above: int) -> PolicyGraph | None:
    """The graph with a node elsewhere in the tree; None where it would stand below itself."""
    node = above
    while node >= 0:
        if node == index:
            return None
        node = base.nodes[node].parent
    parents = [above if number == index else each.parent for number, each in enumerate(base.nodes)]
    children = [tuple(number for number, parent in enumerate(parents) if parent == each) for each in range(len(parents))]
    nodes = (replace(each, parent=parents[number], children=children[number]) for number, each in enumerate(base.nodes))
    return replace(base, nodes=tuple(nodes))

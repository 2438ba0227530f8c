"""Numbers, fields and obstacles as people write them."""

from collections.abc import Iterator

from ..event_parts import FlavorObstacle, Limit, Operand
from ..guard import Field, Type
from ..outcome.nomination import Obstacle, Share, Value
from ..policy_graph import PolicyGraph
from ..units import format_amount, format_duration, format_time
from .standing import Impediment, NodesThere
from .unplaced import instead_of, known_of_nodes, let_nodes_say, unplaced_told

MOST_FLAVORS = 5
"""How many flavors are named where any of them would do."""


def show_share(share: Share, rounded: bool = False) -> str:
    """A share as text: `3/4`, or `infinite`; one that is rounded in thousandths with up to three decimals, cut off."""
    infinite, exact = share
    if infinite or not rounded:
        return "infinite" if infinite else str(exact)
    whole, rest = divmod(int(exact * 1000), 1000)
    return f"{whole}.{rest:03}".rstrip("0").rstrip(".") + " thousandths"


def show(field: Field, value: Value) -> str:
    """The value of a field as a user would write it."""
    if isinstance(value, tuple):
        return show_share(value)
    if isinstance(value, str):
        return value
    match field.type:
        case Type.AMOUNT:
            return f"{format_amount(value, field.path)} {field.path}"
        case Type.TIME:
            return format_time(value)
        case Type.DURATION:
            return format_duration(value)
        case _:
            return str(value)


def compared(fields: list[Field], values: tuple[Value, ...]) -> Iterator[Operand]:
    """Fields that were compared, with their values."""
    for field, value in zip(fields, values, strict=True):
        yield Operand(name=str(field), value=show(field, value))


def slot_amount(graph: PolicyGraph, slot: int, amount: int) -> str:
    """An amount of a slot, such as `8 gpu on h100`."""
    of = graph.slots[slot]
    return f"{format_amount(amount, of.resource)} {of.resource} on {graph.flavors[of.flavor].name}"


def taint_text(graph: PolicyGraph, obstacle: Obstacle) -> str:
    """The taint that an obstacle is about."""
    taint = graph.flavors[obstacle.flavor].taints[obstacle.index]
    return f"{taint.key}={taint.value}:{taint.effect}"


def named_obstacle(graph: PolicyGraph, obstacle: Obstacle) -> FlavorObstacle:
    """An obstacle by the names of the policy, as events have it."""
    detail = ""
    if obstacle.kind == "taint":
        detail = taint_text(graph, obstacle)
    elif obstacle.kind == "other-flavor" and obstacle.index >= 0:
        detail = graph.flavors[obstacle.index].name
    asked, limit = obstacle.assumed + obstacle.asked, obstacle.limit
    return FlavorObstacle(kind=obstacle.kind, resource=obstacle.resource, asked=asked, limit=limit, detail=detail)


def describe(graph: PolicyGraph, obstacle: Obstacle) -> str:
    """What an obstacle of a nomination is, in one clause."""
    return obstacle_told(named_obstacle(graph, obstacle))


def obstacle_told(obstacle: FlavorObstacle) -> str:
    """What an obstacle is, in one clause."""
    match obstacle.kind:
        case "exceeds":
            asked, limit = (format_amount(amount, obstacle.resource) for amount in (obstacle.asked, obstacle.limit))
            return f"asks for {asked} {obstacle.resource} of at most {limit}"
        case "short":
            return f"{format_amount(obstacle.asked - obstacle.limit, obstacle.resource)} {obstacle.resource} more needed"
        case "unserved":
            return f"the queue serves no {obstacle.resource}"
        case "lacks-resource":
            return f"the flavor has no {obstacle.resource}"
        case "missing":
            return "nothing defines the flavor"
        case "taint":
            return f"taint {obstacle.detail} is not tolerated"
        case "not-selected":
            return "the pod set selects other nodes"
        case "too-large" if not obstacle.resource:
            return "no node has all that one of its pods asks for"
        case "too-large":
            asked, limit = (format_amount(amount, obstacle.resource) for amount in (obstacle.asked, obstacle.limit))
            return f"one of its pods asks for {asked} {obstacle.resource}, and its largest node has {limit}"
        case "without-places":
            return "it gives pods no places, and the pod set asks for some"
        case "only-with-places":
            return "it is for pods that say where they are to stand"
        case "no-level":
            return "its topology lacks a level that the pod set names"
        case "several-placed":
            return "the pod set would stand in several topologies at once"
        case "no-places":
            return f"there are places for {obstacle.limit} of {obstacle.asked}" if obstacle.asked else "there are no places"
        case "not-nominated":
            return "another flavor was nominated"
        case "other-flavor":
            return f"the workload that it replaces runs on {obstacle.detail or 'no flavor'} for {obstacle.resource}"


# --- what can never run ---------------------------------------------------------------------------------------------


def impediment_told(impediment: Impediment) -> tuple[str, str]:
    """Why a workload can never run as things stand, and what to do about it; a clause each."""
    flavor, resource = impediment.flavor, impediment.resource
    others = " or ".join(impediment.others[:MOST_FLAVORS])
    match impediment.kind:
        case "unknown flavor":
            instead = f"ask for {others}, or " if others else ""
            return f"the policy has no flavor {flavor}", f"{instead}declare {flavor} in the policy"
        case "not counted":
            told, more = _of_silent(impediment, "; either way, ")
            return (
                f"the policy does not count {resource}{told}",
                f"write `ignore {resource}` in the policy, or give a flavor some {resource}{more}",
            )
        case "no nodes" if impediment.limit is not None and impediment.nodes is not None:
            return _no_nodes(impediment.limit, impediment.nodes)
        case "exceeds" if impediment.limit is not None:
            return _exceeds(impediment.limit, impediment.exists)
        case "unserved":
            told, more = _of_silent(impediment, " and ")
            instead = f"let the queue use a flavor that has {resource}, or write `ignore {resource}`{more}"
            return f"its queue serves no {resource}{told}", instead
        case "lacks-resource":
            told, more = _of_silent(impediment, "; either way, ")
            return (
                f"flavor {flavor} has no {resource}{told}",
                f"give {flavor} some {resource}, or write `ignore {resource}` in the policy{more}",
            )
        case "missing":
            return f"nothing defines flavor {flavor}", f"define {flavor}"
        case "taint" if impediment.obstacle is not None:
            return f"taint {impediment.obstacle.detail} of {flavor} is not tolerated", "let it tolerate the taint"
        case "no-level":
            lacking = " and ".join(impediment.lacking)
            none = "is no level" if len(impediment.lacking) == 1 else "are no levels"
            instead = f"ask for {' or '.join(impediment.levels)}, or add {lacking} to the topology"
            return f"it names {lacking}, which {none} of the topology of {flavor}", instead
        case "without-places":
            return f"it asks for places, and {flavor} gives none", "ask for no places, or let the flavor be placed in a topology"
        case "only-with-places":
            return f"{flavor} is for pods that ask for places", "say where its pods are to stand; `anywhere` will do"
        case "several-placed":
            return "its pods would stand in several topologies at once", "let it ask for flavors of one topology"
        case "not-selected":
            return f"it selects other nodes than those of {flavor}", f"let its node selector and affinity match {flavor}"
        case "other flavors":
            return (
                f"its queue may not use {flavor}",
                f"ask for {others}, or let the queue use {flavor}" if others else "let the queue use it",
            )
        case "unplaced" if impediment.places is not None:
            told = unplaced_told(impediment.places) + known_of_nodes(impediment.places, impediment.helps)
            return f"there are no places on {told}", instead_of(impediment.places, impediment.helps)
        case "nothing asked":
            asked = f"{' and '.join(impediment.resources)} alone" if impediment.resources else "no resource"
            if impediment.none_of:
                none_of = " and ".join(f"0 {name}" for name in impediment.none_of)
                asked = f"{asked} and {none_of}" if impediment.resources else none_of
            gives = " or ".join(impediment.others[:MOST_FLAVORS])
            told = f"it asks for {asked}, and so gets none of what {gives} has, nor a place there"
            return told, f"let each pod ask for something that {gives} has, or for no places"
        case "no flavor":
            return "its queue may use no flavor", "let the queue use one that has what it asks for"
        case _:
            told = obstacle_told(impediment.obstacle) if impediment.obstacle is not None else "it asks for too much"
            return f"{told} (flavor {flavor})", f"ask for something else, or change what {flavor} has"


def _of_silent(impediment: Impediment, joint: str) -> tuple[str, str]:
    """Of a resource of which nodes with places say nothing: that they do, and after `joint` what to do. There it counts even if ignored."""
    if not impediment.silent:
        return "", ""
    of = " and ".join(impediment.silent[:MOST_FLAVORS])
    return f", and nodes of {of} say nothing of it", joint + let_nodes_say(impediment.resource)


def _no_nodes(limit: Limit, there: NodesThere) -> tuple[str, str]:
    """A flavor has what its nodes have, and that is nothing: there are none, they lack its labels, are cordoned, or have none of it."""
    flavor, resource = limit.flavor, limit.resource
    labels = ", ".join(there.labels)
    add = f"add nodes{f' with label {labels}' if labels else ''} (`--nodes` of `gpol simulate`, or NodeAdded by `gpol run`)"
    if there.count > there.cordoned:
        told, help_text = f"none of its nodes that take pods has any {resource}", f"uncordon nodes, or {add}"
    elif there.count:
        told, help_text = "all its nodes are cordoned", f"uncordon one, or {add}"
    elif there.others:
        lack = "node lacks" if there.others == 1 else "nodes lack"
        told, help_text = (
            f"no node is of it: {there.others} {lack} label {labels}",
            f"correct the labels of the nodes or of the flavor, or {add}",
        )
    else:
        told, help_text = "there are no nodes", add
    instead = "" if there.placed else f", or write how much {resource} {flavor} has instead of `from nodes`"
    asked = format_amount(limit.asked, resource)
    return f"it asks for {asked} {resource} on {flavor}, which has what its nodes have, and {told}", f"{help_text}{instead}"


def _exceeds(limit: Limit, exists: int | None) -> tuple[str, str]:
    asked, most = (f"{format_amount(amount, limit.resource)} {limit.resource}" for amount in (limit.asked, max(0, limit.available)))
    where, more = {
        "capacity": (f"{limit.flavor} has at most {most}", f"add {limit.resource} to {limit.flavor}"),
        "borrowing": (f"the borrowing limit of {limit.node} leaves at most {most}", f"raise the borrowing limit of {limit.node}"),
        "owned": (f"at most {most} of it may come to {limit.node}", f"let {limit.node} own more"),
    }[limit.limit]
    less = f"ask for at most {most}, or " if limit.available > 0 else ""
    if exists is not None:
        more += f" and add {limit.resource} to {limit.flavor}, which has {format_amount(exists, limit.resource)} {limit.resource}"
    return f"it asks for {asked} on {limit.flavor}, and {where}", f"{less}{more}"

"""Numbers, fields and obstacles as people write them."""

from collections.abc import Iterator

from ..event_parts import FlavorObstacle, Operand
from ..guard import Field, Type
from ..outcome.nomination import Obstacle, Share, Value
from ..policy_graph import PolicyGraph
from ..units import format_amount, format_duration, format_time


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
    asked, limit = (obstacle.assumed + obstacle.asked, obstacle.limit) if obstacle.by_quota else (0, 0)
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
        case "not-nominated":
            return "another flavor was nominated"
        case "other-flavor":
            return f"the workload that it replaces runs on {obstacle.detail or 'no flavor'} for {obstacle.resource}"

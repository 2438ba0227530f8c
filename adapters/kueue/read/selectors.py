"""Parts that several kinds of objects have: conditions, label selectors, taints, tolerations."""

from collections.abc import Iterator
from typing import Literal, cast

from ....engine.event_parts import Requirement, Toleration
from . import known_fields as known
from .fields import Fields
from .objects import NodeTaint, Selector

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
Effect = Literal["", "NoSchedule", "NoExecute", "PreferNoSchedule"]
TaintEffect = Literal["NoSchedule", "NoExecute", "PreferNoSchedule"]


def conditions(whole: Fields) -> Iterator[Fields]:
    """The conditions of an object's status."""
    return whole.sub("status").subs("conditions")


def selector(said: Fields) -> Selector:
    """A label selector: matchLabels and matchExpressions, all of which have to hold."""
    said.known(known.SELECTOR)
    labels = said.text_map("matchLabels")
    requirements = [Requirement(key=key, operator="In", values=(labels[key],)) for key in labels]
    requirements += [requirement(row, _OPERATORS[:4]) for row in said.subs("matchExpressions")]
    return Selector(tuple(dict.fromkeys(requirements)))


def requirement(row: Fields, operators: tuple[str, ...] = _OPERATORS) -> Requirement:
    """A condition on one label."""
    operator, values = row.known(known.REQUIREMENT).one_of("operator", operators, ""), row.texts("values")
    wants = operator in ("In", "NotIn")
    if not operator and not row.text("operator"):
        row.wrong("operator", "is missing", f"write one of {', '.join(operators)}")
    elif wants and not values:
        row.wrong("values", "is empty", f"operator {operator} needs values")
    elif operator in ("Exists", "DoesNotExist") and values:
        row.wrong("values", "is not empty", f"operator {operator} takes no values")
    elif operator in ("Gt", "Lt") and len(values) != 1:
        row.wrong("values", f"has {len(values)} values", f"operator {operator} takes one")
    return Requirement(key=row.name("key") or "-", operator=cast(Operator, operator or "Exists"), values=values)


def taint(row: Fields) -> NodeTaint:
    """A taint of a node."""
    return NodeTaint(row.known(known.TAINT).name("key"), row.text("value"), row.one_of("effect", _EFFECTS, "NoSchedule"))


def toleration(row: Fields) -> Toleration:
    """What a pod puts up with; how long it does is of no account."""
    key, operator = row.known(known.TOLERATION).optional_name("key"), row.one_of("operator", ("Equal", "Exists"), "Equal")
    if not key and operator != "Exists":
        row.wrong("operator", "is Equal without a key", "a toleration without a key says operator Exists")
    effect = row.one_of("effect", _EFFECTS, "")
    value = row.text("value") if operator == "Equal" else ""
    return Toleration(key=key, operator=cast(Literal["Equal", "Exists"], operator), value=value, effect=cast(Effect, effect))

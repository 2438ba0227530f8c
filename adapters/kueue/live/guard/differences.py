"""In what an object differs from what a policy says of it. Fields that the policy does not say do not count.

Quantities are equal if they are the same number, however written. A resource group that has been given the same flavors and resources is
compared quota by quota, so that a difference is told in the words of who made it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ....kubernetes.api import Plain
from ...read.quantity import QuantityError, parse
from .guarded_objects import AS_IF_ABSENT, FieldPath, GuardedObject, value_at
from .managed_fields import Steps, shown_steps, value_of

_WHOLE_OBJECTS = ("namespaceSelector", "nodeLabels")
"""Objects that are replaced whole. So are all lists, but for these two. Source: the list and map types in Kueue's v1beta2 API."""

_LIST_BY_NAME, _SET = "admissionChecks", "onFlavors"
_QUANTITIES = ("nominalQuota", "borrowingLimit", "lendingLimit", "weight")
_GROUPS = "resourceGroups"

NOTHING = "nothing"
"""How a difference says that there is no value."""


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that is not as the policy says: its path for people, the steps to what is written as one, and both values.

    `is_extra`: the policy says no value, and there is one that no apply takes away.
    """

    field: str
    steps: Steps
    wanted: str
    found: str
    is_extra: bool = False


def said_fields(body: Plain) -> Iterator[tuple[Steps, Any]]:
    """The fields that a body says, each with its value: what the API server keeps as one field each. Names are no fields."""
    labels = body["metadata"].get("labels") or {}
    for name in labels:
        yield ("f:metadata", "f:labels", f"f:{name}"), labels[name]
    for name in body:
        if name not in ("apiVersion", "kind", "metadata"):
            yield from _fields(body[name], (f"f:{name}",), name)


def _fields(value: Any, steps: Steps, name: str) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, dict) and name not in _WHOLE_OBJECTS:
        for inner in value:
            yield from _fields(value[inner], (*steps, f"f:{inner}"), inner)
    elif isinstance(value, list) and name == _LIST_BY_NAME:
        for item in value:
            yield from _fields(item, (*steps, "k:" + _compact({"name": item["name"]})), "")
    elif isinstance(value, list) and name == _SET:
        for item in value:
            yield (*steps, "v:" + _compact(item)), item
    else:
        yield steps, value


def differences(wanted: GuardedObject, found: Plain) -> list[FieldDifference]:
    """What differs, in the order of the fields of the policy."""
    made: list[FieldDifference] = []
    for steps, value in said_fields(wanted.body):
        there = value_of(found, steps)
        is_default = there is None and tuple(step[2:] for step in steps) in wanted.filled
        if not is_default:
            made += _compared(value, there, steps)
    return made + [_extra(path, value) for path in wanted.absent if not _is_absent(path, value := value_at(found, path))]


def _is_absent(path: FieldPath, value: Any) -> bool:
    return value is None or value == AS_IF_ABSENT.get(path)


def _extra(path: FieldPath, value: Any) -> FieldDifference:
    return FieldDifference(".".join(path), tuple(f"f:{name}" for name in path), NOTHING, as_text(value), is_extra=True)


def _compared(wanted: Any, found: Any, steps: Steps) -> list[FieldDifference]:
    """How the values of one field differ."""
    name = steps[-1][2:]
    if name == _GROUPS:
        return _group_differences(wanted, found, steps)
    if _same(name, wanted, found):
        return []
    return [FieldDifference(shown_steps(steps), steps, as_text(wanted), as_text(found))]


def _same(name: str, wanted: Any, found: Any) -> bool:
    if name in _QUANTITIES and wanted is not None and found is not None:
        try:
            return parse(wanted) == parse(found)
        except QuantityError:
            return False
    return bool(wanted == found) and isinstance(wanted, bool) is isinstance(found, bool)


# --- resource groups ------------------------------------------------------------------------------------------------


def _group_differences(wanted: Any, found: Any, steps: Steps) -> list[FieldDifference]:
    """How resource groups differ: quota by quota if they are about the same flavors and resources in the same order, else as a whole."""
    left, right = _quotas(wanted), _quotas([] if found is None else found)
    field = shown_steps(steps)
    if left is None or right is None or list(left) != list(right):
        texts = _layout(wanted), _layout(found)
        if texts[0] == texts[1]:
            texts = as_text(wanted), as_text(found)
        return [FieldDifference(field, steps, *texts)]
    return [
        FieldDifference(f"{field}{place}.{name}", steps, as_text(quota.get(name)), as_text(right[place].get(name)))
        for place, quota in left.items()
        for name in sorted({*quota, *right[place]})
        if not _same(name, quota.get(name), right[place].get(name))
    ]


def _quotas(groups: Any) -> dict[str, Plain] | None:
    """The quotas of resource groups by their places, in order: flavors are tried in that order. None for what has another form."""
    made: dict[str, Plain] = {}
    try:
        for group in groups:
            covered = ", ".join(group["coveredResources"])
            if group.keys() != {"coveredResources", "flavors"}:
                return None
            for flavor in group["flavors"]:
                for quota in flavor["resources"]:
                    place = f"[{covered}].flavors[{flavor['name']}].resources[{quota['name']}]"
                    made[place] = {name: quota[name] for name in quota if name != "name" and quota[name] is not None}
    except (KeyError, TypeError, AttributeError):
        return None
    return made


def _layout(groups: Any) -> str:
    """Which flavors serve which resources."""
    try:
        told = [
            f"{', '.join(group['coveredResources'])} from {', '.join(each['name'] for each in group['flavors'])}" for group in groups or ()
        ]
    except (KeyError, TypeError, AttributeError):
        return as_text(groups)
    return "; ".join(told) or NOTHING


# --- values as texts ------------------------------------------------------------------------------------------------


def as_text(value: Any) -> str:
    """A value for people."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

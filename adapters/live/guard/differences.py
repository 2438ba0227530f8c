"""In what an object differs from what a policy says of it. Fields that the policy does not say do not count.

Quantities are equal if they are the same number, however written. A field that a system tells part by part, such as Kueue's resource
groups, is compared so if it has the same parts in the same order: then a difference is told in the words of who made it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...kubernetes.api import Plain
from ...kueue.read.quantity import QuantityError, parse
from .guarded_system import FieldForms, FieldPath, GuardedObject, PartsOf, value_at
from .managed_fields import Steps, shown_steps, value_of
from .value_texts import NOTHING, as_json, as_text


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


def said_fields(body: Plain, forms: FieldForms) -> Iterator[tuple[Steps, Any]]:
    """The fields that a body says, each with its value: what the API server keeps as one field each. Names are no fields."""
    labels = body["metadata"].get("labels") or {}
    for name in labels:
        yield ("f:metadata", "f:labels", f"f:{name}"), labels[name]
    for name in body:
        if name not in ("apiVersion", "kind", "metadata"):
            yield from _fields(body[name], (f"f:{name}",), name, forms)


def _fields(value: Any, steps: Steps, name: str, forms: FieldForms) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, dict) and name not in forms.whole:
        for inner in value:
            yield from _fields(value[inner], (*steps, f"f:{inner}"), inner, forms)
    elif isinstance(value, list) and name in forms.by_name:
        for item in value:
            yield from _fields(item, (*steps, "k:" + as_json({"name": item["name"]})), "", forms)
    elif isinstance(value, list) and name in forms.sets:
        for item in value:
            yield (*steps, "v:" + as_json(item)), item
    else:
        yield steps, value


def differences(wanted: GuardedObject, found: Plain, forms: FieldForms) -> list[FieldDifference]:
    """What differs, in the order of the fields of the policy."""
    made: list[FieldDifference] = []
    for steps, value in said_fields(wanted.body, forms):
        there = value_of(found, steps)
        is_default = there is None and tuple(step[2:] for step in steps) in wanted.filled
        if not is_default:
            made += _compared(value, there, steps, forms)
    for path in wanted.absent:
        value = value_at(found, path)
        if value is not None and value != forms.as_if_absent.get(path):
            made.append(_extra(path, value))
    return made + [_extra(path, value_at(found, path)) for path in _unsaid(wanted, found)]


def _unsaid(wanted: GuardedObject, found: Plain) -> Iterator[FieldPath]:
    """The fields that stand in closed objects, and that the policy does not say."""
    for path in wanted.closed:
        there, said = value_at(found, path), value_at(wanted.body, path) or {}
        for name in sorted(there) if isinstance(there, dict) else ():
            if name not in said:
                yield (*path, name)


def _extra(path: FieldPath, value: Any) -> FieldDifference:
    steps = tuple(f"f:{name}" for name in path)
    return FieldDifference(shown_steps(steps), steps, NOTHING, as_text(value), is_extra=True)


def _compared(wanted: Any, found: Any, steps: Steps, forms: FieldForms) -> list[FieldDifference]:
    """How the values of one field differ."""
    name = steps[-1][2:]
    if name in forms.in_parts:
        return _part_differences(wanted, found, steps, forms, forms.in_parts[name])
    is_amount = len(steps) > 1 and steps[-2][2:] in forms.amounts
    if _same(wanted, found, is_amount or name in forms.quantities):
        return []
    return [FieldDifference(shown_steps(steps), steps, as_text(wanted), as_text(found))]


def _same(wanted: Any, found: Any, is_quantity: bool) -> bool:
    if is_quantity and wanted is not None and found is not None:
        try:
            return parse(wanted) == parse(found)
        except QuantityError:
            return False
    return bool(wanted == found) and isinstance(wanted, bool) is isinstance(found, bool)


def _part_differences(wanted: Any, found: Any, steps: Steps, forms: FieldForms, of: PartsOf) -> list[FieldDifference]:
    """How a field differs: part by part if both have the same parts in the same order, else as a whole."""
    left, right = of.parts(wanted), of.parts(found)
    path = shown_steps(steps)
    if left is None or right is None or list(left) != list(right):
        texts = of.layout(wanted), of.layout(found)
        if texts[0] == texts[1]:
            texts = as_text(wanted), as_text(found)
        return [FieldDifference(path, steps, *texts)]
    return [
        FieldDifference(f"{path}{place}.{name}", steps, as_text(part.get(name)), as_text(right[place].get(name)))
        for place, part in left.items()
        for name in sorted({*part, *right[place]})
        if not _same(part.get(name), right[place].get(name), name in forms.quantities)
    ]

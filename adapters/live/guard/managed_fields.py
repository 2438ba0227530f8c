"""Who has written which fields of an object: metadata.managedFields, as the API server keeps it.

A step of a path is written as there: `f:name` is a field, `k:{"name":"x"}` the item of a list that is merged by name, and `v:"x"` a value
of a set. Lists and objects that are replaced whole are one field. Source: Kubernetes, Server-Side Apply, field management.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...kubernetes.api import Plain

Steps = tuple[str, ...]
"""A path to a field, in the steps of fieldsV1."""

_MEMBER = "."
_BELOW_SPEC = 2


class FieldManager(NamedTuple):
    """Somebody who has written a field. An applier says again and again what it wants; others have written it once, like an editor."""

    name: str
    is_applier: bool


def field_managers(plain: Plain, steps: Steps) -> list[FieldManager]:
    """Who has written the field at a path, or something below it."""
    found: dict[FieldManager, None] = {}
    for entry in _entries(plain):
        if _has(entry.get("fieldsV1") or {}, steps):
            found[FieldManager(str(entry.get("manager", "")), entry.get("operation") == "Apply")] = None
    return sorted(found)


def has_written(plain: Plain, manager: str, steps: Steps) -> bool:
    """Whether a manager has written the field at a path."""
    return any(each.name == manager for each in field_managers(plain, steps))


def applied_by(plain: Plain, manager: str) -> list[Steps]:
    """The fields that a manager has applied."""
    entries = [entry for entry in _entries(plain) if entry.get("manager") == manager and entry.get("operation") == "Apply"]
    return sorted({steps for entry in entries for steps in _leaves(entry.get("fieldsV1") or {}, ())})


def _entries(plain: Plain) -> list[Plain]:
    """The records of writes to the object itself; writes to its status are not asked for."""
    entries = (plain.get("metadata") or {}).get("managedFields") or []
    return [entry for entry in entries if isinstance(entry, dict) and not entry.get("subresource")]


def _has(fields: Any, steps: Steps) -> bool:
    """Whether a field is in a tree of fields, or a part of one that is there as a whole."""
    for depth, step in enumerate(steps):
        if not fields and depth >= _BELOW_SPEC:
            return True
        if not isinstance(fields, dict) or step not in fields:
            return False
        fields = fields[step]
    return True


def _leaves(fields: Any, steps: Steps) -> Iterator[Steps]:
    """The fields in a tree of fields. That an item of a list is there is said by a field of it as well."""
    if not isinstance(fields, dict) or not fields:
        if steps:
            yield steps
        return
    for step, below in fields.items():
        if step != _MEMBER:
            yield from _leaves(below, (*steps, step))


def value_of(plain: Any, steps: Steps) -> Any:
    """What stands in an object at a path of steps; None where nothing does."""
    found = plain
    for step in steps:
        kind, name = step[0], step[2:]
        if kind == "f":
            found = found.get(name) if isinstance(found, dict) else None
        elif not isinstance(found, list):
            return None
        elif kind == "k":
            found = next((item for item in found if isinstance(item, dict) and _is_item(item, json.loads(name))), None)
        else:
            value = json.loads(name)
            found = value if value in found else None
    return found


def _is_item(item: Plain, keys: Plain) -> bool:
    return all(item.get(name) == value for name, value in keys.items())


def shown_steps(steps: Steps) -> str:
    """A path for people: `spec.admissionChecksStrategy.admissionChecks[gpol].name`."""
    text = ""
    for step in steps:
        kind, name = step[0], step[2:]
        if kind == "f":
            text += f"[{name}]" if "/" in name or "." in name else f".{name}"
        elif kind == "k":
            text += f"[{', '.join(str(value) for value in json.loads(name).values())}]"
        else:
            text += f"[{json.loads(name)}]"
    return text.removeprefix(".")

"""Who owns which fields of an object: server-side apply, and the record of other writes in metadata.managedFields.

The rules are those of the API machinery (apimachinery's `managedfields` and structured-merge-diff). An apply takes the fields that it
sends, takes away those that it sent before and no longer sends, and is refused where another owner's value would change, unless it is
forced. Any other write takes the fields that it changes. An owner is a manager with its operation and the subresource that it wrote to.
Left out here: conversion between versions of a kind, and joining the entries of an object that more than ten managers updated.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from fake_errors import apply_conflict, invalid, unexpected
from fake_fields import (
    BadItemError,
    Fields,
    below_none,
    compare,
    fields_of,
    from_fields_v1,
    merge,
    place_of_null,
    remove,
    same,
    shown,
    to_fields_v1,
    with_objects,
    without_empty_metadata,
    without_nulls,
)
from fake_kinds import Json, Kind

NEVER_OWNED: Fields = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {
        ("f:metadata", f"f:{name}")
        for name in ("name", "namespace", "creationTimestamp", "uid", "generation", "managedFields", "resourceVersion")
    }
)
"""What the server writes, and what says which object is meant."""

IGNORED_IN = {"": frozenset({("f:status",)}), "status": frozenset({("f:metadata",), ("f:spec",)})}
"""What a write to the object or to its status cannot change, for a kind that has the subresource."""

_NOBODY: Fields = frozenset()


@dataclass(frozen=True, order=True)
class Owner:
    """Who wrote, how, and to which subresource. An update is another owner than an apply of the same manager."""

    operation: str
    manager: str
    subresource: str = ""

    def shown(self, api_version: str) -> str:
        """The owner as conflicts name it."""
        text = json.dumps(self.manager)
        if self.subresource:
            text += f" with subresource {json.dumps(self.subresource)}"
        return f"{text} using {api_version}" if self.operation == "Update" else text


@dataclass
class Ownership:
    """What each owner has, and when each wrote last. It is read from an object and written to one."""

    fields: dict[Owner, Fields] = field(default_factory=dict)
    times: dict[Owner, str] = field(default_factory=dict)

    @classmethod
    def of(cls, obj: Json) -> "Ownership":
        """What metadata.managedFields of an object says."""
        found = cls()
        for entry in obj.get("metadata", {}).get("managedFields") or []:
            owner = Owner(entry["operation"], entry.get("manager", ""), entry.get("subresource", ""))
            found.fields[owner] = from_fields_v1(entry.get("fieldsV1") or {})
            if "time" in entry:
                found.times[owner] = entry["time"]
        return found

    def entries(self, api_version: str) -> list[Json]:
        """The same as metadata.managedFields, in the order of the API: applies first, then by time, then by name."""
        return [self._entry(owner, api_version) for owner in sorted(self.fields, key=self._place)]

    def _place(self, owner: Owner) -> tuple[str, str, str, str]:
        return (owner.operation, self.times.get(owner, ""), owner.manager, owner.subresource)

    def _entry(self, owner: Owner, api_version: str) -> Json:
        entry: Json = {"manager": owner.manager, "operation": owner.operation, "apiVersion": api_version}
        if owner in self.times:
            entry["time"] = self.times[owner]
        entry["fieldsType"] = "FieldsV1"
        entry["fieldsV1"] = to_fields_v1(self.fields[owner])
        return entry | ({"subresource": owner.subresource} if owner.subresource else {})

    def give(self, owner: Owner, fields: Fields) -> None:
        """Let an owner have just these fields. Who has none is no owner."""
        if fields:
            self.fields[owner] = fields
        else:
            self.fields.pop(owner, None)

    def take(self, fields: Fields, besides: Owner | None = None) -> None:
        """Take fields away from every owner but one."""
        for owner, owned in list(self.fields.items()):
            if owner != besides:
                self.give(owner, owned - fields)


def ignored_fields(kind: Kind, subresource: str) -> Fields:
    """What a write to the object or to a subresource cannot change."""
    return IGNORED_IN[subresource] if kind.has_status else _NOBODY


def record_update(kind: Kind, live: Json | None, new: Json, owner: Owner, now: str) -> list[Json]:
    """The managedFields after a write that is no apply: its manager takes what it changed. `live` is nothing for a new object."""
    owned = Ownership.of(live or {})
    if live is not None and not owned.fields:
        return []  # A real server does not begin to record owners before an object is applied.
    _record(kind, live or {}, new, owned, owner, now)
    return owned.entries(kind.api_version)


def _record(kind: Kind, live: Json, new: Json, owned: Ownership, owner: Owner, now: str) -> None:
    changes = compare(_plain(live), _plain(new), kind.shape).outside(ignored_fields(kind, owner.subresource))
    taken = (changes.added | changes.modified) - NEVER_OWNED
    before = owned.fields.get(owner, _NOBODY)
    owned.take(changes.added | changes.modified | changes.removed)
    if taken:
        owned.give(owner, (before - changes.removed) | taken)
        owned.times[owner] = now


def _plain(obj: Json) -> Json:
    """An object without its managedFields, which say nothing about themselves."""
    if "managedFields" not in obj.get("metadata", {}):
        return obj
    return {**obj, "metadata": {name: value for name, value in obj["metadata"].items() if name != "managedFields"}}


def apply(kind: Kind, live: Json | None, config: Json, owner: Owner, now: str, force: bool) -> Json:
    """The object after an apply, with its new managedFields. `live` is nothing for a new object.

    Raises ApiError: 409 for a conflict; 422 for a custom resource of which an object or a list is left without parts, although somebody
    owns it still: it would be null.
    """
    shape = kind.shape
    ignored = ignored_fields(kind, owner.subresource)
    owned = Ownership.of(live or {})
    before = _plain(live) if live is not None else {"apiVersion": config["apiVersion"], "kind": config["kind"]}
    if live is not None and not owned.fields:
        _record(kind, {}, before, owned, Owner("Update", "before-first-apply", owner.subresource), now)
    try:
        wanted = below_none(fields_of(config, shape), ignored)
    except BadItemError as error:
        said = f"{config['metadata'].get('namespace', '')}/{config['metadata'].get('name', '')}; {kind.api_version}, Kind={kind.name}"
        raise unexpected(f"failed to create typed patch object ({said}): {error}") from None
    last = owned.fields.get(owner, _NOBODY)
    owned.fields[owner] = wanted
    new = _pruned(merge(before, config, shape), kind, owned, last)

    changes = compare(before, new, shape).outside(ignored)
    conflicts = {other: have & (changes.added | changes.modified) for other, have in owned.fields.items() if other != owner}
    if not force and any(conflicts.values()):
        raise apply_conflict((other.shown(kind.api_version), shown(path)) for other, paths in conflicts.items() for path in paths)
    owned.take(changes.added | changes.modified | changes.removed, besides=owner)
    owned.give(owner, owned.fields.get(owner, _NOBODY) - NEVER_OWNED)
    if live is None or not same(before, new):
        owned.times[owner] = now  # An apply that changes no value does not change a time, either.
    place = place_of_null({name: part for name, part in new.items() if name != "metadata"})
    if place and not kind.built_in:
        why = 'Invalid value: "null":  in body must be of type object: "null"'
        raise invalid(kind, new["metadata"].get("name", ""), place, why, "FieldValueTypeInvalid")
    return with_managed_fields(without_empty_metadata(without_nulls(new)), owned.entries(kind.api_version))


def _pruned(merged: Any, kind: Kind, owned: Ownership, last: Fields) -> Any:
    """A merged object without what its manager applied the last time, and nobody has now."""
    if not last:
        return merged
    shape = kind.shape
    every = with_objects(fields_of(merged, shape))
    removable = with_objects(last)
    pruned = with_objects(fields_of(remove(merged, removable, shape), shape))
    kept = pruned | with_objects(frozenset().union(*owned.fields.values()))
    pruned = with_objects(fields_of(remove(merged, every - kept, shape), shape))
    return remove(merged, (every - pruned) & removable, shape)


def with_managed_fields(obj: Json, entries: list[Json]) -> Json:
    """The object with these managedFields, or with none if there are no entries."""
    metadata: dict[str, Any] = {name: value for name, value in obj.get("metadata", {}).items() if name != "managedFields"}
    return {**obj, "metadata": metadata | ({"managedFields": entries} if entries else {})}

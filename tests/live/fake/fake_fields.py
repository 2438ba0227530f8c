"""Sets of fields of an object, and what can be done with them: find, compare, merge, remove, and write as `fieldsV1`.

A path is a tuple of steps written as in `fieldsV1`: `f:name` a field, `k:{"type":"Ready"}` an item of a list with keys, `v:"x"` a value
of a set. The rules are those of server-side apply (structured-merge-diff): a plain value, an atomic list or object, and an empty object
are leaves; an item of a list with keys is a member of its own beside its fields. A null counts as an empty object or list.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fake_kinds import Json, Shape

Path = tuple[str, ...]
Fields = frozenset[Path]

_EMPTY_IS_NONE = ("labels", "annotations", "finalizers", "ownerReferences")

NOTHING: Any = object()
"""Stands where one side of a comparison or a merge has no value. A null is a value, although an empty one."""


class BadItemError(Exception):
    """An item of a list with keys lacks a key, or has the key of another item. The text is what an apply is told."""

    def __init__(self, place: str, number: int, why: str, said_by_schema: tuple[str, str]) -> None:
        super().__init__(f".{place}: {why}")
        self.said_by_schema = (f"{place}[{number}]", *said_by_schema)
        """The field, the message and the reason with which an update is refused."""


@dataclass(frozen=True)
class Changes:
    """The fields in which a new object differs from an old one. No field is in two of the sets."""

    added: Fields
    modified: Fields
    removed: Fields

    def outside(self, ignored: Fields) -> "Changes":
        """The same without some fields and all that is below them."""
        return Changes(below_none(self.added, ignored), below_none(self.modified, ignored), below_none(self.removed, ignored))


def steps(items: list[Any], keys: tuple[str, ...], place: str) -> list[str]:
    """The step of each item of a list with keys, or of each value of a set. Raises BadItemError."""
    found: dict[str, None] = {}
    for number, item in enumerate(items):
        missing = [key for key in keys if not isinstance(item, dict) or key not in item]
        if missing:
            raise _lacking(place, number, keys, missing)
        step = "k:" + _compact({key: item[key] for key in sorted(keys)}) if keys else "v:" + _compact(item)
        if step in found:
            why = f"duplicate entries for key {shown((step,))}"
            raise BadItemError(place, number, why, (f"Duplicate value: {step[2:]}", "FieldValueDuplicate"))
        found[step] = None
    return list(found)


def _lacking(place: str, number: int, keys: tuple[str, ...], missing: list[str]) -> BadItemError:
    """The error of an item that lacks some of its keys."""
    if len(missing) == len(keys):
        which = f"all key fields [{' '.join(_compact(key) for key in keys)}] (and doesn't have default values for any key fields)"
    else:
        which = f"key field {_compact(missing[0])} (and doesn't have default value)"
    why = f"element {number}: associative list with keys has an element that omits {which}"
    return BadItemError(place, number, why, (f"Required value: the item omits {which}", "FieldValueRequired"))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _children(value: Any, shape: Shape, place: str) -> dict[str, tuple[Any, str]] | None:
    """What stands below a value, by step, each with its place in the shape; none if the value is a leaf whatever it holds."""
    if value is None:
        return {}
    if isinstance(value, dict) and not shape.is_atomic(place):
        return {"f:" + name: (child, f"{place}.{name}" if place else name) for name, child in value.items()}
    if isinstance(value, list) and (keys := shape.keys_of(place)) is not None:
        return {step: (item, place + "[]") for step, item in zip(steps(value, keys, place), value, strict=True)}
    return None


# --- finding --------------------------------------------------------------------------------------------------------


def fields_of(value: Json, shape: Shape) -> Fields:
    """Every field of an object. Raises BadItemError."""
    found: set[Path] = set()
    _collect(value, shape, "", (), found)
    return frozenset(found)


def _collect(value: Any, shape: Shape, place: str, path: Path, found: set[Path]) -> None:
    below = _children(value, shape, place)
    if below is None:
        found.add(path)
        return
    if path and (value is None or value == {} or not path[-1].startswith("f:")):
        found.add(path)
    for step, (child, where) in below.items():
        _collect(child, shape, where, (*path, step), found)


def compare(old: Json, new: Json, shape: Shape) -> Changes:
    """What a new object adds, modifies and removes. A part that is new or gone as a whole is named itself, beside what is in it."""
    added: set[Path] = set()
    modified: set[Path] = set()
    removed: set[Path] = set()

    def visit(before: Any, after: Any, place: str, path: Path) -> None:
        left = {} if before is NOTHING else _children(before, shape, place)
        right = {} if after is NOTHING else _children(after, shape, place)
        if left is None or right is None or (not left and not right):
            if (left is None or right is None) and NOTHING not in (before, after) and (left or right):
                # A leaf became an object with parts, or the reverse.
                visit(before, NOTHING, place, path)
                visit(NOTHING, after, place, path)
                removed.discard(path)
                added.discard(path)
                modified.add(path)
            elif before is NOTHING:
                added.add(path)
            elif after is NOTHING:
                removed.add(path)
            elif not same(before, after):
                modified.add(path)
            return
        for step in {**left, **right}:
            one, where = left.get(step, (NOTHING, ""))
            other, where = right.get(step, (NOTHING, where))
            visit(one, other, where, (*path, step))
        if path and before is NOTHING:
            added.add(path)
        elif path and after is NOTHING:
            removed.add(path)

    visit(old, new, "", ())
    return Changes(frozenset(added), frozenset(modified), frozenset(removed))


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: true is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    return bool(one == other)


# --- changing -------------------------------------------------------------------------------------------------------


def merge(live: Any, config: Any, shape: Shape, place: str = "") -> Any:
    """The live value with everything that the configuration says. The values given are not changed, and may be shared by the result."""
    left = None if live is NOTHING else _children(live, shape, place)
    right = None if config is NOTHING else _children(config, shape, place)
    if config is NOTHING:
        return live
    if config is None and left:
        return live
    if live is NOTHING or not left or right is None or type(live) is not type(config):
        return config
    if isinstance(live, dict):
        return {step[2:]: _merge_child(left, right, step, shape) for step in {**left, **right}}
    return [_merge_child(left, right, step, shape) for step in _merged_order(list(left), list(right))]


def _merge_child(left: dict[str, tuple[Any, str]], right: dict[str, tuple[Any, str]], step: str, shape: Shape) -> Any:
    one, where = left.get(step, (NOTHING, ""))
    other, where = right.get(step, (NOTHING, where))
    return merge(one, other, shape, where)


def _merged_order(live: list[str], config: list[str]) -> list[str]:
    """The order of a merged list: that of the configuration, and an item of only the live list stays behind the item it was behind."""
    found: list[str] = []
    ahead = [step for step in config if step in live]
    behind = iter(config)
    for step in live:
        if step not in config:
            found.append(step)
        elif ahead and step == ahead[0]:
            for other in behind:
                found.append(other)
                if other == step:
                    break
            ahead.pop(0)
    return found + list(behind)


def remove(value: Any, fields: Fields, shape: Shape, place: str = "") -> Any:
    """An object without some fields. A part of which nothing is left becomes null, unless it is itself to be removed."""
    below = _children(value, shape, place)
    if not below or not fields:
        return value
    kept: list[tuple[str, Any]] = []
    for step, (child, where) in below.items():
        if (step,) not in fields:
            inner = frozenset(path[1:] for path in fields if path[0] == step)
            kept.append((step, remove(child, inner, shape, where)))
    if not kept:
        return None
    return {step[2:]: child for step, child in kept} if isinstance(value, dict) else [child for _, child in kept]


def without_nulls(value: Any) -> Any:
    """A value without the fields that are null, as a server stores it."""
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    return [without_nulls(part) for part in value] if isinstance(value, list) else value


def place_of_null(value: Any, place: str = "") -> str:
    """Where the first null of a value stands; empty if there is none."""
    if isinstance(value, dict):
        parts = [(part, f"{place}.{name}" if place else name) for name, part in value.items()]
    else:
        parts = [(item, f"{place}[{number}]") for number, item in enumerate(value)] if isinstance(value, list) else []
    return next((found for part, where in parts if (found := where if part is None else place_of_null(part, where))), "")


def without_empty_metadata(obj: Json) -> Json:
    """An object without the parts of its metadata that are empty, as a server stores it."""
    metadata = obj.get("metadata") or {}
    return {**obj, "metadata": {name: part for name, part in metadata.items() if part or name not in _EMPTY_IS_NONE}}


def below_none(fields: Fields, ignored: Fields) -> Fields:
    """The fields that are not among the ignored ones nor below one of them."""
    return frozenset(path for path in fields if not any(path[:end] in ignored for end in range(1, len(path) + 1)))


def with_objects(fields: Fields) -> Fields:
    """The fields, and every object on the way to one of them."""
    parents = {path[:end] for path in fields for end in range(1, len(path)) if path[end - 1].startswith("f:")}
    return fields | parents


# --- writing --------------------------------------------------------------------------------------------------------


def to_fields_v1(fields: Fields) -> Json:
    """The fields as `fieldsV1` in managedFields."""
    tree: Json = {}
    for path in sorted(fields):
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node["."] = {}
    return _folded(tree)


def _folded(tree: Json) -> Json:
    """A member without anything below it is written without its dot."""
    return {step: {} if below == {".": {}} or step == "." else _folded(below) for step, below in tree.items()}


def from_fields_v1(tree: Json) -> Fields:
    """The fields that `fieldsV1` says."""
    return frozenset(_leaves(tree, ()))


def _leaves(tree: Json, path: Path) -> Iterator[Path]:
    for step, below in tree.items():
        if step == ".":
            yield path
        elif not below:
            yield (*path, step)
        else:
            yield from _leaves(below, (*path, step))


def shown(path: Iterable[str]) -> str:
    """A path as conflicts show it: `.status.conditions[type="Ready"].status`."""
    text = ""
    for step in path:
        kind, rest = step[0], step[2:]
        if kind == "f":
            text += f".{rest}"
        elif kind == "k":
            text += "[" + ",".join(f"{key}={_compact(value)}" for key, value in json.loads(rest).items()) + "]"
        else:
            text += f"[={rest}]"
    return text

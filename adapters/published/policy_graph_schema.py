"""The form of a policy graph as a JSON Schema: `docs/schema/policy-graph.json` is what this module says.

It is read from the types of the policy graph and the tables by which `policy_graph_json.py` names things, so the two cannot part.
"""

from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ...engine.policy_graph import PolicyGraph, Quota
from .event_schema import DIALECT, Schema
from .policy_graph_json import FORMS, INDEXED, KIND, PAIRS, REFERENCES, UNSAID, VERSION

_PLAIN: dict[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    Fraction: {"type": "string", "pattern": "^-?[0-9]+(/[1-9][0-9]*)?$"},
}


def policy_graph_schema() -> Schema:
    """The schema of a policy graph."""
    made = _Definitions()
    whole = made.definition(PolicyGraph)
    whole["properties"] = {"v": {"const": VERSION}, "kind": {"const": KIND}, **whole["properties"]}
    whole["required"] = ["v", "kind", *whole["required"]]
    whole["description"] = "A checked policy, profiles merged in, as docs/policy-graph.md describes it."
    return {"$schema": DIALECT, "title": f"Policy graph of gpol, version {VERSION}", **whole, "$defs": dict(sorted(made.found.items()))}


class _Definitions:
    """The schemas of all parts of a graph, as they are come upon."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}

    def definition(self, kind: type) -> Schema:
        """The schema of a part: all its fields, in order, and what is said beside them."""
        properties: dict[str, Schema] = {"form": {"const": kind.__name__}} if kind in FORMS else {}
        properties |= _index(kind)
        hints = get_type_hints(kind)
        assert is_dataclass(kind)
        for field in fields(kind):
            place = (kind.__name__, field.name)
            if place in UNSAID:
                continue
            properties[field.name] = self._pairs(place, hints[field.name]) if place in PAIRS else self._schema(hints[field.name])
            if place in REFERENCES:
                properties |= _names(field.name, hints[field.name])
        description = " ".join((kind.__doc__ or "").split())
        required = list(properties)
        return {"description": description, "type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def _schema(self, hint: Any) -> Schema:
        if hint in _PLAIN:
            return _PLAIN[hint]
        if get_origin(hint) is Literal:
            return {"enum": list(get_args(hint))}
        if get_origin(hint) in (Union, UnionType):
            schemas = [self._schema(each) for each in get_args(hint)]
            return {"anyOf": [each for number, each in enumerate(schemas) if each not in schemas[:number]]}
        if get_origin(hint) is tuple:
            return {"type": "array", "items": self._schema(get_args(hint)[0])}
        if issubclass(hint, Enum):
            return {"enum": [each.value for each in hint]}
        return self._reference(hint)

    def _reference(self, kind: type) -> Schema:
        if kind.__name__ not in self.found:
            self.found[kind.__name__] = {}  # guards hold guards
            self.found[kind.__name__] = self.definition(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def _pairs(self, place: tuple[str, str], hint: Any) -> Schema:
        """Pairs as objects, also in lists of their own; null where there may be none."""
        pairs = next(each for each in (hint, *get_args(hint)) if get_origin(each) is tuple)
        inner = get_args(pairs)[0]
        if get_args(inner)[1] is Ellipsis:
            return {"type": "array", "items": self._pairs(place, inner)}
        properties = {name: self._schema(each) for name, each in zip(PAIRS[place], get_args(get_args(pairs)[0]), strict=True)}
        item = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
        made: Schema = {"type": "array", "items": item}
        return made if pairs is hint else {"anyOf": [made, {"type": "null"}]}


def _index(kind: type) -> dict[str, Schema]:
    """The index of what stands in a list that others refer to, and the names of its slot for a quota."""
    if kind.__name__ not in INDEXED.values():
        return {}
    names = {"flavor_name": _PLAIN[str], "resource_name": _PLAIN[str]} if kind is Quota else {}
    return {"index": {"type": "integer", "minimum": 0}, **names}


def _names(field: str, hint: Any) -> dict[str, Schema]:
    """What is said beside a reference by index."""
    nullable: list[Schema] = [{"type": "null"}]
    if hint is int:
        return {f"{field}_name": {"anyOf": [_PLAIN[str], *nullable]}}
    names: Schema = {"type": "array", "items": _PLAIN[str]}
    return {f"{field}_names": {"anyOf": [names, *nullable]} if NoneType in get_args(hint) else names}

"""The form of an event as it is stored, as a JSON Schema: `docs/schema/events.json` is what this module says.

Pydantic knows most of it from the types. What it does not know is added here: a stored payload has all its fields but those that came
later and say nothing, and a limit on the entries of an object is not one on the length of a text.
"""

from typing import Any, get_args

from pydantic.json_schema import GenerateJsonSchema

from ...engine.event_parts import Part
from ...engine.events import EVENT, AnyEvent
from ...engine.facts import Event

Schema = dict[str, Any]
"""A JSON Schema, or a part of one."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect in which the schemas are written."""


def event_schema() -> Schema:
    """The schema of every event: one of the kinds, by `kind`. Fields stand in the order in which they are stored."""
    made = EVENT.json_schema(mode="serialization", schema_generator=_InOrder)
    parts = {part.__name__: part for part in _parts(Part)}
    definitions = {name: _definition(made["$defs"][name], parts[name]) for name in sorted(made["$defs"])}
    return {
        "$schema": DIALECT,
        "title": "Event of a gpol journal, version 1",
        "description": "The payload of one event, as docs/events.md describes it. Amounts are in the smallest unit of their resource.",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in get_args(AnyEvent)],
        "$defs": definitions,
    }


class _InOrder(GenerateJsonSchema):
    """Keeps fields in the order in which they are declared, and so stored."""

    def sort(self, value: Schema, parent_key: str | None = None) -> Schema:
        return value


def _parts(part: type[Part]) -> list[type[Part]]:
    """A type of data and all that are made from it."""
    return [part, *(each for below in part.__subclasses__() for each in _parts(below))]


def _definition(made: Schema, part: type[Part]) -> Schema:
    """The schema of one type of data: which fields have to be there, and nothing that only repeats its name."""
    properties = {name: _tidied(each) for name, each in made["properties"].items()}
    required = [name for name, field in part.model_fields.items() if field.exclude_if is None]
    for name, field in part.model_fields.items():
        if name in ("kind", "v") and issubclass(part, Event):
            properties[name] = {"const": field.default}
    description = " ".join(made["description"].split())
    return {"description": description, "type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _tidied(made: Any) -> Any:
    """A part of a schema without titles and defaults, which say nothing of what is stored; keywords in order of name."""
    if isinstance(made, list):
        return [_tidied(each) for each in made]
    if not isinstance(made, dict):
        return made
    kept = {key: _tidied(each) for key, each in sorted(made.items()) if key not in ("title", "default")}
    if kept.get("type") == "object" and "maxLength" in kept:
        kept["maxProperties"] = kept.pop("maxLength")
    return kept

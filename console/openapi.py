"""The OpenAPI 3.1 document of all that is served, made from the table of routes and the types of the answers."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from .routes import JSON, ROUTES, Route

DocumentPart = dict[str, Any]
"""A part of the document."""

_REF = "#/components/schemas/{model}"

_STATUSES = {
    200: "The answer.",
    400: "The request cannot be read, or says what is not served.",
    401: "No token, or a wrong one.",
    403: "The user of the token has no right to this.",
    404: "There is no such workload.",
    408: "The body did not come in time.",
    409: "As things stand this cannot happen.",
    413: "The body is too long.",
    415: "The body is no plain JSON.",
    422: "The body is no such request, or the policy cannot be used.",
    503: "There is no answer now; what keeps it is told.",
    504: "There was no answer in time.",
}
"""What each status means."""


@lru_cache(maxsize=1)
def openapi() -> DocumentPart:
    """The document."""
    asked = [(kind, "validation") for route in ROUTES for kind in (route.body, route.query) if kind is not None]
    answered = [(kind, "serialization") for route in ROUTES for kinds in route.answers.values() for kind in kinds]
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [*asked, *answered]  # type: ignore[list-item]  # literals
    refs, definitions = models_json_schema(models, ref_template=_REF, schema_generator=_WithTexts)
    schemas = _tidied(definitions["$defs"])
    paths: dict[str, DocumentPart] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, refs, schemas)
    for kind in {route.query for route in ROUTES if route.query is not None}:
        schemas.pop(kind.__name__)  # they are told as parameters
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "gpol",
            "version": "1",
            "description": "What `gpol serve` tells of a cluster. Times are microseconds since the epoch, amounts are in smallest units.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {name: schemas[name] for name in sorted(schemas)},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token of a file, or one of the cluster."}
            },
        },
    }


class _WithTexts(GenerateJsonSchema):
    """Says of what is read that an amount or a time may also be a text, such as `"8"`, `"80Gi"` or `"2026-03-02T08:00:00Z"`."""

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """The schema of something that is read from a text, if it is one."""
        made = super().function_before_schema(schema)
        read_by = getattr(schema["function"]["function"], "__name__", "")
        if self.mode == "validation" and read_by == "_parse_time":
            return {"anyOf": [made, {"type": "string", "format": "date-time"}]}
        if self.mode == "validation" and read_by == "_parse_resources":
            amount = {"type": "string", "maxLength": 40, "pattern": r"^[0-9]+([./][0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$"}
            made["additionalProperties"] = {"anyOf": [made["additionalProperties"], amount]}
        return made


def _tidied(made: Any) -> Any:
    """A schema without titles, which only repeat names; a limit on the entries of an object is none on the length of a text."""
    if isinstance(made, list):
        return [_tidied(each) for each in made]
    if not isinstance(made, dict):
        return made
    kept = {key: _tidied(each) for key, each in made.items() if not (key == "title" and isinstance(each, str))}
    if kept.get("type") == "object" and "maxLength" in kept:
        kept["maxProperties"] = kept.pop("maxLength")
    return kept


def _operation(route: Route, refs: dict[Any, DocumentPart], schemas: DocumentPart) -> DocumentPart:
    name = re.sub(r"[^a-z0-9]+", "_", f"{route.method} {route.path}".lower()).strip("_")
    made: DocumentPart = {"operationId": name, "summary": route.summary, "security": [{"token": []}] if route.right is not None else []}
    parameters = [*_path_parameters(route), *_query_parameters(route, schemas)]
    if parameters:
        made["parameters"] = parameters
    if route.body is not None:
        made["requestBody"] = {"required": True, "content": {JSON: {"schema": refs[route.body, "validation"]}}}
    made["responses"] = {str(status): _response(route, status, refs) for status in sorted(route.answers)}
    return made


def _response(route: Route, status: int, refs: dict[Any, DocumentPart]) -> DocumentPart:
    kinds = [refs[kind, "serialization"] for kind in route.answers[status]]
    schema: DocumentPart = (
        kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {"type": "object" if route.media == JSON else "string"}
    )
    media = JSON if kinds else route.media.partition(";")[0]
    made: DocumentPart = {"description": _STATUSES[status], "content": {media: {"schema": schema}}}
    if status == 401:
        made["headers"] = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}
    return made


def _path_parameters(route: Route) -> Iterator[DocumentPart]:
    for step in route.steps:
        if step.startswith("{"):
            name = step[1:-1]
            schema = {"type": "string", "minLength": 1}
            yield {"name": name, "in": "path", "required": True, "description": route.parameters[name], "schema": schema}


def _query_parameters(route: Route, schemas: DocumentPart) -> Iterator[DocumentPart]:
    if route.query is not None:
        said = schemas[route.query.__name__]
        for name, schema in said["properties"].items():
            text = schema.pop("description", "")
            yield {"name": name, "in": "query", "required": name in said.get("required", ()), "description": text, "schema": schema}
            schema["description"] = text

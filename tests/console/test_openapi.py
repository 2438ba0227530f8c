"""The OpenAPI document: it says what is served, and nothing else."""

import asyncio
import json
import re
from typing import Any

from gpol.console.answers import SubmittedFields
from gpol.console.openapi import openapi
from gpol.console.routes import ROUTES
from gpol.engine.facts import WorkloadSubmitted
from jsonschema import Draft202012Validator


def test_every_route_is_in_it_and_the_other_way_round() -> None:
    """The document has the routes that are served, and no others."""
    told = {(method.upper(), path) for path, methods in openapi()["paths"].items() for method in methods}
    assert told == {(route.method, route.path) for route in ROUTES}
    assert len(told) == len(ROUTES)


def test_every_route_is_served(serve: Any) -> None:
    """What the document tells is answered, and with a status and a media type that it has."""

    async def ask() -> None:
        async with serve() as client:
            document = (await client.request("GET", "/v1/openapi.json", token="", headers={})).body
            assert json.loads(document) == openapi()
            for path, methods in openapi()["paths"].items():
                for method, said in methods.items():
                    given = re.sub(r"\{[a-z]+\}", "held", path)
                    answer = await client.request(method.upper(), given, json={"policy": "x"} if "requestBody" in said else None)
                    response = said["responses"][str(answer.status)]
                    assert answer.headers["Content-Type"].partition(";")[0] in response["content"]

    asyncio.run(ask())


def test_it_says_who_may_read_what() -> None:
    """What needs a credential says so, and which answers that has."""
    for route in ROUTES:
        said = openapi()["paths"][route.path][route.method.lower()]
        assert said["security"] == ([{"token": []}] if route.right else [])
        assert ("401" in said["responses"]) == ("403" in said["responses"]) == bool(route.right)
        assert bool(route.right) == ((route.path.startswith("/v1/") and "openapi" not in route.path) or route.path == "/metrics")


def test_it_is_a_document_of_its_version() -> None:
    """It is OpenAPI 3.1, its schemas are JSON Schemas, and each reference leads to one of them."""
    document = openapi()
    assert document["openapi"].startswith("3.1.")
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    leads_to = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(document)))
    assert leads_to <= {f"#/components/schemas/{name}" for name in schemas}
    operations = [said["operationId"] for methods in document["paths"].values() for said in methods.values()]
    assert len(set(operations)) == len(ROUTES)


def test_a_workload_that_is_tried_has_the_fields_of_a_submission() -> None:
    """All fields of the event are there, but for those that are not the client's to say."""
    assert set(SubmittedFields.model_fields) == set(WorkloadSubmitted.model_fields) - {"kind", "v", "time"}
    assert set(openapi()["components"]["schemas"]["SubmittedFields"]["properties"]) == set(SubmittedFields.model_fields)

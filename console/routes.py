"""What is served: the one table by which requests are answered, and of which the OpenAPI document is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes

from pydantic import BaseModel

from .answers import (
    ErrorAnswer,
    ExplainAnswer,
    ExplainQuery,
    HeadAnswer,
    HealthAnswer,
    PolicyErrorAnswer,
    ReadyAnswer,
    StateAnswer,
    StateQuery,
    TryAnswer,
    TryRequest,
    UnansweredError,
)

JSON, TEXT = "application/json", "text/plain; version=0.0.4; charset=utf-8"
"""Media types of answers: JSON, and Prometheus' text."""

MOST_BODY = 4 * 1024 * 1024
"""The longest body, in bytes: a policy of a mebibyte, as JSON."""

MOST_PARAMETERS = 16
"""How many parameters a query may have."""

Answers = Mapping[int, tuple[type[BaseModel], ...]]
"""What is answered, by status: one of some types of data, or, where there are none, something else than data."""

_REFUSED: Answers = dict.fromkeys((400, 401, 403, 503), (ErrorAnswer,))
_GIVEN_UP: Answers = {504: (ErrorAnswer,)}


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that is served: its method, its path with `{names}` of parameters, and what it says.

    `question` is what the process that reads the journal is asked. `right` is the path as RBAC knows it, whatever the parameters are: who
    may use that may read it; None: everybody may.
    """

    method: str
    path: str
    summary: str
    answers: Answers
    question: str = ""
    right: str | None = None
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    media: str = JSON
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What each parameter of the path is."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the path."""
        return tuple(self.path.split("/")[1:])


_NAMES = {"namespace": "the namespace of the workload", "name": "its name there", "workload": "the name of the workload"}

_EXPLAINED: Answers = {200: (ExplainAnswer,), **_REFUSED, 404: (ErrorAnswer,), **_GIVEN_UP}
_EXPLAIN = "Where a workload stands, why, what would let it run, and what happened to it."

HEALTH = (
    Route("GET", "/healthz", "Whether the process works.", {200: (HealthAnswer,), 400: (ErrorAnswer,)}),
    Route(
        "GET",
        "/readyz",
        "Whether gpol does what it is there for, and else what keeps it from that.",
        {200: (ReadyAnswer,), 400: (ErrorAnswer,), 503: (ReadyAnswer,)},
    ),
)
"""What everybody may read, also at the address for probes."""

ROUTES = (
    *HEALTH,
    Route("GET", "/v1/openapi.json", "This document.", {200: (), 400: (ErrorAnswer,)}),
    Route("GET", "/metrics", "Metrics in Prometheus' text format.", {200: (), **_REFUSED}, right="/metrics", media=TEXT),
    Route(
        "GET",
        "/v1/state",
        "The cluster: what exists, who owns and uses how much, who runs and who waits.",
        {200: (StateAnswer,), **_REFUSED, **_GIVEN_UP},
        question="state",
        right="/v1/state",
        query=StateQuery,
    ),
    Route(
        "GET",
        "/v1/explain/{workload}",
        f"{_EXPLAIN} For a name without a namespace, or one whose slashes are written `%2F`.",
        _EXPLAINED,
        question="explain",
        right="/v1/explain",
        query=ExplainQuery,
        parameters=_NAMES,
    ),
    Route(
        "GET",
        "/v1/explain/{namespace}/{name}",
        _EXPLAIN,
        _EXPLAINED,
        question="explain",
        right="/v1/explain",
        query=ExplainQuery,
        parameters=_NAMES,
    ),
    Route(
        "GET",
        "/v1/journal/head",
        "Where the journal ends, and under which policy.",
        {200: (HeadAnswer,), **_REFUSED, **_GIVEN_UP},
        question="head",
        right="/v1/journal/head",
    ),
    Route(
        "POST",
        "/v1/try",
        "What would follow at once, were a policy activated or a workload submitted now. Nothing is changed or recorded.",
        {
            200: (TryAnswer,),
            **_REFUSED,
            **dict.fromkeys((408, 409, 413, 415), (ErrorAnswer,)),
            422: (ErrorAnswer, PolicyErrorAnswer),
            **_GIVEN_UP,
        },
        question="try",
        right="/v1/try",
        body=TryRequest,
    ),
)
"""All that is served."""


class Asked(NamedTuple):
    """The route of a request, with the parameters in its path."""

    route: Route
    parameters: dict[str, str]


def find_route(routes: tuple[Route, ...], method: str, raw_path: str) -> Asked:
    """The route of a request. Raises UnansweredError where nothing is served there (404), or not by this method (405), or 400."""
    steps = tuple(_text(unquote_to_bytes(step)) for step in raw_path.split("/")[1:])
    others = []
    for route in routes:
        parameters = _parameters(route, steps)
        if parameters is None:
            continue
        if route.method == method:
            return Asked(route, parameters)
        others.append(route.method)
    if others:
        raise MethodError(others)
    raise UnansweredError(404, "NotFound", "nothing is served at this path", "/v1/openapi.json tells what is served")


class MethodError(UnansweredError):
    """A method by which nothing is served at a path; `allowed` are those by which something is."""

    def __init__(self, allowed: list[str]) -> None:
        self.allowed = ", ".join(sorted(set(allowed)))
        super().__init__(405, "MethodNotAllowed", "this method is not served at this path", f"use {self.allowed}")


def needs_credential(raw_path: str) -> bool:
    """Whether a path at which nothing is served lies where a credential is needed to learn even that."""
    first = raw_path.split("/")[1:2]
    return first in (["v1"], ["metrics"])


def read_query(raw_query: str) -> dict[str, str]:
    """The parameters of a query, each once. Raises UnansweredError (400)."""
    try:
        pairs = parse_qsl(
            raw_query, keep_blank_values=True, strict_parsing=bool(raw_query), errors="strict", max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise _bad("the query is not of the form `name=value&name=value` in UTF-8, or has too many parameters") from None
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _bad("a parameter is given twice in the query")
    for name, value in pairs:
        _check_text(name + value)
    return found


def _parameters(route: Route, steps: tuple[str, ...]) -> dict[str, str] | None:
    if len(steps) != len(route.steps):
        return None
    found = {}
    for step, given in zip(route.steps, steps, strict=True):
        if step.startswith("{"):
            if not given:
                return None
            found[step[1:-1]] = given
        elif step != given:
            return None
    return found


def _text(step: bytes) -> str:
    try:
        return _check_text(step.decode())
    except UnicodeDecodeError:
        raise _bad("the path is not UTF-8") from None


def _check_text(text: str) -> str:
    if "\0" in text:
        raise _bad("the address has a NUL character, which no name has")
    return text


def _bad(message: str) -> UnansweredError:
    return UnansweredError(400, "BadRequest", message, "/v1/openapi.json tells what is served")

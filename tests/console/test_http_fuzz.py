"""Whatever is sent over HTTP, the answer is as the OpenAPI document says, and never a failure of the server (schemathesis)."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import schemathesis
from gpol.adapters.live.settings.serve_settings import Http
from gpol.console.http_server import serve_http
from gpol.console.routes import ROUTES, Route
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
    use_after_free,
)

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
    use_after_free,
]
"""What is asked of each answer. That what fits the schema is also accepted is not asked: whether a policy is good no schema says."""

BOUNDS = settings(
    settings.get_profile(settings.get_current_profile_name()),
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
"""As many requests as a law has examples; none is made small, as each costs an answer of the server."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, tools: Any) -> Iterator[str]:
    """A server in a thread of its own, and where it is. It takes the token of the tests."""
    folder = tmp_path_factory.mktemp("fuzz")
    place, token = folder / "lab.db", folder / "token"
    facts = [tools.fact(-60, **tools.submitted("team/guest", "guest", 8)), tools.fact(-30, **tools.submitted("team/owner", "owner", 8))]
    tools.append(place, facts, tools.POLICY)
    token.write_text(tools.TOKEN)
    token.chmod(0o600)
    started: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        over = asyncio.Event()
        service = tools.service_of(place)
        async with service.reader, serve_http(service, Http(port=0, token_file=token)) as server:
            assert server is not None
            started.set_result((server.url, asyncio.get_running_loop(), over))
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    where, loop, over = started.result()
    yield where
    loop.call_soon_threadsafe(over.set)
    thread.join()


@pytest.fixture(scope="module")
def served(url: str) -> Any:
    """The document as the server tells it."""
    refused = {"expected-statuses": ["4xx", "5xx"]}
    config = schemathesis.Config.from_dict({"checks": {"negative_data_rejection": refused}})
    return schemathesis.openapi.from_url(f"{url}/v1/openapi.json", config=config)


def ask(served: Any, route: Route, mode: GenerationMode, token: str) -> int:
    """Send requests to a route, those that fit its schema or others, and check each answer. How many were sent."""
    operation = served[route.path][route.method]
    sent = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @BOUNDS
    def each(case: Any) -> None:
        sent.append(case)
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS, timeout=300)

    each()
    return len(sent)


ASKED = [
    pytest.param(route, mode, id=f"{route.method} {route.path} {mode.value}")
    for route in ROUTES
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    if mode is GenerationMode.POSITIVE or route.query is not None or route.body is not None
]
"""Each route with requests that fit its schema and, if there is anything to say in a request, with others."""


@pytest.mark.parametrize(("route", "mode"), ASKED)
def test_no_request_makes_it_fail(served: Any, route: Route, mode: GenerationMode, tools: Any) -> None:
    """Requests to each route, right and wrong ones: more of them under a larger profile of hypothesis."""
    assert ask(served, route, mode, tools.TOKEN) > 0

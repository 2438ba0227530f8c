"""What the tests of this server share: objects, expected refusals, a client that repeats nothing, and scenes that it plays."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from fake_apiserver import FakeApiServer
from fake_errors import ApiError
from fake_kinds import WORKLOAD, Json, Kind
from fake_store import FakeStore

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
W = f"{WORKLOADS}/w"
APPLY, MERGE = {"Content-Type": "application/apply-patch+yaml"}, {"Content-Type": "application/merge-patch+json"}
NS: dict[str, Any] = {"namespace": "default"}


def made(kind: Kind, name: str, **parts: Any) -> Json:
    """An object of a kind; `metadata` adds to its name."""
    return {"apiVersion": kind.api_version, "kind": kind.name, **parts, "metadata": {"name": name, **parts.pop("metadata", {})}}


def refused(code: int, reason: str | None = None) -> Any:
    """Expects an ApiError with a code, and in its text a reason."""
    return pytest.raises(ApiError, match=reason, check=lambda error: error.code == code == error.status["code"])


def workload(name: str = "w", **parts: Any) -> Json:
    """A workload."""
    return made(WORKLOAD, name, **parts)


class Client:
    """Asks a server. Each request has a connection of its own, so that none is repeated by the library."""

    def __init__(self, server: FakeApiServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        """The status and the body of an answer."""
        data = json.dumps(body) if isinstance(body, dict | list) else body
        headers = ({"Content-Type": "application/json"} if data else {}) | more.pop("headers", {})
        async with self.session.request(method, self.server.url + path, data=data, headers=headers, **more) as response:
            text = await response.text()
            return response.status, json.loads(text) if response.content_type == "application/json" else text

    @asynccontextmanager
    async def watch(self, path: str, query: str = "") -> AsyncIterator[Callable[[], Awaitable[Json | None]]]:
        """Opens a watch; the function reads its next event, or None at its end."""
        async with self.session.get(f"{self.server.url}{path}?watch=1{query}") as response:
            assert response.status == 200

            async def event() -> Json | None:
                line = await response.content.readline()
                return json.loads(line) if line else None

            yield event


def played(scene: Callable[[Client], Awaitable[None]], store: FakeStore | None = None, **options: Any) -> FakeApiServer:
    """Plays a scene with a server; it may take ten seconds. Returns the server, which is down by then."""

    async def play() -> FakeApiServer:
        async with FakeApiServer(store or FakeStore(), **options) as server:
            connector = aiohttp.TCPConnector(force_close=True)
            async with asyncio.timeout(10), aiohttp.ClientSession(connector=connector) as session:
                await scene(Client(server, session))
        return server

    return asyncio.run(play())

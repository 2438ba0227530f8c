"""An HTTP server over a `FakeStore`, which answers as a Kubernetes API server does, and fails as a test wants it to.

It runs in the event loop of the test:

    async with FakeApiServer(store) as server:
        ...  # server.url, server.faults, server.seen
"""

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

import yaml
from aiohttp import web
from fake_access import REVIEWS, Access, Asked, User
from fake_errors import (
    ApiError,
    bad_request,
    expired,
    invalid_options,
    method_not_allowed,
    unsupported_media_type,
)
from fake_faults import Fault, Faults, OpenWatch
from fake_history import Watch
from fake_kinds import Json
from fake_paths import Target, check_query, discovery, flag, number, target_of
from fake_store import FakeStore

MERGE_PATCH, APPLY_PATCH = "application/merge-patch+json", "application/apply-patch+yaml"
OPEN_PATHS = ("/version", "/healthz", "/livez", "/readyz")
"""What everybody may read."""

_ABORT = struct.pack("ii", 1, 0)
"""Linger for no time: a socket that is closed then is reset."""


class _PlainLoader(yaml.SafeLoader):
    """Reads YAML as JSON would be: what looks like a time stays a text."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass
class Seen:
    """One request that came, for a test to look at. The status is 0 while there is no answer, and if there never was one."""

    method: str
    """The HTTP method, or WATCH."""
    path: str
    query: Mapping[str, str]
    body: bytes
    status: int = 0

    def json(self) -> Any:
        """The body, if it is JSON."""
        return json.loads(self.body)


class FakeApiServer:
    """The server. It keeps its address when it goes down and comes up again; the store, the faults and the table of tokens outlive it.

    `sleep` is what a watch with timeoutSeconds waits for. `version` is what /version says.
    """

    def __init__(
        self,
        store: FakeStore,
        *,
        faults: Faults | None = None,
        access: Access | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        version: str = "v1.36.2",
    ) -> None:
        self.store = store
        self.faults = faults or Faults()
        self.access = access or Access()
        self.seen: list[Seen] = []
        """The requests in the order in which they came."""
        self._tls = tls
        self._sleep = sleep
        self._version = version
        self._kinds = (*store.kinds, *REVIEWS)
        self._runner: web.AppRunner | None = None
        self._address: socket.socket | None = None
        self._changed = asyncio.Event()
        self._stop_listening: Callable[[], None] | None = None

    # --- life -------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        # The port stays taken while the server is down: a socket that is bound and does not listen refuses connections.
        self._address = socket.socket()
        self._address.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._address.bind(("127.0.0.1", 0))
        self._stop_listening = self.store.on_change(self._after_change)
        await self.come_up()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.go_down()
        if self._stop_listening is not None:
            self._stop_listening()
        if self._address is not None:
            self._address.close()

    @property
    def url(self) -> str:
        """Where the server is."""
        assert self._address is not None, "the server was not started"
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._address.getsockname()[1]}"

    async def come_up(self) -> None:
        """Take connections, again or for the first time."""
        if self._runner is None and self._address is not None:
            app = web.Application(client_max_size=64 * 2**20)
            app.router.add_route("*", "/{path:.*}", self._handle)
            self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0)
            await self._runner.setup()
            port = self._address.getsockname()[1]
            await web.TCPSite(self._runner, "127.0.0.1", port, ssl_context=self._tls, reuse_port=True).start()

    async def go_down(self) -> None:
        """Reset all connections, and refuse new ones until `come_up`."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            for site in list(runner.sites):
                await site.stop()
            for connection in list(runner.server.connections if runner.server else ()):
                _reset(connection.transport)
            await runner.cleanup()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is the case; it is looked at now, and after each change of the store and each request."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def _after_change(self) -> None:
        self._changed.set()
        self.faults.wake_watches()

    # --- requests ---------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        watched = request.method == "GET" and request.query.get("watch", "").lower() in ("1", "true")
        seen = Seen("WATCH" if watched else request.method, request.path, dict(request.query), body)
        self.seen.append(seen)
        fault = self.faults.taken_by(seen.method, seen.path)
        try:
            response = await self._answered(request, seen, fault)
        finally:
            self._changed.set()
        return response

    async def _answered(self, request: web.Request, seen: Seen, fault: Fault | None) -> web.StreamResponse:
        if fault is not None and not fault.handled_first:
            if not fault.status:
                return _lost(request)
            response: web.StreamResponse = _failure(fault)
        else:
            try:
                response = await self._served(request, seen)
            except ApiError as error:
                response = web.json_response(error.status, status=error.code)
            if fault is not None:
                return _lost(request)
        seen.status = response.status
        return response

    async def _served(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        path, query = request.path.rstrip("/") or "/", seen.query
        if path == "/version":
            major, minor = self._version.removeprefix("v").split(".")[:2]
            return web.json_response({"major": major, "minor": minor, "gitVersion": self._version, "platform": "linux/amd64"})
        if path in OPEN_PATHS:
            return web.Response(text="ok")
        user = self.access.user(request.headers.get("Authorization", ""))
        document = discovery(self._kinds, path) if request.method == "GET" else None
        if document is not None:
            return web.json_response(document)
        target = target_of(self._kinds, path)
        if target is None:
            return web.Response(text="404 page not found\n", status=404)
        verb = target.verb(request.method, query)
        if not verb or (target.kind in REVIEWS and verb != "create"):
            raise method_not_allowed(target.kind, verb or request.method.lower())
        self.access.check(user, target.kind, _asked(target, verb))
        check_query(verb, query)
        if verb == "watch":
            return await self._watched(request, seen, target)
        if target.kind in REVIEWS:
            _check_content_type(request, ["application/json", ""])
            return web.json_response(self.access.review(target.kind, user, _read_json(seen.body)), status=201)
        if verb in ("get", "list"):
            return web.json_response(self._read(target, query, verb))
        return self._written(request, target, seen, verb, user)

    def _read(self, target: Target, query: Mapping[str, str], verb: str) -> Json:
        if verb == "get":
            return self.store.get(target.kind, target.name, target.namespace, query.get("resourceVersion", ""))
        return self.store.list(
            target.kind,
            target.selection(query),
            version=query.get("resourceVersion", ""),
            match=query.get("resourceVersionMatch", ""),
            limit=number(query, "limit"),
            continue_=query.get("continue", ""),
        )

    def _written(self, request: web.Request, target: Target, seen: Seen, verb: str, user: User) -> web.Response:
        kind, query = target.kind, seen.query
        where: dict[str, Any] = {"namespace": target.namespace, "dry_run": "dryRun" in query}
        part: dict[str, Any] = {"subresource": target.subresource}
        who: dict[str, Any] = {"manager": query.get("fieldManager") or request.headers.get("User-Agent", "").partition("/")[0] or "unknown"}
        if verb == "delete":
            return web.json_response(self.store.delete(kind, target.name, **where | _preconditions(seen.body)))
        if verb == "patch" and request.content_type == APPLY_PATCH:
            return self._applied(target, seen, user, where | part)
        _check_content_type(request, [MERGE_PATCH, APPLY_PATCH] if verb == "patch" else ["application/json", ""])
        body = _read_json(seen.body)
        if verb == "patch":
            return web.json_response(self.store.merge_patch(kind, target.name, body, **where | who | part))
        if verb == "update":
            return web.json_response(self.store.replace(kind, body, name=target.name, **where | who | part))
        return web.json_response(self.store.create(kind, body, **where | who), status=201)

    def _applied(self, target: Target, seen: Seen, user: User, where: dict[str, Any]) -> web.Response:
        manager = seen.query.get("fieldManager", "")
        if not manager:
            raise invalid_options("PatchOptions", "fieldManager", "Required value: is required for apply patch", "FieldValueRequired")
        existed = self._exists(target)
        if not existed and not target.subresource:
            self.access.check(user, target.kind, _asked(target, "create"))
        config = _read_yaml(seen.body)
        found = self.store.apply(target.kind, target.name, config, manager=manager, force=flag(seen.query, "force"), **where)
        return web.json_response(found, status=200 if existed else 201)

    def _exists(self, target: Target) -> bool:
        try:
            self.store.get(target.kind, target.name, target.namespace)
        except ApiError:
            return False
        return True

    # --- watches ----------------------------------------------------------------------------------------------------

    async def _watched(self, request: web.Request, seen: Seen, target: Target) -> web.StreamResponse:
        query, first_error, marks = seen.query, None, flag(seen.query, "allowWatchBookmarks")
        initial = flag(query, "sendInitialEvents") if "sendInitialEvents" in query else None
        try:
            watch = self.store.watch(target.kind, target.selection(query), query.get("resourceVersion", ""), initial, marks)
        except ApiError as error:
            if error.code != HTTPStatus.GONE or not self.faults.expired_in_stream:
                raise
            first_error = error
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        seen.status = response.status
        self._changed.set()
        if first_error is not None:
            await response.write(_line(_error_event(first_error)))
            return response
        stream = _Stream(request, response, watch, OpenWatch())
        return await self._streamed(stream, number(query, "timeoutSeconds"))

    async def _streamed(self, stream: "_Stream", seconds: int) -> web.StreamResponse:
        """Send events until the client goes, the time is over, or a fault ends it."""
        timer = asyncio.ensure_future(self._sleep(seconds)) if seconds else None
        if timer is not None:
            timer.add_done_callback(lambda done: None if done.cancelled() else stream.state.give("end"))
        try:
            with self.faults.opened(stream.state):
                while await stream.step(self.faults.watches_held):
                    await stream.state.wake.wait()
        finally:
            if timer is not None:
                timer.cancel()
        return stream.response


@dataclass
class _Stream:
    """One watch on its way to a client."""

    request: web.Request
    response: web.StreamResponse
    watch: Watch
    state: OpenWatch

    async def step(self, held: bool) -> bool:
        """Send what there is, and carry out the order of a fault. Returns whether the watch goes on."""
        self.state.wake.clear()
        order = self.state.taken_order()
        if order == "reset":
            _reset(self.request.transport)
            return False
        try:
            events = [] if held else self.watch.take()
            if order == "expire":
                raise expired("The resourceVersion for the provided watch is too old.")
        except ApiError as error:
            await self.response.write(_line(_error_event(error)))
            return False
        mark = self.watch.bookmark() if order == "bookmark" and not held else None
        for event in events + ([mark] if mark else []):
            await self.response.write(_line(event))
        return order != "end"


def _line(event: Json) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _error_event(error: ApiError) -> Json:
    return {"type": "ERROR", "object": error.status}


def _asked(target: Target, verb: str) -> Asked:
    resource = f"{target.kind.plural}/{target.subresource}" if target.subresource else target.kind.plural
    return Asked(verb, target.kind.group, resource, target.namespace, target.name)


def _failure(fault: Fault) -> web.Response:
    """The answer that a fault gives."""
    message = fault.message or f"the tests let this request fail with {fault.status}"
    details = {"retryAfterSeconds": fault.retry_after} if fault.retry_after is not None else None
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else None
    return web.json_response(ApiError(fault.status, message, details=details).status, status=fault.status, headers=headers)


def _lost(request: web.Request) -> web.Response:
    """Reset the connection. The response is never sent."""
    _reset(request.transport)
    return web.Response(status=500)


def _reset(transport: asyncio.Transport | None) -> None:
    """Close a connection at once, so that the other side gets a reset."""
    if transport is not None:
        connection = transport.get_extra_info("socket")
        if connection is not None and not transport.is_closing():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        transport.abort()


def _check_content_type(request: web.Request, accepted: list[str]) -> None:
    """Raises ApiError (415) for a body of another form. The empty text stands for a request that does not say its form."""
    said = request.content_type if "Content-Type" in request.headers else ""
    if said not in accepted:
        raise unsupported_media_type(form for form in accepted if form)


def _read_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise bad_request(f"the body of the request is not JSON: {error}") from None


def _read_yaml(body: bytes) -> Json:
    try:
        found = json.loads(body)
    except ValueError:
        try:
            found = yaml.load(body, _PlainLoader)
        except yaml.YAMLError as error:
            raise bad_request(f"error decoding patch: {error}") from None
    if not isinstance(found, dict):
        raise bad_request("error decoding patch: an apply patch is an object")
    return found


def _preconditions(body: bytes) -> dict[str, Any]:
    """The preconditions of DeleteOptions."""
    options = _read_json(body) if body else {}
    if not isinstance(options, dict):
        raise bad_request("DeleteOptions are an object")
    check_query(
        "delete", {name: str(options[name]) for name in ("propagationPolicy", "gracePeriodSeconds") if options.get(name) is not None}
    )
    said = options.get("preconditions") or {}
    return {"uid": said.get("uid") or "", "version": said.get("resourceVersion") or ""}

"""Serves what a service tells, over HTTP: health, metrics, the cluster, a workload, the journal, and trials.

    async with serve_http(service, settings.http):
        await service.run()

Nothing under /v1 and no metrics without a credential. What needs a look at the state is answered by a process of its own (`reading/`), so
that no question keeps the service from deciding.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from ..adapters.kubernetes.api import Api
from ..adapters.live.settings.serve_settings import Http
from .access.certificates import ServerCertificate
from .access.credentials import CHALLENGE, Credentials
from .access.secret_files import SecretFileError
from .answers import HealthAnswer, ReadyAnswer, UnansweredError
from .connections import HEADERS, LIMITS, Listener, refusal
from .health import Health
from .listening import HttpSetupError, ListenPlace, certificate_of, keep_certificate, listen
from .metrics import Metrics
from .openapi import openapi
from .reading.reader import Reader
from .routes import HEALTH, JSON, MOST_BODY, ROUTES, Asked, MethodError, Route, find_route, needs_credential, read_query

LOG = logging.getLogger("gpol.http")

MOST_REQUESTS = 64
"""How many requests are answered at once."""

BODY_SECONDS = 10
"""How long a body may take to come."""

FIGURES_SECONDS = 5
"""How long the metrics wait for the figures of queues; then they tell the last ones there were."""


class JournalSettings(Protocol):
    """Where the journal is."""

    @property
    def journal(self) -> str | None:
        """A file or a URL; None where nothing is decided."""


class Served(Protocol):
    """What is told over HTTP."""

    @property
    def settings(self) -> JournalSettings:
        """Its settings."""

    @property
    def api(self) -> Api:
        """The API server, which knows tokens of the cluster."""

    @property
    def reader(self) -> Reader | None:
        """Answers from its journal; None where there is none."""

    @property
    def health(self) -> Health:
        """Whether it does what it is there for."""

    @property
    def metrics(self) -> Metrics:
        """What it has counted."""


@asynccontextmanager
async def serve_http(service: Served, settings: Http) -> AsyncIterator["HttpServer | None"]:
    """Serve as the settings say, until left; None where they say that nothing is served. Raises HttpSetupError."""
    if not settings.enabled:
        LOG.info("nothing is served over HTTP, as `http.enabled` says")
        yield None
        return
    try:
        certificate = certificate_of(settings)
        credentials = Credentials(settings, service.api)
    except SecretFileError as error:
        raise HttpSetupError(str(error)) from None
    async with AsyncExitStack() as stack:
        server = HttpServer(service, credentials, service.reader, certificate)
        await server.listen(stack, settings)
        _tell(server, settings)
        yield server


def _tell(server: "HttpServer", settings: Http) -> None:
    LOG.info("serving at %s", server.url)
    if settings.certificate is None and not settings.address.is_loopback:
        LOG.warning("`http.insecure_plain_text` is set: who can read the traffic to %s can read all tokens and answers", server.url)
    if server.credentials.told:
        LOG.info("/v1 and /metrics are open to %s", server.credentials.told)
    else:
        LOG.warning("/v1 and /metrics are closed to everybody: neither `http.token_file` nor `http.kubernetes_tokens` is set")


@dataclass(slots=True)
class HttpServer:
    """What is served. `url` is where, `probe_url` where probes are answered, if there is an address for them.

    `reader` is None where there is no journal.
    """

    service: Served
    credentials: Credentials
    reader: Reader | None
    certificate: ServerCertificate | None
    url: str = ""
    probe_url: str = ""
    _requests: int = 0
    _figures: bytes = b""
    _own: dict[str, Callable[[], Awaitable[web.Response]]] = field(init=False)

    def __post_init__(self) -> None:
        self._own = {"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics, "/v1/openapi.json": self._openapi}

    async def listen(self, stack: AsyncExitStack, settings: Http) -> None:
        """Listen at the addresses of the settings until the stack is closed. Raises HttpSetupError."""
        main = ListenPlace(settings.address, settings.port, "http.port")
        self.url = await listen(stack, self._runner(ROUTES), main, self.certificate)
        if settings.probe_address is not None:
            probes = ListenPlace(settings.probe_address, settings.probe_port, "http.probe_port")
            self.probe_url = await listen(stack, self._runner(HEALTH), probes, None)
        if self.certificate is not None:
            keep_certificate(stack, self.certificate, self.service.metrics.certificate_expires)

    def _runner(self, routes: tuple[Route, ...]) -> web.BaseRunner:
        return web.ServerRunner(Listener(self._handler(routes), **LIMITS), shutdown_timeout=2)

    # --- a request --------------------------------------------------------------------------------------------------

    def _handler(self, routes: tuple[Route, ...]) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            asked: Asked | None = None
            try:
                asked = await self._asked(routes, request)
                response = await self._answer(asked, request)
            except UnansweredError as error:
                response = _refused(error)
            except Exception:
                LOG.exception("a request could not be answered")
                message = "the request could not be answered because of a mistake in gpol"
                response = _refused(UnansweredError(503, "Failed", message, "its log says more"))
            method = request.method if request.method in ("GET", "POST") else "other"
            self.service.metrics.answered(asked.route.path if asked is not None else "other", method, response.status)
            return response

        return handle

    async def _asked(self, routes: tuple[Route, ...], request: web.BaseRequest) -> Asked:
        """What a request asks for, once it is known that it may be asked."""
        raw_path = request.rel_url.raw_path
        try:
            asked = find_route(routes, request.method, raw_path)
        except UnansweredError:
            if routes is ROUTES and needs_credential(raw_path):
                await self._check(request, None)
            raise
        if asked.route.right is not None:
            await self._check(request, asked.route.right)
        return asked

    async def _check(self, request: web.BaseRequest, right: str | None) -> None:
        try:
            await self.credentials.check(request.headers.getall("Authorization", []), right, request.method.lower())
        except UnansweredError as error:
            if error.status in (401, 403):
                LOG.info("refused %s %s from %s: %d", request.method, right or "an unknown path", request.remote, error.status)
            raise

    async def _answer(self, asked: Asked, request: web.BaseRequest) -> web.Response:
        route = asked.route
        query = read_query(request.rel_url.raw_query_string)
        if query and route.query is None:
            raise UnansweredError(400, "BadRequest", "this takes no query", "leave out what comes behind `?`")
        if not route.question:
            return await self._own[route.path]()
        if self.reader is None:
            remedy = "set `kueue.way` or `volcano.way`, so that there are decisions"
            raise UnansweredError(503, "NoJournal", "this gpol keeps quotas, and has no journal", remedy)
        if self._requests >= MOST_REQUESTS:
            raise UnansweredError(503, "Busy", f"{MOST_REQUESTS} requests are under way", "try again later")
        self._requests += 1
        try:
            body = await _body(request) if route.body is not None else b""
            told = await self.reader.ask(route.question, "/".join(asked.parameters.values()), query, body)
        finally:
            self._requests -= 1
        return _response(told.status, told.body, _later(told.status))

    # --- what this process answers itself ---------------------------------------------------------------------------

    async def _healthz(self) -> web.Response:
        return _response(200, HealthAnswer().model_dump_json().encode())

    async def _readyz(self) -> web.Response:
        problems = self.service.health.problems()
        answer = ReadyAnswer(ready=not problems, problems=problems)
        return _response(503 if problems else 200, answer.model_dump_json().encode())

    async def _openapi(self) -> web.Response:
        return _response(200, json.dumps(openapi()).encode())

    async def _metrics(self) -> web.Response:
        """The metrics of this process, and the figures of queues: those of now or, where they take too long, the last ones."""
        if self.reader is not None:
            with suppress(UnansweredError, TimeoutError):
                async with asyncio.timeout(FIGURES_SECONDS):
                    told = await self.reader.ask("metrics")
                self._figures = told.body if told.status == 200 else self._figures
        headers = {**HEADERS, "Content-Type": next(route.media for route in ROUTES if route.path == "/metrics")}
        return web.Response(body=self.service.metrics.text() + self._figures, headers=headers)


def _response(status: int, body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=body, content_type=JSON, headers={**HEADERS, **(headers or {})})


def _refused(error: UnansweredError) -> web.Response:
    headers = _later(error.status)
    if error.status == 401:
        headers["WWW-Authenticate"] = CHALLENGE
    if isinstance(error, MethodError):
        headers["Allow"] = error.allowed
    return refusal(error, headers)


def _later(status: int) -> dict[str, str]:
    return {"Retry-After": "1"} if status == 503 else {}


async def _body(request: web.BaseRequest) -> bytes:
    """The body of a request. Raises UnansweredError for one that is too long or too slow, or no plain JSON."""
    if request.content_type != JSON or request.charset not in (None, "utf-8", "UTF-8") or request.headers.get("Content-Encoding"):
        raise UnansweredError(
            415, "UnsupportedMediaType", "the body is no plain JSON", f"send it as `Content-Type: {JSON}`, not compressed"
        )
    too_long = UnansweredError(413, "TooLong", f"the body has more than {MOST_BODY:,} bytes", "send a shorter one")
    if (request.content_length or 0) > MOST_BODY:
        raise too_long
    parts, length = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            if request.headers.get("Expect", "").lower() == "100-continue":
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                request.writer.output_size = 0  # the answer was not begun by that
            async for part in request.content.iter_any():
                parts.append(part)
                length += len(part)
                if length > MOST_BODY:
                    raise too_long
    except TimeoutError:
        message = f"the body did not come within {BODY_SECONDS} seconds"
        raise UnansweredError(408, "TooSlow", message, "send it at once") from None
    except web.RequestPayloadError:
        raise UnansweredError(400, "BadRequest", "the body does not come as its headers say", "look at the client") from None
    return b"".join(parts)

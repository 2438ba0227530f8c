"""Connections of clients: bounded in number and in what they may send, and answered as JSON also where what came is no HTTP."""

import asyncio
import logging
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from .answers import UnansweredError
from .routes import JSON

LOG = logging.getLogger("gpol.http")

MOST_CONNECTIONS = 512
"""How many connections are open at once; more are closed at once."""

LIMITS: dict[str, Any] = {
    "max_line_size": 8190,
    "max_field_size": 8190,
    "max_headers": 64,
    "keepalive_timeout": 75.0,
    "lingering_time": 2.0,
    "auto_decompress": False,
    "access_log": None,
}
"""What a client may send: bytes of the first line and of a header, how many headers; how long it may say nothing; nothing compressed."""

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Server": "gpol"}
"""What all answers say."""


def refusal(error: UnansweredError, headers: dict[str, str] | None = None) -> web.Response:
    """The response to a request that is not answered."""
    body = error.answer.model_dump_json().encode()
    return web.Response(status=error.status, body=body, content_type=JSON, headers={**HEADERS, **(headers or {})})


class Connection(web.RequestHandler):
    """A connection of a client."""

    __slots__ = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a client, or hang up where there are too many."""
        super().connection_made(transport)
        if self._manager is not None and len(self._manager.connections) > MOST_CONNECTIONS:
            self.force_close()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """The answer to what is no HTTP, or has too long a header. What came is not logged: a token may be in it."""
        if not isinstance(exc, HttpProcessingError):
            LOG.error("a request could not be handled", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("the answer was begun already")
        error = UnansweredError(
            400, "BadRequest", "this is no HTTP request that is served here, or a header is too long", "look at the client"
        )
        response = refusal(error)
        response.force_close()
        return response


class Listener(web.Server):
    """Makes the connections."""

    def __call__(self) -> web.RequestHandler:
        """A connection for a new client."""
        return Connection(self, loop=self._loop, **self._kwargs)

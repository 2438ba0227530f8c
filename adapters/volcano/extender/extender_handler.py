"""The extender over HTTP: `POST PREFIX/VERB`, as Volcano's plugin `extender` sends it.

    handler = extender_handler(lambda: service.volcano_answers, prefix="/volcano")

Each request is decoded and answered in one go. Nothing is waited for but its body, so an answer never mixes two moments.
"""

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from . import refusals
from .refusals import MOST_BODY, SESSION_OPEN, RefusedError
from .requests import BadBodyError
from .tally import ExtenderTally
from .verbs import VERBS
from .verdicts import NotDeciding, VolcanoAnswers

LOG = logging.getLogger("gpol.volcano")

BODY_SECONDS = 10
"""How long a body may take to come."""

MOST_HELD = 4 * MOST_BODY
"""The most bytes of all bodies that are under way."""

_JSON = "application/json"
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Server": "gpol"}
_CHALLENGES = 'Bearer realm="gpol", Basic realm="gpol"'
_NOT_DECIDING = NotDeciding()


def extender_handler(
    current: Callable[[], VolcanoAnswers | None],
    prefix: str = "",
    is_right: Callable[[str], bool] | None = None,
    tally: ExtenderTally | None = None,
) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """What answers requests. `current` gives the answers of now; None while gpol does not decide, which is answered safely.

    With `is_right` only those are answered who send a token that is right: as a bearer token, or as the password of the address
    (`http://gpol:TOKEN@HOST`), which Volcano's scheduler can do. `prefix` is the path before the verb, such as `/volcano`.
    """
    return _Extender(current, prefix.rstrip("/"), is_right, tally if tally is not None else ExtenderTally()).handle


class _Extender:
    """Answers requests."""

    def __init__(
        self, current: Callable[[], VolcanoAnswers | None], prefix: str, is_right: Callable[[str], bool] | None, tally: ExtenderTally
    ) -> None:
        self._current, self._prefix, self._is_right, self._tally = current, prefix, is_right, tally
        self._held = 0

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """The response to a request."""
        verb = request.path.removeprefix(f"{self._prefix}/") if request.path.startswith(f"{self._prefix}/") else ""
        try:
            return _response(200, await self._answer(verb, request))
        except RefusedError as error:
            refused = error
        except Exception:
            LOG.exception("a request to the extender could not be answered")
            refused = refusals.failed(verb)
        self._tally.refused(verb if verb in VERBS or verb == SESSION_OPEN else "other", refused.code, str(refused))
        headers = {"WWW-Authenticate": _CHALLENGES} if refused.status == 401 else {"Allow": "POST"} if refused.status == 405 else {}
        return _response(refused.status, refused.body, headers)

    async def _answer(self, verb: str, request: web.BaseRequest) -> bytes:
        if self._is_right is not None and not self._is_right(_sent_token(request.headers.get("Authorization", ""))):
            raise refusals.unauthorized()
        if not verb or "/" in verb:
            raise refusals.unknown_path(request.path, self._prefix)
        if verb == SESSION_OPEN:
            raise refusals.session_open()
        if verb not in VERBS:
            raise refusals.unknown_verb(verb)
        if request.method != "POST":
            raise refusals.not_post(request.method)
        body = await self._body(verb, request)
        try:
            answer = VERBS[verb](self._current() or _NOT_DECIDING, body)
        except BadBodyError as error:
            raise refusals.bad_body(verb, error.place, error.message) from None
        self._tally.answered(verb, answer.reasons, answer.examples)
        return answer.body

    async def _body(self, verb: str, request: web.BaseRequest) -> bytes:
        """The body of a request, once there is room for it. Raises RefusedError."""
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise refusals.compressed(verb)
        length = MOST_BODY if request.content_length is None else request.content_length
        if length > MOST_BODY:
            raise refusals.too_long(verb)
        if self._held + length > MOST_HELD:
            raise refusals.busy()
        self._held += length
        try:
            return await _whole(verb, request)
        finally:
            self._held -= length


async def _whole(verb: str, request: web.BaseRequest) -> bytes:
    parts, length = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.content.iter_any():
                parts.append(part)
                length += len(part)
                if length > MOST_BODY:
                    raise refusals.too_long(verb)
    except TimeoutError:
        raise refusals.too_slow(verb, BODY_SECONDS) from None
    except web.RequestPayloadError:
        raise refusals.cut(verb) from None
    return b"".join(parts)


def _sent_token(header: str) -> str:
    """The token in a header Authorization; empty where there is none."""
    scheme, _, given = header.partition(" ")
    if scheme.lower() == "bearer":
        return given
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _response(status: int, body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=body, content_type=_JSON, headers={**_HEADERS, **(headers or {})})

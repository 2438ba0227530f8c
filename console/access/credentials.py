"""Who may read what is served: whoever sends the token of a file, or a token of the cluster that has the right to the path."""

import logging
import re
from collections.abc import Sequence

from ...adapters.kubernetes.api import Api
from ...adapters.live.settings.serve_settings import Http
from ..answers import UnansweredError
from .kubernetes_tokens import KubernetesTokens
from .static_token import LONGEST, TOKEN, StaticToken

LOG = logging.getLogger("gpol.http")

CHALLENGE = 'Bearer realm="gpol"'
"""What WWW-Authenticate says."""

_SEND = "send `Authorization: Bearer TOKEN`"
_HEADER = re.compile(r"bearer +(\S+) *", re.IGNORECASE)


class Credentials:
    """The credentials that count, by the settings. Without any nobody is let in."""

    def __init__(self, settings: Http, api: Api) -> None:
        """Raises SecretFileError for a token file that cannot be used."""
        self._static = StaticToken(settings.token_file) if settings.token_file is not None else None
        self._cluster = (
            KubernetesTokens(api, settings.kubernetes_audience, settings.kubernetes_seconds) if settings.kubernetes_tokens else None
        )

    @property
    def told(self) -> str:
        """Which credentials count, in words; empty where none does."""
        kinds = (("the token of a file", self._static), ("tokens of the cluster", self._cluster))
        return " and ".join(words for words, kind in kinds if kind is not None)

    async def check(self, headers: Sequence[str], path: str | None, verb: str) -> None:
        """Let a request pass, or raise UnansweredError: 401 without a right token, 403 without the right, 503 where nobody can say.

        `headers` are all headers Authorization of the request, `path` is what RBAC knows of it; None: nothing is there to have a right to.
        """
        token = self._token(headers)
        if self._static is not None and self._static.is_right(token):
            return
        if self._cluster is None:
            raise _unauthorized("the token is not the right one", f"{_SEND} with the token of the file `http.token_file`")
        user = await self._cluster.user_of(token)
        if not user.known:
            raise _unauthorized("the API server does not know this token, or it has expired", f"{_SEND} with a new one")
        if path is not None and not await self._cluster.may(token, user, path, verb):
            remedy = f'bind the user to a ClusterRole with nonResourceURLs ["{path}"] and verbs ["{verb}"]'
            raise UnansweredError(403, "Forbidden", f"the user of this token may not {verb} {path}", remedy)

    def _token(self, headers: Sequence[str]) -> str:
        if not self.told:
            message = "nobody is let in, since no credential is configured"
            raise _unauthorized(message, "set `http.token_file` or `http.kubernetes_tokens` and start gpol again")
        if not headers:
            raise _unauthorized("a token is needed", _SEND)
        found = _HEADER.fullmatch(headers[0]) if len(headers) == 1 else None
        if found is None:
            raise _unauthorized("the header Authorization is not of the form `Bearer TOKEN`, or it is there twice", _SEND)
        if len(found[1]) > LONGEST or TOKEN.fullmatch(found[1]) is None:
            raise _unauthorized("what the header Authorization holds is no token", _SEND)
        return found[1]


def _unauthorized(message: str, remedy: str) -> UnansweredError:
    return UnansweredError(401, "Unauthorized", message, remedy)

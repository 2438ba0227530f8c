"""Tokens of the cluster: its API server says whose they are, and whether that user may use a path.

Source: Kubernetes, authentication.k8s.io/v1 TokenReview, authorization.k8s.io/v1 SubjectAccessReview; RBAC rules with `nonResourceURLs`.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import sha256
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from ...adapters.kubernetes.api import Api, ApiError, Plain
from ...adapters.kubernetes.resource_kinds import TOKEN_REVIEW, Kind
from ..answers import UnansweredError

LOG = logging.getLogger("gpol.http")

ACCESS_REVIEW = Kind("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False)

MOST_REMEMBERED = 1024
"""How many answers are remembered."""

AT_ONCE = 8
"""How many reviews are under way at once."""

Remembered = TypeVar("Remembered")


class BoundedMemory(Generic[Remembered]):
    """Remembers answers for some seconds, and no more than `most` of them."""

    def __init__(self, seconds: float, most: int = MOST_REMEMBERED, clock: Callable[[], float] = monotonic) -> None:
        self._seconds, self._most, self._clock = seconds, most, clock
        self._kept: OrderedDict[Hashable, tuple[float, Remembered]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> Remembered | None:
        """What is remembered; None where that is nothing."""
        until, value = self._kept.get(key, (0.0, None))
        return value if self._clock() < until else None

    def put(self, key: Hashable, value: Remembered) -> None:
        """Remember an answer, and forget the oldest one if there are too many."""
        self._kept.pop(key, None)
        self._kept[key] = (self._clock() + self._seconds, value)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


class ReviewedUser(NamedTuple):
    """Whose token it is; nobody's where it is not `known`. `spec` is what an access review wants to know of the user."""

    known: bool
    spec: Plain


class KubernetesTokens:
    """Asks an API server about tokens. Its answers count for some `seconds`; a token itself is not kept."""

    def __init__(self, api: Api, audience: str | None, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._api, self._audience = api, audience
        self._users: BoundedMemory[ReviewedUser] = BoundedMemory(seconds, clock=clock)
        self._rights: BoundedMemory[bool] = BoundedMemory(seconds, clock=clock)
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def user_of(self, token: str) -> ReviewedUser:
        """Whose token it is. Raises UnansweredError where the API server cannot say."""
        key = sha256(token.encode()).digest()
        found = self._users.get(key)
        if found is None:
            spec = {"token": token, **({"audiences": [self._audience]} if self._audience is not None else {})}
            found = self._read_user(await self._review(TOKEN_REVIEW, spec))
            self._users.put(key, found)
        return found

    async def may(self, token: str, user: ReviewedUser, path: str, verb: str) -> bool:
        """Whether the user of a token may use a path. Raises UnansweredError where the API server cannot say."""
        key = (sha256(token.encode()).digest(), path, verb)
        found = self._rights.get(key)
        if found is None:
            spec = {**user.spec, "nonResourceAttributes": {"path": path, "verb": verb}}
            found = (await self._review(ACCESS_REVIEW, spec)).get("allowed") is True
            self._rights.put(key, found)
        return found

    def _read_user(self, status: Plain) -> ReviewedUser:
        """The user in the status of a review. A server that knows of no audiences names none, and then the token is for another one."""
        user = status.get("user")
        if status.get("authenticated") is not True or not isinstance(user, dict) or not user.get("username"):
            return ReviewedUser(False, {})
        if self._audience is not None and self._audience not in (status.get("audiences") or ()):
            return ReviewedUser(False, {})
        named = {"user": user["username"], **{field: user[field] for field in ("uid", "groups", "extra") if user.get(field)}}
        return ReviewedUser(True, named)

    async def _review(self, kind: Kind, spec: Plain) -> Plain:
        """The status of a review."""
        try:
            async with self._turns:
                answer = await self._api.create(kind.path(), {"apiVersion": kind.api_version, "kind": kind.kind, "spec": spec})
        except ApiError as error:
            LOG.error("no %s from the API server, so a token of the cluster was refused: %d %s", kind.kind, error.status, error.reason)
            why = "gpol itself may not ask it" if error.status == 403 else f"it has answered {error.status} {error.reason}"
            remedy = "bind gpol's service account to the role system:auth-delegator" if error.status == 403 else "try again later"
            raise UnansweredError(503, "AccessUnknown", f"the API server says nothing about this token: {why}", remedy) from None
        status = answer.get("status")
        return status if isinstance(status, dict) else {}

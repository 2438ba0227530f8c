"""Requests to an API server: objects are plain JSON, and whatever goes wrong is one kind of error.

The official client knows how to reach a server and how to prove who asks (kubeconfig, service accounts, certificates, tokens that expire).
Its generated models are not used: gpol reads few fields of objects, and most of the kinds it reads are not among them.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
from kubernetes.aio.client import ApiClient
from kubernetes.aio.client.exceptions import ApiException, OpenApiException
from kubernetes.aio.config import ConfigException

from .kubeconfig import configured
from .resource_kinds import Kind

Plain = dict[str, Any]
"""An object as JSON has it."""

APPLY, MERGE, JSON = "application/apply-patch+yaml", "application/merge-patch+json", "application/json"
"""Media types of bodies: server-side apply, merge patch, whole object."""

SILENT_SECONDS = 120
"""After how many seconds in which nothing came a watch is taken for dead: the server sends a bookmark about once a minute."""

REQUEST_SECONDS = 30
"""After how many seconds without an answer a request has failed."""

MOST_LINE = 64 * 1024 * 1024
"""The longest line of a watch, in bytes. etcd takes objects of some megabytes at most."""


@dataclass
class ApiError(Exception):
    """A request that failed: the HTTP status, the reason as Kubernetes names it, and what it says of it.

    `status` is 0 where no answer came: it is not known then whether the server has done what was asked.
    `retry_after` is for how many seconds the server asks not to come back.
    """

    status: int
    reason: str
    message: str
    retry_after: float | None = None

    def __str__(self) -> str:
        """One line."""
        return f"{self.message} ({f'{self.status} ' if self.status else ''}{self.reason})"

    @property
    def is_gone(self) -> bool:
        """Whether the version that was asked for is too old: the objects are to be listed again."""
        return self.status == 410 or self.reason == "Expired"


@dataclass(frozen=True, slots=True)
class ObjectList:
    """All objects of a kind, and the version of the list, from which a watch goes on."""

    items: list[Plain]
    version: str


class Api:
    """A connection to an API server; an async context manager."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @classmethod
    async def connect(cls, kubeconfig: Path | None = None, context: str | None = None) -> Self:
        """Connect as a kubeconfig says; without one, as the service account of the pod that this program runs in.

        Raises AccessError.
        """
        configuration = await configured(kubeconfig, context)
        configuration.connection_pool_maxsize = 100
        return cls(ApiClient(configuration))

    @property
    def server(self) -> str:
        """The address of the server."""
        return str(self._client.configuration.host)

    async def close(self) -> None:
        """End all connections."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    # --- reading ----------------------------------------------------------------------------------------------------

    async def get(self, path: str) -> Plain:
        """What stands at a path."""
        return await self._send("GET", path)

    async def list_all(self, kind: Kind, namespace: str = "", page: int = 500) -> ObjectList:
        """All objects of a kind, asked for a page at a time."""
        items: list[Plain] = []
        rest = ""
        while True:
            query = [("limit", str(page)), *([("continue", rest)] if rest else [])]
            found = await self._send("GET", kind.path(namespace), query)
            items += found.get("items") or []
            metadata = found.get("metadata") or {}
            rest = metadata.get("continue") or ""
            if not rest:
                return ObjectList(items, str(metadata.get("resourceVersion", "")))

    async def labelled(self, kind: Kind, namespace: str, key: str, value: str) -> list[Plain]:
        """The objects of a kind in a namespace that have a label."""
        found = await self._send("GET", kind.path(namespace), [("labelSelector", f"{key}={value}")])
        return found.get("items") or []

    async def version(self, kind: Kind, namespace: str = "") -> str:
        """The version that a list of a kind has now."""
        found = await self._send("GET", kind.path(namespace), [("limit", "1")])
        return str((found.get("metadata") or {}).get("resourceVersion", ""))

    async def watch(self, kind: Kind, version: str, namespace: str = "", seconds: int = 300) -> AsyncIterator[Plain]:
        """The changes after a version, as they come, until the server ends the watch, or says nothing for `SILENT_SECONDS`.

        Raises ApiError where it does not end well.
        """
        query = [("watch", "1"), ("resourceVersion", version), ("allowWatchBookmarks", "true"), ("timeoutSeconds", str(seconds))]
        response = await self._open("GET", kind.path(namespace), query, aiohttp.ClientTimeout(total=None, sock_read=SILENT_SECONDS))
        try:
            async for line in _lines(response):
                event = _read(line)
                if event.get("type") == "ERROR":
                    raise _status_error(500, event.get("object"))
                yield event
        except aiohttp.SocketTimeoutError:
            return
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise _no_answer(error) from None
        finally:
            response.close()

    # --- writing ----------------------------------------------------------------------------------------------------

    async def apply(self, path: str, body: Plain, manager: str, force: bool = True) -> Plain:
        """Apply what a manager wants at a path, by server-side apply; with `force` it takes over what others own."""
        query = [("fieldManager", manager), ("force", "true" if force else "false")]
        return await self._send("PATCH", path, query, body, APPLY)

    async def merge(self, path: str, body: Plain) -> Plain:
        """Change some fields of the object at a path, by a merge patch."""
        return await self._send("PATCH", path, (), body, MERGE)

    async def create(self, path: str, body: Plain) -> Plain:
        """Create an object, or have a review answered."""
        return await self._send("POST", path, (), body, JSON)

    async def delete(self, path: str, **preconditions: str) -> None:
        """Delete the object at a path, if it is still as `preconditions` say: its `uid`, its `resourceVersion`."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions", **({"preconditions": preconditions} if preconditions else {})}
        await self._send("DELETE", path, (), body)

    # --- a request --------------------------------------------------------------------------------------------------

    async def _send(
        self, method: str, path: str, query: Sequence[tuple[str, str]] = (), body: Plain | None = None, media: str = JSON
    ) -> Plain:
        response = await self._open(method, path, query, aiohttp.ClientTimeout(total=REQUEST_SECONDS), body, media)
        try:
            return _read(await response.read())
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise _no_answer(error) from None

    async def _open(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        timeout: aiohttp.ClientTimeout,
        body: Plain | None = None,
        media: str = JSON,
    ) -> aiohttp.ClientResponse:
        """Send a request; the answer is good, and is still to be read."""
        headers = {"Accept": JSON, "Content-Type": media}
        try:
            sent = await self._client.param_serialize(
                method=method, resource_path=path, query_params=list(query), header_params=headers, body=body, auth_settings=["BearerToken"]
            )
            answered = await self._client.call_api(*sent, _request_timeout=timeout)
            response: aiohttp.ClientResponse = answered.response
            if response.status < 400:
                return response
            raise _refused(response, await response.read())
        except ApiException as error:
            raise ApiError(error.status or 0, "ClientError", str(error.reason)) from None
        except (aiohttp.ClientError, OSError, TimeoutError, OpenApiException, ConfigException) as error:
            raise _no_answer(error) from None


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The lines of an answer as they come. What is left at the end without a line break is cut off, and no line."""
    parts: list[bytes] = []
    length = 0
    async for chunk in response.content.iter_any():
        *ended, begun = chunk.split(b"\n")
        for line in ended:
            yield b"".join([*parts, line])
            parts, length = [], 0
        parts.append(begun)
        length += len(begun)
        if length > MOST_LINE:
            raise ApiError(0, "TooLong", f"a watch has sent a line of more than {MOST_LINE} bytes")


def _read(data: bytes) -> Plain:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ApiError(0, "NotJSON", "the server has not answered with a JSON object: something else stands in its place")
    return found


def _refused(response: aiohttp.ClientResponse, data: bytes) -> ApiError:
    """The error that a server has answered with."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        said = None
    error = _status_error(response.status, said)
    wait = response.headers.get("Retry-After", "")
    error.retry_after = float(wait) if wait.isdecimal() else None
    return error


def _status_error(status: int, said: object) -> ApiError:
    """An error from the Status that the server says; `status` counts where it says none."""
    known: Mapping[str, Any] = said if isinstance(said, dict) else {}
    code = known.get("code")
    status = code if isinstance(code, int) else status
    return ApiError(status, str(known.get("reason") or "Unknown"), str(known.get("message") or f"the server has answered {status}"))


def _no_answer(error: Exception) -> ApiError:
    told = str(error) or type(error).__name__
    return ApiError(0, "NoAnswer", f"no answer from the server: {told}")

"""One of several gpols works, the others stand by: whoever holds the Lease.

The Lease is a convenience. What keeps two programs from deciding on one journal is the journal itself, which has one writer at a time. But
two with a journal each would both write to the cluster; the Lease keeps them apart.

Nobody compares clocks: who waits takes the Lease over once it has not changed for as long as it counts, by the own clock. The official
client has an election of its own, which cannot create a Lease (release 37.0.2 sends a parameter that its own checks refuse).
Source: client-go, tools/leaderelection.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic, time_ns
from typing import NamedTuple

from .api import Api, ApiError, Plain
from .object_events import micro_time
from .resource_kinds import LEASE

HELD_SECONDS, RENEW_SECONDS, TRY_SECONDS = 15, 10, 2
"""How long a Lease counts, within how many seconds it has to be renewed, how often that is tried: as Kubernetes' own controllers do."""


class LeasePlace(NamedTuple):
    """Which Lease, and who wants it."""

    namespace: str
    name: str
    holder: str


class LeaseHolder:
    """Takes, renews and gives back a Lease. `problem` is why it was not taken when that was tried last; empty if it was."""

    def __init__(self, api: Api, place: LeasePlace) -> None:
        self._api, self._place = api, place
        self._seen: tuple[str, float] = "", monotonic()
        self.problem = ""

    async def take(self) -> bool:
        """Take the Lease, or renew it; say whether it is held now."""
        try:
            return await self._take()
        except ApiError as error:
            self.problem = f"the Lease cannot be taken: {error}"
            return False

    async def give_back(self) -> None:
        """Let the next one take the Lease at once."""
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(TRY_SECONDS):
                found = await self._api.get(self._path)
                if _spec(found).get("holderIdentity") == self._place.holder:
                    await self._write(found, {"holderIdentity": "", "renewTime": micro_time(time_ns() // 1000)})

    async def _take(self) -> bool:
        now = micro_time(time_ns() // 1000)
        mine = {"holderIdentity": self._place.holder, "leaseDurationSeconds": HELD_SECONDS, "renewTime": now}
        try:
            found = await self._api.get(self._path)
        except ApiError as error:
            if error.status != 404:
                raise
            metadata = {"name": self._place.name, "namespace": self._place.namespace}
            body = {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": {**mine, "acquireTime": now}}
            await self._api.create(LEASE.path(self._place.namespace), body)
            self.problem = ""
            return True
        spec = _spec(found)
        holder, version = str(spec.get("holderIdentity") or ""), str((found.get("metadata") or {}).get("resourceVersion", ""))
        if version != self._seen[0]:
            self._seen = version, monotonic()
        is_over = monotonic() - self._seen[1] > float(spec.get("leaseDurationSeconds") or HELD_SECONDS)
        if holder not in ("", self._place.holder) and not is_over:
            self.problem = f"{holder} holds the Lease"
            return False
        if holder != self._place.holder:
            mine |= {"acquireTime": now, "leaseTransitions": int(spec.get("leaseTransitions") or 0) + 1}
        await self._write(found, mine)
        self.problem = ""
        return True

    @property
    def _path(self) -> str:
        return LEASE.path(self._place.namespace, self._place.name)

    async def _write(self, found: Plain, spec: Plain) -> None:
        """Change the Lease, unless somebody else has since it was read."""
        version = (found.get("metadata") or {}).get("resourceVersion")
        await self._api.merge(self._path, {"metadata": {"resourceVersion": version}, "spec": spec})


def _spec(lease: Plain) -> Plain:
    return lease.get("spec") or {}


async def while_leading(holder: LeaseHolder, work: Callable[[], Awaitable[None]], tell: Callable[[str], None]) -> None:
    """Work whenever the Lease is held; end, or fail, as the work does. `tell` is told why it is not held, and nothing when it is."""
    try:
        while True:
            while not await holder.take():
                tell(holder.problem)
                await asyncio.sleep(TRY_SECONDS)
            tell("")
            working = asyncio.ensure_future(work())
            try:
                await _keep(holder, working)
            finally:
                working.cancel()
                await asyncio.wait((working,))
            if working.done() and not working.cancelled():
                working.result()
                return
            tell("the Lease was lost: it could not be renewed in time")
    finally:
        await holder.give_back()


async def _keep(holder: LeaseHolder, working: "asyncio.Future[None]") -> None:
    """Renew the Lease until the work is done, or it was not renewed in time."""
    renewed = monotonic()
    while (begun := monotonic()) - renewed < RENEW_SECONDS:
        done, _ = await asyncio.wait((working,), timeout=TRY_SECONDS)
        if done:
            return
        with suppress(TimeoutError):  # a request that hangs renews nothing
            async with asyncio.timeout(RENEW_SECONDS - (begun - renewed)):
                if await holder.take():
                    renewed = begun

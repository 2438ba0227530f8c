"""A guard of quotas at work beside a store, and waiting for what it is to come to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from fake_store import FakeStore
from gpol.adapters.live.guard.drift import Drift
from gpol.adapters.live.guard.quota_guard import QuotaGuard

SECONDS = 30  # how long anything may take before a test fails


@dataclass
class GuardSite:
    """A store of a cluster, and a guard that is at work there."""

    store: FakeStore
    guard: QuotaGuard
    told: list[tuple[str, Drift]] = field(default_factory=list)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is the case."""
        async with asyncio.timeout(SECONDS):
            while not condition():
                await asyncio.sleep(0.01)

    async def rest(self) -> None:
        """Wait until the cluster is as the policy says."""
        await self.until(lambda: not self.guard.problem and not len(self.guard.looks))


@asynccontextmanager
async def at_work(guard: QuotaGuard) -> AsyncIterator[None]:
    """Let a guard work."""
    working = asyncio.ensure_future(guard.run())
    try:
        yield
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop."""
    asyncio.run(test())  # type: ignore[arg-type]

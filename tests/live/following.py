"""A reflector beside the tests' own API server, and waiting for what it is to come to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fake_apiserver import FakeApiServer
from fake_serving import write_kubeconfig
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.reflector import ObjectChange, Reflector
from gpol.adapters.kueue.live.protocol import WORKLOAD

Json = dict[str, Any]


@asynccontextmanager
async def connected(server: FakeApiServer, folder: Path, token: str = "") -> AsyncIterator[Api]:
    """A connection to a server."""
    async with await Api.connect(write_kubeconfig(folder / "kubeconfig", server.url, token=token)) as api:
        yield api


class Following:
    """A reflector of Workloads that keeps their labels, and all that it told."""

    def __init__(self, api: Api, **options: Any) -> None:
        self.told: list[ObjectChange[Json]] = []
        self.reflector: Reflector[Json] = Reflector(api, WORKLOAD, _labels, self._take, shortest_pause=0.01, longest_pause=0.05, **options)

    def _take(self, changes: Sequence[ObjectChange[Json]]) -> None:
        self.told += changes

    @property
    def known(self) -> dict[str, Json]:
        """The labels of each Workload, by name."""
        return {key: seen.value for key, seen in self.reflector.known.items()}


@asynccontextmanager
async def following(api: Api, **options: Any) -> AsyncIterator[Following]:
    """A reflector that runs, and has listed the objects once."""
    made = Following(api, **options)
    running = asyncio.ensure_future(made.reflector.run())
    try:
        await asyncio.wait_for(made.reflector.synced(), 10)
        yield made
    finally:
        running.cancel()
        await asyncio.wait((running,))


async def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Wait until something is the case; a test fails where that takes too long."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def _labels(plain: Json) -> Json:
    return plain["metadata"].get("labels") or {}

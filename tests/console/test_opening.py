"""A service opens its journal beside everything else."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.settings.serve_settings import Http, Kueue, Lease, ServeSettings
from gpol.console.service import Service
from gpol.engine.cores import Core, Frozen
from gpol.engine.default_core import thaw


def slow_core(frozen: Frozen) -> Core:
    """A core that takes its time, as one with a long history does."""
    time.sleep(0.5)
    return thaw(*frozen)


def service_with(place: Path) -> Service:
    """A service with a journal at a place."""
    settings = ServeSettings(
        policy=place.with_name("none.gpol"),
        journal=str(place),
        lease=Lease(enabled=False),
        http=Http(enabled=False),
        kueue=Kueue(way="decide"),
    )
    no_api: Any = None
    return Service(settings, None, no_api, slow_core)


def test_nothing_waits_while_the_journal_is_opened(tmp_path: Path) -> None:
    """The Lease is renewed and questions are answered meanwhile."""

    async def open_and_tick() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.02)
                ticks += 1

        ticking = asyncio.ensure_future(tick())
        async with service_with(tmp_path / "j.db")._opened() as decider:
            assert decider.core.seq == 0
        ticking.cancel()
        return ticks

    assert asyncio.run(open_and_tick()) > 5


def test_one_that_is_stopped_while_it_opens_lets_go(tmp_path: Path) -> None:
    """Another program can write to the journal at once."""

    async def stop() -> None:
        async def opened() -> None:
            async with service_with(tmp_path / "j.db")._opened():
                raise AssertionError

        opening = asyncio.ensure_future(opened())
        await asyncio.sleep(0.1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        with LiveDecider.open(str(tmp_path / "j.db"), lambda frozen: thaw(*frozen)) as decider:
            assert decider.core.seq == 0

    asyncio.run(stop())

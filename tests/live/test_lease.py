"""Of several programs one works at a time."""

import asyncio
from pathlib import Path

import pytest
from fake_apiserver import FakeApiServer
from fake_kinds import LEASE
from fake_store import FakeStore
from following import connected, until
from gpol.adapters.kubernetes import lease as module
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.lease import LeaseHolder, LeasePlace, while_leading


@pytest.fixture(autouse=True)
def _short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD_SECONDS", 1)
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.3)
    monkeypatch.setattr(module, "TRY_SECONDS", 0.02)


class Worker:
    """A program that works while it holds the Lease."""

    def __init__(self, api: Api, name: str) -> None:
        self.works, self.problem = False, ""
        self.fails: Exception | None = None
        self._holder = LeaseHolder(api, LeasePlace("default", "gpol", name))

    async def run(self) -> None:
        """Work, and wait."""
        await while_leading(self._holder, self._work, self._tell)

    def _tell(self, problem: str) -> None:
        self.problem = problem

    async def _work(self) -> None:
        self.works = True
        try:
            while self.fails is None:
                await asyncio.sleep(0.01)
            raise self.fails
        finally:
            self.works = False


async def _stopped(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.wait((task,))


def test_one_works_and_the_other_takes_over(tmp_path: Path) -> None:
    """At once where the first has ended in order."""

    async def act() -> None:
        store = FakeStore()
        async with FakeApiServer(store) as server, connected(server, tmp_path) as api:
            one, other = Worker(api, "one"), Worker(api, "other")
            first = asyncio.ensure_future(one.run())
            await until(lambda: one.works)
            second = asyncio.ensure_future(other.run())
            await until(lambda: other.problem)
            assert "one holds the Lease" in other.problem
            assert not other.works
            await _stopped(first)
            await until(lambda: other.works)
            assert store.get(LEASE, "gpol", "default")["spec"]["leaseTransitions"] == 1
            await _stopped(second)

    asyncio.run(act())


def test_one_that_was_killed_is_waited_for(tmp_path: Path) -> None:
    """Its Lease counts for some time; nobody compares clocks."""

    async def act() -> None:
        store = FakeStore()
        async with FakeApiServer(store) as server, connected(server, tmp_path) as api:
            assert await LeaseHolder(api, LeasePlace("default", "gpol", "killed")).take()
            other = Worker(api, "other")
            running = asyncio.ensure_future(other.run())
            await until(lambda: other.problem)
            assert not other.works
            await until(lambda: other.works)
            await _stopped(running)

    asyncio.run(act())


def test_of_two_takers_one_has_it(tmp_path: Path) -> None:
    """However close they are: the server lets one of two writes pass."""

    async def act() -> None:
        async with FakeApiServer(FakeStore()) as server, connected(server, tmp_path) as api:
            holders = [LeaseHolder(api, LeasePlace("default", "gpol", f"taker {number}")) for number in range(8)]
            assert sum(await asyncio.gather(*(holder.take() for holder in holders))) == 1

    asyncio.run(act())


def test_one_that_cannot_renew_stops_working(tmp_path: Path) -> None:
    """Before anybody else may think that the Lease is over; and works again once it can."""

    async def act() -> None:
        async with FakeApiServer(FakeStore()) as server, connected(server, tmp_path) as api:
            one = Worker(api, "one")
            running = asyncio.ensure_future(one.run())
            await until(lambda: one.works)
            await server.go_down()
            await until(lambda: not one.works)
            await until(lambda: "cannot be taken" in one.problem)
            await server.come_up()
            await until(lambda: one.works)
            await _stopped(running)

    asyncio.run(act())


def test_what_ends_the_work_ends_the_wait(tmp_path: Path) -> None:
    """An error of the work is the error of the whole, and the Lease is given back."""

    async def act() -> None:
        store = FakeStore()
        async with FakeApiServer(store) as server, connected(server, tmp_path) as api:
            one = Worker(api, "one")
            running = asyncio.ensure_future(one.run())
            await until(lambda: one.works)
            one.fails = ValueError("broken")
            with pytest.raises(ValueError, match="broken"):
                await running
            assert store.get(LEASE, "gpol", "default")["spec"]["holderIdentity"] == ""

    asyncio.run(act())

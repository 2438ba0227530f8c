"""Things are looked at each by one worker at a time, and again where that failed."""

import asyncio
import contextlib

from gpol.adapters.live.work_queue import WorkQueue


def looked_at(queue: WorkQueue, answers: dict[str, list[float | None]], seconds: float = 0.2) -> list[str]:
    """What two workers look at within some time."""
    seen: list[str] = []

    async def look(name: str) -> float | None:
        seen.append(name)
        await asyncio.sleep(0)
        found = answers.get(name, [])
        return found.pop(0) if found else None

    async def work() -> None:
        async with asyncio.timeout(seconds):
            await asyncio.gather(queue.work(look), queue.work(look))

    with contextlib.suppress(TimeoutError):
        asyncio.run(work())
    return seen


def test_a_name_is_looked_at_once_however_often_it_was_named() -> None:
    """What counts is how the thing is when it is looked at."""
    queue = WorkQueue()
    for name in ("a", "b", "a", "a"):
        queue.add(name)
    assert looked_at(queue, {}) == ["a", "b"]
    assert len(queue) == 0


def test_what_failed_comes_again_later() -> None:
    """After a pause that grows."""
    queue = WorkQueue(first_pause=0.01)
    queue.add("a")
    queue.add("b")
    assert looked_at(queue, {"a": [0.0, 0.0, None]}) == ["a", "b", "a", "a"]


def test_what_came_well_out_meanwhile_does_not_come_again() -> None:
    """A thing that failed, and was named and looked at before its pause was over, is done."""
    queue = WorkQueue(first_pause=0.05)
    answers: list[float | None] = [0.0, None]
    seen: list[str] = []

    async def look(name: str) -> float | None:
        seen.append(name)
        return answers.pop(0)

    async def work() -> None:
        queue.add("a")
        async with asyncio.timeout(0.2):
            await asyncio.gather(queue.work(look), _add_soon(queue, "a"))

    with contextlib.suppress(TimeoutError):
        asyncio.run(work())
    assert (seen, len(queue)) == (["a", "a"], 0)


async def _add_soon(queue: WorkQueue, name: str) -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    queue.add(name)


def test_what_is_named_while_it_is_looked_at_comes_again() -> None:
    """By no two workers at the same time."""
    queue = WorkQueue()
    under_way: list[str] = []
    seen: list[str] = []

    async def look(name: str) -> float | None:
        assert name not in under_way
        under_way.append(name)
        seen.append(name)
        if len(seen) < 4:
            queue.add(name)
        await asyncio.sleep(0.01)
        under_way.remove(name)
        return None

    async def work() -> None:
        async with asyncio.timeout(0.3):
            await asyncio.gather(queue.work(look), queue.work(look))

    queue.add("a")
    with contextlib.suppress(TimeoutError):
        asyncio.run(work())
    assert seen == ["a"] * 4

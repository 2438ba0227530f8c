"""Names of things to be looked at: each once, by one worker at a time, and again later where that failed.

Whoever looks at a thing looks at what it is like then. So it does not matter how often it was named meanwhile, and nothing that happened
is in the queue itself. Source: client-go, util/workqueue.
"""

import asyncio
from collections.abc import Awaitable, Callable


class WorkQueue:
    """Names that wait to be looked at. One that is named while it is looked at comes again afterwards."""

    def __init__(self, first_pause: float = 0.05, longest_pause: float = 60) -> None:
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._named: set[str] = set()
        self._under_way: set[str] = set()
        self._failures: dict[str, int] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._first_pause, self._longest_pause = first_pause, longest_pause

    def __len__(self) -> int:
        return len(self._named | self._under_way | self._later.keys())

    def add(self, name: str) -> None:
        """Name a thing that is to be looked at soon."""
        if name not in self._named:
            self._named.add(name)
            if name not in self._under_way:
                self._waiting.put_nowait(name)

    async def work(self, look: Callable[[str], Awaitable[float | None]]) -> None:
        """Look at things, one after the other, until cancelled; several workers may do so.

        `look` returns None when it is done with a thing, or else how many seconds to wait at least before it is looked at again. These grow
        with each failure in a row.
        """
        while True:
            name = await self._waiting.get()
            self._named.discard(name)
            self._under_way.add(name)
            try:
                again = await look(name)
            finally:
                self._under_way.discard(name)
            if again is None:
                self._failures.pop(name, None)
                self._cancel_later(name)
            else:
                self._try_later(name, again)
            if name in self._named:
                self._waiting.put_nowait(name)

    def _try_later(self, name: str, seconds: float) -> None:
        failures = self._failures[name] = self._failures.get(name, 0) + 1
        pause = max(seconds, min(self._longest_pause, self._first_pause * 2 ** min(failures - 1, 20)))
        self._cancel_later(name)
        self._later[name] = asyncio.get_running_loop().call_later(pause, self._come_again, name)

    def _cancel_later(self, name: str) -> None:
        if (before := self._later.pop(name, None)) is not None:
            before.cancel()

    def _come_again(self, name: str) -> None:
        self._later.pop(name, None)
        self.add(name)

"""Faults that a test turns on: refused and lost requests, lost answers, and watches that break, end, expire or fall behind.

A fault that waits for a request is taken by the first one that matches it, in the order in which the faults were turned on. Note that
aiohttp's client by itself sends a GET, PUT or DELETE again when a connection that it had used before is closed; it never does so for a
POST or PATCH. To lose a GET for certain, lose two.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

METHODS = ("*", "GET", "POST", "PUT", "PATCH", "DELETE", "WATCH")


@dataclass
class Fault:
    """One fault that waits for requests."""

    method: str
    """An HTTP method; WATCH for a watch, which no other method but `*` means."""
    path: str
    """A pattern such as `*/workloads/*/status`."""
    times: int
    skip: int
    status: int = 0
    """The status to answer with; 0 to close the connection without any answer."""
    retry_after: int | None = None
    message: str = ""
    handled_first: bool = False
    """Whether the request is carried out, and only the answer is lost."""

    def takes(self, method: str, path: str) -> bool:
        """Whether a request gets this fault. It is counted."""
        if self.times == 0 or self.method not in ("*", method) or not fnmatchcase(path, self.path):
            return False
        if self.handled_first and method == "WATCH":
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


@dataclass(eq=False)
class OpenWatch:
    """A watch that a client reads at the moment, as the faults see it."""

    wake: asyncio.Event = field(default_factory=asyncio.Event)
    order: str = ""
    """What the watch has to do next: reset, end, expire, or bookmark."""

    def give(self, order: str) -> None:
        """Tell the watch what to do."""
        self.order = order
        self.wake.set()

    def taken_order(self) -> str:
        """The order, which is forgotten by that."""
        order, self.order = self.order, ""
        return order


class Faults:
    """What goes wrong at a server. Without a call of its methods, nothing does."""

    def __init__(self) -> None:
        self.expired_in_stream = True
        """How a watch from a forgotten version is refused: by an event ERROR in a stream with status 200, or by the status 410."""
        self.watches_held = False
        self._waiting: list[Fault] = []
        self._watches: list[OpenWatch] = []

    # --- requests ---------------------------------------------------------------------------------------------------

    def answer(
        self,
        status: int,
        *,
        times: int = 1,
        skip: int = 0,
        method: str = "*",
        path: str = "*",
        retry_after: int | None = None,
        message: str = "",
    ) -> None:
        """Answer the next requests with a status, without doing anything. `skip` lets some matching ones pass first."""
        self._wait(Fault(method, path, times, skip, status, retry_after, message))

    def lose_request(self, *, times: int = 1, skip: int = 0, method: str = "*", path: str = "*") -> None:
        """Close the connection before the request is handled: nothing is done, and no answer comes."""
        self._wait(Fault(method, path, times, skip))

    def lose_answer(self, *, times: int = 1, skip: int = 0, method: str = "*", path: str = "*") -> None:
        """Close the connection after the request was handled: it was done, and no answer comes. A watch is never meant."""
        if method == "WATCH":
            raise ValueError("a watch has no answer to lose; use reset_watches")
        self._wait(Fault(method, path, times, skip, handled_first=True))

    def unused(self) -> list[Fault]:
        """The faults that still wait for requests."""
        return [fault for fault in self._waiting if fault.times]

    def taken_by(self, method: str, path: str) -> Fault | None:
        """The fault that a request gets. For the server."""
        return next((fault for fault in self._waiting if fault.takes(method, path)), None)

    def _wait(self, fault: Fault) -> None:
        if fault.method not in METHODS:
            raise ValueError(f"{fault.method} is no method; one of {', '.join(METHODS)}")
        self._waiting.append(fault)

    # --- watches ----------------------------------------------------------------------------------------------------

    def reset_watches(self) -> int:
        """Reset the connection of every open watch. Returns how many there were."""
        return self._order("reset")

    def end_watches(self) -> int:
        """End every open watch without an error, as a server does after timeoutSeconds. Returns how many there were."""
        return self._order("end")

    def expire_watches(self) -> int:
        """Send every open watch an event ERROR with status 410, and end it. Returns how many there were."""
        return self._order("expire")

    def bookmark_watches(self) -> int:
        """Send a bookmark to every open watch that takes them and is not behind. Returns how many are open."""
        return self._order("bookmark")

    def hold_watches(self) -> None:
        """Hold all events back, also those of watches that are yet to be opened, until `release_watches`."""
        self.watches_held = True

    def release_watches(self) -> None:
        """Let the events go that were held back."""
        self.watches_held = False
        self.wake_watches()

    def wake_watches(self) -> None:
        """Let every open watch look for events. The server calls it after each change."""
        for watch in self._watches:
            watch.wake.set()

    @property
    def open_watches(self) -> int:
        """How many watches are open."""
        return len(self._watches)

    @contextmanager
    def opened(self, watch: OpenWatch) -> Iterator[None]:
        """Count a watch as open. For the server."""
        self._watches.append(watch)
        try:
            yield
        finally:
            self._watches.remove(watch)

    def _order(self, order: str) -> int:
        for watch in self._watches:
            watch.give(order)
        return len(self._watches)

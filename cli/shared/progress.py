"""Progress of long work, on stderr, where that is a terminal. What is done within a second is not told, and loads nothing for it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

AFTER = 1.0
"""Seconds of work after which its progress is shown."""


class Tick(Protocol):
    """Told how far the work is."""

    def __call__(self, done: int) -> None:
        """Note that `done` of the total is done."""


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Tick]:
    """Show progress while the context lasts, from `AFTER` seconds on; silent where nobody watches.

    Nothing may be printed meanwhile: the line of the progress would stand in between.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    bar = _LateBar(what, total)
    try:
        yield bar.tick
    finally:
        bar.close()


class _LateBar:
    """A bar that a thread of its own opens after a while, unless it was closed by then."""

    def __init__(self, what: str, total: int | None) -> None:
        from threading import Lock, Timer

        self.what, self.total, self.done = what, total, 0
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.closed = False
        self.lock = Lock()
        self.timer = Timer(AFTER, self.open)
        self.timer.daemon = True
        self.timer.start()

    def open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self.lock:
            if self.closed:
                return
            bar = Progress(console=Console(stderr=True), transient=True)
            self.task = bar.add_task(self.what, total=self.total, completed=self.done)
            bar.start()
            self.bar = bar  # last: from here on `tick` uses it

    def tick(self, done: int) -> None:
        self.done = done
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done)

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.closed = True
        if self.bar is not None:
            self.bar.stop()

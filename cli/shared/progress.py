"""Progress of long work, on stderr, where that is a terminal. What is done soon is not told, and loads nothing for it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

AFTER = 0.5
"""Seconds after the start of the command from which on progress is shown: with what loading the bar takes, whoever waits sees something
within a second."""

_LEAST = 0.2
"""Seconds that any work takes at least before its progress is shown."""

_SHORT = 0.0001
"""Seconds of a thread's turn while the bar is made."""

_BEGIN = monotonic()


class Tick(Protocol):
    """Told how far the work is."""

    def __call__(self, done: int) -> None:
        """Note that `done` of the total is done."""


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Tick]:
    """Show progress while the context lasts, once the command is `AFTER` seconds old; silent where nobody watches.

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
        self.timer = Timer(max(_LEAST, _BEGIN + AFTER - monotonic()), self.open)
        self.timer.daemon = True
        self.timer.start()

    def open(self) -> None:
        """Show the bar. Each file that is read for that waits for the work's turn to end, so the turns are short meanwhile."""
        turn = sys.getswitchinterval()
        sys.setswitchinterval(_SHORT)
        try:
            from rich.console import Console
            from rich.progress import Progress
        finally:
            sys.setswitchinterval(turn)
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

"""Progress of long work, on stderr, where that is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Tick(Protocol):
    """Told how far the work is."""

    def __call__(self, done: int) -> None:
        """Note that `done` of the total is done."""


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Tick]:
    """Show progress while the context lasts; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)

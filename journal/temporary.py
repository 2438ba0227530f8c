"""A journal for as long as a program needs to look things up in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .journal import Journal


@contextmanager
def temporary_journal() -> Iterator[Journal]:
    """A new journal in a folder of its own, which is removed at the end."""
    with TemporaryDirectory(prefix="gpol-") as folder, Journal.create(Path(folder) / "temporary.db") as journal:
        yield journal

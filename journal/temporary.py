"""A journal for as long as a program needs to look things up in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from .errors import UnavailableError
from .journal import Journal


def _elsewhere() -> str:
    return f"temporary files are in `{gettempdir()}`; TMPDIR names another folder for them"


@contextmanager
def temporary_journal() -> Iterator[Journal]:
    """A new journal in a folder of its own, which is removed at the end. Raises UnavailableError."""
    try:
        place = TemporaryDirectory(prefix="gpol-")
    except OSError:
        raise UnavailableError("there is no folder for temporary files that can be written", "let TMPDIR name one") from None
    try:
        with place as folder, Journal.create(Path(folder) / "temporary.db") as journal:
            yield journal
    except UnavailableError as error:
        raise UnavailableError(error.message, f"{error.remedy}; {_elsewhere()}") from None

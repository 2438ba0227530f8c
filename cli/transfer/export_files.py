"""What is exported of a journal, as lines of a file or on stdout: written whole or not at all."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ...journal.errors import DamagedError, JournalError
from ..shared.files import check_new, new_files, write_new
from ..shared.journals import open_journal, refuse_use
from ..shared.output import GOOD, INVALID, NOT_VERIFIED, Format, counted, say, say_json, say_text, use_streams

if TYPE_CHECKING:
    from ...journal.journal import Journal


@contextmanager
def journal_to_export(path: str) -> "Iterator[Journal]":
    """A journal to read; the command ends where it can't be, or can't be exported so."""
    try:
        with open_journal(path) as journal:
            yield journal
    except JournalError as error:
        refuse_use(error, NOT_VERIFIED if isinstance(error, DamagedError) else INVALID)


def check_out(out: str | None) -> None:
    """Refuse to write lines over a file that is there; `-` and nothing are standard output."""
    if out is not None and out != "-":
        check_new("-o", out)


def write_lines(out: str | None, lines: Iterable[str], others: dict[str, str] | None = None) -> int:
    """Write lines into a new file, packed if its name says so, or print them; `others` are small files that are written if they are."""
    written = 0
    if out is None or out == "-":
        use_streams(utf8=True)
        for line in lines:
            say_text(line)
            written += 1
        write_new(others or {})
        return written
    with new_files() as add:
        # Without a time in it, a packed file has the same bytes whenever it is written.
        with add(out) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) if out.endswith(".gz") else nullcontext(file) as packed:
            for line in lines:
                packed.write(f"{line}\n".encode())
                written += 1
        for path, text in (others or {}).items():
            with add(path) as file:
                file.write(text.encode())
    return written


def tell_exported(out: str | None, form: Format, written: int, what: str, **said: Any) -> int:
    """Say what was written; where it was printed, nothing is added to it."""
    if out is None or out == "-":
        return GOOD
    if form is Format.json:
        say_json("export", path=out, **said)
    else:
        say(f"exported {counted(written, what)} to {out}")
    return GOOD

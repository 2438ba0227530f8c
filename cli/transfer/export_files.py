"""What is exported of a journal, as lines of a file or on stdout: written whole or not at all."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ...journal.errors import DamagedError, JournalError
from ..outputs.file_kinds import FileKind
from ..shared.files import Target, new_files, write_files
from ..shared.journals import refuse_use, whole_part
from ..shared.output import GOOD, INVALID, NOT_VERIFIED, Format, counted, say, say_json, say_text, shown_json, use_streams

if TYPE_CHECKING:
    from ...journal.audit.whole_part import WholePart


@contextmanager
def journal_to_export(path: str) -> "Iterator[WholePart]":
    """A journal to read as far as it is whole; the command ends where it can't be, or can't be exported so."""
    try:
        with whole_part(path) as part:
            yield part
    except JournalError as error:
        refuse_use(error, NOT_VERIFIED if isinstance(error, DamagedError) else INVALID)


def lines_target(out: str | None, kind: FileKind, *, force: bool) -> Target | None:
    """The file to write lines into, if it may be; None: `-` and nothing are standard output."""
    return Target("-o", out, kind, force).check(printed=True) if out is not None and out != "-" else None


def write_lines(out: Target | None, lines: Iterable[str], others: Iterable[tuple[Target, str]] = ()) -> int:
    """Write lines into a file, packed if its name says so, or print them; `others` are small files that are written if they are."""
    written = 0
    if out is None:
        use_streams(utf8=True)
        for line in lines:
            say_text(shown_json(line))
            written += 1
        write_files(others)
        return written
    with new_files() as add:
        # Without a time in it, a packed file has the same bytes whenever it is written.
        with add(out) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) if out.path.endswith(".gz") else nullcontext(file) as packed:
            for line in lines:
                packed.write(f"{shown_json(line)}\n".encode())
                written += 1
        for target, text in others:
            with add(target) as file:
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

"""export jsonl, parquet and facts: a journal in other forms, each written whole or not at all."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..adapters.export.columns import Row, row_of
from ..adapters.export.inputs import Inputs, fact_lines, inputs_of
from ..adapters.export.jsonl import json_lines
from ..adapters.export.parquet import NoParquetError, write_parquet
from ..journal.errors import DamagedError, JournalError
from ..journal.journal import Journal
from ..journal.read import Selection, select_with_origins
from .auditing import open_journal, refuse_use
from .files import check_new, new_files, real_path, write_new
from .output import FAILED, GOOD, INVALID, NOT_VERIFIED, Format, complain, counted, file_name, refuse, say, say_json, say_text, use_streams
from .progress import progress
from .selecting import check_places, make_selection

# --- events ---------------------------------------------------------------------------------------------------------


def export_lines(path: str, form: Format, *, out: str | None, **filters: Any) -> int:
    """Write the events that are selected as JSON lines into a new file, or print them."""
    selection = make_selection(**filters)
    _check_out(out)
    with _journal(path) as journal:
        written = _write_lines(out, json_lines(_rows(journal, selection)))
    return _tell(out, form, written, "event", events=written)


def export_columns(path: str, form: Format, *, out: str, **filters: Any) -> int:
    """Write the events that are selected into a new Parquet file."""
    selection = make_selection(**filters)
    check_new("-o", out, printed=False)
    with _journal(path) as journal, new_files() as add, add(out) as file:
        try:
            written = write_parquet(_rows(journal, selection), file)
        except NoParquetError as error:
            refuse(str(error), FAILED)
    return _tell(out, form, written, "event", events=written)


def _rows(journal: Journal, selection: Selection) -> Iterator[Row]:
    check_places(journal, selection)
    with progress("exporting", journal.head.seq) as tick:
        for number, (recorded, origin) in enumerate(select_with_origins(journal, selection)):
            if number % 500 == 0:
                tick(recorded.seq)
            yield row_of(recorded, origin)


# --- inputs ---------------------------------------------------------------------------------------------------------


def export_inputs(path: str, form: Format, *, out: str | None, policy: str | None) -> int:
    """Write a journal's facts, and its policy if that is wanted: both or neither."""
    _check_out(out)
    if policy is not None:
        check_new("-p", policy, printed=False)
    if policy is not None and out is not None and real_path(policy) == real_path(out):
        refuse("-o and -p name the same file; choose two names")
    with _journal(path) as journal:
        inputs = inputs_of(journal)
        written = _write_lines(out, fact_lines(journal), {} if policy is None else {policy: inputs.policy.text})
    notes = [*inputs.notes, *_misnamed(inputs, policy)]
    for note in notes if form is not Format.json or out in (None, "-") else ():
        complain(f"note: {note}")
    return _tell(out, form, written, "fact", facts=written, policy=policy, file=inputs.policy.file, notes=notes)


def _misnamed(inputs: Inputs, policy: str | None) -> Iterator[str]:
    """The name of its file is part of what is recorded of a policy."""
    if policy is not None and file_name(policy) != inputs.policy.file:
        yield f"the policy was recorded as `{inputs.policy.file}`; a run of a file of another name ends in another chain"


# --- writing --------------------------------------------------------------------------------------------------------


@contextmanager
def _journal(path: str) -> Iterator[Journal]:
    """A journal to read; the command ends where it can't be, or can't be exported so."""
    try:
        with open_journal(path) as journal:
            yield journal
    except JournalError as error:
        refuse_use(error, NOT_VERIFIED if isinstance(error, DamagedError) else INVALID)


def _check_out(out: str | None) -> None:
    if out is not None and out != "-":
        check_new("-o", out)


def _write_lines(out: str | None, lines: Iterable[str], others: dict[str, str] | None = None) -> int:
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


def _tell(out: str | None, form: Format, written: int, what: str, **said: Any) -> int:
    """Say what was written; where it was printed, nothing is added to it."""
    if out is None or out == "-":
        return GOOD
    if form is Format.json:
        say_json("export", path=out, **said)
    else:
        say(f"exported {counted(written, what)} to {out}")
    return GOOD

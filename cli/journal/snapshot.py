"""snapshot: the state at the end of a journal, kept in it."""

from ..engine.units import format_time
from ..journal.asof import resume
from ..journal.errors import DamagedError, JournalError, UnavailableError
from ..journal.journal import Journal
from ..journal.snapshots import keep_snapshot
from .output import FAILED, GOOD, INVALID, NOT_VERIFIED, Format, counted, refuse, say, say_json
from .progress import progress


def snapshot_journal(path: str, form: Format, *, afresh: bool) -> int:
    """Keep a snapshot at the end of a journal; afresh: of all its events, in place of all snapshots that are there."""
    try:
        with Journal.open(path, readonly=False) as journal:
            if journal.head.seq == 0:
                refuse("the journal is empty, so there is no state to keep")
            if afresh:
                journal.drop_snapshots()
            with progress("going through events", journal.head.seq) as tick:
                core = resume(journal, tick)
            kept = keep_snapshot(journal, core)
            seqs = journal.snapshot_seqs()
    except JournalError as error:
        refuse(str(error), _code(error))
    size = len(kept.content) if isinstance(kept.content, bytes) else 0
    if form is Format.json:
        say_json("snapshot", seq=kept.seq, time=core.time, bytes=size, kept=seqs)
    else:
        say(f"snapshot after event {kept.seq}, {format_time(core.time)}: {counted(size, 'byte')}; {counted(len(seqs), 'snapshot')} kept")
    return GOOD


def _code(error: JournalError) -> int:
    if isinstance(error, DamagedError):
        return NOT_VERIFIED
    return FAILED if isinstance(error, UnavailableError) else INVALID

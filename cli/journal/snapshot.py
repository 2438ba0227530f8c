"""snapshot: the state at the end of a journal, kept in it."""

import click

from ...journal.errors import DamagedError, JournalError, UnavailableError
from ..shared.options import journal_place, with_format
from ..shared.output import FAILED, GOOD, INVALID, NOT_VERIFIED, Format, counted, refuse, say, say_json
from ..shared.progress import progress


@click.command()
@journal_place
@click.option("--afresh", is_flag=True, help="delete the snapshots that are there, and read all events")
@with_format
def snapshot(journal: str, afresh: bool, form: Format) -> int:
    """Keep the state at the end of a journal in it, so that it opens without going through all events."""
    from ...engine.units import format_time
    from ...journal.journal import Journal
    from ...journal.read.as_of import resume
    from ...journal.read.snapshots import keep_snapshot

    try:
        with Journal.open(journal, readonly=False) as opened:
            if opened.head.seq == 0:
                refuse("the journal is empty, so there is no state to keep")
            if afresh:
                opened.drop_snapshots()
            with progress("going through events", opened.head.seq) as tick:
                core = resume(opened, tick)
            kept = keep_snapshot(opened, core)
            seqs = opened.snapshot_seqs()
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

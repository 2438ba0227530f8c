"""backup: copies of journals, and journals restored from them."""

import click

from ...journal.errors import DamagedError, JournalError
from ..shared.journals import open_journal, refuse_use
from ..shared.options import PLACE, journal_place, with_format
from ..shared.output import GOOD, INVALID, NOT_VERIFIED, Format, counted, say, say_json
from ..shared.progress import progress


@click.command()
@journal_place
@click.argument("destination", metavar="DESTINATION", type=PLACE)
@with_format
def backup(journal: str, destination: str, form: Format) -> int:
    """Copy a journal, which may be in use, to a new file or URL, verified; from there it can be copied back."""
    from ...journal.backup import backup
    from ...journal.store.location import locate

    try:
        with open_journal(journal) as read:
            total = 2 * read.head.seq
        with progress("copying and verifying", total) as tick:
            head = backup(journal, destination, tick)
        name = locate(destination).name
    except JournalError as error:
        refuse_use(error, NOT_VERIFIED if isinstance(error, DamagedError) else INVALID)
    if form is Format.json:
        say_json("backup", path=name, seq=head.seq, chain=head.chain.hex())
    else:
        say(f"backup {name}: {counted(head.seq, 'event')}, verified; head {head.seq}:{head.chain.hex()}")
    return GOOD

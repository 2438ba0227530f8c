"""backup: copies of journals, and journals restored from them."""

from ..journal.backup import backup
from ..journal.errors import DamagedError, JournalError
from ..journal.places import locate
from .auditing import open_journal, refuse_use
from .output import GOOD, INVALID, NOT_VERIFIED, Format, counted, say, say_json
from .progress import progress


def back_up(path: str, destination: str, form: Format) -> int:
    """Copy a journal to another place."""
    with open_journal(path) as journal:
        total = 2 * journal.head.seq
    try:
        with progress("copying and verifying", total) as tick:
            head = backup(path, destination, tick)
        name = locate(destination).name
    except JournalError as error:
        refuse_use(error, NOT_VERIFIED if isinstance(error, DamagedError) else INVALID)
    if form is Format.json:
        say_json("backup", path=name, seq=head.seq, chain=head.chain.hex())
    else:
        say(f"backup {name}: {counted(head.seq, 'event')}, verified; head {head.seq}:{head.chain.hex()}")
    return GOOD

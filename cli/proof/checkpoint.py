"""checkpoint: what a journal holds, signed."""

from pathlib import Path

import click

from ...journal.errors import JournalError
from ..outputs.file_kinds import CHECKPOINT
from ..shared.files import Target, write_files
from ..shared.journals import open_journal
from ..shared.options import PLACE, journal_place, with_format
from ..shared.output import GOOD, Format, refuse
from ..shared.progress import progress
from ..shared.signing import code_of, fresh_checkpoint, read_signing_key, signing_key, tell_checkpoint


@click.command()
@journal_place
@signing_key
@click.option(
    "--into",
    "folder",
    metavar="FOLDER",
    type=PLACE,
    help="add to the checkpoints in this folder; refuse a journal that does not match them",
)
@click.option("-o", "--out", metavar="FILE", type=PLACE, help="write the checkpoint into this new file")
@with_format
def checkpoint(journal: str, key: str | None, folder: str | None, out: str | None, form: Format) -> int:
    """Sign what a journal holds now; without --into and -o the checkpoint is printed."""
    from ...journal.proof.checkpoint_folder import checkpoint_name
    from ...journal.proof.checkpointer import Checkpointer

    signer = read_signing_key(key)
    target = Target("-o", out, CHECKPOINT).check(printed=True) if out is not None else None
    try:
        with open_journal(journal) as read, progress("signing", read.head.seq) as tick:
            if folder is not None:
                signed = Checkpointer(read, Path(folder), signer, every=1, progress=tick).write(tick)
            else:
                signed = fresh_checkpoint(read, signer, tick)
    except JournalError as error:
        refuse(str(error), code_of(error))
    path = str(Path(folder) / checkpoint_name(signed.size)) if folder is not None else out
    if target is not None:
        write_files([(target, signed.note)])
    tell_checkpoint(signed, path, form)
    return GOOD

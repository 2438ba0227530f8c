"""What verify and fsck begin with: the journal that may be damaged, and the checkpoints that were signed earlier."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...journal.errors import DamagedError, JournalError, UnavailableError
from ..shared.journals import refuse_use
from ..shared.options import PLACE, Command
from ..shared.output import INVALID, refuse
from ..shared.signing import code_of, read_public_keys

if TYPE_CHECKING:
    from ...journal.audit.evidence import Evidence
    from ...journal.journal import Journal


def with_evidence(command: Command) -> Command:
    """Give a command that checks a journal the options for what was signed earlier; `read_evidence` takes them."""
    for option in (
        click.option(
            "--key", "keys", metavar="PUBLIC", type=PLACE, multiple=True, help="the public key that signed them, as its line or its file"
        ),
        click.option(
            "--checkpoint", "checkpoints", metavar="FILE|FOLDER", type=PLACE, multiple=True, help="checkpoints that must still be right"
        ),
    ):
        command = option(command)
    return command


def open_to_verify(path: str, evidence: "Evidence | None" = None) -> "Journal":
    """A journal to verify. One that is damaged raises DamagedError, as does a file that is none where evidence says that it was one."""
    from ...journal.journal import Journal

    try:
        return Journal.open_to_audit(path)
    except (DamagedError, UnavailableError):
        raise
    except JournalError as error:
        if evidence is not None and evidence.signed and os.path.isfile(path):
            signed = max(evidence.signed, key=lambda each: each.size)
            raise DamagedError(None, f"{error.message}, and `{signed.path}` signs {signed.size} events of it") from None
        refuse_use(error, INVALID)


def read_evidence(checkpoints: tuple[str, ...], keys: tuple[str, ...]) -> "Evidence | None":
    """The checkpoints given, each verified; None without any."""
    from ...journal.audit.evidence import Evidence

    if bool(checkpoints) != bool(keys):
        refuse("--checkpoint and --key go together: give the public key that signed the checkpoints; or leave both out")
    try:
        return Evidence.gather([Path(each) for each in checkpoints], read_public_keys(keys)) if checkpoints else None
    except JournalError as error:
        refuse(f"--checkpoint: {error}", code_of(error))

"""prove: a single event, or the growth of a journal, shown to somebody who has no journal."""

from typing import TYPE_CHECKING

import click

from ...journal.errors import EvidenceError, JournalError
from ..outputs.file_kinds import PROOF
from ..shared.files import Target, write_files
from ..shared.journals import open_journal
from ..shared.options import PLACE, force, journal_place, with_format
from ..shared.output import GOOD, Format, counted, refuse, say, say_json, say_text, shown, use_streams
from ..shared.progress import progress
from ..shared.signing import code_of, fresh_checkpoint, read_signing_key, signing_key
from .proof_file import read_text

if TYPE_CHECKING:
    from ...journal.journal import Journal
    from ...journal.proof.checkpoint import Checkpoint
    from ...journal.proof.proof_text import GrowthProof, InclusionProof
    from ..shared.progress import Tick


@click.command()
@journal_place
@click.argument("seq", metavar="[SEQ]", type=click.IntRange(min=1), required=False)
@click.option("--from", "old", metavar="OLD", type=PLACE, help="prove that the journal continues what this older checkpoint signs")
@click.option("--checkpoint", metavar="FILE", type=PLACE, help="the checkpoint that the proof ends in")
@signing_key
@click.option("-o", "--out", metavar="PROOF", type=PLACE, help="write the proof into this file; else it is printed")
@force
@with_format
def prove(
    journal: str, seq: int | None, old: str | None, checkpoint: str | None, key: str | None, out: str | None, force: bool, form: Format
) -> int:
    """Prove that an event is in a journal, or that the journal only grew, to somebody who has the public key alone."""
    if (seq is None) == (old is None):
        refuse("prove either an event, by its SEQ, or the growth since a checkpoint, with --from OLD.checkpoint")
    if checkpoint is not None and key is not None:
        refuse("--checkpoint and --key: a proof ends either in a checkpoint that is there or in one that is signed now; leave one out")
    target = Target("-o", out, PROOF, force).check(printed=True) if out is not None else None
    signer = read_signing_key(key) if checkpoint is None else None
    older = _unverified(old) if old is not None else None
    given = _unverified(checkpoint) if checkpoint is not None else None
    try:
        with open_journal(journal) as read, progress("proving", None) as tick:
            newest = given if signer is None else fresh_checkpoint(read, signer, tick)
            assert newest is not None
            proof = _proof(read, seq, older, newest, tick)
    except JournalError as error:
        refuse(str(error), code_of(error))
    if target is not None:
        write_files([(target, proof.text)])
    _tell_made(proof, out, form)
    return GOOD


def _proof(
    journal: "Journal", seq: int | None, older: "Checkpoint | None", newest: "Checkpoint", tick: "Tick"
) -> "InclusionProof | GrowthProof":
    from ...journal.proof.journal_tree import prove_event, prove_growth

    if seq is not None:
        return prove_event(journal, seq, newest, tick)
    assert older is not None
    return prove_growth(journal, older, newest, tick)


def _unverified(path: str) -> "Checkpoint":
    """A checkpoint's file. Whether its signature is right is for the reader of the proof: its root is compared with the journal's here."""
    from ...journal.proof.checkpoint import read_checkpoint

    try:
        return read_checkpoint(read_text(path))
    except EvidenceError as error:
        refuse(f"`{path}`: {error}")


def _tell_made(proof: "InclusionProof | GrowthProof", out: str | None, form: Format) -> None:
    from ...journal.proof.proof_text import InclusionProof

    size = proof.checkpoint.size
    if form is Format.json:
        about = {"seq": proof.index + 1} if isinstance(proof, InclusionProof) else {"old_size": proof.old_size}
        say_json("proof", **about, size=size, path=out, text=proof.text)
    elif out is None:
        if any(shown(line) != line for line in proof.text.split("\n")):  # nobody has vouched for a checkpoint that was handed in
            refuse("the checkpoint holds characters that would steer a terminal; write the proof to a file with -o PROOF")
        use_streams(utf8=True)
        say_text(proof.text.removesuffix("\n"))
    elif isinstance(proof, InclusionProof):
        say(f"proof {out}: event {proof.index + 1} of {counted(size, 'event')}")
    else:
        say(f"proof {out}: {counted(size, 'event')} continue {counted(proof.old_size, 'event')}")

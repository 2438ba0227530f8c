"""verify-proof: a proof checked with nothing but a public key."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...journal.errors import DamagedError, EvidenceError, ForgedError, JournalError
from ..shared.options import PLACE, with_format
from ..shared.output import GOOD, NOT_VERIFIED, Format, counted, refuse, say, say_json
from ..shared.signing import code_of, read_public_keys
from .proof_file import read_text

if TYPE_CHECKING:
    from ...journal.proof.checkpoint import Checkpoint
    from ...journal.proof.proof_text import GrowthProof, InclusionProof
    from ...journal.proof.signing_keys import PublicKey


@click.command("verify-proof")
@click.argument("proof", metavar="PROOF", type=PLACE)
@click.option("--key", "keys", metavar="PUBLIC", type=PLACE, multiple=True, required=True, help="the public key, as its line or its file")
@click.option("--old", metavar="OLD", type=PLACE, help="the older checkpoint; a proof of growth needs it")
@with_format
def verify_proof(proof: str, keys: tuple[str, ...], old: str | None, form: Format) -> int:
    """Check a proof without a journal, and print what it proves; - is standard input."""
    from ...journal.proof.proof_text import InclusionProof, check_inclusion, parse_proof

    public = read_public_keys(keys)
    text = read_text(proof)
    try:
        parsed = parse_proof(text)
        if isinstance(parsed, InclusionProof):
            if old is not None:
                raise EvidenceError("the proof is of one event, and needs no older checkpoint", "leave --old out")
            _tell_event(parsed, check_inclusion(parsed, public), form)
        else:
            _verify_growth(parsed, old, public, form)
    except ForgedError as error:
        if form is Format.json:
            say_json("verify-proof", good=False, problem=error.message)
            return NOT_VERIFIED
        refuse(f"`{proof}`: {error}", NOT_VERIFIED)
    except JournalError as error:
        refuse(f"`{proof}`: {error}", code_of(error))
    return GOOD


def _verify_growth(proof: "GrowthProof", old: str | None, keys: "list[PublicKey]", form: Format) -> None:
    from ...journal.proof.checkpoint_folder import load_checkpoint
    from ...journal.proof.proof_text import check_growth

    if old is None:
        told = f"the proof is about the growth since a checkpoint of {counted(proof.old_size, 'event')}"
        raise EvidenceError(told, "give that checkpoint with --old OLD.checkpoint")
    signed = check_growth(proof, load_checkpoint(Path(old), keys), keys)
    if form is Format.json:
        say_json("verify-proof", good=True, origin=signed.origin, size=signed.size, old_size=proof.old_size)
    else:
        say(f"good: the first {proof.old_size:,} of {counted(signed.size, 'event')} of {signed.origin} are those of `{old}`")


def _tell_event(proof: "InclusionProof", signed: "Checkpoint", form: Format) -> None:
    from ...engine.units import format_time
    from ...journal.records import parse

    seq = proof.index + 1
    payload = proof.payload.decode("utf-8", "backslashreplace")
    try:
        event = parse(seq, proof.payload)
        told = f"{format_time(event.time)}  {event.kind}"
    except DamagedError as error:  # the bytes are proved all the same
        told = error.message
    if form is Format.json:
        say_json("verify-proof", good=True, origin=signed.origin, size=signed.size, seq=seq, payload=payload)
        return
    say(f"good: event {seq} of {counted(signed.size, 'event')} of {signed.origin}")
    say(f"  {told}")
    say(f"  {payload}")

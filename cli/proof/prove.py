"""prove and verify-proof: a single event, or the growth of a journal, shown to somebody who has no journal."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.units import format_time
from ..journal.checkpoint import Checkpoint, read_checkpoint
from ..journal.errors import DamagedError, EvidenceError, ForgedError, JournalError
from ..journal.folder import load_checkpoint
from ..journal.keys import PublicKey
from ..journal.proofs import GrowthProof, InclusionProof, check_growth, check_inclusion, parse_proof
from ..journal.records import parse
from .files import check_new, write_new
from .output import GOOD, NOT_VERIFIED, Format, counted, read_bytes, refuse, say, say_json, say_text, shown, use_streams
from .signing import code_of, fresh_checkpoint, public_keys, signing_key

if TYPE_CHECKING:
    from ..journal.journal import Journal
    from .progress import Tick


def prove(
    journal_path: str, seq: int | None, form: Format, *, old: str | None, checkpoint: str | None, key: str | None, out: str | None
) -> int:
    """Write the proof of an event, or of the growth since an older checkpoint."""
    if (seq is None) == (old is None):
        refuse("prove either an event, by its SEQ, or the growth since a checkpoint, with --from OLD.checkpoint")
    if checkpoint is not None and key is not None:
        refuse("--checkpoint and --key: a proof ends either in a checkpoint that is there or in one that is signed now; leave one out")
    if out is not None:
        check_new("-o", out)
    signer = signing_key(key) if checkpoint is None else None
    from .auditing import open_journal
    from .progress import progress

    older = _unverified(old) if old is not None else None
    given = _unverified(checkpoint) if checkpoint is not None else None
    try:
        with open_journal(journal_path) as journal, progress("proving", None) as tick:
            newest = given if signer is None else fresh_checkpoint(journal, signer, tick)
            assert newest is not None
            proof = _proof(journal, seq, older, newest, tick)
    except JournalError as error:
        refuse(str(error), code_of(error))
    if out is not None:
        write_new({out: proof.text})
    _tell_made(proof, out, form)
    return GOOD


def _proof(journal: "Journal", seq: int | None, older: Checkpoint | None, newest: Checkpoint, tick: "Tick") -> InclusionProof | GrowthProof:
    from ..journal.tree import prove_event, prove_growth

    if seq is not None:
        return prove_event(journal, seq, newest, tick)
    assert older is not None
    return prove_growth(journal, older, newest, tick)


def _unverified(path: str) -> Checkpoint:
    """A checkpoint's file. Whether its signature is right is for the reader of the proof: its root is compared with the journal's here."""
    try:
        return read_checkpoint(_text(path))
    except EvidenceError as error:
        refuse(f"`{path}`: {error}")


def _text(path: str) -> str:
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError:
        refuse(f"`{path}` is not UTF-8, so neither a proof nor a checkpoint; give the file as it was written")


def _tell_made(proof: InclusionProof | GrowthProof, out: str | None, form: Format) -> None:
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


# --- verify-proof -----------------------------------------------------------------------------------------------------


def verify_proof(path: str, given: tuple[str, ...], old: str | None, form: Format) -> int:
    """Check a proof with nothing but a public key, and print what it proves."""
    keys = public_keys(given)
    text = _text(path)
    try:
        proof = parse_proof(text)
        if isinstance(proof, InclusionProof):
            if old is not None:
                raise EvidenceError("the proof is of one event, and needs no older checkpoint", "leave --old out")
            _tell_event(proof, check_inclusion(proof, keys), form)
        else:
            _verify_growth(proof, old, keys, form)
    except ForgedError as error:
        if form is Format.json:
            say_json("verify-proof", good=False, problem=error.message)
            return NOT_VERIFIED
        refuse(f"`{path}`: {error}", NOT_VERIFIED)
    except JournalError as error:
        refuse(f"`{path}`: {error}", code_of(error))
    return GOOD


def _verify_growth(proof: GrowthProof, old: str | None, keys: list[PublicKey], form: Format) -> None:
    if old is None:
        told = f"the proof is about the growth since a checkpoint of {counted(proof.old_size, 'event')}"
        raise EvidenceError(told, "give that checkpoint with --old OLD.checkpoint")
    signed = check_growth(proof, load_checkpoint(Path(old), keys), keys)
    if form is Format.json:
        say_json("verify-proof", good=True, origin=signed.origin, size=signed.size, old_size=proof.old_size)
    else:
        say(f"good: the first {proof.old_size:,} of {counted(signed.size, 'event')} of {signed.origin} are those of `{old}`")


def _tell_event(proof: InclusionProof, signed: Checkpoint, form: Format) -> None:
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

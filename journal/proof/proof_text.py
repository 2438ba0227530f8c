"""Proofs as text, for a reader who does not have the journal and need not trust its operator.

An *inclusion proof* shows one event and that it is, at its place, among those that a checkpoint signs: a C2SP tlog-proof, with the event's
stored bytes as its extra data. A *growth proof* shows that the events of an older checkpoint are the first ones of a newer one: the body
of a C2SP tlog-witness `add-checkpoint` request, so a witness takes it as it is. Both end in the newer checkpoint.

Checking one takes the public key and SHA-256, no journal.

Source: https://c2sp.org/tlog-proof, https://c2sp.org/tlog-witness.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import EvidenceError, ForgedError
from .checkpoint import Checkpoint, is_size, open_checkpoint, read_checkpoint
from .merkle import HASH_BYTES, continues, includes, leaf_hash
from .signing_keys import PublicKey, decode_base64

MOST_HASHES = 63
"""The most hashes of a proof, as a tree has fewer than 2^63 leaves."""

_INCLUSION = "c2sp.org/tlog-proof@v1"
_REMEDY = "give a file that `gpol prove` wrote"


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """That the event with these stored bytes is the leaf at `index` (its seq less one) of what a checkpoint signs."""

    payload: bytes
    index: int
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    @property
    def text(self) -> str:
        """The proof as text."""
        return _written(_INCLUSION, f"extra {b64encode(self.payload).decode()}", f"index {self.index}", path=self.path, end=self.checkpoint)


@dataclass(frozen=True, slots=True)
class GrowthProof:
    """That the first `old_size` events of what a checkpoint signs are those of an older checkpoint."""

    old_size: int
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    @property
    def text(self) -> str:
        """The proof as text."""
        return _written(f"old {self.old_size}", path=self.path, end=self.checkpoint)


def parse_proof(text: str) -> InclusionProof | GrowthProof:
    """Read a proof, whose checkpoint is not verified yet. Raises EvidenceError for text that is none."""
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    if not blank:
        raise EvidenceError("this is no proof: it has no blank line with a checkpoint below it", _REMEDY)
    checkpoint = read_checkpoint(note)
    if lines[0].startswith("old "):
        return GrowthProof(_number(lines[0], "old"), _hashes(lines[1:]), checkpoint)
    if lines[0] != _INCLUSION:
        raise EvidenceError(f"this is no proof: its first line is neither `{_INCLUSION}` nor `old` and a number", _REMEDY)
    if len(lines) < 3 or not lines[1].startswith("extra "):
        raise EvidenceError("the proof does not hold the event that it is about as extra data", _REMEDY)
    try:
        payload = decode_base64(lines[1].removeprefix("extra "))
    except ValueError:
        raise EvidenceError("the proof's extra data are no base64", _REMEDY) from None
    return InclusionProof(payload, _number(lines[2], "index"), _hashes(lines[3:]), checkpoint)


def check_inclusion(proof: InclusionProof, keys: Sequence[PublicKey]) -> Checkpoint:
    """The checkpoint, signed by one of `keys`, that the event is proved to be under. Raises ForgedError where it is not proved."""
    signed = open_checkpoint(proof.checkpoint.note, keys)
    if not includes(signed.tree, proof.index, leaf_hash(proof.payload), proof.path):
        raise ForgedError(
            f"the proof does not show that this is event {proof.index + 1} of the {signed.size} that `{signed.origin}` has signed",
            "the event, its number or the hashes were altered: ask for the proof again",
        )
    return signed


def check_growth(proof: GrowthProof, old: Checkpoint, keys: Sequence[PublicKey]) -> Checkpoint:
    """The newer checkpoint, signed by one of `keys`, that is proved to continue `old`, a verified one.

    Raises EvidenceError for a proof that is about another checkpoint, and ForgedError where it proves nothing.
    """
    signed = open_checkpoint(proof.checkpoint.note, keys)
    if (signed.origin, proof.old_size) != (old.origin, old.size):
        raise EvidenceError(
            f"the proof is about {proof.old_size} events of `{signed.origin}`, the older checkpoint about {old.size} of `{old.origin}`",
            "give the older checkpoint that the proof was made from",
        )
    if not continues(old.tree, signed.tree, proof.path):
        raise ForgedError(
            f"the proof does not show that the first {old.size} of the {signed.size} events are those of the older checkpoint",
            "the hashes were altered, or history was: ask for the proof again, and keep both checkpoints",
        )
    return signed


def _written(*lines: str, path: Sequence[bytes], end: Checkpoint) -> str:
    return "\n".join([*lines, *(b64encode(each).decode() for each in path), "", end.note])


def _number(line: str, word: str) -> int:
    text = line.removeprefix(f"{word} ")
    if text == line or not is_size(text):
        raise EvidenceError(f"the proof's line `{word}` is not that word and a number", _REMEDY)
    return int(text)


def _hashes(lines: Sequence[str]) -> tuple[bytes, ...]:
    if len(lines) > MOST_HASHES:
        raise EvidenceError(f"the proof has {len(lines)} hashes, more than {MOST_HASHES}", _REMEDY)
    try:
        hashes = tuple(decode_base64(line) for line in lines)
    except ValueError:
        hashes = (b"",)
    if any(len(each) != HASH_BYTES for each in hashes):
        raise EvidenceError(f"the proof holds something that is no hash of {HASH_BYTES} bytes in base64", _REMEDY)
    return hashes

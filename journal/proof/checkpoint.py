"""Checkpoints: a signed statement of what a journal's first events are, small enough to be kept anywhere.

    acme.example/cluster-7
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

The lines are the origin (the journal's name, which is its key's name), the number of events, and the root of the Merkle tree over their
stored bytes. Signed as a note, it holds whoever has the key to that history: the journal may grow, and nothing else.

Source: C2SP tlog-checkpoint, https://c2sp.org/tlog-checkpoint.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import EvidenceError, ForgedError
from .merkle import HASH_BYTES, Frontier, TreeHead
from .signed_note import open_note, parse_note, sign_note
from .signing_keys import PublicKey, SigningKey, decode_base64

_REMEDY = "give a file that `gpol checkpoint` wrote"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint says, and the note that says it, signatures and all."""

    origin: str
    tree: TreeHead
    note: str

    @property
    def size(self) -> int:
        """The number of events, the first ones of the journal, that it vouches for."""
        return self.tree.size


def sign_checkpoint(tree: TreeHead, key: SigningKey) -> Checkpoint:
    """A checkpoint over a tree, signed by the journal's key, which gives it its origin."""
    text = f"{key.name}\n{tree.size}\n{b64encode(tree.root).decode()}\n"
    return Checkpoint(key.name, tree, sign_note(text, key))


def open_checkpoint(note: str, keys: Sequence[PublicKey]) -> Checkpoint:
    """A checkpoint whose signature is right: one of `keys` made it, and is called as the checkpoint's origin.

    Raises EvidenceError for text that is no checkpoint, ForgedError for a wrong signature or none by such a key.
    """
    if note.startswith("c2sp.org/tlog-proof@"):  # it ends in a checkpoint, whose signature would look wrong here
        raise EvidenceError("this is a proof, not a checkpoint", "check it with `gpol verify-proof`; " + _REMEDY)
    text, signers = open_note(note, keys)
    checkpoint = _read(text, note)
    if checkpoint.origin not in signers:
        raise ForgedError(
            f"the checkpoint is of the journal `{checkpoint.origin}`, and is not signed by a key of that name",
            "give the public key of that journal",
        )
    return checkpoint


def read_checkpoint(note: str) -> Checkpoint:
    """What a checkpoint says, its signature unverified. Raises EvidenceError for text that is none."""
    return _read(parse_note(note).text, note)


def _read(text: str, note: str) -> Checkpoint:
    """The three lines. Lines below them are extensions, which the form allows and gpol neither writes nor knows the meaning of."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 3 or not all(lines):
        raise EvidenceError("this is no checkpoint: its lines are not an origin, a number of events and a root", _REMEDY)
    origin, size, root = lines[:3]
    try:
        digest = decode_base64(root)
    except ValueError:
        digest = b""
    if len(digest) != HASH_BYTES or not is_size(size):
        raise EvidenceError("this is no checkpoint: its second line is no number of events, or its third no root in base64", _REMEDY)
    tree = TreeHead(int(size), digest)
    if tree.size == 0 and tree != Frontier().head:
        raise EvidenceError("this is no checkpoint: no events have another root than the one it signs", _REMEDY)
    return Checkpoint(origin, tree, note)


def is_size(text: str) -> bool:
    """Whether text is a number of leaves, or an index of one: decimal, without a leading zero, within 63 bits."""
    return re.fullmatch("0|[1-9][0-9]{0,18}", text) is not None and int(text) < 1 << 63

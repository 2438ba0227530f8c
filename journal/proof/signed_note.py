"""Signed notes: text that one or more keys have signed, in the form that transparency logs and their witnesses share.

    the text, of one or more lines

    — NAME BASE64(KEY ID || SIGNATURE)

A signature by a key that the reader does not know says nothing, and is ignored; one by a known key must be right.

Source: C2SP signed-note, https://c2sp.org/signed-note.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import EvidenceError, ForgedError
from .signing_keys import PublicKey, SigningKey, decode_base64

MOST_BYTES = 1_000_000
"""The longest note that is read."""

MOST_SIGNATURES = 100
"""The most signatures that a note may have."""

_MARK = "\u2014 "
_REMEDY = "give it as it was signed, with its blank line and its signatures"


@dataclass(frozen=True, slots=True)
class Signature:
    """A line of a note: who is said to have signed it, with which key, and the signature itself."""

    name: str
    key_id: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A note that nobody has verified: its text, which ends in a line feed, and its signatures."""

    text: str
    signatures: tuple[Signature, ...]


def sign_note(text: str, key: SigningKey) -> str:
    """A text, which must end in a line feed, as a note that a key has signed."""
    signature = b64encode(key.public.id + key.sign(text.encode())).decode()
    return f"{text}\n{_MARK}{key.name} {signature}\n"


def parse_note(note: str) -> SignedNote:
    """Take a note apart. Raises EvidenceError for text that is none, or that is longer than any should be."""
    if len(note.encode()) > MOST_BYTES:
        raise EvidenceError(f"the note is longer than {MOST_BYTES:,} bytes", _REMEDY)
    if any(each < " " and each != "\n" for each in note):
        raise EvidenceError("the note holds control characters", _REMEDY)
    text, blank, lines = note.rpartition("\n\n")
    if not blank or not lines.startswith(_MARK) or not lines.endswith("\n"):
        raise EvidenceError("this is no signed note: it has no blank line with signatures below it", _REMEDY)
    signed = lines.removesuffix("\n").split("\n")
    if len(signed) > MOST_SIGNATURES:
        raise EvidenceError(f"the note has {len(signed)} signatures, more than {MOST_SIGNATURES}", _REMEDY)
    return SignedNote(f"{text}\n", tuple(_signature(line, number) for number, line in enumerate(signed, 1)))


def open_note(note: str, keys: Sequence[PublicKey]) -> tuple[str, frozenset[str]]:
    """The text of a note, and the names of those of `keys` that have signed it: at least one. Signatures by other keys are ignored.

    Raises EvidenceError for text that is no note, and ForgedError where a signature is wrong or none is by one of `keys`.
    """
    parsed = parse_note(note)
    data = parsed.text.encode()
    signers = set()
    for signature in parsed.signatures:
        for key in keys:
            if (key.name, key.id) == (signature.name, signature.key_id):
                if not key.has_signed(data, signature.value):
                    raise ForgedError(f"the signature by `{key.name}` is wrong: the text was altered, or another key signed it", _REMEDY)
                signers.add(key.name)
    if not signers:
        known, found = (", ".join(f"`{each}`" for each in sorted(names)) for names in (_names(keys), _names(parsed.signatures)))
        raise ForgedError(
            f"it is not signed by {known}: its signatures are by other keys, of {found}", "give the public key that signed it"
        )
    return parsed.text, frozenset(signers)


def _signature(line: str, number: int) -> Signature:
    name, space, encoded = line.removeprefix(_MARK).partition(" ")
    try:
        value = decode_base64(encoded)
    except ValueError:
        value = b""
    if not line.startswith(_MARK) or not space or not name or "+" in name or any(map(str.isspace, name)) or len(value) < 5:
        raise EvidenceError(f"signature {number} of the note is not of the form `— NAME BASE64`", _REMEDY)
    return Signature(name, value[:4], value[4:])


def _names(signed: Sequence[PublicKey] | Sequence[Signature]) -> set[str]:
    return {f"{each.name}+{(each.id if isinstance(each, PublicKey) else each.key_id).hex()}" for each in signed}

"""Keys that sign checkpoints: Ed25519, in the text forms of Go's `sumdb/note`, so that the ecosystem's own tools read them.

A public key is one line, `NAME+ID+BASE64`, where ID are eight hexadecimal digits computed from the rest. A signing key is the same with
`PRIVATE+KEY+` before it and the secret seed instead of the public key. It is kept in a file of its owner's alone, or handed over in
the environment; never in a journal, and nothing here shows it.

Source: C2SP signed-note, https://c2sp.org/signed-note; golang.org/x/mod/sumdb/note.
"""

import os
import stat
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self

from ..errors import EvidenceError, unwritten
from ..store.durable_files import settled_names

_ED25519 = b"\x01"
"""The signature type of Ed25519, which stands before key bytes and in the key's id."""

_SECRET = "PRIVATE+KEY+"

_SEEN = "give the file, or the key in GPOL_SIGNING_KEY; what stands in a command line others may have seen, so make a new key"

MOST_NAME = 200
"""The longest name of a key, in characters."""

MOST_KEY_BYTES = 4_096
"""The longest file or text of a key that is looked at."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What signatures are checked with: a name, and the 32 bytes of an Ed25519 public key."""

    name: str
    raw: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a public key's line. Raises EvidenceError for text that is none."""
        remedy = "give the line that `gpol key show` prints"
        if text.startswith(_SECRET):
            raise EvidenceError("this is a signing key, which is secret, and not a public key", remedy)
        name, key_id, raw = _fields(text.strip(), "public key", remedy)
        key = cls(name, raw)
        if key_id != key.id:
            raise EvidenceError(f"the public key of `{name}` was altered: its id is not that of its name and bytes", remedy)
        return key

    @property
    def id(self) -> bytes:
        """Four bytes that tell this key from others of the same name."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.raw).digest()[:4]

    @property
    def line(self) -> str:
        """The key as text."""
        return f"{self.name}+{self.id.hex()}+{b64encode(_ED25519 + self.raw).decode()}"

    def has_signed(self, text: bytes, signature: bytes) -> bool:
        """Whether a signature over a text is this key's."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, text)
        except (InvalidSignature, ValueError):  # ValueError: bytes that are no point of the curve
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What signs: a name, and the 32 secret bytes of an Ed25519 key."""

    name: str
    _seed: bytes = field(repr=False)

    @classmethod
    def new(cls, name: str) -> Self:
        """A new key, of the system's randomness. Raises EvidenceError for a name that a key cannot have."""
        if name.startswith(_SECRET):
            raise EvidenceError("a signing key stands where the name of a new one belongs", _SEEN)
        problem = name_problem(name)
        if problem:
            raise EvidenceError(f"`{name}` is no name for a key: {problem}", "name it like a web address, such as acme.example/cluster-7")
        return cls(name, os.urandom(32))

    @classmethod
    def parse(cls, text: str, origin: str) -> Self:
        """Read a signing key; `origin` says where it comes from. Raises EvidenceError, which never shows the text."""
        remedy = "give a key that `gpol key new` made"
        text = text.strip()
        if not text.startswith(_SECRET):
            raise EvidenceError(f"{origin} holds no signing key", remedy)
        name, key_id, seed = _fields(text.removeprefix(_SECRET), f"signing key in {origin}", remedy)
        key = cls(name, seed)
        if key_id != key.public.id:
            raise EvidenceError(f"the signing key in {origin} was altered: its id is not that of its name and bytes", remedy)
        return key

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a signing key's file. Raises EvidenceError for one that others than its owner can read, and for one that holds no key."""
        if _SECRET in str(path):  # the key itself, and so not to be repeated in a message
            raise EvidenceError("a signing key stands where the file that holds it belongs", _SEEN)
        try:
            with path.open("rb") as file:
                rights = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                text = file.read(MOST_KEY_BYTES + 1)
        except OSError as error:
            raise EvidenceError(f"`{path}` cannot be read: {error.strerror}", "check the name and your rights") from None
        key = cls.parse(_text(text), f"`{path}`")
        if os.name == "posix" and rights & (stat.S_IRWXG | stat.S_IRWXO):
            raise EvidenceError(
                f"the signing key `{path}` can be read by others (its rights are {rights:04o}), so it is not used",
                f"make it yours alone with `chmod 600 {path}`, or a new key if others may have read it",
            )
        return key

    def write_new(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read. Raises EvidenceError where something is there already, and
        JournalError where it cannot be written."""
        try:
            with settled_names(path.parent):
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                try:
                    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                        file.write(f"{_SECRET}{self.name}+{self.public.id.hex()}+{b64encode(_ED25519 + self._seed).decode()}\n")
                        file.flush()
                        os.fsync(file.fileno())
                except BaseException:
                    path.unlink()
                    raise
        except FileExistsError:
            raise EvidenceError(f"`{path}` is already there, and is not written over", "choose another name") from None
        except OSError as error:
            raise unwritten(path, error) from None

    @property
    def public(self) -> PublicKey:
        """The public key that belongs to it."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return PublicKey(self.name, Ed25519PrivateKey.from_private_bytes(self._seed).public_key().public_bytes_raw())

    def sign(self, text: bytes) -> bytes:
        """The signature over a text, 64 bytes, the same whenever it is made."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._seed).sign(text)


def read_public_key(text_or_path: str) -> PublicKey:
    """A public key given as its line, or as a file that holds the line. Raises EvidenceError."""
    if text_or_path.count("+") >= 2 and not os.path.exists(text_or_path):
        return PublicKey.parse(text_or_path)
    try:
        with open(text_or_path, "rb") as file:
            return PublicKey.parse(_text(file.read(MOST_KEY_BYTES + 1)))
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        problem = getattr(error, "strerror", None) or "no file has such a name"
        raise EvidenceError(
            f"`{text_or_path}` is no public key and cannot be read as a file: {problem}", "give the key or its file"
        ) from None


def name_problem(name: str) -> str:
    """Why a key cannot have a name; nothing: it can."""
    if not name or len(name) > MOST_NAME:
        return f"it has {len(name)} characters, and must have 1 to {MOST_NAME}"
    if "+" in name or any(each.isspace() or not each.isprintable() for each in name):
        return "it must have no spaces, no plus signs, and only characters that can be shown"
    return ""


def decode_base64(text: str) -> bytes:
    """Bytes from standard base64. Raises ValueError for text that is not exactly how these bytes are written."""
    decoded = b64decode(text.encode("ascii"), validate=True)
    if b64encode(decoded).decode() != text:
        raise ValueError("the text has bits that stand for nothing")
    return decoded


def _fields(text: str, what: str, remedy: str) -> tuple[str, bytes, bytes]:
    """Name, id and 32 key bytes of `NAME+ID+BASE64`. No error shows more of the text than the name."""
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    try:
        raw = decode_base64(encoded)
        number = bytes.fromhex(key_id)
    except ValueError:
        raw = number = b""
    if name_problem(name) or len(number) != 4 or len(key_id) != 8 or len(raw) != 33:
        raise EvidenceError(f"the {what} is not of the form NAME+ID+BASE64", remedy)
    if raw[:1] != _ED25519:
        raise EvidenceError(f"the {what} is not of the type Ed25519, the only one that gpol uses", remedy)
    return name, number, raw[1:]


def _text(data: bytes) -> str:
    """A key file's text; of one that holds no text, or too much, nothing, which no key is."""
    try:
        return data.decode() if len(data) <= MOST_KEY_BYTES else ""
    except UnicodeDecodeError:
        return ""

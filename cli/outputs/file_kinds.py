"""The kinds of files that commands write, each with its marker, and the kinds that no output ever replaces."""

import gzip
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ...journal.store.durable_files import OF_THE_GROUP, PRIVATE

_LOOKED_AT = 1 << 16
"""How many bytes at the beginning or the end of a file say of what kind it is."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of output. `name` is what messages call it; `is_own` says of a plain file whether gpol wrote it as this kind.

    Where `is_own` is None, no file is known by a marker: the kind is also an input, and others write it too. `rights` are those of new
    files.
    """

    name: str
    is_own: Callable[[Path], bool] | None = None
    rights: int = OF_THE_GROUP


# --- markers --------------------------------------------------------------------------------------------------------

REPORT_MARK = b"<!doctype html><html lang='en'><head><meta name='generator' content='gpol'>"


def marked(text: str, command: str) -> str:
    """A text that people may go on to edit, with a last line that says which command made it, and the digest of the lines before."""
    return f"{text}{_mark(command)}{sha256(text.encode()).hexdigest()}\n"


def _mark(command: str) -> str:
    return f"# Made by `gpol {command}`, which may write over this file as long as nobody changes it: sha256 "


def _is_unchanged(*commands: str) -> Callable[[Path], bool]:
    """Whether a file is as one of these commands made it, and nobody has changed it since."""

    def found(path: Path) -> bool:
        parts = [path.read_bytes().rpartition(_mark(command).encode()) for command in commands]
        return any(mark and digest == f"{sha256(text).hexdigest()}\n".encode() for text, mark, digest in parts)

    return found


def _begins(pattern: bytes) -> Callable[[Path], bool]:
    """Whether a file, unpacked where it is packed, begins so."""
    expression = re.compile(pattern)
    return lambda path: expression.match(_beginning(path)) is not None


def _is_parquet(key: bytes) -> Callable[[Path], bool]:
    """Whether a file is Parquet, and the metadata at its end have a key."""

    def found(path: Path) -> bool:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _LOOKED_AT))
            end = file.read()
        length = int.from_bytes(end[-8:-4], "little") + 8
        return end.endswith(b"PAR1") and key in end[-length:]

    return found


_EVENT = rb'\{"v":1,"seq":[0-9]+,"time":"[^"]+","kind":"'
_ROW = rb'\{"v":1,"seq":[0-9]+,"time":"[^"]+","record":"'

REPORT = FileKind("a report", _begins(re.escape(REPORT_MARK)))
DECISIONS = FileKind("a file of decisions", _begins(rb'\{"seq":[0-9]+,"kind":"Workload[A-Za-z]+","v":1,'))
EVENT_LINES = FileKind("an export of events", _begins(_EVENT))
EVENT_TABLE = FileKind("an export of events in Parquet", _is_parquet(b"gpol.columns"))
STATE_LINES = FileKind("an export of a state", _begins(_ROW))
STATE_TABLE = FileKind("an export of a state in Parquet", _is_parquet(b"gpol.state_columns"))
COMPILED = FileKind("a compiled policy", _begins(rb'\{\s*"v": 1,\s*"kind": "policy-graph",'))
OBJECTS = FileKind("an export of Kueue's objects", _is_unchanged("export kueue"))
PROOF = FileKind("a proof", _begins(rb"c2sp\.org/tlog-proof@v1\n|old [0-9]+\n"))
IMPORTED = FileKind("an imported policy", _is_unchanged("import kueue", "import volcano"))
FACTS = FileKind("a file of facts")
POLICY = FileKind("a policy")
CHECKPOINT = FileKind("a checkpoint", rights=PRIVATE)
KEY = FileKind("a signing key", rights=PRIVATE)


# --- what is never replaced -----------------------------------------------------------------------------------------

_LOGS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""How logs of SQLite begin: https://www.sqlite.org/fileformat2.html, section 4.1."""


def irreplaceable(path: Path) -> str | None:
    """What a plain file is that no output replaces: a journal, a key, a checkpoint, a policy; None: none of these."""
    beginning = _plain_beginning(path)
    if beginning.startswith(b"SQLite format 3\0") or was_journal(path):
        return "a journal or another database"
    if beginning[:4] in _LOGS:
        return "the log of a journal or of another database"
    if beginning.lstrip().startswith(b"PRIVATE+KEY+"):
        return "a signing key"
    if re.match(rb"\s*[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+\s*\Z", beginning):
        return "a public key"
    if re.fullmatch(r"\d{12,19}-\d{12,19}\.leaves", path.name) or _is_checkpoint(beginning):
        return "a checkpoint, or part of one"
    if path.suffix == ".gpol" or _is_policy(path, beginning):
        return "a policy"
    return None


def was_journal(path: Path) -> bool:
    """Whether what SQLite and the lock keep beside a journal lies beside this name, whatever became of the journal's own file."""
    return any(path.with_name(path.name + suffix).is_file() for suffix in ("-wal", "-shm", "-journal", "-lock"))


def _is_checkpoint(data: bytes) -> bool:
    from ...journal.errors import EvidenceError, ForgedError
    from ...journal.proof.checkpoint import read_checkpoint

    try:
        read_checkpoint(data.decode())
    except (UnicodeDecodeError, EvidenceError, ForgedError):
        return False
    return True


def _is_policy(path: Path, beginning: bytes) -> bool:
    """Whether a text has a declaration in the language of policies; its first bytes decide, unless they are a comment."""
    from ...dsl.diagnostics import PolicyError
    from ...dsl.syntax.items import MAX_BYTES
    from ...dsl.syntax.parser import parse

    is_comment = all(line.lstrip()[:1] in (b"", b"#") for line in beginning.splitlines())
    data = _plain_beginning(path, MAX_BYTES) if is_comment else beginning
    try:
        text = getincrementaldecoder("utf-8")().decode(data)  # a character that the end cuts through is left out
        return bool(parse(text, "").tree.items)
    except (UnicodeDecodeError, PolicyError):
        return False


# --- reading --------------------------------------------------------------------------------------------------------


def _plain_beginning(path: Path, most: int = _LOOKED_AT) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _beginning(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is packed; nothing where it only seems to be packed."""
    beginning = _plain_beginning(path)
    if not beginning.startswith(b"\x1f\x8b"):
        return beginning
    try:
        with gzip.open(path) as file:
            return file.read(_LOOKED_AT)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""

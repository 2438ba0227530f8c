"""key and checkpoint, and checkpoints on the way of run and simulate: who signs what a journal holds."""

import os
from base64 import b64encode
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from ..journal.checkpoint import Checkpoint, sign_checkpoint
from ..journal.errors import DamagedError, EvidenceError, ForgedError, JournalError
from ..journal.folder import CheckpointFolder, checkpoint_name
from ..journal.keys import PublicKey, SigningKey, read_public_key
from .files import check_new, write_new
from .output import FAILED, GOOD, INVALID, NOT_VERIFIED, Format, counted, refuse, say, say_json, say_text, use_streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..journal.checkpointer import Checkpointer
    from ..journal.journal import Journal
    from .progress import Tick

    ExitFunction = Callable[[type[BaseException] | None, BaseException | None, TracebackType | None], None]

_VARIABLE = "GPOL_SIGNING_KEY"

DEFAULT_EVERY = 10_000
"""After how many events run and simulate write a checkpoint unless told otherwise."""


class Wanted(NamedTuple):
    """What run and simulate were told about checkpoints: the folder, after how many events, the key's file."""

    folder: str | None
    every: int | None
    key: str | None


def code_of(error: JournalError) -> int:
    """The exit code for what is wrong with a journal, or with what it is signed, checked and proved with."""
    if isinstance(error, ForgedError | DamagedError):
        return NOT_VERIFIED
    return INVALID if isinstance(error, EvidenceError) else FAILED


def signing_key(path: str | None) -> SigningKey:
    """The key in a file, else in the environment. Ends the command where there is none, or none that may be used."""
    text = os.environ.get(_VARIABLE)
    if path is None and not text:
        refuse(f"there is nothing to sign with; give --key FILE, made by `gpol key new`, or the key's text in {_VARIABLE}")
    try:
        return SigningKey.read(Path(path)) if path is not None else SigningKey.parse(text or "", f"the environment variable {_VARIABLE}")
    except JournalError as error:
        refuse(str(error), code_of(error))


def public_keys(given: tuple[str, ...]) -> list[PublicKey]:
    """The public keys given on the command line, each as its line or its file."""
    try:
        return [read_public_key(each) for each in given]
    except EvidenceError as error:
        refuse(f"--key: {error}")


# --- key --------------------------------------------------------------------------------------------------------------


def new_key(name: str, path: str, form: Format) -> int:
    """Make a signing key, keep it in a file of its own, and print the public key."""
    check_new("-o", path, printed=False)
    try:
        key = SigningKey.new(name)
        key.write_new(Path(path))
    except JournalError as error:
        refuse(str(error), code_of(error))
    _tell_key(key, path, form)
    return GOOD


def show_key(path: str, form: Format) -> int:
    """Print the public key that belongs to a signing key."""
    try:
        key = SigningKey.read(Path(path))
    except JournalError as error:
        refuse(str(error), code_of(error))
    _tell_key(key, path, form)
    return GOOD


def _tell_key(key: SigningKey, path: str, form: Format) -> None:
    if form is Format.json:
        say_json("key", name=key.name, public=key.public.line, path=path)
    else:
        use_streams(utf8=True)  # whatever the locale: the line is kept in a file, and a name is part of its key's id
        say(key.public.line)


# --- checkpoint -------------------------------------------------------------------------------------------------------


def sign_journal(journal_path: str, folder: str | None, out: str | None, key_path: str | None, form: Format) -> int:
    """Sign what a journal holds now: into a folder that is never contradicted, to a new file, or to stdout."""
    from ..journal.checkpointer import Checkpointer
    from .auditing import open_journal
    from .progress import progress

    key = signing_key(key_path)
    if out is not None:
        check_new("-o", out)
    try:
        with open_journal(journal_path) as journal, progress("signing", journal.head.seq) as tick:
            if folder is not None:
                checkpoint = Checkpointer(journal, Path(folder), key, every=1, progress=tick).write(tick)
            else:
                checkpoint = fresh_checkpoint(journal, key, tick)
    except JournalError as error:
        refuse(str(error), code_of(error))
    path = str(Path(folder) / checkpoint_name(checkpoint.size)) if folder is not None else out
    if out is not None:
        write_new({out: checkpoint.note})
    tell_checkpoint(checkpoint, path, form)
    return GOOD


def fresh_checkpoint(journal: "Journal", key: SigningKey, tick: "Tick") -> Checkpoint:
    """A checkpoint of all that a journal holds now, by its own chain found to be whole."""
    from ..journal.tree import tree_of

    return sign_checkpoint(tree_of(journal, journal.head.seq, tick), key)


def tell_checkpoint(checkpoint: Checkpoint, path: str | None, form: Format) -> None:
    """Say what was signed and where it is; with no file, print the checkpoint itself."""
    if form is Format.json:
        root = b64encode(checkpoint.tree.root).decode()
        say_json("checkpoint", origin=checkpoint.origin, size=checkpoint.size, root=root, path=path, note=checkpoint.note)
    elif path is not None:
        say(f"checkpoint {path}: {counted(checkpoint.size, 'event')}, signed by {checkpoint.origin}")
    else:
        use_streams(utf8=True)
        say_text(checkpoint.note.removesuffix("\n"))


# --- run and simulate -------------------------------------------------------------------------------------------------


def _last_checkpoint(checkpointer: "Checkpointer") -> "ExitFunction":
    """What to do at the end: sign the rest. Where the end is an error, that one is told, whatever becomes of the checkpoint."""

    def sign(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if checkpointer.journal.head.seq:
                checkpointer.write()
        except JournalError as failed:
            if error is None:
                refuse(f"the journal is whole, but its last checkpoint was not written: {failed}", code_of(failed))

    return sign


class Signer(NamedTuple):
    """What signs a journal that is about to be made: the key, the folder, after how many events."""

    key: SigningKey
    folder: str
    every: int

    @classmethod
    def of(cls, wanted: Wanted, journal: str | None) -> "Signer | None":
        """What is wanted, looked at before anything is made; None: no checkpoints. Ends the command for what cannot be."""
        if wanted.folder is None:
            if wanted.every is not None or wanted.key is not None:
                refuse("--checkpoint-every and --key are of no use without --checkpoints FOLDER; give it, or leave them out")
            return None
        if journal is None:
            refuse("--checkpoints: there is no journal to sign; give --journal PATH")
        key = signing_key(wanted.key)
        try:
            if Path(wanted.folder).exists() and CheckpointFolder(Path(wanted.folder)).checkpoint_files():
                refuse(f"--checkpoints: `{wanted.folder}` holds checkpoints of another journal, as this one is new; choose another folder")
        except EvidenceError as error:
            refuse(f"--checkpoints: {error}")
        return cls(key, wanted.folder, wanted.every if wanted.every is not None else DEFAULT_EVERY)

    def sign(self, journal: "Journal", stack: ExitStack) -> "Checkpointer":
        """What to append through instead of the journal itself; when the stack closes, a last checkpoint is written."""
        from ..journal.checkpointer import Checkpointer

        try:
            checkpointer = Checkpointer(journal, Path(self.folder), self.key, self.every)
        except JournalError as error:
            refuse(str(error), code_of(error))
        stack.push(_last_checkpoint(checkpointer))
        return checkpointer


def tell_last(checkpointer: "Checkpointer | None", form: Format) -> None:
    """Say what was signed last, if anything was."""
    if checkpointer is not None and checkpointer.newest is not None:
        newest = checkpointer.newest
        tell_checkpoint(newest, str(checkpointer.folder.path / checkpoint_name(newest.size)), form)

"""Keys and checkpoints that commands share: the signing key, public keys, a checkpoint of a journal, and what is said of it."""

import os
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...journal.errors import DamagedError, EvidenceError, ForgedError, JournalError
from .options import PLACE
from .output import FAILED, INVALID, NOT_VERIFIED, Format, counted, refuse, say, say_json, say_text, use_streams

if TYPE_CHECKING:
    from ...journal.journal import Journal
    from ...journal.proof.checkpoint import Checkpoint
    from ...journal.proof.signing_keys import PublicKey, SigningKey
    from .progress import Tick

_VARIABLE = "GPOL_SIGNING_KEY"

signing_key = click.option(
    "--key", metavar="FILE", type=PLACE, help="the signing key, made by `gpol key new`; else the text in GPOL_SIGNING_KEY"
)
"""The option of commands that sign; `read_signing_key` takes it."""


def code_of(error: JournalError) -> int:
    """The exit code for what is wrong with a journal, or with what it is signed, checked and proved with."""
    if isinstance(error, ForgedError | DamagedError):
        return NOT_VERIFIED
    return INVALID if isinstance(error, EvidenceError) else FAILED


def read_signing_key(path: str | None) -> "SigningKey":
    """The key in a file, else in the environment. Ends the command where there is none, or none that may be used."""
    from ...journal.proof.signing_keys import SigningKey

    text = os.environ.get(_VARIABLE)
    if path is None and not text:
        refuse(f"there is nothing to sign with; give --key FILE, made by `gpol key new`, or the key's text in {_VARIABLE}")
    try:
        return SigningKey.read(Path(path)) if path is not None else SigningKey.parse(text or "", f"the environment variable {_VARIABLE}")
    except JournalError as error:
        refuse(str(error), code_of(error))


def read_public_keys(given: tuple[str, ...]) -> "list[PublicKey]":
    """The public keys given on the command line, each as its line or its file."""
    from ...journal.proof.signing_keys import read_public_key

    try:
        return [read_public_key(each) for each in given]
    except EvidenceError as error:
        refuse(f"--key: {error}")


def fresh_checkpoint(journal: "Journal", key: "SigningKey", tick: "Tick") -> "Checkpoint":
    """A checkpoint of all that a journal holds now. Its chain is checked on the way."""
    from ...journal.proof.checkpoint import sign_checkpoint
    from ...journal.proof.journal_tree import tree_of

    return sign_checkpoint(tree_of(journal, journal.head.seq, tick), key)


def tell_checkpoint(checkpoint: "Checkpoint", path: str | None, form: Format) -> None:
    """Say what was signed and where it is; with no file, print the checkpoint itself."""
    if form is Format.json:
        root = b64encode(checkpoint.tree.root).decode()
        say_json("checkpoint", origin=checkpoint.origin, size=checkpoint.size, root=root, path=path, note=checkpoint.note)
    elif path is not None:
        say(f"checkpoint {path}: {counted(checkpoint.size, 'event')}, signed by {checkpoint.origin}")
    else:
        use_streams(utf8=True)
        say_text(checkpoint.note.removesuffix("\n"))

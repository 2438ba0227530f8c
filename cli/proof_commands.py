"""The commands about proofs: key, checkpoint, prove, verify-proof."""

import sys
from typing import Any

import click

from .app import PLACE, app, journal_place, signing_key, with_format
from .output import Format


@app.group()
def key() -> None:
    """Make keys that sign journals, and show the public keys that belong to them."""


@key.command("new")
@click.argument("name", metavar="NAME")
@click.option(
    "-o", "--out", metavar="FILE", type=PLACE, required=True, help="keep the signing key in this new file, which you alone can read"
)
@with_format
def key_new(name: str, out: str, form: Format) -> None:
    """Make a signing key for the journal that is to be called NAME, and print its public key."""
    from .signing import new_key

    sys.exit(new_key(name, out, form))


@key.command("show")
@click.argument("file", metavar="FILE", type=PLACE)
@with_format
def key_show(file: str, form: Format) -> None:
    """Print the public key that belongs to a signing key."""
    from .signing import show_key

    sys.exit(show_key(file, form))


@app.command()
@journal_place
@signing_key
@click.option("--into", "folder", metavar="FOLDER", type=PLACE, help="go on with the checkpoints in this folder, and contradict none")
@click.option("-o", "--out", metavar="FILE", type=PLACE, help="write the checkpoint into this new file")
@with_format
def checkpoint(journal: str, key: str | None, folder: str | None, out: str | None, form: Format) -> None:
    """Sign what a journal holds now; without --into and -o the checkpoint is printed."""
    from .signing import sign_journal

    sys.exit(sign_journal(journal, folder, out, key, form))


@app.command()
@journal_place
@click.argument("seq", metavar="[SEQ]", type=click.IntRange(min=1), required=False)
@click.option("--from", "old", metavar="OLD", type=PLACE, help="prove that the journal continues what this older checkpoint signs")
@click.option("--checkpoint", metavar="FILE", type=PLACE, help="the checkpoint that the proof ends in")
@signing_key
@click.option("-o", "--out", metavar="PROOF", type=PLACE, help="write the proof into this new file; else it is printed")
@with_format
def prove(journal: str, seq: int | None, form: Format, **options: Any) -> None:
    """Prove that an event is in a journal, or that the journal only grew, to somebody who has the public key alone."""
    from .proving import prove

    sys.exit(prove(journal, seq, form, **options))


@app.command("verify-proof")
@click.argument("proof", metavar="PROOF", type=PLACE)
@click.option("--key", "keys", metavar="PUBLIC", type=PLACE, multiple=True, required=True, help="the public key, as its line or its file")
@click.option("--old", metavar="OLD", type=PLACE, help="the older checkpoint that a proof of growth is about")
@with_format
def verify_proof(proof: str, keys: tuple[str, ...], old: str | None, form: Format) -> None:
    """Check a proof without a journal, and print what it proves; - is standard input."""
    from .proving import verify_proof

    sys.exit(verify_proof(proof, keys, old, form))

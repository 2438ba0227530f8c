"""key: keys that sign journals."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...journal.errors import JournalError
from ..outputs.file_kinds import KEY
from ..shared.files import Target
from ..shared.options import PLACE, with_format
from ..shared.output import GOOD, Format, refuse, say, say_json, use_streams
from ..shared.signing import code_of

if TYPE_CHECKING:
    from ...journal.proof.signing_keys import SigningKey


@click.group()
def key() -> None:
    """Make keys that sign journals, and show the public keys that belong to them."""


@key.command("new")
@click.argument("name", metavar="NAME")
@click.option(
    "-o", "--out", metavar="FILE", type=PLACE, required=True, help="keep the signing key in this new file, which only you can read"
)
@with_format
def new(name: str, out: str, form: Format) -> int:
    """Make a signing key for the journal that is to be called NAME, and print its public key."""
    from ...journal.proof.signing_keys import SigningKey

    Target("-o", out, KEY).check()
    try:
        made = SigningKey.new(name)
        made.write_new(Path(out))
    except JournalError as error:
        refuse(str(error), code_of(error))
    _tell(made, out, form)
    return GOOD


@key.command("show")
@click.argument("file", metavar="FILE", type=PLACE)
@with_format
def show(file: str, form: Format) -> int:
    """Print the public key that belongs to a signing key."""
    from ...journal.proof.signing_keys import SigningKey

    try:
        read = SigningKey.read(Path(file))
    except JournalError as error:
        refuse(str(error), code_of(error))
    _tell(read, file, form)
    return GOOD


def _tell(key: "SigningKey", path: str, form: Format) -> None:
    if form is Format.json:
        say_json("key", name=key.name, public=key.public.line, path=path)
    else:
        use_streams(utf8=True)  # whatever the locale: the line is kept in a file, and a name is part of its key's id
        say(key.public.line)

"""The files of proofs and checkpoints that are handed to a command."""

from ..shared.output import refuse
from ..shared.reading import read_bytes


def read_text(path: str) -> str:
    """The text of a proof or a checkpoint. Ends the command where the file is no text."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError:
        refuse(f"`{path}` is not UTF-8, so neither a proof nor a checkpoint; give the file as it was written")

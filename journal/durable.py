"""Files that are there whole or not at all, and still there after the power failed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import JournalError


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that stands at `path`, in place of what was there, once the body has ended, and not before.

    Its bytes are on the disk before it gets its name, and the name is on the disk before this returns. Raises JournalError where the
    folder does not take it.
    """
    beside = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        try:
            with open(beside, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
            sync_folder(path.parent)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise JournalError(f"`{path}` cannot be written: {error.strerror}", "check the rights and the room in its folder") from None


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the names in a folder."""
    if os.name != "posix":  # elsewhere a folder cannot be opened, and the rename is as durable as the system makes it
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

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
            with settled_names(path.parent):
                os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise JournalError(f"`{path}` cannot be written: {error.strerror}", "check the rights and the room in its folder") from None


def sync_file(path: Path) -> None:
    """Wait until what was written to a file, by whomever, is on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def settled_names(folder: Path) -> Iterator[None]:
    """Wait, once the body has made or renamed files in a folder, until the disk knows their names. Raises OSError.

    Of a folder that can't be synced, such as one that may be written to and not read, that is found out before the body.
    """
    if os.name != "posix":  # elsewhere a folder cannot be opened, and the rename is as durable as the system makes it
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield
        os.fsync(handle)
    finally:
        os.close(handle)

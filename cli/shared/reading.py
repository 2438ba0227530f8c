"""Files that a command reads, and what they are called in messages."""

import os
import sys

from .output import refuse

MOST_BYTES = 64 * 1024 * 1024 + 1
"""The most bytes that are read of a file: one more than the largest file that is allowed, so that a longer one is noticed."""


def read_bytes(path: str) -> bytes:
    """The bytes of a file, `-` for standard input; of one without an end its beginning. Raises RefusalError where it cannot be read."""
    try:
        if path == "-":
            return sys.stdin.buffer.read(MOST_BYTES)
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except IsADirectoryError:
        refuse(f"`{path}` is a folder; name the files in it")
    except (OSError, ValueError) as error:
        refuse(f"`{path}` cannot be read: {getattr(error, 'strerror', error)}; check the name and your rights")


def file_name(path: str) -> str:
    """A file's name as text, without its folders; bytes of it that are no text are replaced."""
    return "stdin" if path == "-" else os.fsencode(os.path.basename(path)).decode("utf-8", "replace")


def name_in_messages(path: str) -> str:
    """What a file is called in messages: its path, or `stdin`."""
    return "stdin" if path == "-" else path

"""Reading the first bytes of a file that SQLite may have locked for this process.

Where the system has POSIX locks, a process loses all its locks on a file once it closes any descriptor of that file. SQLite knows this
of its own descriptors only. So a descriptor of a file that is connected to stays open until the last of these connections is closed.
"""

import os
import sqlite3
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Lock

_File = tuple[int, int]
"""A file's device and number there."""

_guard = Lock()
_connections: Counter[_File] = Counter()
_kept: dict[_File, list[int]] = {}


class CountedConnection(sqlite3.Connection):
    """A connection that keeps the descriptors of its file open that were opened by `first_bytes`."""

    _file: _File | None = None

    def count(self, path: Path) -> None:
        """Say which file it is connected to, before anything is read of it."""
        with suppress(OSError), _guard:
            self._file = _file_at(path)
            _connections[self._file] += 1

    def close(self) -> None:
        """Close it, and then what no connection needs to be kept open any more."""
        super().close()
        file, self._file = self._file, None
        if file is None:
            return
        with _guard:
            _connections[file] -= 1
            if not _connections[file]:
                del _connections[file]
                for descriptor in _kept.pop(file, ()):
                    os.close(descriptor)


def first_bytes(path: Path, size: int) -> bytes:
    """At most `size` bytes from the beginning of a file, without an end to any lock of this process. Raises OSError."""
    file = _file_at(path)
    with _guard:
        if kept := _kept.get(file):
            return _read(kept[0], size)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        opened = os.fstat(descriptor)
        file = opened.st_dev, opened.st_ino  # another file may have been put there meanwhile
        try:
            return _read(descriptor, size)
        finally:
            if _connections[file]:
                _kept.setdefault(file, []).append(descriptor)
            else:
                del _connections[file]
                os.close(descriptor)


def _read(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, size)


def _file_at(path: Path) -> _File:
    found = path.stat()
    return found.st_dev, found.st_ino

"""Differences on disk: a file to which one line is appended for each, and that is on the disk before anything else is done."""

import os
from collections.abc import Iterable
from pathlib import Path

from .....journal.store.durable_files import OF_THE_GROUP
from .decision_difference import KueueDifference


class DifferenceFile:
    """Appends differences to a file, a JSON object a line. What cannot be written is kept, and written with the next ones.

    `problem` is why it could not be written, empty where it was. A line that was cut off when the program was killed stays as it is, and
    the next one begins on a line of its own.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self._waiting: list[str] = []

    @property
    def waiting(self) -> int:
        """How many differences could not be written yet."""
        return len(self._waiting)

    def append(self, differences: Iterable[KueueDifference]) -> None:
        """Append differences, after those that could not be written before."""
        self._waiting += [difference.as_json() for difference in differences]
        if not self._waiting:
            return
        try:
            self._write("".join(f"{line}\n" for line in self._waiting).encode())
        except OSError as error:
            self.problem = f"differences cannot be written to `{self.path}`: {error.strerror or error}; {len(self._waiting)} wait in memory"
            return
        self._waiting.clear()
        self.problem = ""

    def _write(self, lines: bytes) -> None:
        """Write lines whole, or not at all as far as can be."""
        is_new = not self.path.exists()
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, OF_THE_GROUP)
        try:
            size = os.fstat(handle).st_size
            begun = b"\n" if size and os.pread(handle, 1, size - 1) != b"\n" else b""
            left = memoryview(begun + lines)
            try:
                while left:
                    left = left[os.write(handle, left) :]
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
        finally:
            os.close(handle)
        if is_new and os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

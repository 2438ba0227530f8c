"""What lies beside a journal's file: the files of SQLite and of the lock, and how much of its log SQLite reads.

Source: https://www.sqlite.org/fileformat2.html, section 4, "The Write-Ahead Log".
"""

import os
import struct
from pathlib import Path

from ..errors import TakenError

BESIDE = ("-wal", "-shm", "-journal", "-lock")
"""What the names of files end in that SQLite and the lock keep beside a journal."""

LONGEST_NAME = 255 - len("-lock-journal")
"""Bytes of a journal's name: file systems allow 255, and SQLite keeps a file beside the lock as well."""

_HEADER, _FRAME = 32, 24
"""Bytes of the log's header, and of the header of each frame."""

_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
"""The first number of a log, and the order of the bytes in which its checksums are computed."""

_PAGES = {1 << power for power in range(9, 17)}
"""The sizes that pages can have, 512 to 65536 bytes."""


def beside(path: Path, suffix: str) -> Path:
    """A file that belongs to the journal's, through whatever links that is reached."""
    real = path.resolve()
    return real.with_name(real.name + suffix)


def journal_beside(path: Path) -> Path | None:
    """The file that what is at a path would belong to: SQLite and the lock keep files beside a journal, and find them by their names."""
    for suffix in BESIDE:
        if path.name.endswith(suffix) and (journal := path.with_name(path.name.removesuffix(suffix) or "-")).is_file():
            return journal
    return None


def refuse_other_logs(path: Path) -> None:
    """Raise TakenError where a file is to be made beside what SQLite kept for another one of the same name.

    Of a journal whose writer was killed the last events are there. SQLite would put them into the new file, or throw them away.
    """
    for suffix in ("-wal", "-journal"):
        left = path.with_name(path.name + suffix)
        if os.path.lexists(left) and not os.path.lexists(path):
            message = f"`{left}` is left of another journal that was at `{path}`, and may hold its last events"
            raise TakenError(message, "put it back beside that journal, or delete it if nobody needs them, or choose another name")


def log_problem(path: Path) -> str | None:
    """What is wrong with a write-ahead log that is not empty; None: SQLite reads it from its first frame on."""
    try:
        return _problem(path)
    except OSError as error:
        return f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}"


def _problem(path: Path) -> str | None:
    with path.open("rb") as file:
        header = file.read(_HEADER)
        size = file.seek(0, 2)
        order = _MAGIC.get(int.from_bytes(header[:4])) if len(header) == _HEADER else None
        page = int.from_bytes(header[8:12])
        if order is None or page not in _PAGES or _checksum(header[:24], order) != struct.unpack(">II", header[24:32]):
            return f"`{path}` is no write-ahead log: SQLite does not read its {size} bytes, and removes them"
        file.seek(_HEADER)
        frame = file.read(_FRAME + page)
    if len(frame) < _FRAME + page:
        return f"`{path}` ends within its first frame, so SQLite reads nothing of it"
    if frame[8:16] != header[16:24] or _checksum(frame[:8] + frame[_FRAME:], order, _checksum(header[:24], order)) != struct.unpack(
        ">II", frame[16:24]
    ):
        return f"`{path}` was altered: its first frame does not match its checksum, so SQLite reads nothing of it"
    return None


def _checksum(data: bytes, order: str, start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The two sums that SQLite computes over whole pairs of 32-bit numbers."""
    one, other = start
    for low, high in struct.iter_unpack(f"{order}II", data):
        one = (one + low + other) & 0xFFFFFFFF
        other = (other + high + one) & 0xFFFFFFFF
    return one, other

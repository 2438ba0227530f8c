"""What lies beside a journal under the names of SQLite's logs: how much of it SQLite reads, as its documentation of the file format says.

Source: https://www.sqlite.org/fileformat2.html, section 4, "The Write-Ahead Log".
"""

import struct
from pathlib import Path

_HEADER, _FRAME = 32, 24
"""Bytes of the log's header, and of the header of each frame."""

_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
"""The first number of a log, and the order of the bytes in which its checksums are computed."""

_PAGES = {1 << power for power in range(9, 17)}
"""The sizes that pages can have, 512 to 65536 bytes."""


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

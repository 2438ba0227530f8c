"""What lies beside a journal, and what is wrong with a write-ahead log."""

import struct
from pathlib import Path

import pytest
from gpol.journal.store import beside


def _header(page: int) -> bytes:
    """The header of a log with pages of some size, and the right checksum."""
    begin = struct.pack(">IIIIII", 0x377F0682, 3_007_000, page, 0, 1, 2)
    whole = begin + bytes(-len(begin) % 8)
    return begin + struct.pack(">II", *beside._checksum(whole, "<"))


@pytest.mark.parametrize("page", [0, 1, 4, 100, 511, 513, 1_001, 131_072, 0xFFFFFFFF])
def test_pages_of_no_size(tmp_path: Path, page: int) -> None:
    """Pages have 512 to 65536 bytes, and a power of two: of any other log SQLite reads nothing."""
    log = tmp_path / "d.db-wal"
    log.write_bytes(_header(page) + bytes(3_000))
    assert "is no write-ahead log" in (beside.log_problem(log) or "")


@pytest.mark.parametrize("page", [512, 4_096, 65_536])
def test_pages_of_a_size(tmp_path: Path, page: int) -> None:
    """With pages of a size that there is, the first frame is looked at."""
    log = tmp_path / "d.db-wal"
    log.write_bytes(_header(page) + bytes(70_000))
    assert "its first frame does not match its checksum" in (beside.log_problem(log) or "")


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    """A log that the system does not let be read is told of."""
    assert "cannot be read: is a directory" in (beside.log_problem(tmp_path) or "")

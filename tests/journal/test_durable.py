"""Durable files: whole and synced before they have their name, or not there at all."""

import os
from pathlib import Path

import pytest
from gpol.journal.durable import durable_file
from gpol.journal.errors import JournalError


def test_a_file_has_its_name_only_once_it_is_whole(tmp_path: Path) -> None:
    """While it is written, what stood there stands; then the new file does, and nothing else is left."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with durable_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"

    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_file_and_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are synced before the rename, the folder after it."""
    told: list[str] = []
    sync, rename = os.fsync, os.replace

    def synced(handle: int) -> None:
        told.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        sync(handle)

    def renamed(before: Path, after: Path) -> None:
        told.append("rename")
        rename(before, after)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to tell a folder's handle from a file's")
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    with durable_file(tmp_path / "file") as file:
        file.write(b"new")

    assert told == ["file", "rename", "folder"]


def test_a_body_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error on the way leaves what was there, and no half file."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail() -> None:
        with durable_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_take_it_is_told(tmp_path: Path) -> None:
    """A folder that is not there is an error that names the file and says what to look at."""
    with (
        pytest.raises(JournalError, match=r"none/file` cannot be written: No such file or directory; check the rights"),
        durable_file(tmp_path / "none" / "file") as file,
    ):
        file.write(b"new")


def test_a_folder_that_cannot_be_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the name could not be made to last, the file does not get it: what stood there stands."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    opened = os.open

    def no_folders(path: Path, flags: int, *args: int) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *args)

    monkeypatch.setattr(os, "open", no_folders)
    with pytest.raises(JournalError, match="cannot be written: Permission denied"), durable_file(path) as file:
        file.write(b"new")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]

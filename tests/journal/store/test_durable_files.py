"""Durable files: whole and synced before they have their name, or not there at all."""

import errno
import os
import stat
from pathlib import Path

import pytest
from gpol.journal.store.durable_files import durable_file

needs_posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such rights and links")


def _rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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


def test_file_and_folder_are_synced(tmp_path: Path, watch) -> None:
    """The bytes are synced before the rename, the folder after it."""
    told = watch("replace")
    with durable_file(tmp_path / "file") as file:
        file.write(b"new")

    assert told == ["file", "name", "folder"]


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


@needs_posix
@pytest.mark.parametrize(("asked", "given"), [(0o600, 0o600), (0o640, 0o640), (0o666, 0o640)])
def test_a_new_file_has_the_rights_that_were_asked_for(tmp_path: Path, asked: int, given: int) -> None:
    """What replaces nothing has the rights that were asked for, less what the umask takes away."""
    before = os.umask(0o027)
    try:
        with durable_file(tmp_path / "file", asked) as file:
            file.write(b"new")
    finally:
        os.umask(before)

    assert _rights(tmp_path / "file") == given


@needs_posix
@pytest.mark.parametrize("rights", [0o600, 0o664, 0o755])
def test_a_file_that_replaces_another_has_its_rights(tmp_path: Path, rights: int) -> None:
    """It gets the rights of the old one whatever new files get, and while it is written it is the writer's alone."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(rights)
    with durable_file(path) as file:
        file.write(b"new")
        [beside] = [each for each in tmp_path.iterdir() if each != path]
        assert _rights(beside) == 0o600

    assert (_rights(path), path.read_bytes()) == (rights, b"new")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")
def test_a_file_that_replaces_another_has_its_owner(tmp_path: Path) -> None:
    """What root writes in place of another user's file is that user's, with all its rights, also those that a change of owner takes."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 65534, 65533)
    path.chmod(0o2750)
    with durable_file(path) as file:
        file.write(b"new")

    found = path.stat()
    assert (found.st_uid, found.st_gid, _rights(path)) == (65534, 65533, 0o2750)


@needs_posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What is written to a link stands where that leads, in the folder there, whether there was a file or not."""
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(Path("far") / "file")
    for content in (b"first", b"second"):
        with durable_file(tmp_path / "link") as file:
            file.write(content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "far" / "file").read_bytes() == content
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["far", "file", "link"]


@pytest.mark.parametrize("name", ["x" * 255, "ß" * 127])
def test_a_name_as_long_as_can_be(tmp_path: Path, name: str) -> None:
    """A name that leaves no room for another letter can be written to."""
    with durable_file(tmp_path / name) as file:
        file.write(b"new")

    assert (tmp_path / name).read_bytes() == b"new"


def test_a_folder_that_does_not_take_it(tmp_path: Path) -> None:
    """In a folder that is not there nothing is written."""
    with pytest.raises(FileNotFoundError), durable_file(tmp_path / "none" / "file"):
        pass


def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bytes do not reach the disk, that is raised, and nothing is left."""

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)), durable_file(tmp_path / "file") as file:
        file.write(b"new")

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_closed(tmp_path: Path) -> None:
    """Where closing fails as writing did, nothing is left all the same."""

    def lose_the_handle() -> None:
        with durable_file(tmp_path / "file") as file:
            file.write(b"new")
            os.close(file.fileno())

    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        lose_the_handle()
    assert list(tmp_path.iterdir()) == []


@needs_posix
def test_a_folder_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the name could not be made to last, the file does not get it: what stood there stands."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    opened = os.open

    def no_folders(path: Path, flags: int, *args: int) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, flags, *args)

    monkeypatch.setattr(os, "open", no_folders)
    with pytest.raises(PermissionError), durable_file(path) as file:
        file.write(b"new")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def _failing_folders(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let every sync of a folder fail."""
    sync = os.fsync

    def failing(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        sync(handle)

    monkeypatch.setattr(os, "fsync", failing)


@needs_posix
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_folder_whose_sync_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bytes | None) -> None:
    """A name that may not last is an error, and a new file is taken away again; what was replaced is gone, so there the new one stays."""
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    _failing_folders(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)), durable_file(path) as file:
        file.write(b"new")

    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == ({} if old is None else {"file": b"new"})


@needs_posix
def test_a_file_system_that_syncs_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that refuses to sync a folder, for it does not know how to, takes files all the same."""
    _failing_folders(monkeypatch, errno.EINVAL)
    with durable_file(tmp_path / "file") as file:
        file.write(b"new")

    assert (tmp_path / "file").read_bytes() == b"new"

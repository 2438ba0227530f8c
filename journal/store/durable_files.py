"""Files that are complete or absent, and survive a power failure. Every failure here raises OSError."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PRIVATE, OF_THE_GROUP, PRIVATE_FOLDER = 0o600, 0o640, 0o700
"""Rights of new files and folders: their owner's alone; also to be read by the owner's group; a folder of the owner's alone."""


class Draft:
    """A file beside the place where it is to stand, which gets its name once it is whole.

    A link to the place stays a link. Where it replaces a file it gets the rights of that, and its owner if this user may give files away,
    and till then is its writer's alone; else it has the `rights` that are given, less what the umask takes away.
    """

    def __init__(self, path: Path, rights: int) -> None:
        self._place = Path(os.path.realpath(path))
        self._before = self._place.stat() if self._place.exists() else None
        self._replaces = _version(self._place)
        self._beside = self._place.with_name(f".{self._place.name[:50]}.{os.urandom(8).hex()}")  # a name has room for 255 bytes
        rights = rights if self._before is None else 0o600
        self.file: BinaryIO = open(self._beside, "xb", opener=lambda name, flags: os.open(name, flags, rights))  # noqa: SIM115  # till finished
        self._is_new_there = False

    def finish(self) -> None:
        """Wait until all that was written is on the disk, with the owner and the rights that it is to have."""
        self.file.flush()
        if self._before is not None:
            if os.name == "posix":
                with suppress(PermissionError):  # only root may give files away
                    os.chown(self._beside, self._before.st_uid, self._before.st_gid)
            os.chmod(self._beside, stat.S_IMODE(self._before.st_mode))
        os.fsync(self.file.fileno())
        self.file.close()

    def check_place(self) -> None:
        """Raise FileExistsError where somebody else has made or changed the file there since this draft was begun."""
        if _version(self._place) != self._replaces:
            raise FileExistsError(errno.EEXIST, "another program has made or changed it meanwhile")

    def put_in_place(self) -> None:
        """Give the finished file its name, and wait until that is on the disk too. Raises FileExistsError as `check_place` does."""
        self.check_place()
        with settled_names(self._place.parent):
            os.replace(self._beside, self._place)
            self._is_new_there = self._before is None

    def discard(self) -> None:
        """Take the file away, also from its place, unless it has replaced another there."""
        with suppress(OSError):  # what could not be written before cannot be now
            self.file.close()
        with suppress(OSError):
            (self._place if self._is_new_there else self._beside).unlink(missing_ok=True)


def _version(path: Path) -> tuple[int, int, int] | None:
    """What tells a file from what it is once it was written again; None where there is none."""
    try:
        found = path.stat()
    except OSError:  # none, or a link that leads in a circle
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def durable_file(path: Path, rights: int = PRIVATE) -> Iterator[BinaryIO]:
    """A file to write that stands at `path`, in place of what was there, once the body has ended, and not before.

    Its bytes are on the disk before it gets its name, and the name is on the disk before this returns.
    """
    draft = Draft(path, rights)
    try:
        yield draft.file
        draft.finish()
        draft.put_in_place()
    except BaseException:
        draft.discard()
        raise


def sync_file(path: Path) -> None:
    """Wait until what was written to a file, by whomever, is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def rename_to_new(old: Path, new: Path) -> None:
    """Rename a file, but never over another one, which rename does. Raises FileExistsError."""
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:  # not every file system has links; then nothing but a file made in this very moment is not seen
        if os.path.lexists(new):
            raise FileExistsError from None
        os.rename(old, new)


@contextmanager
def settled_names(folder: Path) -> Iterator[None]:
    """Wait, once the body has made or renamed files in a folder, until the disk knows their names.

    Of a folder that can't be opened for that, such as one that may be written to and not read, it is found out before the body.
    """
    if os.name != "posix":  # elsewhere a folder cannot be opened, and the rename is as durable as the system makes it
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield
        _sync_folder(handle)
    finally:
        os.close(handle)


def _sync_folder(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # so a file system says that it syncs files alone: then the rename is as durable as it makes it
            raise

"""Where compiled kernels are kept: a folder of the user's own, as what is in it is run."""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from .kernel_source import KernelSource

_READY = "ready"
"""A file in the folder of a version says that all of it is there, and what it is, as a hash."""


_ROOT = 0
"""The user that may do everything on a machine anyway."""


class FolderError(OSError):
    """A folder in which compiled kernels cannot be kept."""


def kernel_folder() -> Path | None:
    """The folder, made if missing: `gpol/kernels` in the user's cache. None where it is of another user, or others may write to it.

    One that root made may be used by all, and one that can only be read as well: an image may bring the kernels.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "gpol" / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    is_own = not hasattr(os, "getuid") or found.st_uid in (os.getuid(), _ROOT)
    is_private = is_own and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if is_private else None


def can_be_written(folder: Path) -> bool:
    """Whether kernels can be put into the folder."""
    return os.access(folder, os.W_OK)


def version_folder(folder: Path, source: KernelSource) -> Path:
    """The folder of what these kernels are compiled to, for this version of them."""
    return folder / source.version


def are_compiled(folder: Path, source: KernelSource) -> bool:
    """Whether all of these kernels, as they are now, are compiled. What is damaged is removed, so that it is made again."""
    place = version_folder(folder, source)
    try:
        is_whole = (place / _READY).read_bytes() == _hash_of(place)
    except OSError:
        return False
    if not is_whole:
        rmtree(place, ignore_errors=True)
    return is_whole


def note_compiled(folder: Path, source: KernelSource) -> None:
    """Note that all of these kernels are compiled, whatever was noted of them before."""
    place = version_folder(folder, source)
    (place / _READY).write_bytes(_hash_of(place))
    failure_note(folder, source).unlink(missing_ok=True)


def failure_note(folder: Path, source: KernelSource) -> Path:
    """The file that says why these kernels could not be compiled. As long as it is there nobody tries again."""
    return folder / f"{source.version}.failed"


def note_failure(folder: Path, source: KernelSource, error: Exception) -> None:
    """Note why these kernels could not be compiled, in the place of what there is of them: a disk may be full."""
    rmtree(version_folder(folder, source), ignore_errors=True)
    with suppress(OSError):
        failure_note(folder, source).write_text(first_line(error), encoding="utf-8", errors="replace")


def first_line(error: Exception) -> str:
    """The kind of an error, and the first line of what it says."""
    return f"{type(error).__name__}: {(str(error).splitlines() or ['no reason told'])[0]}"


def _hash_of(place: Path) -> bytes:
    """A hash of all files of a version but the one that has the hash."""
    files = sorted(path for path in place.rglob("*") if path.is_file() and path != place / _READY)
    each = [f"{path.relative_to(place)} {sha256(path.read_bytes()).hexdigest()}" for path in files]
    return sha256("\n".join(each).encode()).hexdigest().encode()

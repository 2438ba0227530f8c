"""Where compiled kernels are kept: a folder of the user's own, as what is in it is run."""

import os
import stat
from pathlib import Path

from .kernel_source import KernelSource

_READY = "ready"
"""A file in the folder of a version says that all of it is there."""


def kernel_folder() -> Path | None:
    """The folder, made where it is missing: `gpol/kernels` in the user's cache. None where it cannot be made, or others may write to it."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "gpol" / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return folder if is_own and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def version_folder(folder: Path, source: KernelSource) -> Path:
    """The folder of what these kernels are compiled to, for this version of them."""
    return folder / source.version


def are_compiled(folder: Path, source: KernelSource) -> bool:
    """Whether all of these kernels, as they are now, are compiled."""
    return (version_folder(folder, source) / _READY).exists()


def note_compiled(folder: Path, source: KernelSource) -> None:
    """Note that all of these kernels are compiled."""
    (version_folder(folder, source) / _READY).touch()

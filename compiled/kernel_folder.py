"""Where compiled kernels are kept: a folder of the user's own, as what is in it is run."""

import os
import stat
import sys
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

from .kernel_source import SOURCE, KernelSource

READY = "ready"
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


def kernels_are_there(folder: Path, source: KernelSource = SOURCE) -> bool:
    """Whether some kernels are compiled, as they are in this version."""
    return (folder / kernel_version(source.package, source.beside) / READY).exists()


@lru_cache
def kernel_version(package: ModuleType = SOURCE.package, beside: tuple[ModuleType, ...] = SOURCE.beside) -> str:
    """What the compiled kernels of a package depend on: their text and that of the modules `beside`, this room, compiler and processor."""
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    modules = [import_module(module.name) for module in walk_packages(package.__path__, f"{package.__name__}.")]
    files = [*(module.__file__ for module in [*modules, *beside]), *sorted(map(str, Path(__file__).parent.glob("*.py")))]
    texts = b"".join(Path(file).read_bytes() for file in files if file is not None)
    machine = (sys.version, version("numba"), version("numpy"), get_host_cpu_name(), get_host_cpu_features().flatten())
    return sha256(texts + repr(machine).encode()).hexdigest()[:16]

"""Compiles kernels into a folder, if no other process is at it: `python -m gpol.compiled.compile_once FOLDER MODULE...`.

Each module has some kernels as its `SOURCE`.
"""

import fcntl
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from .compile import compiled_entry
from .kernel_folder import READY, kernel_version, kernels_are_there
from .kernel_source import KernelSource


def compile_once(folder: Path, modules: Sequence[str]) -> None:
    """Compile what is not there yet."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for module in modules:
            source: KernelSource = import_module(module).SOURCE
            if not kernels_are_there(folder, source):
                compiled_entry(source, folder)
                (folder / kernel_version(source.package, source.beside) / READY).touch()


if __name__ == "__main__":
    os.nice(10)
    compile_once(Path(sys.argv[1]), sys.argv[2:])

"""Compiles the kernels into a folder, if no other process is at it: `python -m gpol.compiled.compile_once FOLDER`."""

import fcntl
import os
import sys
from pathlib import Path

from .compile import compiled_kernels
from .kernel_folder import READY, kernel_version, kernels_are_there


def compile_once(folder: Path) -> None:
    """Compile what is not there yet."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not kernels_are_there(folder):
            compiled_kernels(folder)
            (folder / kernel_version() / READY).touch()


if __name__ == "__main__":
    os.nice(10)
    compile_once(Path(sys.argv[1]))

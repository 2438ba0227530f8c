"""Compiling kernels into a folder, if no other process is at it."""

import fcntl
from collections.abc import Sequence
from pathlib import Path

from .compile import compiled_entry
from .kernel_folder import are_compiled, note_compiled
from .kernel_source import KernelSource


def compile_once(folder: Path, sources: Sequence[KernelSource]) -> None:
    """Compile what is not there yet."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for source in sources:
            if not are_compiled(folder, source):
                compiled_entry(source, folder)
                note_compiled(folder, source)

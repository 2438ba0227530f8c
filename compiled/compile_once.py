"""Compiling kernels into a folder, if no other process is at it."""

import fcntl
from collections.abc import Sequence
from pathlib import Path

from .compile import compiled_entry
from .kernel_folder import are_compiled, note_compiled, note_failure
from .kernel_source import KernelSource


def compile_once(folder: Path, sources: Sequence[KernelSource]) -> bool:
    """Compile what is not there yet; where that fails, leave a note for the next command. False: another process is at it."""
    try:
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            for source in sources:
                if not are_compiled(folder, source):
                    compiled_entry(source, folder)
                    note_compiled(folder, source)
            return True
    except Exception as error:  # a compiler can fail in any way
        for source in sources:
            if not are_compiled(folder, source):
                note_failure(folder, source, error)
        raise

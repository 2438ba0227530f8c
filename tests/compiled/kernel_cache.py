"""A cache with all compiled kernels, for the tests that play long histories: it stays for later runs. Run as a program, it is made."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / "build" / "kernels"
"""What commands of a test take for the user's cache."""


def filled() -> Path:
    """The cache, with all kernels in it. The first process that asks for it compiles, which takes two minutes, and the others wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([sys.executable, "-m", "gpol.cli.speed.kernels"], check=True, env={**os.environ, "XDG_CACHE_HOME": str(CACHE)})
    return CACHE


if __name__ == "__main__":
    print(filled())

"""A worker of a sweep on this machine ends soon after the command that started it, also where that had no time to stop it."""

import os
import time
from threading import Thread

EACH = 0.5
"""Seconds from one look to the next."""


def end_with(command: int) -> None:
    """Let this worker end when it is no longer a child of the process `command`, which was killed then."""
    Thread(target=_watch, args=(command,), daemon=True).start()


def _watch(command: int) -> None:
    """End at once: what the worker plays is for nobody, and it has written nothing that has to be closed."""
    while os.getppid() == command:
        time.sleep(EACH)
    os._exit(1)

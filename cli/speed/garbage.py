"""The collector of garbage, while a command goes through many events."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = 50_000
"""So many more objects than before, and the collector looks at the new ones; by itself it does so after some hundreds."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let the collector leave alone what is loaded by now, and look at the rest seldom: nearly all of it is freed without it."""
    often = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_SELDOM, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        gc.unfreeze()

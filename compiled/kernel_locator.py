"""Where numba keeps a compiled kernel: in the folder of its version, which may be one that can only be read, such as that of an image."""

import os
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import UserProvidedCacheLocator


class KernelLocator(UserProvidedCacheLocator):  # type: ignore[misc]  # numba has no types
    """Keeps all in the folder that `numba.config.CACHE_DIR` names by then.

    What is in the folder of a version is never out of date, as its name follows from all that kernels are made of. So neither the place nor
    the time of their source counts, as they would by numba's own locators, and no file is written to find out whether one can be.
    """

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = numba.config.CACHE_DIR

    def ensure_cache_path(self) -> None:
        """Make the folder. Raises OSError where something else is in its place, or it is missing and cannot be made."""
        os.makedirs(self._cache_path, exist_ok=True)

    def get_source_stamp(self) -> str:
        """The same for every source."""
        return ""

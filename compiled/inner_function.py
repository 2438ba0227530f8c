"""How numba compiles kernels that only other kernels call: to LLVM's code alone, which is optimised and made native once, with the entry.

By itself numba does both for each function, and for all that it calls, once more at each level above it. That made two thirds of the time.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NoEnvironment:
    """What stands for the code generator: inner functions make no Python objects, so that they need no environment of their own."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Leave it out: the function is not loaded."""


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function and of all that it calls, to be linked into what calls it."""

    @property
    def codegen(self) -> _NoEnvironment:
        return _NoEnvironment(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """There is none: nothing but compiled code calls it."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Leave it to the entry."""

    def _finalize_final_module(self) -> None:
        """Make it ready to be linked, and not to run."""
        self._finalize_dynamic_globals()
        self._finalized = True


class InnerFunction(Compiler):  # type: ignore[misc]
    """numba's compiler, with such a library."""

    def define_pipelines(self) -> Any:
        """The passes of the default, into such a library."""
        self.state.library = _InnerLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()

"""The cores that can be compared, by name. A further one is one more line here."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache

import seeded
from careful import careful_kernels
from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.cores import Core
from gpol.engine.default_core import freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.snapshot import frozen, thawed
from gpol.engine.policy_graph import PolicyGraph


@dataclass(frozen=True)
class Side:
    """How a core is made, frozen and thawed; every call of it is inside of `around`. `way` says how it decides, to be counted."""

    new: Callable[[], Core]
    freeze: Callable[[Core], bytes]
    thaw: Callable[[bytes, PolicyGraph | None], Core]
    around: Callable[[], AbstractContextManager[object]] = nullcontext
    way: Callable[[Core], str] = lambda core: ""


def freeze_tables(core: Core) -> bytes:
    """The state of a core over arrays as bytes."""
    assert isinstance(core, ArrayCore)
    return frozen(core.state())


def thaw_tables(content: bytes, graph: PolicyGraph | None) -> Core:
    """A core over arrays in a state that was frozen."""
    return ArrayCore(thawed(content, graph))


def way_of(core: Core) -> str:
    """Whether a core over arrays decides over tables, or its numbers are too large for them."""
    assert isinstance(core, ArrayCore)
    return "over tables" if core._store is not None else "by the definition, as tables are too small"


def thaw_carefully(content: bytes, graph: PolicyGraph | None) -> Core:
    """The same on tables that refuse an index outside of them."""
    return ArrayCore(thawed(content, graph), careful_kernels())


@cache
def compiled() -> KernelSet:
    """The compiled kernels, from where commands keep them; it takes most of a minute where they are not there yet."""
    return compiled_kernels(kernel_folder())


def thaw_compiled(content: bytes, graph: PolicyGraph | None) -> Core:
    """The same with compiled kernels."""
    return ArrayCore(thawed(content, graph), compiled())


CORES: dict[str, Side] = {
    "definition": Side(DefinitionCore, freeze, thaw),
    "array": Side(ArrayCore, freeze_tables, thaw_tables, way=way_of),
    "careful": Side(lambda: ArrayCore(kernels=careful_kernels()), freeze_tables, thaw_carefully, way=way_of),
    "compiled": Side(lambda: ArrayCore(kernels=compiled()), freeze_tables, thaw_compiled, way=way_of),
    **{name: Side(DefinitionCore, freeze, thaw, mistake) for name, mistake in seeded.MISTAKES.items()},
}
"""Two of them are compared by `run.py --left NAME --right NAME`."""

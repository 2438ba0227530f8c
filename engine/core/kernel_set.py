"""The kernels that a core calls: as they stand in `kernels/`, or compiled (`gpol.compiled`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .kernels.cycle import begin_cycle, next_cycle, run_cycle
from .kernels.places import end, enter, leave
from .kernels.settle import settle

Kernel = Callable[..., Any]
"""It takes the tables and some numbers."""


@dataclass(frozen=True, slots=True)
class KernelSet:
    """One kernel for each of these names."""

    settle: Kernel
    run_cycle: Kernel
    begin_cycle: Kernel
    next_cycle: Kernel
    enter: Kernel
    leave: Kernel
    end: Kernel


ENTRIES: dict[str, Kernel] = {
    "settle": settle,
    "run_cycle": run_cycle,
    "begin_cycle": begin_cycle,
    "next_cycle": next_cycle,
    "enter": enter,
    "leave": leave,
    "end": end,
}
"""The kernels as they stand."""

PLAIN = KernelSet(**ENTRIES)

"""The kernels that a core calls: as they stand in `kernels/`, or compiled (`gpol.compiled`)."""

from collections.abc import Callable
from dataclasses import dataclass

from . import columns as c
from .kernels.entry import run_kernel
from .tables import Tables


@dataclass(frozen=True, slots=True)
class KernelSet:
    """The kernels by their names; `run` is `kernels/entry.py`, compiled or not."""

    run: Callable[[Tables, int, int], int]

    def settle(self, tables: Tables, only_reserve: int) -> int:
        """See `kernels/settle.py`."""
        return self.run(tables, c.SETTLE, only_reserve)

    def run_cycle(self, tables: Tables) -> int:
        """See `kernels/cycle.py`."""
        return self.run(tables, c.RUN_CYCLE, 0)

    def next_cycle(self, tables: Tables) -> int:
        """See `kernels/cycle.py`."""
        return int(self.run(tables, c.NEXT_CYCLE, 0))

    def begin_cycle(self, tables: Tables) -> None:
        """See `kernels/cycle.py`."""
        self.run(tables, c.BEGIN_CYCLE, 0)

    def enter(self, tables: Tables, row: int) -> None:
        """See `kernels/places.py`."""
        self.run(tables, c.ENTER, row)

    def enter_all(self, tables: Tables) -> None:
        """See `kernels/places.py`."""
        self.run(tables, c.ENTER_ALL, 0)

    def leave(self, tables: Tables, row: int) -> None:
        """See `kernels/places.py`."""
        self.run(tables, c.LEAVE, row)

    def end(self, tables: Tables, row: int) -> None:
        """See `kernels/places.py`."""
        self.run(tables, c.END_WORKLOAD, row)

    def play(self, tables: Tables, most: int) -> int:
        """See `kernels/loop/play.py`."""
        return self.run(tables, c.PLAY, most)

    def only_waits(self, tables: Tables, job: int) -> bool:
        """See `kernels/loop/play.py`."""
        return bool(self.run(tables, c.ONLY_WAITS, job))


PLAIN = KernelSet(run_kernel)
"""The kernels as they stand."""

"""The state of the core over arrays, to be read: what is asked often from the tables, all else from the state that they hold."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from ..definition.queue.line import line_key
from ..definition.state.state import State
from ..nodes.inventory import Machine
from ..questions.view import DefinitionView
from ..workload import NOWHERE, Workload
from . import columns as c
from .store import TableStore


class TableView:
    """See `gpol.engine.cores.View`. `state` gives the state as the definition has it."""

    def __init__(self, store: TableStore, state: Callable[[], State]) -> None:
        self._store, self._state = store, state

    @cached_property
    def _whole(self) -> DefinitionView:
        return DefinitionView(self._state())

    @property
    def submissions(self) -> int:
        return int(self._store.tables.state[c.SUBMISSIONS])

    @property
    def cause(self) -> int:
        return int(self._store.tables.state[c.CAUSE])

    def names(self) -> Sequence[str]:
        return self._store.live_names()

    def owned(self, node: int, slot: int) -> int:
        return int(self._store.tables.quota[node, slot, c.OWNED])

    def used(self, node: int, slot: int) -> int:
        return int(self._store.tables.quota[node, slot, c.TOTAL])

    def workloads(self) -> Sequence[Workload]:
        return self._whole.workloads()

    def workload(self, name: str) -> Workload | None:
        if self._store.row(name) == c.NONE:
            return None
        workload, _ = self._store.read(name)
        if workload.queue != NOWHERE and workload.admitted is None and self._store.is_in_line(name):
            workload.place = line_key(self._store.graph, workload)
        return workload

    def machine_flavors(self) -> Sequence[int]:
        return self._whole.machine_flavors()

    def machines(self) -> Mapping[str, Machine]:
        return self._whole.machines()

    def capacity(self, slot: int) -> int:
        return self._store.capacity[slot]

    def consumed(self, local_queue: str) -> Mapping[str, int]:
        return self._whole.consumed(local_queue)

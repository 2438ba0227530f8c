"""Trials: running workloads taken out and requests charged on trial, then put back. Both ways of deciding ask this way what would fit."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from ...outcome.nomination import Request
from ...workload import Workload
from .state import ActivePolicy, State


class Trial:
    """A state in which something is tried out. Whoever is taken out is not among those who run; whatever was changed is put back.

    `policy` may be another one than the state's, with the same queues and slots. Workloads whose numbers are in `out` are already taken out
    of it.
    """

    def __init__(self, state: State, policy: ActivePolicy | None = None, out: Collection[int] = ()) -> None:
        self.state = state
        self.policy = policy or state.active
        self.graph, self.tree, self.shares = self.policy.graph, self.policy.tree, self.policy.shares
        self._out = set(out)

    def running(self, queue: int) -> list[Workload]:
        """Who runs in a queue and is not taken out, in the order of the submissions."""
        return [workload for workload in self.state.running(queue) if workload.number not in self._out]

    def is_out(self, workload: Workload) -> bool:
        """Whether a running workload is taken out."""
        return workload.number in self._out

    def take(self, workload: Workload) -> None:
        """Take a running workload out."""
        self.tree.remove(workload.queue, workload.usage)
        self._out.add(workload.number)

    def give_back(self, workload: Workload) -> None:
        """Undo `take`."""
        self.tree.add(workload.queue, workload.usage)
        self._out.discard(workload.number)

    @contextmanager
    def without(self, workloads: Iterable[Workload]) -> Iterator[None]:
        """The state without some running workloads, while the context lasts; those who are out already stay so."""
        gone = [workload for workload in workloads if workload.number not in self._out]
        for workload in gone:
            self.take(workload)
        try:
            yield
        finally:
            for workload in gone:
                self.give_back(workload)

    @contextmanager
    def charged(self, queue: int, request: Request) -> Iterator[None]:
        """The state with a request charged to a queue, while the context lasts."""
        self.tree.add(queue, request)
        try:
            yield
        finally:
            self.tree.remove(queue, request)

    @contextmanager
    def uncharged(self, queue: int, request: Request) -> Iterator[None]:
        """The state with a request that is charged taken back, while the context lasts."""
        self.tree.remove(queue, request)
        try:
            yield
        finally:
            self.tree.add(queue, request)

"""Trials: running workloads taken out and requests charged on trial, then put back. Both ways of deciding ask this way what would fit."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ...outcome.nomination import Request
from ...workload import Workload
from ..placement.places import PodsHeld
from .state import ActivePolicy, State


class Trial:
    """A state in which something is tried out. Whoever is taken out is not among those who run; whatever was changed is put back.

    `policy` may be another one than the state's, with the same queues and slots; those in `out`, by name, are already taken out of it.
    """

    def __init__(self, state: State, policy: ActivePolicy | None = None, out: Collection[str] = ()) -> None:
        self.state = state
        self.policy = policy or state.active
        self.graph, self.tree, self.shares = self.policy.graph, self.policy.tree, self.policy.shares
        self.places = self.policy.places
        self._everywhere = not self.graph.settings.tries_places_apart
        self._out = set(out)

    @property
    def gives_places(self) -> bool:
        """Whether some flavor gives pods places."""
        return self.graph.gives_places

    def running(self, queue: int) -> list[Workload]:
        """Who runs in a queue and is not taken out, in the order of the submissions."""
        return [workload for workload in self.state.running(queue) if workload.name not in self._out]

    def is_out(self, workload: Workload) -> bool:
        """Whether a running workload is taken out."""
        return workload.name in self._out

    def take(self, workload: Workload) -> None:
        """Take a running workload out."""
        self.tree.remove(workload.queue, workload.usage)
        self.places.remove(self.places.holdings(workload), self._everywhere)
        self._out.add(workload.name)

    def give_back(self, workload: Workload) -> None:
        """Undo `take`."""
        self.tree.add(workload.queue, workload.usage)
        self.places.add(self.places.holdings(workload), self._everywhere)
        self._out.discard(workload.name)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Whoever is taken out while the context lasts is put back at its end."""
        before = set(self._out)
        try:
            yield
        finally:
            for name in sorted(self._out - before):
                self.give_back(self.state.workloads[name])

    @contextmanager
    def without(self, workloads: Iterable[Workload]) -> Iterator[None]:
        """The state without some running workloads, while the context lasts; those who are out already stay so."""
        with self.undone():
            for workload in workloads:
                if not self.is_out(workload):
                    self.take(workload)
            yield

    @contextmanager
    def charged(self, queue: int, request: Request, places: Sequence[PodsHeld] = ()) -> Iterator[None]:
        """The state with a request charged to a queue, and pods on places, while the context lasts."""
        self.tree.add(queue, request)
        self.places.add(places, self._everywhere)
        try:
            yield
        finally:
            self.tree.remove(queue, request)
            self.places.remove(places, self._everywhere)

    @contextmanager
    def uncharged(self, queue: int, request: Request) -> Iterator[None]:
        """The state with a request that is charged taken back, while the context lasts."""
        self.tree.remove(queue, request)
        try:
            yield
        finally:
            self.tree.add(queue, request)

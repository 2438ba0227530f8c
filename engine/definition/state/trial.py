"""Trials: running workloads taken out or resized and requests charged on trial, then put back. Both ways of deciding ask this way what
would fit."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...outcome.nomination import Request, Victim
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
        self._resized: dict[str, Workload] = {}

    @property
    def gives_places(self) -> bool:
        """Whether some flavor gives pods places."""
        return self.graph.gives_places

    def running(self, queue: int) -> list[Workload]:
        """Who runs in a queue and is not taken out, in the order of the submissions, each as it is in the trial."""
        return [self.current(workload) for workload in self.state.running(queue) if workload.name not in self._out]

    def current(self, workload: Workload) -> Workload:
        """A running workload as it is in the trial."""
        return self._resized.get(workload.name, workload)

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

    def resize(self, workload: Workload) -> None:
        """Let a running workload have the pods that this one has, which is the same workload otherwise."""
        self.take(self.current(self.state.workloads[workload.name]))
        self._resized[workload.name] = workload
        self.give_back(workload)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Whoever is taken out or resized while the context lasts is as before at its end."""
        before, sizes = set(self._out), dict(self._resized)
        try:
            yield
        finally:
            for name in sorted(self._out - before):
                self.give_back(self.current(self.state.workloads[name]))
            for name in sorted(name for name in self._resized if self._resized[name] is not sizes.get(name)):
                self.resize(sizes.get(name, self.state.workloads[name]))
            self._resized = sizes

    @contextmanager
    def without(self, workloads: Iterable[Workload]) -> Iterator[None]:
        """The state without some running workloads, while the context lasts; those who are out already stay so."""
        with self.undone():
            for workload in workloads:
                if not self.is_out(workload):
                    self.take(self.current(workload))
            yield

    @contextmanager
    def after(self, victims: Iterable[Victim]) -> Iterator[None]:
        """The state without victims, while the context lasts, or without the surplus that they give up."""
        with self.undone():
            for each in victims:
                workload = self.state.workloads[each.workload]
                if each.left is not None:
                    self.resize(replace(workload, assignments=each.left.assignments, usage=each.left.usage))
                elif not self.is_out(workload):
                    self.take(self.current(workload))
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

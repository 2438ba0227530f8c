"""What local queues have used, kept while tables decide: brought up to date before what they hold changes, and ranked before a cycle."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..intake.decayed_usage import NO_USAGE, Consumed, rank
from ..intake.local_usage import Books
from ..intake.sayings import said_of
from ..outcome.decision import Admission, Eviction, Outcome, Replacement
from ..outcome.nomination import Request
from . import columns as c
from .kernels.line import next_in_tree
from .store import TableStore


class UsageBooks:
    """The books of the local queues of queues that admit by usage. `consumed` outlives a change of policy.

    INVARIANT: the books of a local queue are brought up to date before and after what it holds changes, as the definition does it.
    """

    def __init__(self, store: TableStore, consumed: Books) -> None:
        self.store, self.consumed = store, consumed
        self.usage = store.graph.settings.usage
        queues = [queue for queue in store.graph.queues if queue.by_usage and self.usage is not None]
        self.nodes = {local.name: queue.node for queue in queues for local in queue.local_queues}

    def _local(self, name: str) -> str | None:
        local = said_of(self.store.kept_of(name)).fact.local_queue
        return local if local in self.nodes else None

    def _holding(self, local: str) -> dict[str, int]:
        """What the workloads of a local queue hold now, by resource."""
        held: dict[str, int] = {}
        w, number = self.store.tables.work, self.store.locals.index(local)
        row = int(self.store.tables.node[self.nodes[local], c.FIRST_RUNNING])
        while row != c.NONE:
            if w[row, c.LOCAL_QUEUE] == number:
                self._add(held, self.store.request_of_row(row), 1)
            row = int(next_in_tree(self.store.tables, row))
        return held

    def _add(self, held: dict[str, int], request: Request, sign: int) -> None:
        for slot, amount in request:
            resource = self.store.graph.slots[slot].resource
            held[resource] = held.get(resource, 0) + sign * amount

    def _advance(self, local: str, now: int, held: dict[str, int]) -> None:
        assert self.usage is not None
        self.consumed.setdefault(local, Consumed(updated=now)).advance(now, held, self.usage)

    @contextmanager
    def changing(self, name: str, now: int) -> Iterator[None]:
        """Keep the books while a workload changes: with what it held before, and with what others hold after it."""
        local = self._local(name)
        before = None if local is None else self.store.read(name)[0].admitted
        if local is not None and before is not None:
            self._advance(local, now, self._holding(local))
        yield
        if local is not None and self.store.read(name)[0].admitted is not None:
            held = self._holding(local)
            if self.store.read(name)[0].queue == self.nodes[local]:
                self._add(held, self.store.usage(name), -1)
            self._advance(local, now, {resource: held[resource] for resource in sorted(held) if held[resource]})

    def settle(self, name: str, now: int) -> None:
        """Bring the books up to date before a workload ends."""
        local = self._local(name)
        if local is not None and self.store.read(name)[0].admitted is not None:
            self._advance(local, now, self._holding(local))

    def charge(self, name: str) -> None:
        """Count an admission."""
        local = self._local(name)
        if local is not None and self.usage is not None:
            held: dict[str, int] = {}
            self._add(held, self.store.usage(name), 1)
            self.consumed[local].charge(held, self.usage)

    def sample(self, now: int) -> None:
        """Bring all books up to date whose last sample is old enough."""
        for local in sorted(self.nodes):
            if self.usage is not None and local in self.consumed and now - self.consumed[local].updated >= self.usage.sampling:
                self._advance(local, now, self._holding(local))

    def rank(self) -> None:
        """Write the rank of each local queue into the tables: 0 for one that has used nothing."""
        if self.usage is None:
            return
        locals_ = [local for queue in self.store.graph.queues if queue.by_usage for local in queue.local_queues]
        of = {local.name: rank(self.consumed.get(local.name, Consumed()), local, self.usage) for local in locals_}
        ranks = {value: place for place, value in enumerate(sorted({NO_USAGE, *(of[name] for name in sorted(of))}))}
        for name in sorted(of):
            self.store.tables.local[self.store.locals.index(name), c.USAGE_RANK] = ranks[of[name]]

    def follow(self, outcomes: Sequence[Outcome], now: int) -> None:
        """Keep the books for what a cycle decided: the tables have all of it already."""
        changes: dict[str, list[tuple[Request, Request, int]]] = {}
        for outcome in outcomes:
            match outcome:
                case Admission():
                    name, node, request, sign = outcome.workload, outcome.queue, outcome.request, 1
                case Eviction(victim=victim):
                    name, node, request, sign = victim.workload, victim.queue, victim.usage, -1
                case Replacement():
                    name, node, request, sign = outcome.workload, outcome.queue, outcome.usage, -1
                case _:
                    continue
            local = self._local(name)
            if local is not None:
                counted = request if node == self.nodes[local] else ()  # one that ran elsewhere is none of those who hold something here
                changes.setdefault(local, []).append((request, counted, sign))
        for local in sorted(changes):
            held = self._holding(local)
            for _, counted, sign in changes[local]:
                self._add(held, counted, -sign)
            for request, counted, sign in changes[local]:
                self._advance(local, now, {resource: held[resource] for resource in sorted(held) if held[resource]})
                self._add(held, counted, sign)
                if sign > 0 and self.usage is not None:
                    charged: dict[str, int] = {}
                    self._add(charged, request, 1)
                    self.consumed[local].charge(charged, self.usage)

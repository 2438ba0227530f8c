"""What waits where in a policy that decides in cycles: the queue proper, what is parked until something changes, and who runs.

Kueue: pkg/cache/queue/cluster_queue.go. A parked workload is looked at again when capacity of its tree may have become free; in a
best-effort queue others of its shape are parked with it, unseen.
"""

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from ...events import AnyEvent, WorkloadDeferred
from ..order import line_key, shape_of
from ..state import Active, Line, Shape, SortKey
from ..workload import Workload
from .candidates import Cluster
from .flavors import groups_of
from .levels import heights
from .usage import Consumed, Rank, rank

Place = Literal["waiting", "parked", "aside"]
"""Where a workload waits: in the queue proper, until something changes, or not queued at all."""


@dataclass(slots=True)
class QueueState:
    """One queue. `hopeless` are shapes parked as such; `stirred`: what is parked returns at the start of the next cycle.

    `preemptor` is the workload that has evicted others and waits for their room; unless the queue is strict, it comes before all others
    of its queue or, in one that admits by usage, before all others whose local queue has used as much.
    `generation` counts what became free here, so that searches for flavors that began before it start again.
    """

    waiting: Line = field(default_factory=Line)
    parked: Line = field(default_factory=Line)
    running: dict[str, Workload] = field(default_factory=dict)
    hopeless: set[Shape] = field(default_factory=set)
    stirred: bool = False
    preemptor: Workload | None = None
    generation: int = 0

    def copy(self, own: dict[int, Workload]) -> "QueueState":
        """The same queue of a copy's own workloads, which are given by number."""
        return replace(
            self,
            waiting=self.waiting.copy(own),
            parked=self.parked.copy(own),
            running={name: own[workload.number] for name, workload in self.running.items()},
            hopeless=set(self.hopeless),
            preemptor=own[self.preemptor.number] if self.preemptor is not None else None,
        )


class Queues:
    """The queues of a policy, by node; `height` is how far each node is from its furthest leaf, `longest` the most flavors to try.

    `cycle` counts cycles, `idle` those in a row that changed nothing; `fresh`: there was a fact since the last one. `aside` are
    workloads that are not queued at all, by name.
    """

    def __init__(self, policy: Active, consumed: dict[str, Consumed]) -> None:
        self.policy = policy
        cycles = policy.graph.settings.cycles
        self.usage = cycles.usage if cycles is not None else None
        self.consumed = consumed
        self.locals = {local.name: (local, queue.node) for queue in policy.graph.queues if queue.by_usage for local in queue.local_queues}
        self.graph, self.tree = policy.graph, policy.tree
        self.states = [QueueState() for _ in policy.graph.nodes]
        self.trees: dict[int, list[int]] = {}
        for queue in self.graph.queues:
            self.trees.setdefault(self.tree.paths[queue.node][-1], []).append(queue.node)
        self.height = heights(policy.graph)
        self.longest = max((len(group.flavors) for queue in self.graph.queues for group in groups_of(self.graph, queue)), default=0)
        self.cycle = 0
        self.idle = 0
        self.fresh = True
        self.aside: dict[str, Workload] = {}

    def copy(self, policy: Active, own: dict[int, Workload], consumed: dict[str, Consumed]) -> "Queues":
        """The same queues of a copy of the policy, with the copy's own workloads, by number, and what its local queues have consumed."""
        other = copy(self)
        other.policy, other.tree, other.consumed = policy, policy.tree, consumed
        other.states = [state.copy(own) for state in self.states]
        other.aside = {name: own[workload.number] for name, workload in self.aside.items()}
        return other

    def running(self) -> list[dict[str, Workload]]:
        """Who runs, by node."""
        return [state.running for state in self.states]

    def cluster(self, policy: Active | None = None, without: Collection[str] = ()) -> Cluster:
        """What victims are looked for in: who runs, but for some by name, under the policy or another with the same queues."""
        running = self.running()
        if without:
            running = [{name: workload for name, workload in place.items() if name not in without} for place in running]
        return Cluster(policy or self.policy, running, self.rank if self.usage is not None else None)

    def strict(self, node: int) -> bool:
        """Whether a queue's head blocks those behind it."""
        return self.graph.queue_at(node).strict

    def key(self, workload: Workload) -> SortKey:
        """The place of a waiting workload in its queue, but for what decides before: see `head`."""
        *keys, number = line_key(self.graph, workload)
        return (*keys, workload.fact.uid, number)

    def shape(self, workload: Workload) -> Shape:
        """What it has in common with others of its queue that a cycle treats alike."""
        return shape_of(workload, self.policy.shape_is_name)

    # --- usage of local queues ------------------------------------------------------------------------------------------

    def ranks(self, workload: Workload) -> bool:
        """Whether its place depends on the usage of its local queue: its queue admits by usage."""
        known = self.locals.get(workload.fact.local_queue or "")
        return self.usage is not None and known is not None and known[1] == workload.queue

    def rank(self, workload: Workload) -> Rank:
        """The faded usage of a workload's local queue, where its queue admits by usage; 0 elsewhere."""
        if self.usage is None or not self.ranks(workload):
            return (0, Fraction(0))
        local, _ = self.locals[workload.fact.local_queue or ""]
        return rank(self.consumed.get(local.name, Consumed()), local, self.usage)

    def fade(self, workload: Workload, now: int) -> None:
        """Bring the usage of a workload's local queue up to date, before what it holds changes."""
        if workload.fact.local_queue in self.locals:
            self._advance(workload.fact.local_queue, now)

    def charge(self, workload: Workload) -> None:
        """Count an admission in its local queue's usage."""
        local = workload.fact.local_queue
        if self.usage is not None and local in self.locals:
            self.consumed[local].charge(self._amounts([workload]), self.usage)

    def _advance(self, local: str, now: int) -> None:
        assert self.usage is not None
        _, node = self.locals[local]
        running = self.states[node].running
        holders = [running[name] for name in sorted(running) if running[name].fact.local_queue == local]
        self.consumed.setdefault(local, Consumed(updated=now)).advance(now, self._amounts(holders), self.usage)

    def _amounts(self, workloads: list[Workload]) -> dict[str, int]:
        amounts: dict[str, int] = {}
        for workload in workloads:
            for slot, amount in workload.usage:
                resource = self.graph.slots[slot].resource
                amounts[resource] = amounts.get(resource, 0) + amount
        return amounts

    # --- coming and going -----------------------------------------------------------------------------------------------

    def add_waiting(self, workload: Workload) -> None:
        """Let a workload wait, unseen with its like where those are parked as hopeless."""
        state, shape = self.states[workload.queue], self.shape(workload)
        line = state.parked if shape in state.hopeless else state.waiting
        line.add(self.key(workload), shape, workload)

    def drop_waiting(self, workload: Workload) -> None:
        """Take a workload out of its queue, wherever it waits."""
        if self.aside.pop(workload.name, None) is not None:
            return
        state = self.states[workload.queue]
        line = state.waiting if self.is_waiting(workload) else state.parked
        line.drop(self.key(workload), self.shape(workload))
        if state.preemptor is workload:
            state.preemptor = None

    def place_of(self, workload: Workload) -> Place:
        """Where a workload that does not run waits."""
        if workload.name in self.aside:
            return "aside"
        return "waiting" if self.is_waiting(workload) else "parked"

    def put(self, workload: Workload, place: Place) -> None:
        """Let a workload wait where it is known to."""
        if place == "aside":
            self.aside[workload.name] = workload
            return
        state = self.states[workload.queue]
        line = state.waiting if place == "waiting" else state.parked
        line.add(self.key(workload), self.shape(workload), workload)

    def is_waiting(self, workload: Workload) -> bool:
        """Whether a workload waits in the queue proper and not parked."""
        entries = self.states[workload.queue].waiting.shapes.get(self.shape(workload), [])
        return any(other is workload for _, other in entries)

    def parked_with(self, workload: Workload) -> Workload | None:
        """The workload that was looked at and for whose sake all of its shape are parked, while it is parked itself."""
        entries = self.states[workload.queue].parked.shapes.get(self.shape(workload), [])
        return next((other for _, other in entries if other.deferral is not None and other.deferral.alike), None)

    def note(self, event: AnyEvent) -> None:
        """Note that something happened: after a fact cycles run at once; a cycle that moved somebody was not idle."""
        if not event.is_decision:
            self.idle, self.fresh = 0, True
        elif not isinstance(event, WorkloadDeferred) or event.waits == "parked":
            self.idle = 0

    def stir(self, node: int) -> None:
        """Mark all that is parked in a queue's tree: something may have become free."""
        self.states[node].generation += 1
        for queue in self.trees[self.tree.paths[node][-1]]:
            self.states[queue].stirred = True

    def park(self, workload: Workload, alike: bool) -> None:
        """Park a waiting workload and, if `alike`, all others of its shape, now and to come."""
        state, shape = self.states[workload.queue], self.shape(workload)
        if alike:
            state.hopeless.add(shape)
            moved = state.waiting.shapes.pop(shape)
        else:
            moved = [entry for entry in state.waiting.shapes[shape] if entry[1] is workload]
            state.waiting.drop(moved[0][0], shape)
        for key, other in moved:
            state.parked.add(key, shape, other)

    def begin_cycle(self, now: int) -> None:
        """Return what is parked in stirred queues, and count the cycle; it is idle until it decides something."""
        self.cycle += 1
        self.idle += 1
        self.fresh = False
        for local in sorted(self.locals):
            if self.usage is not None and local in self.consumed and now - self.consumed[local].updated >= self.usage.sampling:
                self._advance(local, now)
        for state in self.states:
            if state.stirred:
                for shape, entries in state.parked.by_shape():
                    for key, workload in entries:
                        state.waiting.add(key, shape, workload)
                state.parked, state.hopeless, state.stirred = Line(), set(), False

    # --- looking --------------------------------------------------------------------------------------------------------

    def head(self, node: int) -> Workload | None:
        """The workload that a queue puts up: by usage first, then whoever waits for its victims' room, then the first in order."""
        state = self.states[node]
        if not state.waiting.shapes:
            return None
        if self.graph.queue_at(node).by_usage:
            return self._in_turn(node, state.waiting)[0]
        if state.preemptor is not None and not self.strict(node) and self.is_waiting(state.preemptor):
            return state.preemptor
        return min((entries[0] for entries in state.waiting.shapes.values()), key=lambda entry: entry[0])[1]

    def line(self, node: int) -> list[Workload]:
        """All that wait in a queue, parked or not, in the order in which they would be looked at."""
        state = self.states[node]
        return self._in_turn(node, state.waiting, state.parked)

    def _in_turn(self, node: int, *lines: Line) -> list[Workload]:
        first = None if self.strict(node) else self.states[node].preemptor
        entries = [entry for line in lines for _, entries in line.by_shape() for entry in entries]
        entries.sort(key=lambda entry: (self.rank(entry[1]), entry[1] is not first, entry[0]))
        return [workload for _, workload in entries]

    def anything_waits(self) -> bool:
        """Whether a cycle would have anything to look at."""
        return any(state.waiting.shapes or (state.stirred and state.parked.shapes) for state in self.states)

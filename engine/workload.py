"""A live workload: what it asked for, where it belongs, what it holds while it runs, and how its last cycle ended while it waits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .event_parts import Assignment, CheckState, EvictionKind, PodSet
from .facts import WorkloadSubmitted
from .outcome.decision import LastDeferral, SearchState
from .outcome.nomination import ComparedShares, Request, RunnerUp, Value, Victim

SortKey = tuple[Any, ...]
"""Numbers, then the identity in an outside system, then the number of the submission."""

NOWHERE = -1
"""The queue of a workload that belongs to none."""

Shape = str
"""What two waiting workloads of a queue have in common that ask for the same: a refusal of one is a refusal of the other."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Where a search for flavors goes on: what it tried, in which cycle, at which generation of the queue."""

    tried: SearchState
    cycle: int
    generation: int


@dataclass(slots=True)
class Workload:
    """A workload from its submission to its end.

    `number` counts submissions and breaks every tie. `queue` is the node of its queue. `priority` is what counts, after
    the queue's ceiling; `pinned` says that its class is never evicted. `remaining` holds the pods of each pod set that
    are not done. While it runs, `admitted` is when it started (microseconds), `started_by` the fact that caused it; `evicting`
    says that an outside system has told it to stop. `boost` is part of its priority, `checks` are what admission checks say of it,
    `requeued` is the moment by which it stands in its queue, where that is not its creation. `entered` is when it came to wait in its queue
    for the last time: with its submission, an eviction, the end of what held it, or from another queue. `lost_nodes` are nodes that it has
    lost, while pods of it stood there.

    While it waits and nothing holds it, it is `in_line` in its queue, where `shape` says what it asks for. In a policy that decides in
    cycles `parked` says that it is looked at again only when capacity may have become free, `deferred` how the last cycle ended, `scan`
    where its search for flavors goes on.

    INVARIANT: fields are set, and what they hold is never changed in place: a copy shares it.
    """

    fact: WorkloadSubmitted
    number: int
    queue: int
    asked_priority: int | str | None
    priority: int
    pinned: bool
    remaining: tuple[int, ...]
    held_by_owner: bool = False
    held_by_operator: str | None = None
    evictions: int = 0
    admitted: int | None = None
    started_by: int = 0
    usage: Request = ()
    assignments: tuple[Assignment, ...] = ()
    evicting: bool = False
    boost: int = 0
    checks: Mapping[str, CheckState] = field(default_factory=dict)
    requeued: int | None = None
    entered: int = 0
    parked: bool = False
    deferred: LastDeferral | None = None
    scan: Scan | None = None
    shape: Shape = ""
    place: SortKey | None = None
    lost_nodes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name, unique among live workloads."""
        return self.fact.workload

    @property
    def in_line(self) -> bool:
        """Whether it stands in its queue's line."""
        return self.place is not None

    @property
    def submitted(self) -> int:
        """When it was submitted or, if an outside system had it before, created there; in microseconds."""
        return self.fact.time if self.fact.created is None else self.fact.created

    @property
    def queued(self) -> int:
        """The moment by which it stands in its queue, in microseconds."""
        return self.submitted if self.requeued is None else self.requeued

    def waiting(self, now: int) -> int:
        """How long it has been waiting in its queue, in microseconds; 0 while it runs."""
        return now - self.entered if self.admitted is None else 0

    @property
    def pods(self) -> int:
        """How many pods it still needs, all pod sets together."""
        return sum(self.remaining)

    def total(self, resource: str) -> int:
        """What its remaining pods ask of a resource together, in the smallest unit."""
        return sum(pod_set.requests.get(resource, 0) * left for pod_set, left in self.pod_sets())

    def pod_sets(self) -> list[tuple[PodSet, int]]:
        """Each pod set with how many of its pods are left."""
        return list(zip(self.fact.pod_sets, self.remaining, strict=True))


Running = Callable[[int], Iterable[Workload]]
"""Gives those who run in the queue of a node, in the order of the submissions."""


def victim(
    workload: Workload,
    kind: EvictionKind,
    rule: int = -1,
    values: tuple[Value, ...] = (),
    runner_up: RunnerUp | None = None,
    shares: ComparedShares | None = None,
) -> Victim:
    """A running workload as a victim."""
    return Victim(
        workload.name, workload.queue, kind, workload.priority, workload.usage, rule, values, runner_up, shares, workload.evicting
    )

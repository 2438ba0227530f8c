"""A live workload: what it asked for, where it belongs, and what it holds while it runs."""

from dataclasses import dataclass, field

from ..events import Assignment, PodSet, WorkloadSubmitted
from .quota import Request


@dataclass(slots=True)
class Workload:
    """A workload from its submission to its end.

    `number` counts submissions and breaks every tie. `queue` is the node of its queue. `priority` is what counts, after
    the queue's ceiling; `pinned` says that its class is never evicted. `remaining` holds the pods of each pod set that
    are not done. While it runs, `admitted` is when it started (microseconds), `started_by` the fact that caused it.
    """

    fact: WorkloadSubmitted
    number: int
    queue: int
    asked_priority: int | str | None
    priority: int
    pinned: bool
    remaining: list[int]
    held_by_owner: bool = False
    held_by_operator: str | None = None
    evictions: int = 0
    admitted: int | None = None
    started_by: int = 0
    usage: Request = ()
    assignments: tuple[Assignment, ...] = ()
    totals: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.count()

    @property
    def name(self) -> str:
        """Its name, unique among live workloads."""
        return self.fact.workload

    @property
    def submitted(self) -> int:
        """When it was submitted, in microseconds."""
        return self.fact.time

    @property
    def pods(self) -> int:
        """How many pods it still needs, all pod sets together."""
        return sum(self.remaining)

    def count(self) -> None:
        """Sum up what the remaining pods ask for, by resource name; called again when pods are done."""
        names = sorted({resource for pod_set in self.fact.pod_sets for resource in pod_set.requests})
        self.totals = [(name, sum(amount for _, amounts in self.demand() for what, amount in amounts if what == name)) for name in names]

    def demand(self) -> list[tuple[PodSet, list[tuple[str, int]]]]:
        """What each pod set with pods left asks for in total: (resource, amount) in order of resource name."""
        return [
            (pod_set, [(resource, pod_set.requests[resource] * count) for resource in sorted(pod_set.requests)])
            for pod_set, count in zip(self.fact.pod_sets, self.remaining, strict=True)
            if count > 0
        ]

    def total(self, resource: str) -> int:
        """What it asks of a resource, in the smallest unit."""
        return next((amount for name, amount in self.totals if name == resource), 0)

"""A live workload: what it asked for, where it belongs, and what it holds while it runs."""

from dataclasses import dataclass, field

from ..events import Assignment, CheckState, PodSet, WorkloadDeferred, WorkloadSubmitted
from .quota import Request


@dataclass(frozen=True, slots=True)
class Scan:
    """How far a search for flavors came: the last index tried by (pod set, resource), in which cycle, at which generation of the queue."""

    tried: dict[tuple[str, str], int]
    cycle: int
    generation: int


POD_COUNT = "pods"
"""The resource that counts pods, where a queue has it: every pod asks for one."""


def takes_place_of(new: "Workload", old: "Workload") -> bool:
    """Whether a waiting workload takes the place of one that runs: it names it, and is of its queue and namespace."""
    return new.fact.replaces == old.name and new.queue == old.queue and new.fact.namespace == old.fact.namespace


def asked_by_one(pod_set: PodSet, resource: str) -> int:
    """What one pod of a pod set asks for."""
    return 1 if resource == POD_COUNT else pod_set.requests.get(resource, 0)


@dataclass(slots=True)
class Workload:
    """A workload from its submission to its end.

    `number` counts submissions and breaks every tie. `queue` is the node of its queue. `priority` is what counts, after
    the queue's ceiling; `pinned` says that its class is never evicted. `remaining` holds the pods of each pod set that
    are not done. While it runs, `admitted` is when it started (microseconds), `started_by` the fact that caused it; `evicting`
    says that an outside system has told it to stop. `boost` is part of its priority, `checks` are what admission checks say of it,
    `requeued` is the moment from which it counts as waiting, where that is not its creation.

    In a policy that decides in cycles `deferral` is the last one, and `scan` where its search for flavors goes on.

    INVARIANT: fields are set, and what they hold is never changed in place: a copy shares it.
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
    evicting: bool = False
    boost: int = 0
    checks: dict[str, CheckState] = field(default_factory=dict)
    requeued: int | None = None
    deferral: WorkloadDeferred | None = None
    scan: Scan | None = None

    def __post_init__(self) -> None:
        self.count()

    def copy(self) -> "Workload":
        """One that goes its own way from here."""
        other = object.__new__(Workload)
        for name in Workload.__slots__:  # a third of the time that copy.copy takes, and there may be thousands
            setattr(other, name, getattr(self, name))
        return other

    @property
    def name(self) -> str:
        """Its name, unique among live workloads."""
        return self.fact.workload

    @property
    def submitted(self) -> int:
        """When it was submitted or, if an outside system had it before, created there; in microseconds."""
        return self.fact.time if self.fact.created is None else self.fact.created

    @property
    def queued(self) -> int:
        """The moment by which it stands in its queue, in microseconds."""
        return self.submitted if self.requeued is None else self.requeued

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

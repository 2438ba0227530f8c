"""The state of a cluster under a policy: what exists, what runs, what waits. Only events change it (`gpol.engine.reference.apply`)."""

from bisect import bisect_left, insort
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..expr import Field
from ..graph import PolicyGraph, PreemptRule, ProtectRule
from .cycles.usage import Consumed
from .quota import QuotaTree
from .shares import Shares
from .workload import Workload

if TYPE_CHECKING:
    from .cycles.queues import Queues

Shape = tuple[object, ...]
"""What workloads of a queue have in common that a decision treats alike, but for their order: a refusal of one waiting
workload is a refusal of the others, and a rule that may evict one running workload may evict the others."""

SortKey = tuple[Any, ...]
"""Numbers, and in policies that decide in cycles the identity before the last one. Keys of one line have one form."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A node of the cluster, by the last fact about it, and the flavor that it belongs to (-1: none)."""

    labels: dict[str, str]
    capacity: dict[str, int]
    flavor: int


@dataclass(slots=True)
class Line:
    """Waiting or running workloads of one queue: for each shape, in the policy's order, best first. No shape is ever empty."""

    shapes: dict[Shape, list[tuple[SortKey, Workload]]] = field(default_factory=dict)

    def add(self, key: SortKey, shape: Shape, workload: Workload) -> None:
        """Put a workload in its place. Keys are distinct: they end in the submission number."""
        insort(self.shapes.setdefault(shape, []), (key, workload), key=lambda entry: entry[0])

    def drop(self, key: SortKey, shape: Shape) -> None:
        """Take a workload out."""
        entries = self.shapes[shape]
        del entries[bisect_left(entries, key, key=lambda entry: entry[0])]
        if not entries:
            del self.shapes[shape]

    def by_shape(self) -> list[tuple[Shape, list[tuple[SortKey, Workload]]]]:
        """The workloads of each shape, the shape with the best one first."""
        return sorted(self.shapes.items(), key=lambda item: item[1][0][0])

    def ordered(self) -> list[Workload]:
        """All workloads, best first."""
        entries = [entry for _, entries in self.by_shape() for entry in entries]
        return [workload for _, workload in sorted(entries, key=lambda entry: entry[0])]

    def copy(self, own: dict[int, Workload]) -> "Line":
        """The same line of a copy's own workloads, which are given by number."""
        return Line({shape: [(key, own[workload.number]) for key, workload in entries] for shape, entries in self.shapes.items()})


@dataclass(slots=True)
class Pool:
    """The running workloads as one preempt rule sees them: for each node a line, best victim first.

    `read` is what its guard and the protect guards read of a victim; `timeless` says that its guard has no durations,
    `by_share` that it or a protect guard reads a share, which changes as victims are taken.
    """

    rule: PreemptRule
    read: tuple[Field, ...]
    timeless: bool
    by_share: bool
    lines: list[Line]

    def copy(self, own: dict[int, Workload]) -> "Pool":
        """The same pool of a copy's own workloads, which are given by number."""
        return replace(self, lines=[line.copy(own) for line in self.lines])


@dataclass(slots=True)
class Active:
    """What an active policy brings: the graph, the tree with its charges, the shares.

    `lines` holds the waiting workloads by node, `pools` the running ones by preempt rule. `always` are the protect rules
    without durations, `for_a_time` those with; `time_only_frees` says that whoever may be evicted now may be later, too.
    `queues` stands in place of `lines` and `pools` where the policy decides in cycles.
    `name_index` finds nodes by name, `slot_index` slots by (flavor name, resource). `inactive` remembers of queues that were looked at
    why each takes no part in cycles, which the graph alone decides; a copy with another graph begins anew.
    """

    graph: PolicyGraph
    tree: QuotaTree
    shares: Shares
    name_index: dict[str, int]
    slot_index: dict[tuple[str, str], int]
    lines: list[Line]
    pools: list[Pool]
    always: list[ProtectRule]
    for_a_time: list[ProtectRule]
    time_only_frees: bool
    shape_is_name: bool
    queues: "Queues | None" = None
    inactive: dict[int, str] = field(default_factory=dict, init=False)

    def copy(self, own: dict[int, Workload], consumed: dict[str, Consumed]) -> "Active":
        """The same policy over a copy's own workloads, which are given by number, and what its local queues have consumed."""
        tree = self.tree.copy()
        other = replace(
            self,
            tree=tree,
            shares=self.shares.over(tree),
            lines=[line.copy(own) for line in self.lines],
            pools=[pool.copy(own) for pool in self.pools],
        )
        other.queues = self.queues.copy(other, own, consumed) if self.queues is not None else None
        return other


@dataclass(slots=True)
class State:
    """Everything that decides. `seq` counts events; `version` counts changes that may turn a refusal into an admission.

    `cause` is the seq of the last fact. `wake` is the next moment at which time alone may decide something, if `settled`.
    `overrides` are capacities set by facts, by (flavor name, resource); they outlive a change of policy.
    So does what local queues have `consumed`, by their name.
    `gave_way` tells for whom each workload had to go, since anything but time and submissions changed the cluster.
    """

    time: int = 0
    seq: int = 0
    cause: int = 0
    submissions: int = 0
    version: int = 0
    wake: int | None = None
    settled: bool = True
    active: Active | None = None
    workloads: dict[str, Workload] = field(default_factory=dict)
    overrides: dict[tuple[str, str], int] = field(default_factory=dict)
    consumed: dict[str, Consumed] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    gave_way: dict[str, set[str]] = field(default_factory=dict)

    def copy(self) -> "State":
        """A state that goes its own way. What never changes is shared: facts, decisions, the policy and what follows from it."""
        workloads = {name: workload.copy() for name, workload in self.workloads.items()}
        own = {workload.number: workload for workload in workloads.values()}
        consumed = {name: usage.copy() for name, usage in self.consumed.items()}
        return replace(
            self,
            active=self.active.copy(own, consumed) if self.active is not None else None,
            workloads=workloads,
            overrides=dict(self.overrides),
            consumed=consumed,
            machines=dict(self.machines),
            gave_way={name: set(others) for name, others in self.gave_way.items()},
        )

    def superiors(self, name: str) -> set[str]:
        """All for whom a workload had to go, and those for whom they had to go in turn."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            new = self.gave_way.get(waiting.pop(), set()) - found
            found |= new
            waiting += sorted(new)
        return found

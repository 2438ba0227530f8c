"""The state of a cluster under a policy: what exists, what runs, what waits. Only events change it (`gpol.engine.reference.apply`)."""

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from ..graph import PolicyGraph
from .quota import QuotaTree
from .shares import Shares
from .workload import Workload

Shape = tuple[object, ...]
"""What two waiting workloads of a queue have in common when a refusal of one is a refusal of the other."""

SortKey = tuple[int, ...]


@dataclass(slots=True)
class Machine:
    """A node of the cluster, by the last fact about it, and the flavor that it belongs to (-1: none)."""

    labels: dict[str, str]
    capacity: dict[str, int]
    flavor: int


@dataclass(slots=True)
class Line:
    """The waiting workloads of one queue: for each shape, in the policy's order, best first. No shape is ever empty."""

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

    def ordered(self) -> list[Workload]:
        """All waiting workloads, best first."""
        entries = [entry for shape in sorted(self.shapes, key=lambda shape: self.shapes[shape][0][0]) for entry in self.shapes[shape]]
        return [workload for _, workload in sorted(entries, key=lambda entry: entry[0])]


@dataclass(slots=True)
class Active:
    """What an active policy brings: the graph, the tree with its charges, the shares, and lines of waiting workloads by node.

    `running` holds the running workloads of each queue by node and victim order (the index of a preempt rule), best victim
    first; `name_index` finds nodes by name and `slot_index` slots by (flavor name, resource).
    """

    graph: PolicyGraph
    tree: QuotaTree
    shares: Shares
    name_index: dict[str, int]
    slot_index: dict[tuple[str, str], int]
    lines: list[Line]
    running: list[list[list[tuple[SortKey, Workload]]]]
    shape_is_name: bool


@dataclass(slots=True)
class State:
    """Everything that decides. `seq` counts events; `version` counts changes that may turn a refusal into an admission.

    `wake` is the next moment at which time alone may decide something, as far as known after the last settling.
    `overrides` are capacities set by facts, by (flavor name, resource); they outlive a change of policy.
    """

    time: int = 0
    seq: int = 0
    submissions: int = 0
    version: int = 0
    wake: int | None = None
    active: Active | None = None
    workloads: dict[str, Workload] = field(default_factory=dict)
    overrides: dict[tuple[str, str], int] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)

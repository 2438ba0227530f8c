"""The state of a cluster under a policy: what exists, what runs, what waits. Only events change it (`transition/apply.py`)."""

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from ...intake.capacity import NodeSizes
from ...intake.decayed_usage import Consumed
from ...intake.shapes import tells_apart
from ...nodes.inventory import Inventory, Machine
from ...outcome.nomination import as_request
from ...policy_graph import PolicyGraph
from ...workload import Shape, Workload
from ..placement.places import PlaceBook
from ..quota.fair_share import Shares
from ..quota.tree import QuotaTree

_NUMBER, _PLACE = attrgetter("number"), attrgetter("place")


@dataclass(slots=True)
class ActivePolicy:
    """What an active policy brings: the graph, the tree with its charges, the shares; how large the nodes of its flavors are, and what pods
    use of them.

    `slot_index` finds slots by (flavor name, resource). `tells_apart`: some guard reads a field in which two
    workloads that ask for the same may differ.
    """

    graph: PolicyGraph
    tree: QuotaTree
    shares: Shares
    sizes: NodeSizes
    slot_index: dict[tuple[str, str], int]
    tells_apart: bool
    places: PlaceBook

    @classmethod
    def of(cls, graph: PolicyGraph, capacity: list[int], sizes: NodeSizes, machines: Mapping[str, Machine]) -> "ActivePolicy":
        """A policy over what exists, by slot, on nodes (by name) of these sizes; nobody uses anything yet."""
        tree = QuotaTree(graph, capacity)
        return cls(
            graph=graph,
            tree=tree,
            shares=Shares(graph, tree),
            sizes=sizes,
            slot_index={name: slot for slot, name in enumerate(graph.slot_names)},
            tells_apart=tells_apart(graph),
            places=PlaceBook(graph, machines),
        )

    def slot(self, flavor: int, resource: str) -> int | None:
        """The slot of a resource of a flavor; None where the flavor does not have it."""
        return self.slot_index.get((self.graph.flavors[flavor].name, resource))

    def root(self, queue: int) -> int:
        """The node at the top of a queue's tree."""
        return self.tree.paths[queue][-1]

    def over(self, graph: PolicyGraph, capacity: list[int], sizes: NodeSizes, machines: Mapping[str, Machine]) -> "ActivePolicy":
        """The same charges under a policy of the same queues and slots, over what exists there."""
        other = ActivePolicy.of(graph, capacity, sizes, machines)
        other.places = self.places.over(graph, machines)
        for queue in graph.queues:
            other.tree.add(queue.node, as_request(dict(enumerate(self.tree.usage[queue.node]))))
        return other

    def copy(self) -> "ActivePolicy":
        """The same policy with charges that go their own way."""
        return self.over(self.graph, self.tree.capacity, self.sizes, self.places.machines)


@dataclass(slots=True)
class QueueState:
    """One queue: its live workloads, in the order of their submissions.

    The rest is for policies that decide in cycles. Workloads of a shape in `hopeless` are parked as soon as they come. `preemptor` waits
    for the room of its victims: unless the queue is strict, it comes before all others or, in a queue that admits by usage, before those
    whose local queue has used as much. `generation` counts how often something became free here: a search for flavors that began
    before that starts again.
    """

    members: list[Workload] = field(default_factory=list)
    hopeless: set[Shape] = field(default_factory=set)
    preemptor: Workload | None = None
    generation: int = 0

    def join(self, workload: Workload) -> None:
        """Take a workload in."""
        insort(self.members, workload, key=_NUMBER)

    def part(self, workload: Workload) -> None:
        """Let a workload go."""
        del self.members[bisect_left(self.members, workload.number, key=_NUMBER)]


@dataclass(slots=True)
class State:
    """Everything that decides. `seq` counts events, `cause` is the seq of the last fact.

    `overrides` are capacities set by facts, by (flavor name, resource); they outlive a change of policy, and so does what local queues
    have `consumed`, by their name. `gave_way` tells for whom each workload had to go, since anything but time and submissions changed the
    cluster. `queues` is by node; `cycle` counts cycles, `idle` those in a row that changed nothing; `fresh`: there was a fact since.
    What is parked in the trees whose tops are in `stirred` returns at the start of the next cycle.
    """

    time: int = 0
    seq: int = 0
    cause: int = 0
    submissions: int = 0
    policy: ActivePolicy | None = None
    workloads: dict[str, Workload] = field(default_factory=dict)
    queues: list[QueueState] = field(default_factory=list)
    stirred: set[int] = field(default_factory=set)
    overrides: dict[tuple[str, str], int] = field(default_factory=dict)
    consumed: dict[str, Consumed] = field(default_factory=dict)
    machines: Inventory = field(default_factory=Inventory)
    gave_way: dict[str, set[str]] = field(default_factory=dict)
    cycle: int = 0
    idle: int = 0
    fresh: bool = True

    @property
    def active(self) -> ActivePolicy:
        """The policy that decides; there must be one."""
        assert self.policy is not None
        return self.policy

    @property
    def graph(self) -> PolicyGraph:
        """The graph of the policy that decides."""
        return self.active.graph

    def in_order(self) -> list[Workload]:
        """All live workloads, in the order of their submissions."""
        return sorted(self.workloads.values(), key=_NUMBER)

    def running(self, node: int) -> list[Workload]:
        """Who runs in a queue, in the order of the submissions."""
        return [workload for workload in self.queues[node].members if workload.admitted is not None]

    def line(self, node: int) -> list[Workload]:
        """Who is queued in a queue, parked or not, in the policy's order."""
        return sorted((workload for workload in self.queues[node].members if workload.in_line), key=_PLACE)

    def is_stirred(self, node: int) -> bool:
        """Whether what is parked in a queue returns at the start of the next cycle."""
        return self.active.root(node) in self.stirred

    def superiors(self, name: str) -> set[str]:
        """All for whom a workload had to go, and those for whom they had to go in turn."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            new = self.gave_way.get(waiting.pop(), set()) - found
            found |= new
            waiting += sorted(new)
        return found

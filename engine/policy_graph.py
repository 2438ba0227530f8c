"""The policy graph: what a checked policy means, in integers and exact fractions, ready for the core.

`gpol.dsl` makes it, and nothing changes it. Nodes of the quota tree, flavors and slots (a resource of a flavor) are dense indices. Node 0
is the implicit root cohort `cluster`; what exists and nobody owns belongs to it. Every top-level cohort and queue hangs below it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal

from .guard import Expr, Field, fields
from .nodes.conditions import Requirement, Taint, Toleration
from .policy.doors import Condition, Doors
from .policy.pass_settings import PassSearch, QueueTerms
from .policy_settings import LATER, OrderKey, Settings, later

ROOT = "cluster"
"""The reserved name of node 0."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where something stands in a policy: file name without folders, line from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a topology: its nodes are apart where they differ in `label`; without a label each node is a domain of its own."""

    name: str
    label: str | None


@dataclass(frozen=True, slots=True)
class Topology:
    """How far nodes are from one another: levels from the widest down. A domain of the lowest level is where a pod is placed."""

    name: str
    levels: tuple[Level, ...]
    source: Source

    def level(self, name: str) -> int | None:
        """The index of a level by name; None where there is none."""
        return next((index for index, level in enumerate(self.levels) if level.name == name), None)

    @property
    def ends_at_nodes(self) -> bool:
        """Whether each of the lowest domains is one node."""
        return self.levels[-1].label is None


@dataclass(frozen=True, slots=True)
class Flavor:
    """A GPU model or pool.

    `capacity` lists (resource, amount) in the smallest unit. With `nodes`, a label selector of (key, value) pairs, the
    capacity is instead the sum of the nodes that match, and `capacity` lists each resource with 0. `labels` are those of
    its nodes, which a pod set's node selector is compared with; `tolerations` are given to every pod set that gets the flavor.
    `missing` says that queues name the flavor and nothing defines it: those queues admit nothing. `topology` is the index of the one in
    which its pods get places (-1: they get none, and the flavor is an amount).
    """

    name: str
    capacity: tuple[tuple[str, int], ...]
    nodes: tuple[tuple[str, str], ...] | None
    worth: Fraction
    source: Source
    labels: tuple[tuple[str, str], ...] = later(())
    taints: tuple[Taint, ...] = later(())
    tolerations: tuple[Toleration, ...] = later(())
    missing: bool = later(False)
    topology: int = later(-1)


@dataclass(frozen=True, slots=True)
class Slot:
    """One resource of one flavor: the unit in which quota is kept."""

    flavor: int
    resource: str


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A named priority; a workload whose class is never evicted is no victim of any rule.

    `queue_limits` are what its workloads may use of each resource in one queue, as a part of what exists.
    """

    name: str
    value: int
    never_evicted: bool
    source: Source
    queue_limits: tuple[tuple[str, Fraction], ...] = later(())


@dataclass(frozen=True, slots=True)
class Quota:
    """What a node owns in one slot, and how much it may borrow and lend; None is no limit. Sources point at the lines."""

    nominal: int = 0
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    nominal_source: Source | None = None
    borrowing_source: Source | None = None
    lending_source: Source | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A resource group of a queue: resources that one flavor serves together, and the flavors in the order to try them."""

    resources: tuple[str, ...]
    flavors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A tenant's entry to a queue, named `namespace/name`; `weight` divides its usage where admission goes by usage."""

    name: str
    weight: Fraction
    stopped: Literal["", "hold", "drain"]
    source: Source


@dataclass(frozen=True, slots=True)
class Check:
    """An admission check that a queue demands, on these flavors only (none: on all). One that `gives_nodes` makes the machines on which a
    workload is to run: pods get their places once it is ready."""

    name: str
    flavors: tuple[int, ...]
    gives_nodes: bool = later(False)


@dataclass(frozen=True, slots=True)
class Preemption:
    """Whom a queue may evict, where the policy decides in cycles.

    own: within the queue. reclaims: in other queues that borrow. borrowing: while it would borrow itself, workloads of lower
    priority and of at most `borrowing_up_to` (None: any lower one). Sources point at the lines.
    """

    own: Literal["nothing", "lower", "lower-or-newer"] = "nothing"
    reclaims: Literal["nothing", "lower", "any"] = "nothing"
    borrowing: Literal["nothing", "lower"] = "nothing"
    borrowing_up_to: int | None = None
    own_source: Source | None = None
    reclaims_source: Source | None = None
    borrowing_source: Source | None = None


NO_PREEMPTION = Preemption()


@dataclass(frozen=True, slots=True)
class Queue:
    """What a queue node says beyond its quota.

    `matches` are alternatives, each a conjunction. `flavors` is the order in which flavors are tried; a flavor that is
    not listed is not used. `ceiling` is the highest priority that counts here, with its line. `default_pinned` says that
    the class behind `default_priority` is never evicted.

    `groups` are the queue's own resource groups (none: those of the graph, each with `flavors`; one empty group: it serves
    nothing). `next_flavor_before_*` stand in place of the settings' where they are not None; `rather` says which of two flavors
    is better, one to borrow in or one to evict in. `stopped` queues admit nothing, and drained ones evict what runs. `namespaces`
    are conditions on the labels of a workload's namespace (None: all). `by_usage` orders waiting workloads by the decayed usage
    of their local queues.
    """

    node: int
    matches: tuple[tuple[Condition, ...], ...]
    flavors: tuple[int, ...]
    ceiling: int | None
    ceiling_source: Source | None
    default_priority: int
    default_pinned: bool
    strict: bool
    groups: tuple[Group, ...] = later(())
    next_flavor_before_borrowing: bool | None = later(None)
    next_flavor_before_evicting: bool | None = later(None)
    rather: Literal["borrow", "evict"] = later("borrow")
    preemption: Preemption = field(default=NO_PREEMPTION, metadata={LATER: True})
    stopped: Literal["", "hold", "drain"] = later("")
    namespaces: tuple[Requirement, ...] | None = later(None)
    checks: tuple[Check, ...] = later(())
    by_usage: bool = later(False)
    local_queues: tuple[LocalQueue, ...] = later(())

    def places_come_later(self, flavor: int) -> bool:
        """Whether pods on a flavor get their places only once a check has provided nodes."""
        return any(check.gives_nodes and flavor in (check.flavors or (flavor,)) for check in self.checks)

    def local_queue(self, name: str | None) -> LocalQueue | None:
        """The local queue of this name; None where it leads to another queue or to none."""
        return next((local for local in self.local_queues if local.name == name), None)

    def looks_on_borrowing(self, settings: "Settings") -> bool:
        """Whether a flavor in which a workload has to borrow is not the end of the search."""
        own = self.next_flavor_before_borrowing
        return settings.next_flavor_before_borrowing if own is None else own

    def looks_on_evicting(self, settings: "Settings") -> bool:
        """Whether a flavor in which somebody has to go is not the end of the search."""
        own = self.next_flavor_before_evicting
        return settings.next_flavor_before_evicting if own is None else own


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the quota tree: `quotas` is indexed by slot; `queue` is the index into `queues`, or -1 for a cohort.

    `terms` are what it says beyond that where the policy decides by passes.
    """

    name: str
    parent: int
    children: tuple[int, ...]
    queue: int
    weight: Fraction
    quotas: tuple[Quota, ...]
    source: Source
    terms: QueueTerms | None = field(default=None, metadata={LATER: True})

    @property
    def is_queue(self) -> bool:
        """Whether it is a queue and not a cohort."""
        return self.queue >= 0


Trigger = Literal["fits-queue", "fits-cohort", "fits-entitlement", "may-be-evicted"]
"""When a preempt rule may be used: the workload fits what its queue owns, or what a cohort above its queue owns; in passes: it fits what
its queue is entitled to, or it may be evicted itself."""

Scope = Literal["same-queue", "borrowing-queues", "any-queue", "other-queues"]
Range = Literal["same-cohort", "cluster"]


@dataclass(frozen=True, slots=True)
class PreemptRule:
    """Who may be evicted for whom. `order` ranks victims, best victim first; ties go to the later submitted workload.

    Where the policy decides by passes, `search` says in which pass and how victims are looked for, and there is no `order`: victims come
    in the reverse of the orders of queues and workloads.
    """

    name: str
    source: Source
    trigger: Trigger | None
    scope: Scope
    range: Range
    guard: Expr | None
    order: tuple[OrderKey, ...]
    search: PassSearch | None = field(default=None, metadata={LATER: True})

    @property
    def compared(self) -> list[Field]:
        """The fields that say why a victim was picked: those of the guard, then those of the order."""
        read = fields(self.guard)
        return read + [key.of_victim for key in self.order if key.of_victim not in read]


@dataclass(frozen=True, slots=True)
class ProtectRule:
    """Running workloads that no rule may evict while the guard holds; `nodes` limits it to these nodes' subtrees (None: all)."""

    name: str
    source: Source
    nodes: tuple[int, ...] | None
    guard: Expr | None


@dataclass(frozen=True, slots=True)
class AdmissionRule:
    """A `deny` (reject for good) or `hold` (keep pending) rule with the reason to show; `nodes` as in ProtectRule."""

    name: str
    source: Source
    action: Literal["deny", "hold"]
    nodes: tuple[int, ...] | None
    guard: Expr | None
    because: str


def covers(rule: ProtectRule | AdmissionRule, path: Sequence[int]) -> bool:
    """Whether a rule's `for` covers a queue, by the nodes from the queue up to the top."""
    return rule.nodes is None or any(node in rule.nodes for node in path)


@dataclass(frozen=True)
class PolicyGraph:
    """A whole policy.

    `slots` is sorted by flavor name, then resource name. `groups` are the sets of resources that one flavor must serve
    together: resources that share a flavor, directly or through others. `preempt` is in the order in which rules are
    tried. `ignored` resources are not counted. `digest` is over the normalised syntax tree.
    """

    name: str
    digest: str
    flavors: tuple[Flavor, ...]
    slots: tuple[Slot, ...]
    groups: tuple[tuple[str, ...], ...]
    ignored: tuple[str, ...]
    priorities: tuple[PriorityClass, ...]
    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...]
    preempt: tuple[PreemptRule, ...]
    protect: tuple[ProtectRule, ...]
    admission: tuple[AdmissionRule, ...]
    settings: Settings
    topologies: tuple[Topology, ...] = later(())

    @property
    def gives_places(self) -> bool:
        """Whether some flavor gives pods places."""
        return any(flavor.topology >= 0 for flavor in self.flavors)

    def path(self, node: int) -> list[int]:
        """The nodes from a node up to the top of its tree, both included."""
        path = [node]
        while self.nodes[path[-1]].parent > 0 or (self.nodes[path[-1]].parent == 0 and not self.settings.forest):
            path.append(self.nodes[path[-1]].parent)
        return path

    def sides(self, left: int, right: int) -> tuple[int, int]:
        """The children of the lowest common ancestor on the paths to two different queues of one tree."""
        return sides(self.path(left), self.path(right))

    @property
    def slot_names(self) -> tuple[tuple[str, str], ...]:
        """The flavor and the resource of each slot, by name."""
        return tuple(self.slot_name(slot) for slot in range(len(self.slots)))

    def slot_name(self, slot: int) -> tuple[str, str]:
        """The flavor and the resource of a slot, by name."""
        return self.flavors[self.slots[slot].flavor].name, self.slots[slot].resource

    def queue_at(self, node: int) -> Queue:
        """The queue of a node that is one."""
        return self.queues[self.nodes[node].queue]

    @cached_property
    def doors(self) -> Doors:
        """By which names and match rules workloads come into queues."""
        return Doors.of(
            {self.nodes[queue.node].name: queue.node for queue in self.queues},
            [[local.name for local in queue.local_queues] for queue in self.queues],
            [queue.matches for queue in self.queues],
        )


def sides(left: list[int], right: list[int]) -> tuple[int, int]:
    """The nodes on two different paths to one top that stand just below where the paths meet."""
    above = 2
    while left[-above] == right[-above]:
        above += 1
    return left[-above], right[-above]

"""Kueue's objects as typed data, in the form of v1beta2, with amounts in gpol's smallest unit and times in microseconds.

Only what decisions depend on is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from ....engine.event_parts import CheckState, PlacedPods, Requirement, Slice, Taint, Toleration

StopPolicy = Literal["None", "Hold", "HoldAndDrain"]
PreemptionPolicy = Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"]
PreemptionStrategy = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


MOST_GROUPS, MOST_FLAVORS, MOST_RESOURCES, MOST_ALL_FLAVORS = 16, 64, 64, 256
"""Kueue's own limits: resource groups of an object, flavors and resources of a group, flavors of all groups."""

HOSTNAME = "kubernetes.io/hostname"
"""The label of nodes by which each is a domain of its own: as the lowest level of a topology it stands for nodes."""


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """What a ClusterQueue or Cohort has of a resource of a flavor; limits are None where there is none."""

    resource: str
    nominal: int
    borrowing_limit: int | None
    lending_limit: int | None


@dataclass(frozen=True, slots=True)
class FlavorQuotas:
    """The quotas of one flavor, in order of name of the resource as the object lists them."""

    flavor: str
    quotas: tuple[ResourceQuota, ...]


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that one flavor serves together, and the flavors in the order to try them."""

    resources: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True)
class Selector:
    """A condition on labels: all of `requirements`; without one it selects everything."""

    requirements: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class CheckRule:
    """An admission check of a ClusterQueue, on these flavors only (none: on all)."""

    check: str
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A ClusterQueue. `selector` None admits no namespace. `inactive` is why Kueue says that it is, where nothing else here tells."""

    name: str
    file: str
    cohort: str
    groups: tuple[ResourceGroup, ...]
    weight: Fraction
    strict: bool
    selector: Selector | None
    try_next_when_borrowing: bool
    try_next_when_evicting: bool
    evict_rather_than_borrow: bool
    within: PreemptionPolicy
    reclaim: PreemptionPolicy
    borrow: PreemptionPolicy
    borrow_up_to: int | None
    checks: tuple[CheckRule, ...]
    stop: StopPolicy
    by_usage: bool
    inactive: str


@dataclass(frozen=True, slots=True)
class KueueCohort:
    """A Cohort; without a parent it is the root of its tree."""

    name: str
    file: str
    parent: str
    groups: tuple[ResourceGroup, ...]
    weight: Fraction


@dataclass(frozen=True, slots=True)
class KueueLocalQueue:
    """A LocalQueue: the entry of a namespace to a ClusterQueue; `consumed` is its usage by resource as of `updated` (None: now)."""

    namespace: str
    name: str
    file: str
    cluster_queue: str
    weight: Fraction
    stop: StopPolicy
    consumed: tuple[tuple[str, int], ...] = ()
    updated: int | None = None


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A taint of a flavor's nodes."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class ResourceFlavor:
    """A ResourceFlavor: what its nodes are labelled and tainted with, and what pods on it are given to tolerate.

    `topology` names the Topology in which its pods get places; empty where they get none.
    """

    name: str
    file: str
    labels: tuple[tuple[str, str], ...]
    taints: tuple[NodeTaint, ...]
    tolerations: tuple[Toleration, ...]
    topology: str


@dataclass(frozen=True, slots=True)
class WorkloadPriorityClass:
    """A WorkloadPriorityClass."""

    name: str
    file: str
    value: int


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """An AdmissionCheck, whether its controller has made it active, and which controller that is."""

    name: str
    file: str
    active: bool
    controller: str


@dataclass(frozen=True, slots=True)
class KueueTopology:
    """A Topology: labels of nodes from the widest level down. Nodes that differ in one are in other domains of that level."""

    name: str
    file: str
    levels: tuple[str, ...]

    @property
    def ends_at_nodes(self) -> bool:
        """Whether each of the lowest domains is one node."""
        return self.levels[-1:] == (HOSTNAME,)

    @property
    def told(self) -> tuple[str, ...]:
        """The levels that Kueue names where it says in which domain pods are: all of them, or the node alone."""
        return (HOSTNAME,) if self.ends_at_nodes else self.levels


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node: `allocatable` is what pods may use there, and how many `pods` there may be."""

    name: str
    file: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    cordoned: bool
    ready: bool
    allocatable: dict[str, int]


@dataclass(frozen=True, slots=True)
class OtherPod:
    """A pod that runs on a node, and that Kueue has not placed there by a topology; `requests` is what it uses."""

    name: str
    file: str
    node: str
    requests: dict[str, int]


@dataclass(frozen=True, slots=True)
class KueuePodSet:
    """Equal pods of a workload; `requests` is what one pod asks for, in gpol's smallest units.

    `within`, `near`, `anywhere` and `slices` say how near to each other they must stand, as in the facts.
    """

    name: str
    count: int
    min_count: int | None
    requests: dict[str, int]
    node_selector: dict[str, str]
    affinity: tuple[tuple[Requirement, ...], ...]
    tolerations: tuple[Toleration, ...]
    group: str
    within: str
    near: str
    anywhere: bool
    slices: tuple[Slice, ...]

    @property
    def asks_for_places(self) -> bool:
        """Whether it says anything of where its pods are to stand."""
        return bool(self.within or self.near or self.anywhere or self.slices)


@dataclass(frozen=True, slots=True)
class PodSetAssignment:
    """What Kueue gave a pod set: pods, the flavor of each resource, and all that is charged by resource.

    `places` are where its pods stand, in domains of these `levels` of a topology; none where they have no places, or are to get them later
    (`delayed`).
    """

    pod_set: str
    count: int
    flavors: dict[str, str]
    usage: dict[str, int]
    levels: tuple[str, ...] = ()
    places: tuple[PlacedPods, ...] = ()
    delayed: bool = False

    def without(self, left_out: Callable[[str], bool]) -> "PodSetAssignment":
        """The same without some resources."""
        kept = [resource for resource in self.flavors if not left_out(resource)]
        usage = {resource: self.usage[resource] for resource in kept if resource in self.usage}
        return replace(self, flavors={resource: self.flavors[resource] for resource in kept}, usage=usage)


@dataclass(frozen=True, slots=True)
class KueueAdmission:
    """A reservation of quota: where, since when (None: not said) and what; whether the workload is admitted, as it is once its checks
    are ready too, and whether Kueue has told it to stop."""

    cluster_queue: str
    since: int | None
    assignments: tuple[PodSetAssignment, ...]
    admitted: bool
    evicting: bool


@dataclass(frozen=True, slots=True)
class KueueWorkload:
    """A Workload. `held` is why Kueue does not queue it, empty where it does; it does not before `backs_off_until` either.
    `misconfigured` is why it queues it and turns it away, empty where it does not. `lost_nodes` are those on which pods of it stand, and
    for whose pods Kueue looks for other places.

    `requeued` is the moment from which an evicted one counts as waiting; `timed_out` says that its pods were not ready in time;
    `replaces` names the slice of an elastic job whose place it takes, as `namespace/name`.
    """

    namespace: str
    name: str
    file: str
    uid: str
    created: int | None
    queue: str
    priority: int
    boost: int
    kind: str
    labels: dict[str, str]
    pod_sets: tuple[KueuePodSet, ...]
    admission: KueueAdmission | None
    held: str
    misconfigured: str
    backs_off_until: int | None
    requeued: int | None
    timed_out: bool
    checks: dict[str, CheckState]
    reclaimable: dict[str, int]
    finished: bool
    replaces: str
    lost_nodes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its name among all workloads, as Kueue writes it."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class UsageConfig:
    """Admission fair sharing: durations in microseconds, weights by resource in order of name."""

    half_life: int
    sampling: int
    weights: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The manager's configuration, as far as decisions depend on it. No `strategies`: Kueue's default list.

    `excluded` is how the names of resources begin that Kueue leaves out of what workloads ask for, in order.
    """

    fair: bool = False
    strategies: tuple[PreemptionStrategy, ...] = ()
    usage: UsageConfig | None = None
    excluded: tuple[str, ...] = ()
    boost: bool = False
    requeue_by_creation: bool = False


@dataclass(slots=True)
class Objects:
    """All objects of a cluster, in the order in which they were given; `namespaces` are labels by name.

    `pods` are those that take room on nodes beside workloads that Kueue places.
    """

    cluster_queues: list[ClusterQueue] = field(default_factory=list)
    cohorts: list[KueueCohort] = field(default_factory=list)
    local_queues: list[KueueLocalQueue] = field(default_factory=list)
    flavors: list[ResourceFlavor] = field(default_factory=list)
    priorities: list[WorkloadPriorityClass] = field(default_factory=list)
    checks: list[AdmissionCheck] = field(default_factory=list)
    workloads: list[KueueWorkload] = field(default_factory=list)
    topologies: list[KueueTopology] = field(default_factory=list)
    nodes: list[ClusterNode] = field(default_factory=list)
    pods: list[OtherPod] = field(default_factory=list)
    namespaces: dict[str, dict[str, str]] = field(default_factory=dict)
    configuration: Configuration | None = None

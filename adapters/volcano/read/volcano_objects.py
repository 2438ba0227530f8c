"""Volcano's objects as typed data, with amounts in gpol's smallest unit and times in microseconds.

Only what decisions depend on is kept.
"""

from dataclasses import dataclass, field
from typing import Literal

from ...kueue.read.objects import ClusterNode
from .topology.network_objects import HyperNode, NetworkTopology, StandingPod, SubGroup

AmountsByResource = dict[str, int]
"""Amounts in gpol's smallest unit by resource, in order of name."""

PodGroupPhase = Literal["Pending", "Inqueue", "Running", "Unknown", "Completed"]
"""Where a PodGroup is. `Unknown`: some of its pods run, and others were lost."""

PHASES: tuple[PodGroupPhase, ...] = ("Pending", "Inqueue", "Running", "Unknown", "Completed")


@dataclass(frozen=True, slots=True)
class VolcanoQueue:
    """A Queue. `parent` is empty for one directly below the root.

    `deserved` is what it gets back from others, `guarantee` the part of it that others never use, `capability` the most that it uses. A
    resource that one of them does not name is not limited by it. `is_open`: PodGroups of it may start.
    """

    name: str
    file: str
    parent: str
    weight: int
    deserved: AmountsByResource
    guarantee: AmountsByResource
    capability: AmountsByResource
    reclaimable: bool
    priority: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A PodGroup: a gang of `min_member` pods, which ask for `min_resources` together (None: it does not say for how much).

    `running` is how many of its pods run; `scheduled` is when it last got what it needs, None where that is not said. How near one another
    they are to stand is known only where HyperNodes are.
    """

    namespace: str
    name: str
    file: str
    uid: str
    created: int | None
    kind: str
    labels: dict[str, str]
    queue: str
    priority_class: str
    min_member: int
    min_resources: AmountsByResource | None
    phase: PodGroupPhase
    running: int
    scheduled: int | None
    topology: NetworkTopology | None = None
    sub_groups: tuple[SubGroup, ...] = ()

    @property
    def key(self) -> str:
        """Its name among all workloads."""
        return f"{self.namespace}/{self.name}"

    @property
    def runs(self) -> bool:
        """Whether it holds resources."""
        return self.phase in ("Running", "Unknown")


@dataclass(frozen=True, slots=True)
class ClusterPriorityClass:
    """A PriorityClass of Kubernetes. `is_default`: workloads that name no class have it."""

    name: str
    file: str
    value: int
    is_default: bool


@dataclass(slots=True)
class VolcanoObjects:
    """All objects of a cluster, in the order in which they were given; nodes and pods only where there are HyperNodes."""

    queues: list[VolcanoQueue] = field(default_factory=list)
    pod_groups: list[PodGroup] = field(default_factory=list)
    priorities: list[ClusterPriorityClass] = field(default_factory=list)
    hyper_nodes: list[HyperNode] = field(default_factory=list)
    nodes: list[ClusterNode] = field(default_factory=list)
    pods: list[StandingPod] = field(default_factory=list)

"""What Volcano knows of PodGroups, pods and queues beyond what every session has.

Volcano: pkg/scheduler/api/job_info.go, sub_job_info.go, queue_info.go.
"""

from dataclasses import dataclass
from enum import StrEnum

from ....event_parts import Requirement
from ...session.pods import PodAmounts


class GroupPhase(StrEnum):
    """How far a PodGroup is: passes but `enqueue` leave a pending one alone."""

    PENDING = "Pending"
    INQUEUE = "Inqueue"
    RUNNING = "Running"
    UNKNOWN = "Unknown"
    COMPLETED = "Completed"


@dataclass(frozen=True, slots=True)
class NetworkWish:
    """Where pods are to stand: within one HyperNode of a tier up to `highest_tier` (None: not said), or, not `hard`, as near as can be."""

    hard: bool
    highest_tier: int | None = None


@dataclass(frozen=True, slots=True)
class SubJob:
    """Pods of a PodGroup that stand together. `group` is their leaf among `SessionWorkload.groups`, which says how many start together.

    `policy` is the group above it (0: none), `match_index` the number that its pods' label has (0: none), `name` orders equal ones.
    """

    name: str
    group: int
    policy: int = 0
    match_index: int = 0
    network: NetworkWish | None = None


@dataclass(frozen=True, slots=True)
class PodGroupFacts:
    """A PodGroup by the number of its workload, whose group 0 has its `minMember` as minimum, and whose name is `namespace/name`.

    `least_by_role` are roles with the number of pods that each needs (`minTaskMember`); `min_resources` is None where it says nothing.
    `policies` are the groups that stand for sub-group policies; their minimum is the number of sub-jobs needed (0: none). Without
    policies there is one sub-job, whose group is group 0.
    """

    phase: GroupPhase
    min_resources: PodAmounts | None
    sub_jobs: tuple[SubJob, ...]
    least_by_role: tuple[tuple[str, int], ...] = ()
    policies: tuple[int, ...] = ()
    network: NetworkWish | None = None
    longest_wait: int = 0
    """For how many microseconds it waits at most, to plugin `sla`; 0: nothing is said."""


@dataclass(frozen=True, slots=True)
class StandsApart:
    """Required anti-affinity: pods of the same namespace with which a pod does not stand on nodes with one value of label `domain`."""

    domain: str
    selected: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class VolcanoPodFacts:
    """A pod by its number. `uid` orders pods that are equal otherwise; `index` is its number in its role (None: its name has none).

    `evictable` is the annotation `volcano.sh/preemptable` (true where it is not there); `evicts` is false where its preemption policy is
    `Never`; `critical`: it belongs to the system; `gated`: a scheduling gate holds it; `nominated`: the node it was promised before.
    """

    uid: str
    role: str = ""
    index: int | None = None
    evictable: bool = True
    evicts: bool = True
    critical: bool = False
    gated: bool = False
    nominated: int = -1
    succeeded: bool = False
    priority_class_priority: int = 0
    """Its priority as Kubernetes has it (0: none), whatever `Pod.priority` is to Volcano."""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    apart: tuple[StandsApart, ...] = ()


@dataclass(frozen=True, slots=True)
class VolcanoQueueFacts:
    """A queue by the number of its quota node. Beside the node's figures: whether it is open, and whether others may reclaim from it.

    `hierarchy` and `hierarchy_weights` are the annotations of hierarchical DRF: its path from the root, and the weight of each step.
    """

    open: bool = True
    reclaimable: bool = True
    hierarchy: str = ""
    hierarchy_weights: str = ""

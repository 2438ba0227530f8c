"""HyperNodes, what PodGroups ask for of them, and pods that stand on nodes, as typed data. Amounts are in gpol's smallest unit."""

from dataclasses import dataclass

from ....kueue.read.objects import Selector
from .name_patterns import NamePattern


@dataclass(frozen=True, slots=True)
class HyperNodeMember:
    """A member of a HyperNode at `place`: of one `name`, or all nodes whose names match a pattern or whose labels a selector."""

    place: str
    is_node: bool
    name: str = ""
    pattern: NamePattern | None = None
    selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class HyperNode:
    """A HyperNode: nodes that are near one another. The lower its tier, the nearer they are; `tier_name` may be empty."""

    name: str
    file: str
    tier: int
    tier_name: str
    members: tuple[HyperNodeMember, ...]


@dataclass(frozen=True, slots=True)
class NetworkTopology:
    """How near one another pods are to stand, as it is said at `place`: within one HyperNode of a tier at most, or `soft`: if it can be.

    The tier is said as a number (None: it is not) or by its name.
    """

    place: str
    soft: bool
    tier: int | None
    tier_name: str


@dataclass(frozen=True, slots=True)
class SubGroup:
    """A policy of a PodGroup for groups of `size` of its pods, of which at least so many start together."""

    place: str
    size: int
    least: int
    topology: NetworkTopology | None


@dataclass(frozen=True, slots=True)
class StandingPod:
    """A pod that takes room on a node. `group` is the name of its PodGroup with namespace, empty where it has none."""

    name: str
    file: str
    group: str
    node: str
    requests: dict[str, int]

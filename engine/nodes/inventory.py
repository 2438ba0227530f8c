"""The nodes of the cluster as facts tell them."""

from dataclasses import dataclass

from .conditions import Taint


@dataclass(frozen=True, slots=True)
class Machine:
    """A node of the cluster, by the last fact about it, and the flavor whose capacity it is part of (-1: none)."""

    labels: dict[str, str]
    capacity: dict[str, int]
    flavor: int
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False

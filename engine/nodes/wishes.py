"""What pods ask for of places: how near one another they are to stand, in slices of how many, and what each of them takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ..event_parts import POD_COUNT, PodSet
from ..outcome.nomination import NoPlaces
from .domains import DomainTree

Amounts = Mapping[str, int]
"""Amounts by resource, in the smallest unit."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be placed: `pods` workers, each asking for `each` (`pods` among it), and maybe one leader, asking for `leader`.

    All are to stand in one domain of `level`, or of a higher one where that is not `required`. `loose`: nothing is said of how near they
    stand. They come in slices of `slice_size` that each stand in one domain of `slice_level`; below it `inner` says by level of how many
    pods the parts of a slice are that stand together.
    """

    pods: int
    each: Amounts
    level: int
    slice_level: int
    required: bool = False
    loose: bool = False
    slice_size: int = 1
    inner: Mapping[int, int] = field(default_factory=dict)
    leader: Amounts | None = None

    @property
    def leaders(self) -> int:
        """How many leaders there are: 0 or 1."""
        return int(self.leader is not None)

    @property
    def slices(self) -> int:
        """How many slices there are."""
        return self.pods // self.slice_size


def each_pod(pod_set: PodSet) -> dict[str, int]:
    """What one pod of a pod set uses where it stands."""
    return {**pod_set.requests, POD_COUNT: 1}


def wish_of(tree: DomainTree, pod_set: PodSet, pods: int, leader: Amounts | None, own: bool) -> Wish | NoPlaces:
    """What a pod set asks for, by the levels of a topology. NoPlaces where that lacks a level, or slices are wider than the whole.

    In a policy's `own` way pods that say nothing of it stand as near one another as they can; Kueue counts the widest level for slices.
    """
    topology, lowest = tree.topology, len(tree.levels) - 1
    slices = pod_set.slices
    said = pod_set.within or pod_set.near
    level = topology.level(said) if said else 0 if slices else lowest
    levels = [topology.level(part.level) for part in slices]
    for name, found in zip([said, *(part.level for part in slices)], [level, *levels], strict=True):
        if found is None:
            return NoPlaces("no-level", level=name)
    known = [found for found in levels if found is not None]
    assert level is not None
    if known and level > known[0]:
        return NoPlaces("slice-above", level=slices[0].level, asked=topology.levels[level].name)
    for above, below in pairwise(known):
        if below <= above:
            return NoPlaces("slice-above", level=topology.levels[above].name, asked=topology.levels[below].name)
    inner = {
        depth: part.size for (above, below), part in zip(pairwise(known), slices[1:], strict=True) for depth in range(above + 1, below + 1)
    }
    slice_level = known[0] if known else lowest
    return Wish(
        pods=pods,
        each=each_pod(pod_set),
        level=level if said or not own else slice_level,
        slice_level=slice_level,
        required=bool(pod_set.within),
        loose=not said and not own,
        slice_size=slices[0].size if slices else 1,
        inner=inner,
        leader=leader,
    )

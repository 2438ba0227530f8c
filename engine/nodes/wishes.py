"""What pods ask for of places: how near one another they are to stand, in slices of how many, and what each of them takes."""

from collections.abc import Mapping, Sequence
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


PlacesSaid = tuple[str, str, bool, tuple[tuple[str, int], ...]]
"""What pods say of their places: within which level, near which, whether anywhere will do, and the level and size of slices."""

LEADER_REMEDY = "let the leader ask for the same as its workers, or for nothing"


def leader_asking_otherwise(group: Sequence[tuple[int, PlacesSaid]]) -> int | None:
    """The leader of a group where it asks for other places than its workers; of each pod set there is its number of pods and what it says.

    A leader stands where its workers stand, whatever it says, so that nothing would come of it. Kueue lets no job say so.
    """
    if len(group) != 2 or min(pods for pods, _ in group) != 1:
        return None
    leader = 0 if group[0][0] < group[1][0] else 1  # where both are one pod, the first has the workers
    said, workers_say = group[leader][1], group[1 - leader][1]
    return leader if any(said) and said != workers_say else None


def asked_of_places(pod_set: PodSet) -> PlacesSaid:
    """What a pod set says of its places."""
    return pod_set.within, pod_set.near, pod_set.anywhere, tuple((part.level, part.size) for part in pod_set.slices)


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

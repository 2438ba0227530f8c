"""How many pods of a pod set fit into each domain of a topology: counted in the lowest domains, then summed up level by level.

Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go, fillInCounts. Pods that come in slices count in whole slices from the level of the slices
up. With a leader, one pod of another pod set that stands with the workers, all is counted twice: without it, and with it where it takes
the least from the workers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...event_parts import POD_COUNT
from ...nodes.domains import DomainTree
from ...nodes.kept_off import KeptOff
from ...nodes.wishes import Amounts, Wish

MOST_PODS = 2**31 - 1
"""So many pods fit where nothing limits them."""


@dataclass(frozen=True, slots=True)
class Room:
    """What fits into a domain: pods and slices of workers, and as many with the leader there; `leaders`: whether the leader fits at all."""

    pods: int = 0
    slices: int = 0
    pods_led: int = 0
    slices_led: int = 0
    leaders: int = 0


@dataclass(slots=True)
class NodeTally:
    """Nodes (or the lowest domains) that were looked at, and of those that take no pod how many there are for each cause."""

    nodes: int = 0
    kept_off: dict[KeptOff, int] = field(default_factory=dict)

    def note(self, cause: KeptOff) -> None:
        """Count a node that takes no pod."""
        self.kept_off[cause] = self.kept_off.get(cause, 0) + 1


Free = Callable[[int], Amounts]
"""What is free in a domain of the lowest level; below 0 where more is used than there is."""


def count_rooms(
    tree: DomainTree,
    wish: Wish,
    free: Free,
    keeps_off: Callable[[int], KeptOff | None],
    takes_leader: Callable[[int], bool] = lambda _: True,
    inside: Sequence[str] = (),
) -> tuple[list[Room], NodeTally]:
    """What fits into each domain, by its number; `keeps_off` says why a lowest domain takes no worker, `takes_leader` whether it may take
    the leader. Only what lies `inside` a path counts."""
    rooms = [Room() for _ in tree.domains]
    tally = NodeTally(nodes=len(tree.lowest))
    for leaf in tree.lowest:
        cause = keeps_off(leaf)
        if cause is None and tree.domains[leaf].path[: len(inside)] != tuple(inside):
            cause = KeptOff("outside")
        if cause is not None:
            tally.note(cause)
            continue
        pods, limit = fitting(wish.each, free(leaf))
        if pods == 0:
            tally.note(KeptOff("resource", limit))
        rooms[leaf] = _in_leaf(wish, free(leaf), pods, wish.slice_level == len(tree.levels) - 1, takes_leader(leaf))
    for level in range(len(tree.levels) - 2, -1, -1):
        for domain in tree.levels[level]:
            rooms[domain] = _summed(wish, [rooms[child] for child in tree.domains[domain].children], level)
    return rooms, tally


def fitting(each: Amounts, free: Amounts) -> tuple[int, str]:
    """How many pods that each ask for so much fit into what is free, and the resource that limits them: the first by name of several.

    A node that does not say how many pods it takes has room for any number.
    """
    limiting = [resource for resource in sorted(each) if each[resource] > 0 and (resource in free or resource != POD_COUNT)]
    found = [(min(max(0, free.get(resource, 0) // each[resource]), MOST_PODS), resource) for resource in limiting]
    return min(found, default=(MOST_PODS, ""))


def less(free: Amounts, taken: Amounts, times: int = 1) -> dict[str, int]:
    """What is left of free amounts; a resource that is not limited there (`pods` alone may not be) stays so."""
    left = {resource: free.get(resource, 0) for resource in (*free, *taken) if resource in free or resource != POD_COUNT}
    return {resource: left[resource] - taken.get(resource, 0) * times for resource in left}


def _in_leaf(wish: Wish, free: Amounts, pods: int, sliced: bool, takes_leader: bool) -> Room:
    leaders = int(wish.leader is not None and takes_leader and fitting(wish.leader, free)[0] > 0)
    led = fitting(wish.each, less(free, wish.leader))[0] if wish.leader is not None and leaders else pods
    return Room(pods, pods // wish.slice_size if sliced else 0, led, led // wish.slice_size if sliced else 0, leaders)


def _summed(wish: Wish, children: Sequence[Room], level: int) -> Room:
    """What fits into a domain of a level with these domains in it. The leader stands where it takes the least from the workers."""
    part = wish.inner.get(level + 1, 1)  # a child takes pods in whole parts only
    pods = [(child.pods // part * part, child.pods_led // part * part) for child in children]
    able = [index for index, child in enumerate(children) if wish.leader is None or child.leaders]
    total, slices = sum(whole for whole, _ in pods), sum(child.slices for child in children)
    led = total - min(pods[index][0] - pods[index][1] for index in able) if able else 0
    slices_led = slices - min(children[index].slices - children[index].slices_led for index in able) if able else 0
    if level == wish.slice_level:
        slices, slices_led = total // wish.slice_size, led // wish.slice_size
    return Room(total, slices, led, slices_led, max((child.leaders for child in children), default=0))

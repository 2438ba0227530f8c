"""The places of a whole workload: pod set by pod set, each beside those that were placed before it; a leader together with its workers.

Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go, FindTopologyAssignmentsForFlavor. Flavors come in the order of their names. The first pod
set of a flavor that finds no places ends the search in that flavor.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...eligibility import companions
from ...event_parts import PlacedPods, PodSet
from ...nodes.domains import DomainPath, DomainTree
from ...nodes.kept_off import KeptOff
from ...nodes.wishes import Amounts, Wish, each_pod, wish_of
from ...outcome.nomination import LayerRoom, NoPlaces
from ...workload import Workload
from .fill import Filled, Filler, TooLittleRoom
from .own_fill import OwnFiller, RoomKept
from .places import PlaceBook, PodsHeld, held
from .room import NodeTally, Room, count_rooms, less


@dataclass(frozen=True, slots=True)
class ToPlace:
    """A pod set that needs places: so many pods of it, on a flavor."""

    pod_set: PodSet
    pods: int
    flavor: int
    joined: str


@dataclass(slots=True)
class FoundPlaces:
    """The places of each pod set by name, and why others have none, in the order of the search."""

    places: dict[str, tuple[PlacedPods, ...]] = field(default_factory=dict)
    failures: list[NoPlaces] = field(default_factory=list)


def to_place(workload: Workload, counts: Sequence[int], flavors: Mapping[str, int]) -> list[ToPlace]:
    """The pod sets of a workload that need places, with so many pods of each; `flavors` has those that do by name."""
    return [
        ToPlace(pod_set, count, flavors[pod_set.name], companions(index, pod_set))
        for index, (pod_set, count) in enumerate(zip(workload.fact.pod_sets, counts, strict=True))
        if pod_set.name in flavors and count > 0
    ]


def find_places(places: PlaceBook, wanted: Sequence[ToPlace], empty: bool = False) -> FoundPlaces:
    """Places for pod sets, as things stand or, with `empty`, as if nobody used anything."""
    found = FoundPlaces()
    search = Search(places, empty)
    for flavor in sorted({each.flavor for each in wanted}, key=lambda flavor: places.graph.flavors[flavor].name):
        for joined in groups([each for each in wanted if each.flavor == flavor]):
            failure = search.place(flavor, joined, found)
            if failure is not None:
                found.failures.append(failure)
                break
    return found


def groups(wanted: Sequence[ToPlace]) -> list[list[ToPlace]]:
    """Pod sets that are placed together: a leader of one pod and its workers; any other one by itself."""
    joined = [[each for each in wanted if each.joined == name] for name in dict.fromkeys(each.joined for each in wanted)]
    return [part for group in joined for part in ([group] if _is_led(group) else [[each] for each in group])]


def _is_led(group: Sequence[ToPlace]) -> bool:
    return len(group) == 2 and min(each.pods for each in group) == 1


class Search:
    """Places for one workload; what its pod sets take counts against those that come later."""

    def __init__(self, places: PlaceBook, empty: bool) -> None:
        self.places, self.empty, self.settings = places, empty, places.graph.settings
        self.taken: list[PodsHeld] = []

    def place(
        self, flavor: int, group: Sequence[ToPlace], found: FoundPlaces, inside: DomainPath = (), shut: Collection[str] = ()
    ) -> NoPlaces | None:
        """Place a pod set, or workers with their leader, in a domain and not on nodes that are `shut`; say why where there is no room."""
        workers, leader = _workers_and_leader(group)
        tree = self.places.tree(flavor)
        names = tuple(each.pod_set.name for each in group)
        own = self.settings.places_pods != "counted"
        wish = wish_of(tree, workers.pod_set, workers.pods, each_pod(leader.pod_set) if leader is not None else None, own)
        if isinstance(wish, NoPlaces):
            return wish.about(names, flavor)
        if not tree.levels[wish.level]:
            return NoPlaces("no-domains", names, flavor, tree.topology.levels[wish.level].name)

        def takes_leader(leaf: int) -> bool:  # Kueue looks at the workers alone
            return leader is None or not own or self.places.keeps_off(flavor, leaf, leader.pod_set) is None

        rooms, tally = count_rooms(
            tree,
            wish,
            lambda leaf: self._free(flavor, leaf),
            lambda leaf: KeptOff("outside") if tree.place(leaf)[-1] in shut else self.places.keeps_off(flavor, leaf, workers.pod_set),
            takes_leader,
            inside,
        )
        filled = self._filled(flavor, wish, rooms)
        if isinstance(filled, TooLittleRoom):
            return _too_little(tree, workers.pod_set, wish, rooms, filled, tally).about(names, flavor)
        self._take(found, workers, [(tree.place(leaf), pods) for leaf, pods, _ in filled])
        if leader is not None:
            self._take(found, leader, [(tree.place(leaf), leaders) for leaf, _, leaders in filled])
        return None

    def _filled(self, flavor: int, wish: Wish, rooms: Sequence[Room]) -> Filled | TooLittleRoom:
        """The domains that are filled, in the policy's way."""
        tree, way = self.places.tree(flavor), self.settings.places_pods
        if way == "counted":
            return Filler(tree, wish, rooms).fill()
        kept = RoomKept(tuple(dict(size) for size in self.settings.room_kept), lambda leaf: self._free(flavor, leaf))
        return OwnFiller(tree, wish, rooms, way, kept).fill()

    def _take(self, found: FoundPlaces, given: ToPlace, where: Sequence[tuple[tuple[str, ...], int]]) -> None:
        placed = tuple(PlacedPods(domain=place, pods=pods) for place, pods in where if pods > 0)
        found.places[given.pod_set.name] = placed
        self.taken += held(given.flavor, given.pod_set, placed)

    def _free(self, flavor: int, leaf: int) -> Amounts:
        """What is free in a domain beside what this workload takes there already, of its flavor or of others on the same nodes."""
        place = self.places.tree(flavor).place(leaf)
        free: Amounts = self.places.capacity(flavor, leaf) if self.empty else self.places.free(flavor, leaf)
        for each in self.taken:
            if each.place == place and self.places.see_the_same(flavor, each.flavor):
                free = less(free, each.each, each.pods)
        return free


def _workers_and_leader(group: Sequence[ToPlace]) -> tuple[ToPlace, ToPlace | None]:
    """The pod set with more pods, and the one with fewer; where both have as many, the first has the workers."""
    if len(group) == 1:
        return group[0], None
    first, second = group
    return (second, first) if second.pods > first.pods else (first, second)


# --- why there is no place --------------------------------------------------------------------------------------------


def _too_little(tree: DomainTree, pod_set: PodSet, wish: Wish, rooms: Sequence[Room], found: TooLittleRoom, tally: NodeTally) -> NoPlaces:
    kept_off = tuple((cause.cause, cause.detail, tally.kept_off[cause]) for cause in sorted(tally.kept_off))
    layers = tuple(_layers(tree, pod_set, wish, rooms, found.level)) if len(pod_set.slices) > 1 else ()
    closest = _closest(tree, wish, rooms, found.level)
    uneven = wish.pods % wish.slice_size
    is_node = tree.level_of(closest) == len(tree.levels) - 1
    return NoPlaces(
        "uneven-slices" if uneven else "no-room",
        level=pod_set.within,
        asked=pod_set.within or pod_set.near,
        fit=found.fit,
        of=wish.slices,
        size=wish.slice_size,
        layers=layers,
        nodes=tally.nodes,
        kept_off=kept_off,
        closest=tree.place(closest) if is_node else tree.domains[closest].path,
        closest_fit=_in_slices(wish, rooms[closest]),
        left_over=uneven,
    )


def _in_slices(wish: Wish, room: Room) -> int:
    """How many slices fit into a domain, beside the leader where there is one."""
    return room.slices_led if wish.leaders else room.slices


def _closest(tree: DomainTree, wish: Wish, rooms: Sequence[Room], level: int) -> int:
    """The domain of a level that takes the leader, most slices, and most pods; the first by path of several."""
    return max(
        tree.levels[level],
        key=lambda domain: (rooms[domain].leaders >= wish.leaders, _in_slices(wish, rooms[domain]), rooms[domain].pods, -domain),
    )


def _layers(tree: DomainTree, pod_set: PodSet, wish: Wish, rooms: Sequence[Room], level: int) -> list[LayerRoom]:
    """How many slices of each layer fit into the best domain of the level at which the search ended."""
    best = max(tree.levels[level], key=lambda domain: (rooms[domain].slices, -domain))
    found = []
    for part in pod_set.slices:
        below, at = [best], level
        target = tree.topology.level(part.level)
        assert target is not None
        while at < target:
            below, at = [child for domain in below for child in tree.domains[domain].children], at + 1
        found.append(LayerRoom(part.level, sum(rooms[domain].pods // part.size for domain in below), wish.pods // part.size))
    return found

"""Other places for the pods that stood on nodes which a running workload has lost; all its other pods stay where they are.

The pods go where they keep what was asked for: into the domain in which all have to stand, or into that of the slice which is not whole
without them.

Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go, findReplacementAssignment. It looks at the first lost node alone and at each pod set by
itself, so that a leader which was alone on its node may end up far from its workers. In a policy of gpol's own ways of placing pods, those
of all lost nodes move, pod sets that belong together stay so, and no node that is lost takes any.

Kueue gives no other places where pods stay on a node that takes no more, such as a cordoned one. In gpol's own ways they stay there, and
what is asked for goes by the domains in which such a node is. Only where it is in none, and that has to be known, there are no places.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ...eligibility import companions
from ...event_parts import Assignment, PlacedPods, PodSet, Slice
from ...nodes.domains import DomainPath
from ...outcome.nomination import NoPlaces
from ...policy_graph import Topology
from ...workload import Workload
from .placer import FoundPlaces, Search, ToPlace, groups
from .places import PlaceBook

PathOf = Callable[[DomainPath], DomainPath | None]
"""The whole path of a place; None where it is in no domain."""


@dataclass(frozen=True, slots=True)
class _Moving:
    """A pod set of which pods have to move: how many, and where the others stand. `near` are places of others with which it belongs."""

    given: ToPlace
    staying: tuple[PlacedPods, ...]
    near: tuple[PlacedPods, ...] = ()


@dataclass(slots=True)
class _Mover:
    """Moves the pods of one workload off the nodes that it has lost."""

    places: PlaceBook
    workload: Workload
    each_alone: bool
    gone: tuple[str, ...]
    found: FoundPlaces = field(default_factory=FoundPlaces)

    def move(self, flavors: Mapping[str, int]) -> FoundPlaces:
        """The places of each pod set that has lost some, all of them; or why there are none for its pods."""
        search, moving = Search(self.places, empty=False), self._moving(flavors)
        for flavor in sorted({each.given.flavor for each in moving}, key=lambda flavor: self.places.graph.flavors[flavor].name):
            for group in self._together([each for each in moving if each.given.flavor == flavor]):
                failure = self._place(search, flavor, group)
                if failure is not None:
                    self.found.failures.append(failure)
                    break
        return self.found

    def _moving(self, flavors: Mapping[str, int]) -> list[_Moving]:
        """The pod sets that stand on lost nodes, in their order."""
        given = {assignment.pod_set: assignment for assignment in self.workload.assignments}
        joined = {pod_set.name: companions(index, pod_set) for index, pod_set in enumerate(self.workload.fact.pod_sets)}
        found = []
        for pod_set in self.workload.fact.pod_sets:
            places = given[pod_set.name].places if pod_set.name in given else ()
            if pod_set.name not in flavors or not any(place.domain[-1] in self.workload.lost_nodes for place in places):
                continue
            others = [other for other in self.workload.assignments if joined[other.pod_set] == joined[pod_set.name]]
            near = () if self.each_alone else tuple(place for other in others for place in self._staying(other))
            pods = sum(place.pods for place in places if place.domain[-1] in self.gone)
            to_place = ToPlace(pod_set, pods, flavors[pod_set.name], joined[pod_set.name])
            found.append(_Moving(to_place, self._staying(given[pod_set.name]), near))
        return found

    def _staying(self, given: Assignment) -> tuple[PlacedPods, ...]:
        return tuple(place for place in given.places if place.domain[-1] not in self.gone)

    def _together(self, moving: Sequence[_Moving]) -> list[list[_Moving]]:
        """Pod sets that are placed together: a leader with its workers where nothing of either stays, any other one by itself."""
        whole = [] if self.each_alone else [each for each in moving if not each.staying and not each.near]
        of_name = {each.given.pod_set.name: each for each in whole}
        joint = [[of_name[one.pod_set.name] for one in group] for group in groups([each.given for each in whole])]
        return [*([each] for each in moving if each not in whole), *joint]

    def _place(self, search: Search, flavor: int, group: Sequence[_Moving]) -> NoPlaces | None:
        """Find places for pods that have to move, and note them beside those of pods that stay."""
        topology, path_of, first = self.places.tree(flavor).topology, partial(self.places.path_of, flavor), group[0]
        names = tuple(each.given.pod_set.name for each in group)
        there = self.places.machines
        gone = _first_gone(path_of, first) if self.each_alone else _first_nowhere(topology, path_of, there, first)
        if gone is not None:
            return gone.about(names, flavor)
        wanted, inside = [each.given for each in group], self._inside(topology, path_of, first) if len(group) == 1 else ()
        pod_set = first.given.pod_set
        if inside and pod_set.slices and first.given.pods % pod_set.slices[0].size:
            kept = tuple(part for part in reversed(pod_set.slices) if first.given.pods % part.size == 0)[:1]
            if self.each_alone and not kept and not (pod_set.within or pod_set.near or pod_set.anywhere):
                return NoPlaces("no-level", names, flavor)  # Kueue: without its slices it asks for no level at all
            wanted = [replace(first.given, pod_set=pod_set.model_copy(update={"slices": kept}))]
        moved = FoundPlaces()
        failure = search.place(flavor, wanted, moved, inside, () if self.each_alone else self.gone)
        if failure is not None:
            return failure
        for each in group:
            new = moved.places[each.given.pod_set.name]
            if not new:  # nothing of it stood on the first of the lost nodes
                return NoPlaces("no-room", names, flavor, pod_set.within, of=1)
            beside = merged(path_of, (*new, *each.staying))
            broken = None if self.each_alone else _broken_slice(topology, path_of, each.given.pod_set, beside)
            if broken is not None:
                return NoPlaces("slices-broken", names, flavor, broken.level)
            self.found.places[each.given.pod_set.name] = beside
        return None

    def _inside(self, topology: Topology, path_of: PathOf, moving: _Moving) -> DomainPath:
        """The domain in which the pods that move have to stand: that of a slice which is not whole, or of all pods. (): anywhere."""
        pod_set, staying = moving.given.pod_set, _paths(path_of, (*moving.staying, *moving.near))
        said = pod_set.within or pod_set.near
        if not staying or (said and topology.level(said) is None):
            return ()
        level = topology.level(pod_set.within) if pod_set.within else None
        whole = () if level is None else staying[0][: level + 1]
        broken = [part for part in reversed(pod_set.slices) if moving.given.pods % part.size]
        if broken and moving.given.pods % pod_set.slices[0].size:
            domain = _incomplete(topology, path_of, moving, broken[0])
            return domain if domain or self.each_alone else whole
        return whole


def find_replacement(places: PlaceBook, workload: Workload, flavors: Mapping[str, int]) -> FoundPlaces:
    """Other places for pods on nodes that a running workload has lost; `flavors` has its pod sets on flavors that give places."""
    each_alone = places.graph.settings.replaces_one_node
    return _Mover(places, workload, each_alone, workload.lost_nodes[:1] if each_alone else workload.lost_nodes).move(flavors)


def _first_gone(path_of: PathOf, moving: _Moving) -> NoPlaces | None:
    """The first place of pods that stay which is none any more: with it Kueue gives no pod another one."""
    gone = next((place for place in moving.staying if path_of(place.domain) is None), None)
    return None if gone is None else NoPlaces("place-gone", asked=gone.domain[-1])


def _first_nowhere(topology: Topology, path_of: PathOf, there: Collection[str], moving: _Moving) -> NoPlaces | None:
    """The first place of pods that stay which is not there, or of which a domain has to be known and is not; `there` are all nodes.

    A part of a slice has to stand with the rest of it, wherever that is; whole slices on a node are whole in any domain. For the domain in
    which all have to stand, one of them is enough that is in some.
    """
    pod_set, others = moving.given.pod_set, (*moving.staying, *moving.near)
    above_nodes = [part for part in pod_set.slices if topology.level(part.level) not in (None, len(topology.levels) - 1)]
    for place in (place for place in moving.staying if path_of(place.domain) is None):
        if place.domain[-1] not in there:  # it has lost more than was said
            return NoPlaces("place-gone", asked=place.domain[-1])
        cut = next((part for part in above_nodes if place.pods % part.size), None)
        if cut is not None:
            return NoPlaces("place-gone", level=cut.level, asked=place.domain[-1])
    if others and topology.level(pod_set.within) is not None and not _paths(path_of, others):
        return NoPlaces("place-gone", level=pod_set.within, asked=others[0].domain[-1])
    return None


def _paths(path_of: PathOf, places: Sequence[PlacedPods]) -> list[DomainPath]:
    """The whole paths of places that are in domains."""
    return [path for place in places if (path := path_of(place.domain)) is not None]


def _standing(topology: Topology, path_of: PathOf, places: Sequence[PlacedPods], part: Slice) -> dict[DomainPath, int]:
    """How many pods stand in each domain of the level of slices; nothing where there is no such level."""
    level, found = topology.level(part.level), dict[DomainPath, int]()
    for place in places:
        path = path_of(place.domain)
        if level is not None and path is not None:
            found[path[: level + 1]] = found.get(path[: level + 1], 0) + place.pods
    return found


def _incomplete(topology: Topology, path_of: PathOf, moving: _Moving, part: Slice) -> DomainPath:
    """The first domain in which pods that stay make whole slices together with those that move."""
    standing = _standing(topology, path_of, moving.staying, part)
    return next((domain for domain in sorted(standing) if (standing[domain] + moving.given.pods) % part.size == 0), ())


def merged(path_of: PathOf, places: Sequence[PlacedPods]) -> tuple[PlacedPods, ...]:
    """Places in the order of the domains, each once; those in none come last."""
    pods: dict[DomainPath, int] = {}
    for place in places:
        pods[place.domain] = pods.get(place.domain, 0) + place.pods
    paths = {domain: path_of(domain) for domain in sorted(pods)}
    in_order = sorted(paths, key=lambda domain: (paths[domain] is None, paths[domain] or domain))
    return tuple(PlacedPods(domain=domain, pods=pods[domain]) for domain in in_order)


def _broken_slice(topology: Topology, path_of: PathOf, pod_set: PodSet, places: Sequence[PlacedPods]) -> Slice | None:
    """The widest slices that do not stand together at these places; None where all do."""
    for part in pod_set.slices:
        standing = _standing(topology, path_of, places, part)
        if any(standing[domain] % part.size for domain in sorted(standing)):
            return part
    return None

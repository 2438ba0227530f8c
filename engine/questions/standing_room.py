"""Where pods stand and where more would find room, on flavors that give places: read from a state, whichever core decides.

What is told is of a moment, and nothing of quota: who may use the room is another question.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from ..definition.placement.places import PlaceBook
from ..definition.placement.room import count_rooms
from ..event_parts import PodSet
from ..nodes.conditions import Taint
from ..nodes.domains import DomainPath, domain_trees
from ..nodes.inventory import Machine
from ..nodes.kept_off import KeptOff
from ..nodes.wishes import Wish, each_pod
from ..nodes.without_places import WithoutPlace, nodes_without_place
from ..policy_graph import PolicyGraph
from ..workload import Workload


@dataclass(slots=True)
class PlaceState:
    """A place where pods stand or may stand: a node by its name, or a domain above nodes by the values of its levels.

    `flavors` are those that give it, by index; `path` is its domain in the topology of the first of them (of a node that is gone: its name
    alone). `pods` says how many pods of which workloads stand there, in the order of their submissions. `capacity` and `used` are in the
    smallest unit, the latter with `pods`, which counts them. `cordoned`: it takes no new pods (of a domain: none of its nodes does);
    `taints` are those of a node. `lacks` names the label, with its level, for want of which a node of the flavors is in no domain: it is
    told by its name alone, and takes nobody.
    """

    place: DomainPath
    path: DomainPath
    flavors: tuple[int, ...] = ()
    machines: tuple[str, ...] = ()
    capacity: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    cordoned: bool = False
    taints: tuple[Taint, ...] = ()
    pods: list[tuple[str, int]] = field(default_factory=list)
    lacks: WithoutPlace | None = None

    def free(self, resource: str) -> int:
        """What is free of a resource; below 0 where more is used than there is."""
        return self.capacity.get(resource, 0) - self.used.get(resource, 0)

    def as_data(self, graph: PolicyGraph) -> dict[str, object]:
        """All of it as plain data, in the fields in which it is told to programs: flavors by name, all nodes of the place as `nodes`."""
        return {
            "place": self.place,
            "path": self.path,
            "flavors": [graph.flavors[flavor].name for flavor in self.flavors],
            "nodes": self.machines,
            "exists": self.capacity,
            "used": self.used,
            "cordoned": self.cordoned,
            "taints": [asdict(taint) for taint in self.taints],
            "pods": [{"workload": name, "pods": pods} for name, pods in self.pods],
            "lacks": None if self.lacks is None else {"level": self.lacks.level, "label": self.lacks.label},
        }


@dataclass(frozen=True, slots=True)
class LevelRoom:
    """How many pods fit into one domain of a level: into the best one, the first by path of several."""

    level: str
    pods: int
    domain: DomainPath


@dataclass(frozen=True, slots=True)
class FlavorRoom:
    """How many pods of one shape find room on a flavor now: in all its places, and in the best domain of each level, the widest first.

    Of `places` those in `kept_off` take none, by the first thing in the way.
    """

    flavor: int
    anywhere: int
    levels: tuple[LevelRoom, ...]
    places: int
    kept_off: tuple[tuple[KeptOff, int], ...]


_Key = tuple[int, DomainPath]
"""A place: of nodes, which all flavors share, -1 and the name; of domains above nodes their flavor, as each sees its own use alone."""


def places_of(graph: PolicyGraph, machines: Mapping[str, Machine], workloads: Iterable[Workload]) -> list[PlaceState]:
    """All places of flavors that give some, in order of their paths, with those that are gone where pods still stand.

    Nodes of these flavors that stand in no domain are among them.
    """
    found: dict[_Key, PlaceState] = {}
    known = {name: replace(machines[name], cordoned=False) for name in sorted(machines)}
    for flavor, tree in enumerate(domain_trees(graph, known)):
        for leaf in () if tree is None else tree.lowest:
            assert tree is not None
            domain, place = tree.domains[leaf], tree.place(leaf)
            state = found.setdefault(_key(graph, flavor, place), PlaceState(place, domain.path, machines=domain.machines))
            state.flavors = (*state.flavors, flavor)
            state.capacity = _summed(known[name].capacity for name in domain.machines)
            state.taints = machines[domain.machines[0]].taints if tree.topology.ends_at_nodes else ()
            state.cordoned = all(machines[name].cordoned for name in domain.machines)
    for lacking in nodes_without_place(graph, machines):
        each = machines[lacking.node]
        state = PlaceState((lacking.node,), (lacking.node,), lacking.flavors, (lacking.node,), dict(each.capacity), lacks=lacking)
        state.cordoned, state.taints = each.cordoned, each.taints
        found[_key(graph, lacking.flavors[0], state.place)] = state
    for workload in workloads:
        for flavor, place, pod_set, pods in _standing(graph, workload):
            state = found.setdefault(_key(graph, flavor, place), PlaceState(place, place, (flavor,)))
            asked = each_pod(pod_set)
            for resource in sorted(asked):
                state.used[resource] = state.used.get(resource, 0) + asked[resource] * pods
            before = state.pods.pop()[1] if state.pods and state.pods[-1][0] == workload.name else 0
            state.pods.append((workload.name, before + pods))
    return [found[key] for key in sorted(found, key=lambda key: (found[key].path, key))]


def room_for(graph: PolicyGraph, machines: Mapping[str, Machine], workloads: Iterable[Workload], pod_set: PodSet) -> Iterator[FlavorRoom]:
    """How many pods like those of a pod set find room on each flavor that gives places, one by one and whatever quota there is."""
    book = PlaceBook(graph, machines)
    for workload in workloads:
        if workload.admitted is not None:
            book.add(book.holdings(workload))
    for flavor, tree in enumerate(book.trees):
        if tree is None:
            continue
        lowest = len(tree.levels) - 1
        wish = Wish(pods=1, each=each_pod(pod_set), level=lowest, slice_level=lowest)
        free, keeps_off = partial(book.free, flavor), partial(book.keeps_off, flavor, pod_set=pod_set)
        rooms, tally = count_rooms(tree, wish, free, keeps_off)
        levels = []
        for level, domains in zip(tree.topology.levels, tree.levels, strict=True):
            best = max(domains, key=lambda domain: (rooms[domain].pods, -domain), default=-1)
            if best >= 0:
                levels.append(LevelRoom(level.name, rooms[best].pods, tree.domains[best].path))
        anywhere = sum(rooms[domain].pods for domain in tree.levels[0])
        kept_off = sorted(tally.kept_off.items(), key=lambda each: (-each[1], each[0]))
        yield FlavorRoom(flavor, anywhere, tuple(levels), tally.nodes, tuple(kept_off))


def _key(graph: PolicyGraph, flavor: int, place: DomainPath) -> _Key:
    return (-1 if graph.topologies[graph.flavors[flavor].topology].ends_at_nodes else flavor, place)


def _summed(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in amounts:
        for resource in sorted(each):
            total[resource] = total.get(resource, 0) + each[resource]
    return total


def _standing(graph: PolicyGraph, workload: Workload) -> Iterator[tuple[int, DomainPath, PodSet, int]]:
    """Where the pods of a running workload stand: flavor, place, pod set and how many."""
    placing = {flavor.name: number for number, flavor in enumerate(graph.flavors) if flavor.topology >= 0}
    pod_sets = {pod_set.name: pod_set for pod_set in workload.fact.pod_sets}
    for given in workload.assignments if workload.admitted is not None else ():
        flavor = next((placing[name] for name in sorted(set(given.flavors.values())) if name in placing), None)
        for place in given.places if flavor is not None else ():
            assert flavor is not None
            yield flavor, place.domain, pod_sets[given.pod_set], place.pods

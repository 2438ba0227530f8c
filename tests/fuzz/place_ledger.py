"""Who stands where, kept from facts and decisions alone: nodes as facts tell of them, pods where they were placed.

Whoever gets places is held to the laws of places: all its pods have some, on nodes that take them and have room for them, as near one
another as they asked to stand. Nothing here rests on how a core counts: of the engine only the policy's meaning is taken.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpol.engine.event_parts import POD_COUNT, Assignment, PodSet
from gpol.engine.events import AnyEvent, WorkloadAdmitted, WorkloadEvicted, WorkloadPlaced, WorkloadRejected, WorkloadReplaced
from gpol.engine.facts import (
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    PolicyActivated,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from gpol.engine.policy_graph import PolicyGraph, Topology

Path = tuple[str, ...]


class BrokenLawError(AssertionError):
    """A law does not hold; `law` says in a few words which."""

    def __init__(self, law: str, detail: str) -> None:
        super().__init__(f"{law}: {detail}")
        self.law = law


class Standing(NamedTuple):
    """Pods of a pod set at a place of a flavor; `path` is its domain as it was when the pods came there."""

    pod_set: PodSet
    flavor: int
    place: Path
    path: Path
    pods: int


class PlaceLedger:
    """Nodes, and who stands where, after the events that were taken in. `checked` counts to what the laws were held."""

    def __init__(self) -> None:
        self._graph: PolicyGraph | None = None
        self.nodes: dict[str, NodeAdded | NodeChanged] = {}
        self.stands: dict[str, tuple[Standing, ...]] = {}
        self.checked = Counter[str]()
        self._asked: dict[str, WorkloadSubmitted] = {}
        self._lost: dict[str, tuple[str, ...]] = {}
        self._adopted = set[str]()  # they stand where an outside system put them, whatever they asked for
        self._left: tuple[Standing, ...] = ()  # by whoever is replaced, for the one that takes its place

    def take(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
        """The next event; `graph` is the policy that it activates. Raises BrokenLawError."""
        match event:
            case PolicyActivated():
                self._graph = graph
            case NodeAdded() | NodeChanged():
                self.nodes[event.node] = event
            case NodeRemoved():
                del self.nodes[event.node]
            case WorkloadSubmitted():
                self._asked[event.workload] = event
            case WorkloadUpdated(lost_nodes=lost) if lost is not None:
                self._lost[event.workload] = lost
            case WorkloadAdopted():
                self._adopted.add(event.workload)
                self.stands[event.workload] = tuple(self._taken_over(event))
                if self._policy.settings.follows_nodes:
                    self._lost[event.workload] = tuple(
                        each.place[-1] for each in self.stands[event.workload] if each.place[-1] not in self.nodes
                    )
            case WorkloadReplaced():
                self._left = self._gone(event.workload)
            case WorkloadFinished() | WorkloadCancelled() | WorkloadEvicted() | WorkloadRejected():
                self._gone(event.workload)
            case WorkloadAdmitted():
                before, self._left = self._left, ()
                self._place(event.workload, event.assignments, before, together=True)
            case WorkloadPlaced():
                own = self._policy.settings.places_pods != "counted"
                self._place(event.workload, event.assignments, self.stands[event.workload], together=own)
                lost = self._lost.pop(event.workload, ()) if event.reason == "NodeLost" else ()
                if own:
                    self._has_left(event.workload, lost)

    def used(self) -> dict[tuple[int, Path], Counter[str]]:
        """What is used at each place, as each flavor sees it: of a node whatever the flavor of the pods that stand there."""
        found: dict[tuple[int, Path], Counter[str]] = {}
        for each in (each for standing in self.stands.values() for each in standing):
            for flavor in self._sharing(each.flavor):
                found.setdefault((flavor, each.place), Counter()).update(_uses(each))
        return found

    def _gone(self, name: str) -> tuple[Standing, ...]:
        self._lost.pop(name, None)
        self._adopted.discard(name)
        return self.stands.pop(name, ())

    # --- whoever gets places ----------------------------------------------------------------------------------------------

    def _place(self, name: str, assignments: Sequence[Assignment], before: tuple[Standing, ...], together: bool) -> None:
        """A workload gets places; it, or whose place it takes, stood somewhere `before`. `together`: a leader stands with its workers."""
        pod_sets = {pod_set.name: pod_set for pod_set in self._asked[name].pod_sets}
        counts = {given.pod_set: given.count for given in assignments}
        self.stands[name] = standing = tuple(
            each for given in assignments for each in self._given(name, pod_sets[given.pod_set], given, before)
        )
        there = Counter[tuple[int, Path]]()
        for each in before:
            there[each.flavor, each.place] += each.pods
        for each in standing:
            if each.pods > there[each.flavor, each.place]:
                self._may_stand(name, each)
                self._has_room(name, each)
        kept = {(each.pod_set.name, each.place) for each in before}
        unchanged = all(each.path == self._path(each.flavor, each.place) for each in standing if (each.pod_set.name, each.place) in kept)
        if unchanged and name not in self._adopted:
            self._are_near(name, standing, counts, together)

    def _taken_over(self, event: WorkloadAdopted) -> Iterator[Standing]:
        """The places at which a workload runs already; of a node that is not there, or in no domain, the path is empty."""
        pod_sets = {pod_set.name: pod_set for pod_set in self._asked[event.workload].pod_sets}
        for placement in event.placements:
            names = set(placement.flavors.values())
            flavor = next(number for number, each in enumerate(self._policy.flavors) if each.name in names and each.topology >= 0)
            for place in placement.places:
                path = self._path(flavor, place.domain) or ()
                yield Standing(pod_sets[placement.pod_set], flavor, place.domain, path, place.pods)

    def _given(self, name: str, pod_set: PodSet, given: Assignment, before: Iterable[Standing]) -> Iterator[Standing]:
        """The places of a pod set: of all its pods, where its flavor gives places, and of none where it does not."""
        flavors = [number for number, flavor in enumerate(self._policy.flavors) if flavor.name in given.flavors.values()]
        placing = [flavor for flavor in flavors if self._policy.flavors[flavor].topology >= 0]
        wanted = given.count if placing and not given.delayed else 0
        placed = sum(place.pods for place in given.places)
        _need(placed == wanted, "all pods stand somewhere", f"{name} has {wanted} pods {pod_set.name} to place, and places for {placed}")
        self.checked["admitted pod sets with all their places"] += bool(wanted)
        for place in given.places:
            held = (each.path for each in before if (each.pod_set.name, each.place) == (pod_set.name, place.domain))
            path = next(held, None)
            path = self._path(placing[0], place.domain) if path is None else path
            _need(path is not None, "places exist", f"{name} stands in {place.domain}, which there is not")
            assert path is not None
            yield Standing(pod_set, placing[0], place.domain, path, place.pods)

    def _may_stand(self, name: str, each: Standing) -> None:
        """It comes to a node of its flavor, not cordoned, with the labels it asks for and no taint that it does not tolerate."""
        _need(bool(self._there(each.flavor, each.place)), "places take pods", f"{name} came to {each.place}, which takes nobody")
        self.checked["places that were taken"] += 1
        if not self._topology(each.flavor).ends_at_nodes:
            return
        node, tolerated = self.nodes[each.place[-1]], {toleration.key for toleration in each.pod_set.tolerations}
        asked = each.pod_set.node_selector.items()
        _need(all(node.labels.get(key) == value for key, value in asked), "places have labels", f"{name} came to {each.place}")
        taints = [taint.key for taint in node.taints if taint.effect != "PreferNoSchedule" and taint.key not in tolerated]
        _need(not taints, "taints keep off", f"{name} came to {each.place} with taints {taints}")

    def _has_room(self, name: str, each: Standing) -> None:
        """No more is used of a node or domain than it has, of what the pods ask for that came there.

        How many pods a domain takes is known where each of its nodes says it.
        """
        topology = self._topology(each.flavor)
        for flavors in self._sharing(each.flavor), self._of_its_topology(each.flavor):
            machines = sorted({node for flavor in flavors for node in self._there(flavor, each.place)})
            has, uses = Counter[str](), Counter[str]()
            for node in machines:
                has.update(self.nodes[node].capacity)
            takes_any = any(POD_COUNT not in self.nodes[node].capacity for node in machines)
            for other in (other for standing in self.stands.values() for other in standing):
                if other.place == each.place and other.flavor in flavors:
                    uses.update(_uses(other))
            for resource in (resource for resource, amount in _uses(each).items() if amount):
                full = uses[resource] > has[resource] and not (resource == POD_COUNT and takes_any)
                law = "no node is exceeded" if topology.ends_at_nodes else "no domain is exceeded"
                _need(not full, law, f"{uses[resource]} {resource} are used of {has[resource]} in {each.place} once {name} is there")

    def _are_near(self, name: str, standing: Sequence[Standing], counts: dict[str, int], together: bool) -> None:
        """Pods that are to stand within a domain do, with their leader; and slices are whole.

        As Kueue does it pods that leave a lost node do so pod set by pod set, and a leader may stand elsewhere then.
        """
        for pod_set in dict.fromkeys(each.pod_set.name for each in standing):
            theirs = [each for each in standing if each.pod_set.name == pod_set]
            asked, topology = theirs[0].pod_set, self._topology(theirs[0].flavor)
            joined = [each for each in standing if asked.group and each.pod_set.group == asked.group]
            led = len({each.pod_set.name for each in joined}) == 2 and min(counts[each.pod_set.name] for each in joined) == 1
            if asked.within:
                domains = {_up_to(topology, asked.within, each) for each in (joined if led and together else theirs)}
                _need(len(domains) == 1, "a gang lies within one domain", f"{name} asks for one {asked.within}, and stands in {domains}")
                self.checked["gangs within one domain"] += 1
            for part in asked.slices if counts[pod_set] % (asked.slices[0].size if asked.slices else 1) == 0 else ():
                pods = Counter[Path]()
                for each in theirs:
                    pods[_up_to(topology, part.level, each)] += each.pods
                whole = all(count % part.size == 0 for count in pods.values())
                _need(whole, "slices are whole", f"{name} asks for slices of {part.size} in a {part.level}, and stands in {dict(pods)}")
                self.checked["slices that are whole"] += 1

    def _has_left(self, name: str, lost: Sequence[str]) -> None:
        """No pods stand on nodes that are lost; as Kueue does it they may come back to one."""
        still = [each.place for each in self.stands[name] if each.place[-1] in lost]
        _need(not still, "pods leave lost nodes", f"{name} has lost {lost}, and stands on {still}")
        self.checked["workloads that left lost nodes"] += bool(lost)

    # --- domains ----------------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> PolicyGraph:
        assert self._graph is not None
        return self._graph

    def _topology(self, flavor: int) -> Topology:
        return self._policy.topologies[self._policy.flavors[flavor].topology]

    def _sharing(self, flavor: int) -> list[int]:
        """The flavors that see the same places: those of nodes all of them, any other one itself alone."""
        if not self._topology(flavor).ends_at_nodes:
            return [flavor]
        return [other for other, each in enumerate(self._policy.flavors) if each.topology >= 0 and self._topology(other).ends_at_nodes]

    def _of_its_topology(self, flavor: int) -> list[int]:
        return [other for other, each in enumerate(self._policy.flavors) if each.topology == self._policy.flavors[flavor].topology]

    def _there(self, flavor: int, place: Path) -> list[str]:
        """The nodes of a flavor in a place that take pods."""
        said, found = self._policy.flavors[flavor], []
        for name in [place[-1]] if self._topology(flavor).ends_at_nodes else sorted(self.nodes):
            node, path = self.nodes.get(name), self._path_of_node(flavor, name)
            if node is None or node.cordoned or path is None or path[-len(place) :] != place:
                continue
            if all(node.labels.get(key) == value for key, value in (*(said.nodes or ()), *said.labels)):
                found.append(name)
        return found

    def _path(self, flavor: int, place: Path) -> Path | None:
        """The whole path of a place, as its node's labels are now; None where it is none."""
        return self._path_of_node(flavor, place[-1]) if self._topology(flavor).ends_at_nodes else place

    def _path_of_node(self, flavor: int, name: str) -> Path | None:
        labels = self.nodes[name].labels if name in self.nodes else {}
        path = tuple(name if level.label is None else labels.get(level.label, "") for level in self._topology(flavor).levels)
        return path if name in self.nodes and all(path) else None


def _uses(each: Standing) -> dict[str, int]:
    """What pods use where they stand."""
    return {POD_COUNT: each.pods, **{resource: amount * each.pods for resource, amount in each.pod_set.requests.items()}}


def _up_to(topology: Topology, level: str, each: Standing) -> Path:
    """The domain of a level in which pods stand."""
    index = topology.level(level)
    _need(index is not None, "levels exist", f"pods ask for the level {level} of {topology.name}, which has none")
    assert index is not None
    return each.path[: index + 1]


def _need(holds: bool, law: str, detail: str) -> None:
    if not holds:
        raise BrokenLawError(law, detail)

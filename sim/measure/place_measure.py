"""Figures of places, counted from events alone: how well the nodes of each class were used, and which GPUs were free and of no use.

A GPU is *stranded* while it is free on a node that takes pods, and no pod fits there of any shape that was asked for so far: of any pod
set of any submission that asks for GPUs and may get the node's flavor. Labels, taints and where pods want to stand do not count, nor does
quota. What is free on a node of such a flavor that stands in no domain is stranded, whatever is asked for: no pod gets a place there.
Exact: thousandths of a GPU times microseconds. Of the shapes only those are kept that ask for less than others.

Where somebody asks for one GPU, hardly one is ever stranded. So it can also be judged by one pod, whatever is asked for: which GPUs are
of no use to a pod of eight.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...engine.cores import Core, PlayedBatch, PlayedChunk
from ...engine.event_parts import POD_COUNT, Assignment, PodSet
from ...engine.events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadResized,
)
from ...engine.explain.unplaced import without_place_told
from ...engine.facts import (
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    PolicyActivated,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
)
from ...engine.nodes.conditions import Taint
from ...engine.nodes.domains import DomainPath, domain_trees
from ...engine.nodes.inventory import Machine
from ...engine.nodes.without_places import nodes_without_place
from ...engine.policy_graph import PolicyGraph
from ..drive.given_facts import PlayedStretch
from .gpu_amounts import requested, thousandths

MOST_REMEMBERED_THERE = 64
"""Of so many workloads it is remembered for each place what was stranded while they stood there: of those with most."""


def asked_by(core: Core, workload: str) -> tuple[PodSet, ...]:
    """The pod sets of a live workload; none of one that is over."""
    known = core.view.workload(workload)
    return () if known is None else known.fact.pod_sets


NodeClass = tuple[tuple[str, ...], int]
"""Nodes of the same flavors with as many GPUs, in thousandths."""


@dataclass(slots=True)
class ClassFigures:
    """GPU-time of the nodes of a class: what there was, what was used, and what was stranded; thousandths of a GPU times microseconds.

    `most_stranded` is how much was stranded at once, at most, for any time at all; thousandths of a GPU.
    """

    existed: int = 0
    used: int = 0
    stranded: int = 0
    most_stranded: int = 0


@dataclass(slots=True)
class StrandedThere:
    """GPU-time that was stranded at a place, and by workload what of it was while that stood there."""

    area: int = 0
    by: dict[str, int] = field(default_factory=dict)

    def add(self, area: int, workloads: Iterable[str]) -> None:
        """Add what was stranded while these workloads stood there."""
        self.area += area
        for name in workloads:
            self.by[name] = self.by.get(name, 0) + area
        if len(self.by) > 2 * MOST_REMEMBERED_THERE:
            first = sorted(self.by, key=lambda name: (-self.by[name], name))[:MOST_REMEMBERED_THERE]
            self.by = {name: self.by[name] for name in first}


@dataclass(slots=True)
class _Place:
    """A place now: its class, what is there and used, who stands there with how many holdings, and since when all of that is so.

    One that `is_outside` is a node in no domain, where no pod gets a place.
    """

    path: DomainPath
    flavors: tuple[str, ...]
    capacity: dict[str, int]
    cordoned: bool
    is_outside: bool = False
    used: dict[str, int] = field(default_factory=dict)
    who: dict[str, int] = field(default_factory=dict)
    since: int = 0
    stranded: int = 0

    @property
    def exists(self) -> int:
        return _gpus(self.capacity)

    @property
    def of_class(self) -> NodeClass:
        return self.flavors, self.exists


_Key = tuple[str, DomainPath]
_Held = tuple[str, DomainPath, Mapping[str, int]]
"""A flavor, a place of it, and what is used there."""

_Shape = tuple[tuple[str, ...], tuple[tuple[str, int], ...]]
"""The flavors that a pod may get (none: any), and what it asks for."""


class PlaceMeasure:
    """Takes all that was played, in order, and counts where a policy gives pods places.

    `pod_sets_of` is asked for the pod sets of workloads that were submitted under a policy that gave none. `judged_by`: where no such pod
    fits is stranded what is free, from the start; without it, where none fits that was asked for so far.
    """

    def __init__(self, pod_sets_of: Callable[[str], tuple[PodSet, ...]] = lambda _: (), judged_by: PodSet | None = None) -> None:
        self._pod_sets_of = pod_sets_of
        self.judged_by = judged_by
        self.classes: dict[NodeClass, ClassFigures] = {}
        self.stranded: dict[DomainPath, StrandedThere] = {}
        self.outside: dict[str, str] = {}
        """Nodes of flavors that give places that stood in no domain at any time, and what each of them lacked, in words."""
        self._graph: PolicyGraph | None = None
        self._shared: dict[str, bool] = {}
        """The flavors that give places, and whether these are nodes, which others may share."""
        self._machines: dict[str, Machine] = {}
        self._places: dict[_Key, _Place] | None = {}
        self._shapes: list[_Shape] = [] if judged_by is None else [_shape(judged_by)]
        self._pod_sets: dict[str, tuple[PodSet, ...]] = {}
        self._held: dict[str, list[_Held]] = {}
        self._now = 0
        self._stranded_now: dict[NodeClass, int] = {}
        """How much is stranded now on the nodes of each class."""
        self._most_stranded = 0

    def take(self, played: PlayedBatch | PlayedChunk | PlayedStretch, graph: PolicyGraph) -> None:
        """Take in what this policy decided."""
        if not self._shared and all(flavor.topology < 0 for flavor in graph.flavors):
            if isinstance(played, tuple):
                self._note_node(played[0])
            return
        for fact, decisions in [played] if isinstance(played, tuple) else played.batches():
            self._batch(fact, decisions, graph)

    def finish(self) -> None:
        """Count up to the last event."""
        for place in self._known().values():
            self._settle(place)

    @property
    def gives_places(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.classes)

    def total(self) -> ClassFigures:
        """The sum over all classes."""
        each = self.classes.values()
        areas = (sum(one.existed for one in each), sum(one.used for one in each), sum(one.stranded for one in each))
        return ClassFigures(*areas, self._most_stranded)

    def nodes(self) -> dict[NodeClass, int]:
        """How many places there are of each class at the end."""
        found: dict[NodeClass, int] = {}
        for place in self._known().values():
            found[place.of_class] = found.get(place.of_class, 0) + 1
        return found

    # --- events ---------------------------------------------------------------------------------------------------------

    def _batch(self, fact: Fact, decisions: list[AnyDecision], graph: PolicyGraph) -> None:
        if fact.time > self._now and self._graph is not None:
            self._known()  # what is so since the last moment is looked at before the next one begins
            self._note_most()
        self._now = fact.time
        if graph is not self._graph:
            self._leave()
            self._graph = graph
            placed = (flavor for flavor in graph.flavors if flavor.topology >= 0)
            self._shared = {flavor.name: graph.topologies[flavor.topology].ends_at_nodes for flavor in placed}
        match fact:
            case PolicyActivated():
                self._leave()
            case NodeAdded() | NodeChanged() | NodeRemoved():
                self._leave()
                self._note_node(fact)
            case WorkloadSubmitted():
                self._pod_sets[fact.workload] = fact.pod_sets
                self._ask(fact.pod_sets)
            case WorkloadAdopted():
                self._stand(fact.workload, [Assignment(pod_set=each.pod_set, count=each.count, flavors=each.flavors, places=each.places)
                                            for each in fact.placements])  # fmt: skip
            case WorkloadFinished() | WorkloadCancelled():
                self._go(fact.workload)
                self._pod_sets.pop(fact.workload, None)
        for decision in decisions:
            self._decided(decision)

    def _note_node(self, fact: Fact) -> None:
        match fact:
            case NodeAdded() | NodeChanged():
                taints = tuple(Taint(taint.key, taint.value, taint.effect) for taint in fact.taints)
                self._machines[fact.node] = Machine(fact.labels, fact.capacity, -1, taints, fact.cordoned)
            case NodeRemoved():
                self._machines.pop(fact.node, None)

    def _decided(self, decision: AnyDecision) -> None:
        match decision:
            case WorkloadAdmitted():
                self._stand(decision.workload, decision.assignments)
            case WorkloadPlaced() | WorkloadMoved() | WorkloadResized():
                self._go(decision.workload)
                self._stand(decision.workload, decision.assignments)
            case WorkloadEvicted():
                self._go(decision.workload)
            case WorkloadReplaced() | WorkloadRejected():
                self._go(decision.workload)
                self._pod_sets.pop(decision.workload, None)

    def _ask(self, pod_sets: Iterable[PodSet]) -> None:
        """Note the shapes of pods that ask for GPUs; what fits where they do is stranded no more."""
        new: list[_Shape] = []
        for pod_set in pod_sets if self.judged_by is None else ():
            shape = _shape(pod_set)
            if requested((pod_set,)) and not any(_asks_less(other, shape) for other in self._shapes):
                self._shapes = [*(other for other in self._shapes if not _asks_less(shape, other)), shape]
                new.append(shape)
        if new:
            for place in self._known().values():
                if (place.stranded and not place.is_outside and any(_fits(place, shape) for shape in new)) or len(self._shapes) == len(new):
                    self._settle(place)
                    self._judge(place)

    def _stand(self, workload: str, given: Iterable[Assignment]) -> None:
        pod_sets = {pod_set.name: pod_set for pod_set in self._pod_sets.get(workload) or self._pod_sets_of(workload)}
        held: list[_Held] = []
        for each in given:
            flavor = next((name for name in sorted(set(each.flavors.values())) if name in self._shared), None)
            pod_set = pod_sets.get(each.pod_set)
            if flavor is not None and pod_set is not None:
                asked = {**pod_set.requests, POD_COUNT: 1}
                held += [(flavor, placed.domain, {name: asked[name] * placed.pods for name in asked}) for placed in each.places]
        self._known()  # places that are made anew already have whoever stands there
        self._held[workload] = held
        self._change(workload, held, 1)

    def _go(self, workload: str) -> None:
        self._known()
        self._change(workload, self._held.pop(workload, []), -1)

    # --- places ---------------------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        """Count what is so up to now: the places change, and are looked at anew when they are asked for."""
        if self._places is not None:
            for place in self._places.values():
                self._settle(place)
            self._places = None
            self._stranded_now.clear()

    def _known(self) -> dict[_Key, _Place]:
        if self._places is None:
            self._places = self._made()
        return self._places

    def _made(self) -> dict[_Key, _Place]:
        assert self._graph is not None
        found: dict[_Key, _Place] = {}
        known = {name: replace(self._machines[name], cordoned=False) for name in sorted(self._machines)}
        for flavor, tree in zip(self._graph.flavors, domain_trees(self._graph, known), strict=True):
            for leaf in () if tree is None else tree.lowest:
                assert tree is not None
                domain = tree.domains[leaf]
                capacity: dict[str, int] = {}
                for name in domain.machines:
                    for resource, amount in known[name].capacity.items():
                        capacity[resource] = capacity.get(resource, 0) + amount
                key = self._key(flavor.name, tree.place(leaf))
                before = found.get(key)
                flavors = (flavor.name,) if before is None else (*before.flavors, flavor.name)
                cordoned = all(self._machines[name].cordoned for name in domain.machines)
                found[key] = _Place(domain.path if before is None else before.path, flavors, capacity, cordoned, since=self._now)
        for lacking in nodes_without_place(self._graph, self._machines):
            names, node = tuple(self._graph.flavors[flavor].name for flavor in lacking.flavors), self._machines[lacking.node]
            path = (lacking.node,)
            found[self._key(names[0], path)] = _Place(path, names, node.capacity, node.cordoned, is_outside=True, since=self._now)
            self.outside[lacking.node] = without_place_told(self._graph, lacking)
        self._places = found
        for workload in self._held:
            self._change(workload, self._held[workload], 1, judged=False)
        for place in found.values():
            self._judge(place)
        return found

    def _key(self, flavor: str, place: DomainPath) -> _Key:
        return ("" if self._shared.get(flavor, False) else flavor, place)

    def _change(self, workload: str, held: Iterable[_Held], sign: int, judged: bool = True) -> None:
        for flavor, where, amounts in held:
            place = self._known().get(self._key(flavor, where))
            if place is None:
                continue  # its node is gone
            self._settle(place)
            for resource, amount in amounts.items():
                place.used[resource] = place.used.get(resource, 0) + sign * amount
            place.who[workload] = place.who.get(workload, 0) + sign
            if not place.who[workload]:
                del place.who[workload]
            if judged:
                self._judge(place)

    def _settle(self, place: _Place) -> None:
        """Count what has been so at a place up to now."""
        length, place.since = self._now - place.since, self._now
        figures = self.classes.setdefault(place.of_class, ClassFigures())
        if length:
            figures.existed += place.exists * length
            figures.used += _gpus(place.used) * length
            figures.stranded += place.stranded * length
        if place.stranded and length:
            self.stranded.setdefault(place.path, StrandedThere()).add(place.stranded * length, place.who)

    def _judge(self, place: _Place) -> None:
        """How much is stranded there now; before anything was asked for, only what is in no domain."""
        free = place.exists - _gpus(place.used)
        unfit = bool(self._shapes) and not any(_fits(place, shape) for shape in self._shapes)
        useless = free > 0 and not place.cordoned and (place.is_outside or unfit)
        before, place.stranded = place.stranded, free if useless else 0
        if place.stranded != before:
            self._stranded_now[place.of_class] = self._stranded_now.get(place.of_class, 0) + place.stranded - before

    def _note_most(self) -> None:
        """How much is stranded at once, of what has been so for some time."""
        for of_class, stranded in self._stranded_now.items():
            if stranded:
                figures = self.classes.setdefault(of_class, ClassFigures())
                figures.most_stranded = max(figures.most_stranded, stranded)
        self._most_stranded = max(self._most_stranded, sum(self._stranded_now.values()))


def _gpus(amounts: Mapping[str, int]) -> int:
    return sum(thousandths(resource, amount) for resource, amount in amounts.items())


def _shape(pod_set: PodSet) -> _Shape:
    return tuple(sorted(pod_set.flavors)), tuple(sorted({**pod_set.requests, POD_COUNT: 1}.items()))


def _fits(place: _Place, shape: _Shape) -> bool:
    flavors, asked = shape
    if flavors and not any(flavor in place.flavors for flavor in flavors):
        return False
    known = ((resource, amount) for resource, amount in asked if resource in place.capacity or resource != POD_COUNT)
    return all(place.capacity.get(resource, 0) - place.used.get(resource, 0) >= amount for resource, amount in known)


def _asks_less(shape: _Shape, other: _Shape) -> bool:
    """Whether a shape fits wherever another one does."""
    flavors, asked = shape
    more = dict(other[1])
    return (not flavors or (bool(other[0]) and set(other[0]) <= set(flavors))) and all(
        amount <= more.get(resource, 0) for resource, amount in asked
    )

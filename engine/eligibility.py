"""Which flavors a pod set may run on at all: taints it tolerates, labels it selects, nodes that are large enough for one of its pods.

A node selector or affinity term is compared with the labels that the flavor itself declares, and with those that select its nodes. A term
that says nothing about them matches (Kueue: pkg/scheduler/flavorassigner, flavorSelector; Kubernetes: NodeAffinity and TaintToleration).
"""

from collections.abc import Collection, Iterable
from functools import cache

from . import event_parts
from .event_parts import PodSet, asked_by_one
from .intake.capacity import NodeSizes
from .nodes import conditions
from .nodes.conditions import Taint
from .outcome.nomination import Obstacle
from .policy_graph import Flavor, Group, PolicyGraph, Queue, Topology

LabelCondition = event_parts.Requirement | conditions.Requirement
"""A condition on labels, of a fact or of the policy."""

Tolerance = event_parts.Toleration | conditions.Toleration
"""A toleration, of a fact or of the policy."""

_REPELLING = ("NoSchedule", "NoExecute")


def barrier(graph: PolicyGraph, sizes: NodeSizes, flavor: int, pod_set: PodSet, resources: Collection[str]) -> Obstacle | None:
    """What keeps a pod set off a flavor, whatever is free there: its list of flavors, a taint, its selectors, the size of its pods.

    `resources` are those that it would get from the flavor.
    """
    known = graph.flavors[flavor]
    if known.missing:
        return Obstacle("missing", flavor)
    if pod_set.flavors and known.name not in pod_set.flavors:
        return Obstacle("not-selected", flavor)
    taint = untolerated(known, pod_set)
    if taint is not None:
        return Obstacle("taint", flavor, index=known.taints.index(taint))
    return _too_large(sizes, flavor, pod_set, resources) if selects(known, pod_set) else Obstacle("not-selected", flavor)


def without_places(graph: PolicyGraph, queue: Queue, group: Group, flavor: int, pod_set: PodSet) -> Obstacle | None:
    """What keeps a pod set off a flavor of a queue's group by what is said of places: it asks for some that the flavor does not give.

    Where the policy decides in cycles, a pod set that says nothing of places gets a flavor that gives some only in a queue of which all
    flavors do (Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS).
    """
    topology = graph.flavors[flavor].topology
    if not pod_set.asks_for_places:
        apart = graph.settings.places_are_asked_for and not gives_places_only(graph, queue)
        return Obstacle("only-with-places", flavor) if topology >= 0 and apart else None
    if topology < 0:
        asked = any(resource in pod_set.requests for resource in group.resources)
        return Obstacle("without-places", flavor) if asked else None
    return Obstacle("no-level", flavor) if lacking_levels(graph.topologies[topology], pod_set) else None


def lacking_levels(topology: Topology, pod_set: PodSet) -> list[str]:
    """The levels that a pod set names and a topology does not have, each once."""
    named = (pod_set.within, pod_set.near, *(part.level for part in pod_set.slices))
    return list(dict.fromkeys(level for level in named if level and topology.level(level) is None))


def gives_places_only(graph: PolicyGraph, queue: Queue) -> bool:
    """Whether each flavor that a queue may use gives places."""
    return all(graph.flavors[flavor].topology >= 0 for group in groups_of(graph, queue) for flavor in group.flavors)


def _too_large(sizes: NodeSizes, flavor: int, pod_set: PodSet, resources: Collection[str]) -> Obstacle | None:
    """One pod of a pod set is larger than every node of a flavor, as if all of them were empty.

    It names the first resource of which no node has enough; none where it takes several resources to say so: one node has enough of
    one of them, and another node enough of another one.
    """
    asked = {resource: asked_by_one(pod_set, resource) for resource in sorted(resources)}
    if not sizes[flavor] or any(all(size.get(each, 0) >= asked[each] for each in asked) for size in sizes[flavor]):
        return None
    for resource in asked:
        largest = max(size.get(resource, 0) for size in sizes[flavor])
        if largest < asked[resource]:
            return Obstacle("too-large", flavor, resource, asked=asked[resource], limit=largest)
    return Obstacle("too-large", flavor)


def untolerated(flavor: Flavor, pod_set: PodSet) -> Taint | None:
    """The first taint of a flavor that keeps the pod set off it."""
    return repelling(flavor.taints, [*pod_set.tolerations, *flavor.tolerations])


def repelling(taints: Iterable[Taint], tolerations: Collection[Tolerance]) -> Taint | None:
    """The first of some taints that keeps pods with these tolerations off."""
    for taint in taints:
        if taint.effect in _REPELLING and not any(_tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def _tolerates(toleration: Tolerance, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.key not in ("", taint.key):
        return False
    if toleration.key == "" and toleration.operator != "Exists":
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value


def labels_of(flavor: Flavor) -> dict[str, str]:
    """The labels that all nodes of a flavor have, as the policy says."""
    return dict((*(flavor.nodes or ()), *flavor.labels))


def selects(flavor: Flavor, pod_set: PodSet) -> bool:
    """Whether a pod set's node selector and required affinity let it run on a flavor."""
    labels = labels_of(flavor)
    if any(labels.get(key, value) != value for key, value in sorted(pod_set.node_selector.items())):
        return False
    if not pod_set.affinity:
        return True
    terms = [[condition for condition in term if condition.key in labels] for term in pod_set.affinity]
    return any(not term for term in terms) or any(all_hold(term, labels) for term in terms)


def all_hold(conditions: Iterable[LabelCondition], labels: dict[str, str]) -> bool:
    """Whether labels meet every condition."""
    return all(holds(condition, labels) for condition in conditions)


def holds(condition: LabelCondition, labels: dict[str, str]) -> bool:
    """Whether labels meet a condition. Gt and Lt compare whole numbers; what is none meets neither."""
    value = labels.get(condition.key)
    match condition.operator:
        case "In":
            return value is not None and value in condition.values
        case "NotIn":
            return value is None or value not in condition.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            left, right = _whole(value), _whole(condition.values[0] if len(condition.values) == 1 else None)
            if left is None or right is None:
                return False
            return left > right if operator == "Gt" else left < right


def _whole(text: str | None) -> int | None:
    """Text as a whole number of at most 64 bits; None where it is none."""
    if text is None or len(text) > 20 or not text.removeprefix("-").removeprefix("+").isdecimal() or not text.isascii():
        return None
    return int(text)


def groups_of(graph: PolicyGraph, queue: Queue) -> tuple[Group, ...]:
    """The resource groups of a queue: its own, or those of the whole policy, each with the flavors it may use."""
    if queue.groups:
        return queue.groups
    having = [{resource for resource, _ in flavor.capacity} for flavor in graph.flavors]
    return tuple(
        Group(resources, tuple(flavor for flavor in queue.flavors if having[flavor] & set(resources))) for resources in graph.groups
    )


def companions(index: int, pod_set: PodSet) -> str:
    """What a pod set has in common with those that get their flavors with it, and with no other; `index` is its place in the workload."""
    return f"group {pod_set.group}" if pod_set.group else f"alone {index}"


_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3


@cache
def turn(resource: str) -> tuple[int, str]:
    """The place of a resource among several that get their flavor together, the least is the first: by that one a search goes on.

    Kueue keeps resources in the order of a hash of their names (pkg/resources/slice_requests.go, FNV-1a of 64 bits), and looks up where
    the search goes on for the first of them alone. So a pod set that does not ask for that one, in a group that does, begins at the first
    flavor again.
    """
    value = _BASIS
    for byte in resource.encode():
        value = (value ^ byte) * _PRIME % 2**64
    return value, resource

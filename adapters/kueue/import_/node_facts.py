"""Nodes as facts, where flavors have a topology: what is free there for workloads that are placed, less what other pods use.

A node is called as Kueue calls it where it says where pods are: by its label kubernetes.io/hostname in a topology that ends at nodes.
Source: Kueue, pkg/cache/scheduler/tas_nodes_cache.go, tas_topology_tree.go and tas_non_tas_pod_cache.go.
"""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from ....engine.event_parts import POD_COUNT
from ....engine.facts import NodeAdded
from ..problems import Findings
from ..read.objects import HOSTNAME, ClusterNode, KueueTopology, Objects, OtherPod, ResourceFlavor
from .topologies import topologies_of_flavors

_FOR_NOTHING = "counts for nothing: no ResourceFlavor has a topology that is there"


def node_facts(objects: Objects, time: int, found: Findings) -> list[NodeAdded]:
    """The nodes on which flavors place pods, in order of name; what is left out of them is noted."""
    topologies = topologies_of_flavors(objects)
    if not topologies:
        _note_all(objects, found)
        return []
    flavors = [flavor for flavor in objects.flavors if flavor.name in topologies]
    taken = taken_by(objects.pods)
    _note_lost_pods(objects, found)
    made: dict[str, NodeAdded] = {}
    for node in sorted(objects.nodes, key=lambda node: node.name):
        found.begin("Node", node.name, node.file)
        of_node = [topologies[flavor.name] for flavor in flavors if is_of_flavor(node, flavor, topologies[flavor.name])]
        if not of_node:
            _note_left_out(node, flavors, topologies, found)
        elif not node.ready:
            found.note("status.conditions", "is not ready: Kueue places nothing there, and it is left out")
        else:
            name = domain_name(node, of_node)
            if name in made:
                cause = f"has the hostname of another node, {name}: Kueue adds both up, and goes by the labels of either by chance"
                found.problem("metadata.labels", cause, "let each node have a hostname of its own")
            made.update((name, fact) for fact in node_added(name, node, node.labels, taken.get(node.name, {}), time, found))
    return [made[name] for name in sorted(made)]


def _note_left_out(node: ClusterNode, flavors: Iterable[ResourceFlavor], topologies: Mapping[str, KueueTopology], found: Findings) -> None:
    """Say why no flavor places pods on a node: it lacks the label of a level, or is of none of them."""
    for flavor in (flavor for flavor in flavors if _has_labels(node, flavor)):
        lacking = next(level for level in topologies[flavor.name].levels if level not in node.labels)
        where = f"a level of Topology {flavor.topology}, in which ResourceFlavor {flavor.name} places pods"
        found.note("metadata.labels", f"has no label {lacking}, {where}: it is left out")
        return
    found.note("metadata.labels", "is of no ResourceFlavor with a topology: it is left out")


def is_of_flavor(node: ClusterNode, flavor: ResourceFlavor, topology: KueueTopology) -> bool:
    """Whether a flavor places pods on a node: it has the flavor's labels, and one for each level of its topology."""
    return _has_labels(node, flavor) and all(level in node.labels for level in topology.levels)


def _has_labels(node: ClusterNode, flavor: ResourceFlavor) -> bool:
    return all(node.labels.get(key) == value for key, value in flavor.labels)


def domain_name(node: ClusterNode, topologies: Iterable[KueueTopology]) -> str:
    """What a node is called where flavors with these topologies place pods on it."""
    return node.labels[HOSTNAME] if any(topology.ends_at_nodes for topology in topologies) else node.name


def taken_by(pods: Iterable[OtherPod]) -> dict[str, dict[str, int]]:
    """What pods use by node and resource; each takes a place of a pod, too."""
    taken: dict[str, dict[str, int]] = {}
    for pod in pods:
        of_node = taken.setdefault(pod.node, {})
        for resource, amount in (*pod.requests.items(), (POD_COUNT, 1)):
            of_node[resource] = of_node.get(resource, 0) + amount
    return taken


def node_added(
    name: str, node: ClusterNode, labels: dict[str, str], taken: Mapping[str, int], time: int, found: Findings
) -> Iterator[NodeAdded]:
    """The fact of a node of this name and with these labels; none where there can be no such fact, which is reported."""
    left = {resource: amount - taken.get(resource, 0) for resource, amount in node.allocatable.items()}
    for resource in (resource for resource, amount in left.items() if amount < 0):
        found.note("status.allocatable", f"has less {resource} than its pods use: it counts as if it had none left")
    capacity = {resource: max(0, amount) for resource, amount in left.items()}
    try:
        yield NodeAdded(time=time, node=name, labels=labels, capacity=capacity, taints=node.taints, cordoned=node.cordoned)
    except ValidationError as error:
        told = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(step) for step in told["loc"])
        found.problem("", f"cannot be imported: {field}: {told['msg']}", "correct the object, or leave it out of the dump")


def _note_all(objects: Objects, found: Findings) -> None:
    """Say that nodes and their pods are of no account."""
    for kind, given in (("Node", objects.nodes), ("Pod", objects.pods)):
        for each in given:
            found.begin(kind, each.name, each.file)
            found.note("", _FOR_NOTHING)


def _note_lost_pods(objects: Objects, found: Findings) -> None:
    known = {node.name for node in objects.nodes}
    for pod in objects.pods:
        if pod.node not in known:
            found.begin("Pod", pod.name, pod.file)
            found.note("spec.nodeName", "is no node of the dump: the pod takes no room")

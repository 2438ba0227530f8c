"""The nodes of a cluster as facts: those that may take pods, with the labels by which the policy tells flavors apart, and what they have.

Where flavors are amounts, a node that is not ready, is cordoned or is being deleted is no place for anybody new. So it counts as gone until
it may take pods again. Where pods get places, those on such a node stand there still, so it is cordoned. It is gone, and lost to them, only
when its object is, or says that it is out of service. All counts there that keeps pods off a node: its taints, its labels, what it has.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.eligibility import labels_of
from ...engine.event_parts import MOST_NAME, POD_COUNT, Taint
from ...engine.facts import NodeAdded, NodeChanged, NodeRemoved
from ...engine.policy_graph import PolicyGraph
from ...journal.journal import Journal
from ..kueue.read.quantity import QuantityError, amount, parse
from .resource_names import in_policy_names

if TYPE_CHECKING:
    from .api import Plain  # what only asks about a policy, such as an export, does without the clients of a cluster

HOSTNAME = "kubernetes.io/hostname"
"""The label by which pods select a single node. Most often it is the node's name, but nothing demands that."""

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""The taint by which an administrator says that a node's machine is off for good; Kubernetes deletes its pods then."""

_MOST_LABELS, _MOST_TAINTS, _MOST_RESOURCES = 256, 64, 64
"""As many as a fact holds."""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node: its labels, what is allocatable there, as texts by resource, its taints, and whether it takes no new pods now."""

    labels: Mapping[str, str]
    allocatable: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False


class NodeFact(NamedTuple):
    """What a fact says of a node beside its name."""

    labels: dict[str, str]
    capacity: dict[str, int]
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False


def read_node(plain: "Plain") -> NodeSeen | None:
    """Read a Node; None for one that is out of service."""
    metadata, spec, status = plain.get("metadata") or {}, plain.get("spec") or {}, plain.get("status") or {}
    conditions = {each.get("type"): each.get("status") for each in status.get("conditions") or []}
    taints = tuple(dict.fromkeys(_taint(each) for each in spec.get("taints") or []))
    if any(taint.key == OUT_OF_SERVICE for taint in taints):
        return None
    labels = {str(key): str(value) for key, value in (metadata.get("labels") or {}).items()}
    allocatable = {str(key): str(value) for key, value in (status.get("allocatable") or {}).items()}
    cordoned = bool(spec.get("unschedulable") or metadata.get("deletionTimestamp")) or conditions.get("Ready") != "True"
    return NodeSeen(labels, allocatable, taints, cordoned)


def _taint(plain: Mapping[str, Any]) -> Taint:
    return Taint(key=str(plain.get("key"))[:MOST_NAME], value=str(plain.get("value") or ""), effect=plain.get("effect") or "NoSchedule")


class Supply:
    """The nodes as the journal has them, and what changes of them. `resource` gives the name in the cluster of a resource of the policy.

    `known` are those that the journal has, by name.
    """

    def __init__(self, journal: Journal, resource: Mapping[str, str]) -> None:
        self._resource = resource
        self.known: dict[str, NodeFact] = {}
        for recorded in journal.of_kinds((NodeAdded.__name__, NodeChanged.__name__, NodeRemoved.__name__)):
            self.take(recorded.event)

    def take(self, event: object) -> None:
        """Take in an event; those that are about no node change nothing here."""
        if isinstance(event, NodeAdded | NodeChanged):
            self.known[event.node] = NodeFact(event.labels, event.capacity, event.taints, event.cordoned)
        elif isinstance(event, NodeRemoved):
            self.known.pop(event.node, None)

    def facts(self, nodes: Mapping[str, NodeSeen | None], graph: PolicyGraph, now: int) -> Iterator[NodeAdded | NodeChanged | NodeRemoved]:
        """The facts between the nodes as the journal has them and as they are, in order of name, those that are gone first."""
        if not follows_nodes(graph):
            return
        there = {name: seen for name, seen in sorted(nodes.items()) if seen is not None}
        wanted = self._for_places(there, graph) if graph.gives_places else self._for_amounts(there, graph)
        for name in sorted(self.known.keys() - wanted.keys()):
            yield NodeRemoved(time=now, node=name)
        for name, fact in wanted.items():
            known = self.known.get(name)
            if known != fact:
                yield (NodeAdded if known is None else NodeChanged)(time=now, node=name, **fact._asdict())

    # --- where flavors are amounts

    def _for_amounts(self, there: Mapping[str, NodeSeen], graph: PolicyGraph) -> dict[str, NodeFact]:
        """Nodes that may take pods: the labels and amounts that are of account for a policy."""
        flavors = [flavor for flavor in graph.flavors if flavor.nodes is not None]
        keys = _keys(graph)
        return {
            name: NodeFact({key: seen.labels[key] for key in keys if key in seen.labels}, self._amounts(seen, graph))
            for name, seen in there.items()
            if not seen.cordoned and any(_has(seen, dict(flavor.nodes or ())) for flavor in flavors)
        }

    def _amounts(self, seen: NodeSeen, graph: PolicyGraph) -> dict[str, int]:
        """What a node has of the resources of a policy."""
        resources = sorted({slot.resource for slot in graph.slots})
        return {each: _amount(seen.allocatable.get(self._resource.get(each, each), "0"), each) for each in resources}

    # --- where pods get places

    def _for_places(self, there: Mapping[str, NodeSeen], graph: PolicyGraph) -> dict[str, NodeFact]:
        """Nodes of flavors, and those that once were: whoever stands there goes on, whatever their labels say since."""
        placing = [labels_of(flavor) for flavor in graph.flavors if flavor.topology >= 0]
        unnamed, first = unselectable(there, graph), (HOSTNAME, *_keys(graph))
        return {
            name: NodeFact(_labels(seen, first), self._all(seen, graph), seen.taints[:_MOST_TAINTS], seen.cordoned or name in unnamed)
            for name, seen in there.items()
            if name in self.known or any(_has(seen, labels) for labels in placing)
        }

    def _all(self, seen: NodeSeen, graph: PolicyGraph) -> dict[str, int]:
        """All that a node has, also what the policy does not count: a pod that asks for it stands nowhere else."""
        amounts = {each: _amount(text, each) for each, text in seen.allocatable.items() if each and len(each) <= MOST_NAME}
        found, counted = in_policy_names(amounts, graph, self._resource), {slot.resource for slot in graph.slots}
        kept = sorted(found, key=lambda each: (each not in counted, each != POD_COUNT, each))[:_MOST_RESOURCES]
        return {each: found[each] for each in sorted(kept)}


def follows_nodes(graph: PolicyGraph) -> bool:
    """Whether a policy takes the capacity of a flavor from nodes, or gives pods places there."""
    return graph.gives_places or any(flavor.nodes is not None for flavor in graph.flavors)


def unselectable(nodes: Mapping[str, NodeSeen | None], graph: PolicyGraph) -> dict[str, str]:
    """The nodes to which no selector sends pods and nowhere else, each with what is wrong, where a policy places pods on nodes: they get no
    new ones."""
    to_nodes = [flavor for flavor in graph.flavors if flavor.topology >= 0 and graph.topologies[flavor.topology].ends_at_nodes]
    hosts = {name: seen.labels.get(HOSTNAME, "") for name, seen in sorted(nodes.items()) if seen is not None}
    shared = Counter(hosts.values())
    return {
        name: f"has no label {HOSTNAME}" if not host else f"has the label {HOSTNAME} of another node, {host}"
        for name, host in hosts.items()
        if (not host or shared[host] > 1) and any(_has(nodes[name], labels_of(flavor)) for flavor in to_nodes)
    }


def _keys(graph: PolicyGraph) -> list[str]:
    """The labels by which a policy tells flavors and domains apart."""
    topologies = [graph.topologies[flavor.topology] for flavor in graph.flavors if flavor.topology >= 0]
    levels = {level.label for topology in topologies for level in topology.levels if level.label is not None}
    return sorted({key for flavor in graph.flavors for key in labels_of(flavor)} | levels)


def _labels(seen: NodeSeen, first: Sequence[str]) -> dict[str, str]:
    """The labels of a node, these first, as a fact holds no more than some."""
    kept = sorted((key for key in seen.labels if key and len(key) <= MOST_NAME), key=lambda key: (key not in first, key))[:_MOST_LABELS]
    return {key: seen.labels[key] for key in sorted(kept)}


def _has(seen: NodeSeen | None, labels: Mapping[str, str]) -> bool:
    return seen is not None and all(seen.labels.get(key) == value for key, value in labels.items())


def _amount(text: str, resource: str) -> int:
    try:
        return max(0, amount(parse(text), resource))
    except QuantityError:
        return 0

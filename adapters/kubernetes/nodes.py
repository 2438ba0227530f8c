"""The nodes of a cluster as facts: those that may take pods, with the labels by which the policy tells flavors apart, and what they have.

A node that is not ready, is cordoned or is being deleted is no place for anybody new. So it counts as gone until it may take pods again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...engine.facts import NodeAdded, NodeChanged, NodeRemoved
from ...engine.policy_graph import PolicyGraph
from ...journal.journal import Journal
from ..kueue.read.quantity import QuantityError, amount, parse

if TYPE_CHECKING:
    from .api import Plain  # what only asks about a policy, such as an export, does without the clients of a cluster


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node that may take pods: its labels, and what is allocatable there, as texts by resource."""

    labels: Mapping[str, str]
    allocatable: Mapping[str, str]


def read_node(plain: "Plain") -> NodeSeen | None:
    """Read a Node; None for one that takes no pods now."""
    metadata, spec, status = plain.get("metadata") or {}, plain.get("spec") or {}, plain.get("status") or {}
    conditions = {each.get("type"): each.get("status") for each in status.get("conditions") or []}
    if spec.get("unschedulable") or metadata.get("deletionTimestamp") or conditions.get("Ready") != "True":
        return None
    labels = {str(key): str(value) for key, value in (metadata.get("labels") or {}).items()}
    return NodeSeen(labels, {str(key): str(value) for key, value in (status.get("allocatable") or {}).items()})


class Supply:
    """The nodes as the journal has them, and what changes of them. `resource` gives the name in the cluster of a resource of the policy."""

    def __init__(self, journal: Journal, resource: Mapping[str, str]) -> None:
        self._resource = resource
        self._known: dict[str, tuple[Mapping[str, str], Mapping[str, int]]] = {}
        for recorded in journal.of_kinds((NodeAdded.__name__, NodeChanged.__name__, NodeRemoved.__name__)):
            self.take(recorded.event)

    def take(self, event: object) -> None:
        """Take in an event; those that are about no node change nothing here."""
        if isinstance(event, NodeAdded | NodeChanged):
            self._known[event.node] = event.labels, event.capacity
        elif isinstance(event, NodeRemoved):
            self._known.pop(event.node, None)

    def facts(self, nodes: Mapping[str, NodeSeen | None], graph: PolicyGraph, now: int) -> Iterator[NodeAdded | NodeChanged | NodeRemoved]:
        """The facts between the nodes as the journal has them and as they are, in order of name, those that are gone first."""
        if not follows_nodes(graph):
            return
        placed = {name: seen for name, seen in sorted(nodes.items()) if seen is not None and _has_flavor(seen, graph)}
        wanted = {name: self._of_node(seen, graph) for name, seen in placed.items()}
        for name in sorted(self._known.keys() - wanted.keys()):
            yield NodeRemoved(time=now, node=name)
        for name, (labels, capacity) in wanted.items():
            known = self._known.get(name)
            if known != (labels, capacity):
                yield (NodeAdded if known is None else NodeChanged)(time=now, node=name, labels=labels, capacity=capacity)

    def _of_node(self, seen: NodeSeen, graph: PolicyGraph) -> tuple[dict[str, str], dict[str, int]]:
        """The labels and amounts of a node that are of account for a policy."""
        keys = sorted({key for flavor in graph.flavors for key, _ in (*(flavor.nodes or ()), *flavor.labels)})
        labels = {key: seen.labels[key] for key in keys if key in seen.labels}
        resources = sorted({slot.resource for slot in graph.slots})
        return labels, {resource: self._amount(seen, resource) for resource in resources}

    def _amount(self, seen: NodeSeen, resource: str) -> int:
        try:
            return amount(parse(seen.allocatable.get(self._resource.get(resource, resource), "0")), resource)
        except QuantityError:
            return 0


def follows_nodes(graph: PolicyGraph) -> bool:
    """Whether a policy takes the capacity of a flavor from nodes."""
    return any(flavor.nodes is not None for flavor in graph.flavors)


def _has_flavor(seen: NodeSeen, graph: PolicyGraph) -> bool:
    selectors = [flavor.nodes for flavor in graph.flavors if flavor.nodes is not None]
    return any(all(seen.labels.get(key) == value for key, value in selector) for selector in selectors)


def names_in_cluster(gpu: str) -> dict[str, str]:
    """What resources of a policy are called in a cluster, where that is another name."""
    return {"gpu": gpu}

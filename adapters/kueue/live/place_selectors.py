"""Where pods stand, as a Workload can be told: one node selector for all pods of a pod set.

Kueue takes one selector a pod set from a check. So all pods of a pod set have to stand in one domain of the lowest level, and each
workload asks for that when it is taken in: the policy decides under what can be carried out, and says why one waits that needs more room
than a domain has. A node is selected by its hostname, which is a label; a wider domain by the labels of all levels, as two racks of
different blocks may have one name.
"""

import json
from collections.abc import Iterable, Mapping

from ....engine.eligibility import labels_of
from ....engine.event_parts import Assignment, PodSet
from ....engine.facts import WorkloadSubmitted
from ....engine.nodes.domains import DomainPath
from ....engine.policy_graph import Flavor, PolicyGraph, Topology
from ....engine.workload import Workload
from ...kubernetes.nodes import HOSTNAME, NodeFact
from ..read.objects import KueuePodSet, KueueWorkload


def level_for_all(graph: PolicyGraph) -> str:
    """The level in one domain of which all pods of a pod set have to stand; empty where a policy gives no places."""
    return next((graph.topologies[flavor.topology].levels[-1].name for flavor in graph.flavors if flavor.topology >= 0), "")


def _level_for(graph: PolicyGraph, pods: PodSet) -> str:
    """The same for one pod set: one that asks for nothing that the policy counts gets no places."""
    counted = {slot.resource for slot in graph.slots}
    return level_for_all(graph) if any(pods.requests[resource] for resource in pods.requests if resource in counted) else ""


def asks_as_it_has_to(graph: PolicyGraph, fact: WorkloadSubmitted) -> bool:
    """Whether all pod sets of a workload ask to stand as they have to under a policy."""
    return all(pods.within == _level_for(graph, pods) for pods in fact.pod_sets)


def asking_as_it_has_to(graph: PolicyGraph, fact: WorkloadSubmitted) -> WorkloadSubmitted:
    """The submission of a workload that asks to stand so."""
    pod_sets = tuple(pods.model_copy(update={"within": _level_for(graph, pods)}) for pods in fact.pod_sets)
    return fact.model_copy(update={"pod_sets": pod_sets})


def cannot_be_placed(asked: KueueWorkload, graph: PolicyGraph) -> str:
    """What a workload says that no selector of gpol's goes together with, and what to do; empty where it can be placed.

    Kueue finishes a workload for good whose pods select another domain than its check says.
    """
    if not level_for_all(graph):
        return ""
    if asked.replaces:
        return "takes the place of a slice whose pods stay where they are, and one selector cannot say both; let this job not grow"
    levels = {key for topology in _placing(graph) if not topology.ends_at_nodes for key in _keys(topology)}
    for pods in asked.pod_sets:
        if found := sorted(levels & _selected(pods)):
            return f"the pods of `{pods.name}` select nodes by `{found[0]}`, by which gpol places them; remove that from the job"
    return ""


def _selected(pods: KueuePodSet) -> set[str]:
    """The labels by which pods select their nodes."""
    return {*pods.node_selector, *(requirement.key for term in pods.affinity for requirement in term)}


def selector_of(given: Assignment, graph: PolicyGraph, known: Mapping[str, NodeFact]) -> dict[str, str] | None:
    """The labels that select the place of a pod set and no other node, beside those of its flavors; none where these give no places.

    None where there is no such selector: its pods have no place or several, or no node is there any more that takes pods.
    """
    flavor = placed_flavor(given, graph)
    if flavor is None or not given.count:
        return {}
    if len(given.places) != 1:
        return None
    domain = given.places[0].domain
    nodes = nodes_in(domain, flavor.name, graph, known)
    keys = _keys(graph.topologies[flavor.topology])
    return {key: nodes[0].labels[key] for key in keys} if nodes and all(key in nodes[0].labels for key in keys) else None


def nodes_in(domain: DomainPath, flavor: str, graph: PolicyGraph, known: Mapping[str, NodeFact]) -> list[NodeFact]:
    """The nodes in a domain of a flavor that take pods; none where the flavor gives no places, or no such place."""
    placing = next((each for each in graph.flavors if each.topology >= 0 and each.name == flavor), None)
    topology = graph.topologies[placing.topology] if placing is not None else None
    if placing is None or topology is None or len(domain) != _width(topology):
        return []
    labels = labels_of(placing)
    if topology.ends_at_nodes:
        there = [known[name] for name in domain if name in known]
    else:
        there, labels = list(known.values()), labels | dict(zip(_keys(topology), domain, strict=True))
    return [node for node in there if not node.cordoned and labels.items() <= node.labels.items()]


def can_be_said(given: Iterable[Assignment], graph: PolicyGraph, known: Mapping[str, NodeFact]) -> bool:
    """Whether there is a selector for each pod set."""
    return all(selector_of(each, graph, known) is not None for each in given)


def placed_flavor(given: Assignment, graph: PolicyGraph) -> Flavor | None:
    """The flavor of a pod set that gives places; None where none does."""
    names = set(given.flavors.values())
    return next((flavor for flavor in graph.flavors if flavor.topology >= 0 and flavor.name in names), None)


def lacks_places(known: Workload, graph: PolicyGraph) -> bool:
    """Whether pods run of which nobody knows where they stand, on a flavor that gives places."""
    return any(each.count and not each.places and placed_flavor(each, graph) is not None for each in known.assignments)


def annotation_of(given: Assignment) -> str:
    """The place of a pod set as its pods are to bear it; empty where they have none."""
    return json.dumps(list(given.places[0].domain), separators=(",", ":")) if len(given.places) == 1 else ""


def read_place(annotation: str) -> DomainPath:
    """A place as pods bear it; empty for a text that is none."""
    try:
        said = json.loads(annotation)
    except (ValueError, RecursionError):
        return ()
    return tuple(said) if isinstance(said, list) and all(isinstance(value, str) and value for value in said) else ()


def place_again(domain: DomainPath, flavors: Mapping[str, str], graph: PolicyGraph) -> DomainPath:
    """A place that pods bear, where it is one of these flavors under a policy; else none."""
    flavor = next((flavor for flavor in graph.flavors if flavor.topology >= 0 and flavor.name in flavors.values()), None)
    return domain if flavor is not None and len(domain) == _width(graph.topologies[flavor.topology]) else ()


def _placing(graph: PolicyGraph) -> list[Topology]:
    return [graph.topologies[flavor.topology] for flavor in graph.flavors if flavor.topology >= 0]


def _width(topology: Topology) -> int:
    """How many values a place has."""
    return 1 if topology.ends_at_nodes else len(topology.levels)


def _keys(topology: Topology) -> list[str]:
    """The labels by which a place is selected."""
    return [HOSTNAME] if topology.ends_at_nodes else [level.label for level in topology.levels if level.label is not None]

"""Topologies of a policy as Kueue's objects, and what Kueue does otherwise where it gives pods places."""

from collections.abc import Iterator

from ....engine.policy_graph import Flavor, Level, PolicyGraph
from ..problems import Findings
from ..read.objects import HOSTNAME
from .cluster_queues import plain
from .kubernetes_names import place
from .yaml_text import Object

_MOST_LEVELS = 16
"""How many levels Kueue allows. Source: Kueue, apis/kueue/v1beta2/topology_types.go."""

_WAYS = {
    "packed": "packs pods",
    "spread": "spreads pods",
    "keeping-room": "keeps room for pods of given sizes",
    "counted": "",
}
_ASKED = "gives all its pods places; Kueue gives some only to those that ask, unless all flavors of the ClusterQueue have a topology"


def topology_objects(graph: PolicyGraph, found: Findings) -> Iterator[Object]:
    """The Topologies in which flavors are placed, in order of name."""
    used = sorted({flavor.topology for flavor in graph.flavors if flavor.topology >= 0}, key=lambda index: graph.topologies[index].name)
    for topology in (graph.topologies[index] for index in used):
        found.begin("topology", topology.name, place(topology.source))
        if len(topology.levels) > _MOST_LEVELS:
            cause = f"has {len(topology.levels)} levels, and a Topology of Kueue has at most {_MOST_LEVELS}"
            found.problem("level", cause, "leave some out")
        for level in topology.levels:
            if level.label == HOSTNAME:
                cause = f"takes level {level.name} from label {HOSTNAME}, by which Kueue knows the nodes themselves"
                found.problem("level", cause, "write `from node` there")
        renamed = [f"{level.name} is {_label(level)}" for level in topology.levels if level.name != _label(level)]
        if renamed:
            found.note("level", f"workloads name levels by their labels in Kueue: {', '.join(renamed)}")
        yield plain("Topology", topology.name, spec={"levels": [{"nodeLabel": _label(level)} for level in topology.levels]})


def topology_name(graph: PolicyGraph, flavor: Flavor) -> Object:
    """What a ResourceFlavor says of its topology; nothing where it gives no places."""
    return {"topologyName": graph.topologies[flavor.topology].name} if flavor.topology >= 0 else {}


def report_placed(graph: PolicyGraph, flavor: Flavor, found: Findings) -> None:
    """Report what Kueue does not allow, or does otherwise, of a flavor that gives places; `found` has begun with the flavor."""
    if flavor.topology < 0:
        return
    if not flavor.labels and not flavor.nodes:
        cause = "gives places on all nodes, and Kueue wants a label of the nodes of such a flavor"
        found.problem("placed", cause, "say by `label` which nodes it has")
    way = _WAYS[graph.settings.places_pods]
    if way:
        found.note("placed", f"{way} here; Kueue has its own way: as few domains as will do, of those that would do the fullest")
    index = graph.flavors.index(flavor)
    some = any(index in queue.flavors and any(graph.flavors[other].topology < 0 for other in queue.flavors) for queue in graph.queues)
    if some and not graph.settings.places_are_asked_for:
        found.note("placed", _ASKED)


def _label(level: Level) -> str:
    return HOSTNAME if level.label is None else level.label

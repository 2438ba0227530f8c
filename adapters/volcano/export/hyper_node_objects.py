"""The topologies of placed flavors as HyperNodes: one for each domain above the nodes, those of the lowest tier first.

A policy does not say which domains there are, so the nodes have to be known. A HyperNode of the lowest tier has its nodes by the labels
that make them a domain, so that nodes which come later are in it as well. Where these labels are gpol's own, as in a policy that came from
HyperNodes, no node of the cluster has them: then it has the nodes by name, and the HyperNodes and tiers are those that there were. A node
that is cordoned is where it is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ....engine.facts import Fact, NodeAdded, NodeChanged, NodeRemoved
from ....engine.intake.capacity import flavors_of_node, take_in
from ....engine.nodes.domains import DomainPath, domain_tree
from ....engine.nodes.inventory import Inventory, Machine
from ....engine.policy_graph import Flavor, PolicyGraph, Topology
from ...kueue.export.kubernetes_names import is_label_key, is_label_value, is_subdomain, place, suggestion
from ...kueue.export.yaml_text import Object
from ...kueue.problems import Findings
from ..read.volcano_kinds import TOPOLOGY_VERSION
from ..topology_names import tier_of_label

Nodes = Mapping[str, Machine]
"""All nodes of a cluster by name."""

_LEFT_OUT = "is left out: in Volcano a pod runs on whatever nodes it selects itself"
_BECOMES = (
    "becomes HyperNodes, by which the plugin network-topology-aware goes: a job stands as near as its networkTopology says, "
    "and is placed in Volcano's own way"
)
_AS_NOW = "becomes HyperNodes of the domains that there are now: export it again when there are others"
_NODES_AS_NOW = "becomes HyperNodes with the nodes that there are now: export it again when there are others"
_UNKNOWN_REMEDY = "give the nodes with --nodes, as facts or as a CSV file"


def nodes_after(facts: Iterable[Fact], graph: PolicyGraph) -> Inventory:
    """The nodes that are there after facts; all but those about nodes count for nothing. Raises ValueError where they cannot be."""
    nodes = Inventory()
    for fact in facts:
        if isinstance(fact, NodeAdded | NodeChanged | NodeRemoved):
            if not isinstance(fact, NodeAdded) and fact.node not in nodes:
                raise ValueError(f"no node `{fact.node}` was added")
            flavors = [] if isinstance(fact, NodeRemoved) else flavors_of_node(graph, fact.labels)
            if len(flavors) > 1:
                names = " and ".join(graph.flavors[flavor].name for flavor in flavors)
                raise ValueError(f"node `{fact.node}` matches the flavors {names}, and a node may belong to one only")
            take_in(fact, graph, nodes, {})
    return nodes


def has_domains(graph: PolicyGraph, flavor: Flavor) -> bool:
    """Whether a flavor is placed in a topology with a level above single nodes."""
    return flavor.topology >= 0 and len(graph.topologies[flavor.topology].levels) > 1


def report_placed(graph: PolicyGraph, nodes: Nodes | None, quotas_alone: bool, found: Findings) -> None:
    """Say what becomes of the places of each flavor; without the nodes its domains are not known, and it is refused."""
    for flavor in graph.flavors:
        found.begin("flavor", flavor.name, place(flavor.source))
        if quotas_alone or not has_domains(graph, flavor):
            if flavor.topology >= 0:
                found.note("placed", _LEFT_OUT)
        elif nodes is None:
            topology = graph.topologies[flavor.topology]
            levels = ", ".join(level.name for level in topology.levels[:-1])
            cause = f"gives places in {topology.name}, and a policy does not say which domains there are of {levels}"
            found.problem("placed", cause, _UNKNOWN_REMEDY)
        else:
            found.note("placed", _BECOMES)


def hyper_node_objects(graph: PolicyGraph, nodes: Nodes, found: Findings) -> Iterator[Object]:
    """The HyperNodes of all topologies with levels above nodes that flavors are placed in, in order of their names."""
    used = sorted({flavor.topology for flavor in graph.flavors if has_domains(graph, flavor)})
    topologies = [_Domains(graph.topologies[index], _placed(graph, index, nodes)) for index in used]
    _check_names_of_tiers(topologies, found)
    taken: set[str] = set()
    for domains in topologies:
        found.begin("topology", domains.topology.name, place(domains.topology.source))
        if not domains.nodes:
            found.note("", "has no nodes: there are no HyperNodes of it")
            continue
        levels = [f"{level.name} is tier {tier}" for level, tier in zip(domains.topology.levels, domains.tiers, strict=False)]
        found.note("level", f"jobs name levels by their tiers in Volcano, or by tierName: {', '.join(levels)}")
        found.note("", _NODES_AS_NOW if domains.came_from_hyper_nodes else _AS_NOW)
        names = domains.names(taken)
        taken.update(names.values())
        yield from _objects(domains, names, found)


@dataclass(frozen=True, slots=True)
class _NodeOfFlavor:
    name: str
    flavor: Flavor


class _Domains:
    """The domains of a topology above its nodes; `nodes` are those of each of the lowest level."""

    def __init__(self, topology: Topology, nodes: Iterable[tuple[DomainPath, _NodeOfFlavor]]) -> None:
        self.topology = topology
        self.nodes: dict[DomainPath, list[_NodeOfFlavor]] = {}
        for path, node in sorted(nodes, key=lambda each: (each[0], each[1].name)):
            self.nodes.setdefault(path, []).append(node)
        said = [number for level in topology.levels[:-1] if (number := tier_of_label(level.label)) is not None]
        falls = said == sorted(set(said), reverse=True)
        self.came_from_hyper_nodes = falls and len(said) == len(topology.levels) - 1
        self.tiers = said if self.came_from_hyper_nodes else list(range(len(topology.levels) - 1, 0, -1))
        self.children: dict[DomainPath, list[DomainPath]] = {}
        for path in self.nodes:
            for depth in range(len(path) - 1, 0, -1):
                below = self.children.setdefault(path[:depth], [])
                below += [] if path[: depth + 1] in below[-1:] else [path[: depth + 1]]

    @property
    def paths(self) -> list[DomainPath]:
        """Those that become HyperNodes, the lowest first: an imported one stands for itself at the tiers above that its branch lacks."""
        every = [*self.nodes, *self.children]
        return sorted((path for path in every if self.shown(path) == path), key=lambda path: (-len(path), path))

    def shown(self, path: DomainPath) -> DomainPath:
        """The domain that stands for another one."""
        below = self.children.get(path, [])
        same = self.came_from_hyper_nodes and len(below) == 1 and below[0][-1] == path[-1]
        return self.shown(below[0]) if same else path

    def names(self, taken: Iterable[str]) -> dict[DomainPath, str]:
        """What the HyperNode of each domain is called: as the one that it came from, or by its level and value where no other has both."""
        used, made = set(taken), {}
        paths = self.paths
        having = Counter((len(path), path[-1]) for path in paths)
        for path in paths:
            level = self.topology.levels[len(path) - 1].name
            told = path[-1:] if having[len(path), path[-1]] == 1 else path
            wanted = path[-1] if self.came_from_hyper_nodes else "-".join((level, *told))
            made[path] = wanted if is_subdomain(wanted) and wanted not in used else suggestion(wanted, used)
            used.add(made[path])
        return made


def _placed(graph: PolicyGraph, index: int, nodes: Nodes) -> Iterator[tuple[DomainPath, _NodeOfFlavor]]:
    """The nodes of all flavors that are placed in a topology, each with the path of the domain right above it."""
    there = {name: replace(node, cordoned=False) for name, node in nodes.items()}
    for flavor in graph.flavors:
        if flavor.topology == index:
            tree = domain_tree(graph.topologies[index], flavor, there)
            for leaf in tree.lowest:
                yield tree.domains[leaf].path[:-1], _NodeOfFlavor(tree.domains[leaf].machines[0], flavor)


def _check_names_of_tiers(topologies: Iterable[_Domains], found: Findings) -> None:
    """Report names of levels that would stand for two tiers: Volcano takes either of them by chance."""
    of_level: dict[str, int] = {}
    for domains in topologies:
        found.begin("topology", domains.topology.name, place(domains.topology.source))
        for level, tier in zip(domains.topology.levels, domains.tiers, strict=False):
            if of_level.setdefault(level.name, tier) != tier:
                cause = f"has level {level.name} as tier {tier}, and another topology as tier {of_level[level.name]}"
                found.problem("level", cause, "call one of the levels otherwise: a tierName names one tier")


def _objects(domains: _Domains, names: Mapping[DomainPath, str], found: Findings) -> Iterator[Object]:
    for path, name in names.items():
        tier, level = domains.tiers[len(path) - 1], domains.topology.levels[len(path) - 1]
        below = [names[domains.shown(child)] for child in domains.children.get(path, ())]
        members: list[Object] = [{"type": "HyperNode", "selector": {"exactMatch": {"name": child}}} for child in below]
        members += _node_members(domains, path, found) if path in domains.nodes else []
        said = {"tierName": level.name} if level.name != f"tier-{tier}" else {}
        spec = {"tier": tier, **said, "members": members}
        yield {"apiVersion": TOPOLOGY_VERSION, "kind": "HyperNode", "metadata": {"name": name}, "spec": spec}


def _node_members(domains: _Domains, path: DomainPath, found: Findings) -> Iterator[Object]:
    """The members of a HyperNode of the lowest tier."""
    if domains.came_from_hyper_nodes:
        for node in domains.nodes[path]:
            if not is_subdomain(node.name):
                found.problem("", f"has node `{node.name}`, which is no name that Kubernetes allows", "correct the nodes")
            yield {"type": "Node", "selector": {"exactMatch": {"name": node.name}}}
        return
    of_levels = {str(level.label): value for level, value in zip(domains.topology.levels, path, strict=False)}
    for flavor in sorted({node.flavor for node in domains.nodes[path]}, key=lambda flavor: flavor.name):
        labels = {**of_levels, **dict((*(flavor.nodes or ()), *flavor.labels))}
        for key, value in labels.items():
            if not is_label_key(key) or not is_label_value(value):
                cause = f"goes by the label {key} = `{value}`, which Kubernetes does not allow"
                found.problem("level", cause, "use labels that nodes of Kubernetes can have")
        yield {"type": "Node", "selector": {"labelMatch": {"matchLabels": {key: labels[key] for key in sorted(labels)}}}}

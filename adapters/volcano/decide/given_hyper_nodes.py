"""HyperNodes of a scenario as a tree, with all nodes below each.

Source: Volcano, pkg/scheduler/api/hyper_node_info.go and, for `parent` and `children`, pkg/scheduler/uthelper/helper.go.
"""

from collections.abc import Mapping

from ....engine.definition.volcano.model.hyper_node_map import HyperNodeDomain, HyperNodeMap, hyper_nodes_under_top
from .scenario_parts import ScenarioCase
from .scenario_problems import refused
from .volcano_parts import HyperNodeEntry


def hyper_node_tree(case: ScenarioCase, nodes: Mapping[str, int]) -> HyperNodeMap:
    """The HyperNodes of a scenario; `nodes` are the numbers of its nodes by name. Raises ImportRefused where they are in a circle."""
    entries = {name: (case.hyper_nodes or {})[name] for name in sorted(case.hyper_nodes or {})}
    children = {name: sorted({*(entries[name].children or []), *_members(entries[name], "HyperNode")}) for name in entries}
    parents = {name: entries[name].parent for name in entries}
    for name in entries:
        for child in children[name]:
            parents[child] = name
    made = []
    for name, entry in entries.items():
        below = _below(case, entries, children, name)
        numbers = tuple(sorted(nodes[node] for node in below if node in nodes))
        made.append(HyperNodeDomain(name, entry.hyper_node.spec.tier, parents[name], tuple(children[name]), numbers))
    return hyper_nodes_under_top(made, len(nodes), sorted(int(tier) for tier in case.by_tier or {} if tier.isdecimal()))


def tier_names(case: ScenarioCase) -> dict[str, int]:
    """The numbers of tiers by name: as given, otherwise as the HyperNodes have them."""
    given = case.hyper_nodes or {}
    of_nodes = {given[name].hyper_node.spec.tier_name: given[name].hyper_node.spec.tier for name in sorted(given)}
    return {**{name: tier for name, tier in of_nodes.items() if name}, **(case.tier_names or {})}


def _members(entry: HyperNodeEntry, kind: str) -> list[str]:
    return [member.selector.exact_match.name for member in entry.hyper_node.spec.members or [] if member.type == kind]


def _below(case: ScenarioCase, entries: Mapping[str, HyperNodeEntry], children: Mapping[str, list[str]], name: str) -> list[str]:
    """All nodes below a HyperNode: as given, otherwise its members and those of the HyperNodes below it."""
    if case.nodes_below is not None and name in case.nodes_below:
        return case.nodes_below[name]
    found: list[str] = []
    unread, seen = [name], set[str]()
    while unread:
        each = unread.pop()
        if each in seen:
            raise refused(f"case.HyperNodesMap.{name}", "has members that have it as their own, or one member twice", "write a tree")
        seen.add(each)
        if each in entries:
            found += _members(entries[each], "Node")
            unread += children[each]
    return found

"""What is told of nodes beside what is decided: those in no domain, where no pod gets a place."""

from collections.abc import Iterable, Mapping

from ...engine.explain.unplaced import without_place_told
from ...engine.facts import NodeAdded
from ...engine.nodes.conditions import Taint
from ...engine.nodes.inventory import Machine
from ...engine.nodes.without_places import nodes_without_place
from ...engine.policy_graph import PolicyGraph
from ...sim.report.wording import names
from ..shared.output import complain, counted


def machines_of(nodes: Iterable[NodeAdded]) -> dict[str, Machine]:
    """Nodes as they are before any fact changes them."""
    return {
        node.node: Machine(
            node.labels, node.capacity, -1, tuple(Taint(taint.key, taint.value, taint.effect) for taint in node.taints), node.cordoned
        )
        for node in nodes
    }


def tell_without_place(graph: PolicyGraph, machines: Mapping[str, Machine]) -> None:
    """Note on stderr which nodes of flavors that give places are in no domain, and for want of which label; one line for each label."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for each in nodes_without_place(graph, machines):
        of = ", ".join(graph.flavors[flavor].name for flavor in each.flavors)
        lacking.setdefault((of, without_place_told(graph, each)), []).append(each.node)
    for (of, told), nodes in lacking.items():
        who = f"node {nodes[0]}" if len(nodes) == 1 else f"{counted(len(nodes), 'node')} ({names(nodes)})"
        said = told if len(nodes) == 1 else told.replace("has", "have", 1)
        it = (
            "it counts for what exists, and no pod gets a place there"
            if len(nodes) == 1
            else "they count for what exists, and no pod gets a place there"
        )
        complain(f"note: {who} of {of} {said}: {it}; add the label")

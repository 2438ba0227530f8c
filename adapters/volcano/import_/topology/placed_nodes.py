"""Nodes as facts, where there are HyperNodes: what is free there for gangs, less what other pods use.

A node that is in no HyperNode is left out: a topology has no place for it. Pods without a topology may run there in Volcano. One that is
not ready keeps its place and has nothing.
"""

from collections.abc import Collection
from dataclasses import replace

from .....engine.facts import NodeAdded
from ....kueue.import_.node_facts import node_added, taken_by
from ....kueue.problems import Findings
from ....kueue.read.objects import OtherPod
from ...read.volcano_objects import AmountsByResource, VolcanoObjects
from .tiers import Tiers

_IN_NONE = "is in no HyperNode: it is left out, and nothing is placed there"
_NOT_READY = "is not ready: Volcano places nothing there, and it counts as cordoned, with nothing on it"
_TAINTS = "keep nothing off: PodGroups do not say what their pods tolerate, and the flavor tolerates anything"


def placed_nodes(objects: VolcanoObjects, tiers: Tiers, charged: Collection[str], time: int, found: Findings) -> list[NodeAdded]:
    """The nodes in HyperNodes, in order of name; `charged` are the pods that gangs of the facts have there, by name."""
    taken = taken_by(OtherPod(pod.name, pod.file, pod.node, pod.requests) for pod in objects.pods if pod.name not in charged)
    made: list[NodeAdded] = []
    for node in sorted(objects.nodes, key=lambda node: node.name):
        found.begin("Node", node.name, node.file)
        labels = tiers.labels.get(node.name)
        if labels is None:
            found.note("", _IN_NONE)
            continue
        if node.taints:
            found.note("spec.taints", _TAINTS)
        there, used = node, taken.get(node.name, {})
        if not node.ready:
            found.note("status.conditions", _NOT_READY)
            there, used = replace(node, cordoned=True, allocatable=dict.fromkeys(node.allocatable, 0)), {}
        made += node_added(node.name, there, {**node.labels, **labels}, used, time, found)
    return made


def amounts_of_nodes(objects: VolcanoObjects, tiers: Tiers) -> AmountsByResource:
    """What the nodes have together that are ready and in HyperNodes."""
    having = [node.allocatable for node in objects.nodes if node.ready and node.name in tiers.labels]
    return {resource: sum(each.get(resource, 0) for each in having) for resource in sorted({name for each in having for name in each})}

"""The quotas of a policy's nodes as Volcano counts them: totals of a whole subtree, by resource alone.

A node of a policy owns something beside what those below it own; a Queue deserves all of it together. So does it guarantee, and use at
most. Volcano has no flavors: a resource that several of them have is refused, or summed up where the caller wants that.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ....engine.policy_graph import Node, PolicyGraph, Queue
from ....engine.units import INT64_MAX, format_amount
from ...kueue.export.amounts import quota_text
from ...kueue.export.kubernetes_names import place
from ...kueue.problems import Findings
from ..queue_names import volcano_name
from ..read.resource_lists import NATIVE

_SUMMED = "are summed up: Volcano has no flavors, so any of them may be used for all of the sum"


@dataclass(frozen=True, slots=True)
class SubtreeQuota:
    """What a node and those below it own, never lend, and use at most (None: no limit) of one slot or resource."""

    deserved: int = 0
    guarantee: int = 0
    capability: int | None = None

    @property
    def lendable(self) -> int:
        """What it may lend."""
        return self.deserved - self.guarantee


class SubtreeQuotas:
    """Quotas by node and resource; `resources` finds what each resource is called in the cluster."""

    def __init__(self, graph: PolicyGraph, resources: Mapping[str, str], sum_flavors: bool, found: Findings) -> None:
        self.graph, self.resources, self.found = graph, resources, found
        self._check_flavors(sum_flavors)
        self.by_slot: list[list[SubtreeQuota]] = [[] for _ in graph.nodes]
        for number in reversed(_parents_first(graph)):
            self.by_slot[number] = [self._of_slot(number, slot) for slot in range(len(graph.slots))]
        self.by_resource: list[dict[str, SubtreeQuota]] = [{} for _ in graph.nodes]
        for number in _parents_first(graph)[1:]:
            self.by_resource[number] = {resource: self._of_resource(number, resource) for resource in resources}

    def _check_flavors(self, sum_flavors: bool) -> None:
        """Report resources that several flavors have."""
        for resource in self.resources:
            flavors = [self.graph.flavors[slot.flavor] for slot in self.graph.slots if slot.resource == resource]
            if len(flavors) > 1:
                self.found.begin("resource", resource, place(flavors[0].source))
                names = ", ".join(flavor.name for flavor in flavors)
                if sum_flavors:
                    self.found.note("", f"{names} {_SUMMED}")
                else:
                    remedy = "give each its own resource, as nodes can name them, or sum them up with --sum-flavors"
                    self.found.problem("", f"is of several flavors, {names}, and Volcano has one quota for a resource", remedy)

    # --- one slot

    def _of_slot(self, number: int, slot: int) -> SubtreeQuota:
        node = self.graph.nodes[number]
        quota, below = node.quotas[slot], [self.by_slot[child][slot] for child in node.children]
        deserved = quota.nominal + sum(child.deserved for child in below)
        offered = quota.nominal + sum(child.lendable for child in below)
        lent = offered if quota.lending_limit is None else min(offered, quota.lending_limit)
        most = None if quota.borrowing_limit is None else deserved + quota.borrowing_limit
        if node.is_queue and not self._is_used(self.graph.queue_at(number), slot):
            most = 0
            self._check_unused(node, deserved, slot)
        return SubtreeQuota(deserved, deserved - lent, most)

    def _is_used(self, queue: Queue, slot: int) -> bool:
        """Whether a queue uses a resource of a flavor."""
        flavor, resource = self.graph.slots[slot].flavor, self.graph.slots[slot].resource
        if queue.groups:
            return any(flavor in group.flavors and resource in group.resources for group in queue.groups)
        return flavor in queue.flavors

    def _check_unused(self, node: Node, owned: int, slot: int) -> None:
        if owned:
            flavor, resource = self.graph.slot_name(slot)
            self.found.begin("queue", node.name, place(node.source))
            cause = f"owns {resource} on {flavor}, which it does not use; in Volcano it would use that"
            self.found.problem("owns", cause, f"let the queue use {flavor}, or let a cohort above own that")

    # --- one resource

    def _of_resource(self, number: int, resource: str) -> SubtreeQuota:
        """All slots of a resource together; limited only where each slot is, and never above the limit of a node above."""
        slots = [self.by_slot[number][slot] for slot, each in enumerate(self.graph.slots) if each.resource == resource]
        limits = [quota.capability for quota in slots]
        known = [limit for limit in limits if limit is not None]
        most = sum(known) if len(known) == len(limits) else None
        above = self._limit_above(number, resource)
        if most is not None and above is not None:
            most = min(most, above)
        deserved, guarantee = sum(quota.deserved for quota in slots), sum(quota.guarantee for quota in slots)
        return SubtreeQuota(deserved, guarantee, None if most is None or most >= INT64_MAX else most)

    def _limit_above(self, number: int, resource: str) -> int | None:
        """The limit of the nearest node above that has one."""
        above = self.graph.nodes[number].parent
        while above > 0:
            if (limit := self.by_resource[above][resource].capability) is not None:
                return limit
            above = self.graph.nodes[above].parent
        return None

    # --- as Volcano writes them

    def deserved(self, number: int) -> dict[str, str]:
        """What a Queue deserves, by the name of the resource in the cluster."""
        return self._texts({resource: quota.deserved for resource, quota in self.by_resource[number].items() if quota.deserved})

    def guarantee(self, number: int) -> dict[str, str]:
        """What a Queue guarantees."""
        return self._texts({resource: quota.guarantee for resource, quota in self.by_resource[number].items() if quota.guarantee})

    def capability(self, number: int) -> dict[str, str]:
        """What a Queue uses at most; a limit of 0 that Volcano would not see is reported."""
        limits = {resource: quota.capability for resource, quota in self.by_resource[number].items() if quota.capability is not None}
        for resource in limits:
            if limits[resource] == 0 and self.resources[resource] in NATIVE:
                cause = f"uses no {resource}, and Volcano takes a capability of 0 {resource} for no limit"
                self.found.problem("borrows", cause, f"let it own or borrow some {resource}, however little")
        return self._texts(limits)

    def _texts(self, amounts: dict[str, int]) -> dict[str, str]:
        return {self.resources[resource]: self._text(amounts[resource], resource) for resource in amounts}

    def _text(self, smallest: int, resource: str) -> str:
        text = quota_text(smallest, resource)
        if text is None:
            cause = f"has {format_amount(smallest, resource)} {resource}, and Kubernetes counts whole ones"
            self.found.problem("", cause, "write a whole number")
        return text or "0"


def _parents_first(graph: PolicyGraph) -> list[int]:
    """All nodes, each behind the one above it; those below one in order of name."""
    ordered = [0]
    for number in ordered:
        ordered += sorted(graph.nodes[number].children, key=lambda child: volcano_name(graph.nodes[child].name))
    return ordered


def queues_in_order(graph: PolicyGraph) -> list[int]:
    """The nodes that become Queues, in the order in which Volcano takes them: parents before those below them."""
    return _parents_first(graph)[1:]

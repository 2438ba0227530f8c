"""Quotas of a policy's tree as resource groups, and the tree itself as cohorts: who is below whom, and what the root holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ....engine.eligibility import groups_of
from ....engine.policy_graph import ROOT, Group, Node, PolicyGraph, Queue, Quota
from ....engine.units import format_amount
from ..policy_names import kueue_name
from ..problems import Findings
from ..read.objects import MOST_ALL_FLAVORS, MOST_FLAVORS, MOST_GROUPS, MOST_RESOURCES
from .amounts import quota_text
from .kubernetes_names import place
from .yaml_text import Object


@dataclass(frozen=True, slots=True)
class _Says:
    """What a node says of a flavor and a resource: what it owns, and limits (None: none); `stated` even where it owns 0."""

    nominal: int
    borrowing: int | None
    lending: int | None
    stated: bool = False

    @property
    def counts(self) -> bool:
        """Whether it says anything."""
        return self.stated or self.nominal > 0 or self.borrowing is not None or self.lending is not None


_NOTHING = _Says(0, None, None)


class Quotas:
    """Writes quotas; `resources` finds what each resource is called in Kueue."""

    def __init__(self, graph: PolicyGraph, resources: Mapping[str, str], found: Findings) -> None:
        self.graph, self.resources, self.found = graph, resources, found
        self.slots = {(slot.flavor, slot.resource): number for number, slot in enumerate(graph.slots)}
        self.in_cycles = graph.settings.cycles is not None
        self.unowned = {} if self.in_cycles else self._unowned()
        self.has_root = not self.in_cycles and (bool(self.unowned) or not all(map(self._apart, graph.nodes[0].children)))

    # --- the tree

    def parent(self, node: int) -> str:
        """The Cohort above a node; empty where there is none."""
        above = self.graph.nodes[node].parent
        if above > 0:
            return kueue_name(self.graph.nodes[above].name)
        return ROOT if self.has_root and not self._apart(node) else ""

    def _apart(self, node: int) -> bool:
        """Whether a node neither borrows nor lends, so that it needs no cohort above."""
        return all(quota.borrowing_limit == 0 and quota.lending_limit == 0 for quota in self.graph.nodes[node].quotas)

    def _unowned(self) -> dict[tuple[int, str], int]:
        """What exists and nobody owns, by flavor and resource; what comes from nodes is not known."""
        left = {}
        for number, slot in enumerate(self.graph.slots):
            flavor = self.graph.flavors[slot.flavor]
            owned = sum(node.quotas[number].nominal for node in self.graph.nodes)
            exists = dict(flavor.capacity)[slot.resource]
            if flavor.nodes is None and exists > owned:
                left[slot.flavor, slot.resource] = exists - owned
        return left

    # --- groups

    def of_queue(self, queue: Queue) -> list[Object]:
        """The resource groups of a queue: its own, or those of the policy with the flavors that it tries."""
        self._check_tried(queue)
        self._check_missing(queue)
        return self._groups([group for group in groups_of(self.graph, queue) if group.flavors], self._says(queue.node))

    def _check_tried(self, queue: Queue) -> None:
        """Report what a queue owns on a flavor that it does not try: a ClusterQueue uses whatever it has a quota of."""
        for number, slot in enumerate(self.graph.slots):
            if self.graph.nodes[queue.node].quotas[number].nominal and slot.flavor not in queue.flavors:
                flavor = self.graph.flavors[slot.flavor].name
                cause = f"owns {slot.resource} on {flavor}, which it does not use; a ClusterQueue uses whatever it owns"
                self.found.problem("owns", cause, f"let the queue use {flavor}, or let a cohort above own that")

    def _check_missing(self, queue: Queue) -> None:
        """Report a missing flavor that a queue does not serve by name: a ClusterQueue would have to name it, and then admit nothing."""
        for flavor in (self.graph.flavors[number] for number in queue.flavors if not queue.groups):
            if flavor.missing:
                cause = f"may use {flavor.name}, which is missing; a ClusterQueue that names it admits nothing"
                self.found.problem("", cause, "say by `serves` what the queue serves")

    def of_cohort(self, number: int) -> list[Object]:
        """The resource groups of a cohort: of what it says something about."""
        says = self._says(number)
        return self._groups(_rectangles([slot for slot in sorted(self.slots) if says(*slot).counts]), says)

    def of_root(self) -> list[Object]:
        """The resource groups of the root: of what nobody owns."""
        return self._groups(_rectangles(sorted(self.unowned)), lambda flavor, name: _Says(self.unowned.get((flavor, name), 0), None, None))

    def _says(self, number: int) -> Callable[[int, str], _Says]:
        """What a node says of a flavor and a resource."""
        node, limited = self.graph.nodes[number], bool(self.parent(number))

        def of(flavor: int, resource: str) -> _Says:
            slot = self.slots.get((flavor, resource))
            return _NOTHING if slot is None else self._effective(node, node.quotas[slot], limited)

        return of

    def _effective(self, node: Node, quota: Quota, limited: bool) -> _Says:
        """A quota without the limits that have no effect, or that Kueue does not allow there."""
        borrowing, lending = quota.borrowing_limit, quota.lending_limit
        if not limited:
            if self.in_cycles and not borrowing is lending is None:
                self.found.note("borrows, lends", "is limited without a cohort above: that has no effect, and is left out")
            borrowing = lending = None
        if lending is not None and node.queue >= 0 and lending > quota.nominal:
            self.found.note("lends", "is more than it owns: that has no effect, Kueue does not allow it, and it is left out")
            lending = None
        return _Says(quota.nominal, borrowing, lending, stated=quota.nominal_source is not None)

    def _groups(self, groups: Sequence[Group], says: Callable[[int, str], _Says]) -> list[Object]:
        self._check_sizes(groups)
        return [
            {
                "coveredResources": [self.resources[resource] for resource in group.resources],
                "flavors": [
                    {
                        "name": self.graph.flavors[flavor].name,
                        "resources": [self._quota(resource, says(flavor, resource)) for resource in group.resources],
                    }
                    for flavor in group.flavors
                ],
            }
            for group in groups
        ]

    def _check_sizes(self, groups: Sequence[Group]) -> None:
        sizes = (
            (len(groups), MOST_GROUPS, "resource groups"),
            (max((len(group.flavors) for group in groups), default=0), MOST_FLAVORS, "flavors in one group"),
            (max((len(group.resources) for group in groups), default=0), MOST_RESOURCES, "resources in one group"),
            (sum(len(group.flavors) for group in groups), MOST_ALL_FLAVORS, "flavors"),
        )
        for size, most, what in sizes:
            if size > most:
                self.found.problem("", f"would have {size} {what}", f"Kueue allows at most {most}: use fewer")

    # --- one quota

    def _quota(self, resource: str, says: _Says) -> Object:
        made: Object = {"name": self.resources[resource], "nominalQuota": self._amount(says.nominal, resource)}
        if says.borrowing is not None:
            made["borrowingLimit"] = self._amount(says.borrowing, resource)
        if says.lending is not None:
            made["lendingLimit"] = self._amount(says.lending, resource)
        return made

    def _amount(self, smallest: int, resource: str) -> str:
        text = quota_text(smallest, resource)
        if text is None:
            cause = f"has {format_amount(smallest, resource)} {resource}, and Kueue counts whole ones"
            self.found.problem("", cause, "write a whole number")
        return text or "0"


def _rectangles(slots: Sequence[tuple[int, str]]) -> list[Group]:
    """Groups that hold these slots: flavors that share a resource, directly or through others, and all resources of theirs."""
    made: list[tuple[set[int], set[str]]] = []
    for flavor, resource in slots:
        flavors, names = {flavor}, {resource}
        apart = []
        for group in made:
            if group[0] & flavors or group[1] & names:
                flavors, names = flavors | group[0], names | group[1]
            else:
                apart.append(group)
        made = [*apart, (flavors, names)]
    return sorted((Group(tuple(sorted(names)), tuple(sorted(flavors))) for flavors, names in made), key=lambda group: group.resources)


def begin(found: Findings, node: Node) -> None:
    """What is found from now on is about this node."""
    found.begin("queue" if node.queue >= 0 else "cohort", node.name, place(node.source))

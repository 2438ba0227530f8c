"""From the objects of a cluster to a policy: its header, what exists, priorities, the tree of queues, and which queues are spared."""

from collections.abc import Iterator

from ....dsl.syntax import tree
from ....engine.units import format_amount
from ...kueue.import_.tree_shorthands import name, number, quota_amount
from ...kueue.problems import Findings
from ..queue_names import policy_name
from ..read.volcano_objects import VolcanoObjects, VolcanoQueue
from ..topology_names import TOPOLOGY
from .known_capacity import KnownCapacity
from .queue_tree import QueueTree
from .reclaimable_rules import PROFILE, sparing
from .topology.tiers import Tiers, topology_item, where_in_topology

_BUILT_IN = ("cpu", "gpu", "memory")

_WEIGHT = "divides the share of what is borrowed here; in Volcano it counts only under the plugin proportion"
_INNER_RECLAIMABLE = "is false, which counts for nothing: Volcano asks only the Queue of the victim, and this one has others below it"
_INNER_CLOSED = "is not Open, which counts only for those Queues below it that are not Open themselves"

_QueueStatement = tree.QuotaStatement | tree.Weight | tree.Stopped


def volcano_policy(
    objects: VolcanoObjects, queues: QueueTree, capacity: KnownCapacity, flavor: str, tiers: Tiers | None, found: Findings
) -> tree.File:
    """The policy of a cluster; what it cannot say goes to `found`. With `tiers` of HyperNodes its flavor gives places."""
    builder = _TreeBuilder(queues, capacity, found)
    items: list[tree.Item] = [_header(objects, capacity, found)]
    resources = sorted({*capacity.resources, *capacity.ignored})
    items += [tree.ResourceItem(name(resource)) for resource in resources if resource not in _BUILT_IN]
    items += [] if tiers is None else [topology_item(tiers)]
    items.append(tree.FlavorItem(name(flavor), tuple(_exists(capacity)) if tiers is None else tuple(_on_nodes(objects, capacity))))
    priorities = sorted(objects.priorities, key=lambda item: item.name)
    items += [tree.PriorityItem(name(item.name), number(str(item.value)), never_evicted=False) for item in priorities]
    items += builder.inside("")
    items += sparing(sorted(builder.spared))
    return tree.File(tuple(items))


def _header(objects: VolcanoObjects, capacity: KnownCapacity, found: Findings) -> tree.Header:
    choices: list[tree.Choice] = [tree.Use(PROFILE)]
    defaults = sorted((item for item in objects.priorities if item.is_default), key=lambda item: item.name)
    for item in defaults[1:]:
        found.begin("PriorityClass", item.name, item.file)
        found.problem("globalDefault", f"is true, as for {defaults[0].name}", "let one class be the default")
    choices += [tree.DefaultPriority(name(item.name)) for item in defaults[:1]]
    choices += [tree.Ignore(tuple(map(name, capacity.ignored)))] if capacity.ignored else []
    return tree.Header("policy", tree.Text("volcano"), tuple(choices))


def _exists(capacity: KnownCapacity) -> Iterator[tree.CapacityStatement | tree.AsOwned]:
    for resource, amount in capacity.fixed.items():
        yield tree.CapacityStatement(name(resource), number(format_amount(amount, resource)))
    if capacity.as_owned:
        yield tree.AsOwned(tuple(map(name, capacity.as_owned)))


def _on_nodes(objects: VolcanoObjects, capacity: KnownCapacity) -> Iterator[tree.FromNodes | tree.PlacedIn | tree.Tolerates]:
    """The flavor of the nodes in HyperNodes. PodGroups do not say what their pods tolerate, so no taint keeps them off."""
    yield tree.FromNodes(tuple(map(name, capacity.from_nodes)), where_in_topology())
    yield tree.PlacedIn(name(TOPOLOGY))
    if any(node.taints for node in objects.nodes):
        yield tree.Tolerates(None, None, None)


class _TreeBuilder:
    """Builds the tree; `spared` collects the queues that others may not reclaim from."""

    def __init__(self, queues: QueueTree, capacity: KnownCapacity, found: Findings) -> None:
        self.queues, self.resources, self.found = queues, capacity.resources, found
        self.spared: list[str] = []
        self.deserving = any(queue.deserved for queue in queues.queues.values())

    def inside(self, above: str) -> list[tree.CohortItem | tree.QueueItem]:
        """What stands directly below a Queue, or below the root: cohorts, then queues, each in order of name."""
        below = self.queues.children.get(above, [])
        inner = [queue for queue in below if not self.queues.is_leaf(queue)]
        leaves = [queue for queue in below if self.queues.is_leaf(queue)]
        return [*map(self._cohort, inner), *map(self._queue, leaves)]

    def _cohort(self, queue: VolcanoQueue) -> tree.CohortItem:
        statements: list[tree.QuotaStatement | tree.Weight] = [*self._quotas(queue), *self._weight(queue)]
        if not queue.reclaimable:
            self.found.note("spec.reclaimable", _INNER_RECLAIMABLE)
        if not queue.is_open:
            self.found.note("status.state", _INNER_CLOSED)
        return tree.CohortItem(name(policy_name(queue.name)), (*statements, *self.inside(queue.name)))

    def _queue(self, queue: VolcanoQueue) -> tree.QueueItem:
        statements: list[_QueueStatement] = [*self._quotas(queue)]
        if not any(isinstance(said, tree.QuotaStatement) and said.verb == "owns" for said in statements):
            statements.insert(0, tree.QuotaStatement("owns", "nothing", None, None))
        statements += self._weight(queue)
        if not queue.is_open:
            statements.append(tree.Stopped(drained=False))
        if not queue.reclaimable:
            self.spared.append(policy_name(queue.name))
        return tree.QueueItem(name(policy_name(queue.name)), tuple(statements))

    def _quotas(self, queue: VolcanoQueue) -> Iterator[tree.QuotaStatement]:
        """What a Queue owns itself, beyond what those below it own, what of that it never lends, and how much more it may use."""
        self.found.begin("Queue", queue.name, queue.file)
        owned, below = self.queues.owned(queue), self.queues.owned_below(queue.name)
        kept_below = self.queues.guaranteed_below(queue.name)
        for resource in self.resources:
            own = owned.get(resource, 0) - below.get(resource, 0)
            kept = queue.guarantee.get(resource, 0) - kept_below.get(resource, 0)
            if own:
                yield tree.QuotaStatement("owns", "amount", _amount(own, resource), None)
            if kept:
                yield tree.QuotaStatement("guarantees", "amount", _amount(kept, resource), None)
            if resource in queue.capability:
                more = queue.capability[resource] - owned.get(resource, 0)
                yield tree.QuotaStatement("borrows", "up-to", _amount(more, resource), None)

    def _weight(self, queue: VolcanoQueue) -> Iterator[tree.Weight]:
        if queue.weight != 1:
            if self.deserving:
                self.found.note("spec.weight", _WEIGHT)
            yield tree.Weight(number(str(queue.weight)))


def _amount(smallest: int, resource: str) -> tree.Amount:
    return quota_amount(format_amount(smallest, resource), resource)

"""What would let a waiting workload run in a policy that decides in cycles. Each change is tried with the core's own `Nominator`.

Whatever is named here, the workload would be admitted, or would evict whom it needs, were it the head of its queue then. The work is
bounded: a nomination for each of a few ways to place the workload, with ends and with limits, and for each of a few flavors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Literal

from ...events import PodSet, Toleration
from ...graph import Flavor, Group
from ..quota import Request
from ..remedies import Remedy, ending, limits, raised
from ..state import Active
from ..workload import Workload, asked_by_one
from .candidates import as_request
from .flavors import companions, groups_of
from .matching import accepts, selects, untolerated
from .nominate import Nomination, Nominator
from .plan import Mode
from .queues import Queues
from .replacing import Held, held_by

_MOST_WAYS = 4
"""How many choices of flavors are looked at for others' ends and for limits."""

_MOST_FLAVORS = 8
"""How many flavors are tried that the workload or its queue does not accept."""


def runs(nomination: Nomination) -> bool:
    """Whether a nomination leads to an admission: it fits, or there are victims for it."""
    return nomination.plan.mode is Mode.FIT or bool(nomination.targets)


def remedies(policy: Active, queues: Queues, nomination: Nomination) -> tuple[Remedy, ...]:
    """The changes that would let the workload of a nomination run; none where it fits. The tree is as before afterwards."""
    if nomination.plan.mode is Mode.FIT:
        return ()
    tries = _Tries(policy, queues, nomination)
    found = [*tries.ends(), *tries.limits()]
    if not nomination.targets:
        found += tries.flavors()
    return tuple(found)


class _Tries:
    """Changes for one workload that cannot be admitted now."""

    def __init__(self, policy: Active, queues: Queues, nomination: Nomination) -> None:
        self.policy, self.queues, self.nomination, self.workload = policy, queues, nomination, nomination.workload
        self.queue = policy.graph.queue_at(self.workload.queue)
        self.groups = groups_of(policy.graph, self.queue)
        self.ways = _ways(policy, self.groups, self.workload, held_by(policy, nomination.replaced))
        tree = queues.trees[policy.tree.paths[self.workload.queue][-1]]
        self.running = [queues.states[node].running[name] for node in tree for name in sorted(queues.states[node].running)]

    def nominate(self, workload: Workload | None = None, policy: Active | None = None, without: Sequence[str] = ()) -> Nomination:
        """The nomination of the workload, or of one in its place, under this policy or another, without some who run."""
        cluster = self.queues.cluster(policy or self.policy, without)
        with cluster.without([other for other in self.running if other.name in without]):
            return Nominator(cluster, self.queues.height).nominate(workload or self.workload, {})

    # --- in the cluster -------------------------------------------------------------------------------------------------

    def ends(self) -> list[Remedy]:
        """Those it would evict or, of all ways, the fewest others whose end makes room."""
        if self.nomination.targets:
            found = [[target.workload.name for target in self.nomination.targets]]
        else:
            found = [ending(self.policy, self.workload, request, self.running) for request in self.ways]
        for names in sorted((names for names in found if names), key=len):
            if self.nominate(without=names).plan.mode is Mode.FIT:
                return [Remedy(kind="ends", workloads=tuple(sorted(names)))]
        return []

    def limits(self) -> list[Remedy]:
        """For each way the limits that are too low for it."""
        found = []
        for request in self.ways:
            grown = limits(self.policy, self.workload, request)
            after = self.nominate(policy=raised(self.policy, grown)) if grown else None
            if after is not None and after.plan.mode is Mode.FIT:
                found.append(Remedy(kind="limits", limits=tuple(grown)))
        return found

    # --- flavors --------------------------------------------------------------------------------------------------------

    def flavors(self) -> list[Remedy]:
        """Flavors that would serve, were they accepted by the workload, its queue or both."""
        found = []
        for index in islice(self._refused(), _MOST_FLAVORS):
            flavor = self.policy.graph.flavors[index]
            by: list[Literal["queue", "workload"]] = []
            policy, workload = self.policy, self.workload
            needs: tuple[str, ...] = ()
            if not self._served(index):
                by.append("queue")
                policy = self._serving(index)
            if not self._accepted(flavor):
                by.append("workload")
                workload, needs = _accepting(self.workload, flavor)
            after = self.nominate(workload, policy)
            if runs(after):
                found.append(Remedy(kind="flavor", flavor=flavor.name, by=tuple(by), needs=needs, evicting=evicting(after)))
        return found

    def _refused(self) -> Iterator[int]:
        """Flavors that are there and are not accepted: those that the queue serves, then those that it could."""
        known = [index for index, flavor in enumerate(self.policy.graph.flavors) if not flavor.missing]
        yield from (index for index in known if self._served(index) and not self._accepted(self.policy.graph.flavors[index]))
        yield from (index for index in known if not self._served(index) and self._group_for(index) is not None)

    def _served(self, flavor: int) -> bool:
        return any(flavor in group.flavors for group in self.groups)

    def _accepted(self, flavor: Flavor) -> bool:
        return all(accepts(flavor, pod_set) for pod_set in self.workload.fact.pod_sets)

    def _group_for(self, flavor: int) -> int | None:
        """The first group of the queue whose resources a flavor has, every one."""
        name = self.policy.graph.flavors[flavor].name
        fitting = (
            index
            for index, group in enumerate(self.groups)
            if group.resources and all((name, resource) in self.policy.slot_index for resource in group.resources)
        )
        return next(fitting, None)

    def _serving(self, flavor: int) -> Active:
        """The policy as it would be if the queue served a flavor too, of which it owns nothing."""
        graph, place = self.policy.graph, self._group_for(flavor)
        groups = tuple(
            replace(group, flavors=(*group.flavors, flavor)) if index == place else group for index, group in enumerate(self.groups)
        )
        queues = tuple(replace(queue, groups=groups) if queue is self.queue else queue for queue in graph.queues)
        return replace(self.policy, graph=replace(graph, queues=queues))


def evicting(nomination: Nomination) -> tuple[str, ...]:
    """Whom the workload of a nomination would evict, by name."""
    return tuple(sorted(target.workload.name for target in nomination.targets))


def _with(workload: Workload, pod_sets: Sequence[PodSet]) -> Workload:
    return replace(workload, fact=workload.fact.model_copy(update={"pod_sets": tuple(pod_sets)}))


def _accepting(workload: Workload, flavor: Flavor) -> tuple[Workload, tuple[str, ...]]:
    """The workload as it would be if all its pod sets accepted a flavor, and what of it had to change."""
    needs: list[str] = []
    pod_sets = []
    for pod_set in workload.fact.pod_sets:
        if pod_set.flavors and flavor.name not in pod_set.flavors:
            pod_set = pod_set.model_copy(update={"flavors": (*pod_set.flavors, flavor.name)})
        while (taint := untolerated(flavor, pod_set)) is not None:
            more = Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
            pod_set = pod_set.model_copy(update={"tolerations": (*pod_set.tolerations, more)})
            needs.append(f"{pod_set.name} tolerates {taint.key}={taint.value}:{taint.effect}")
        pod_set, wanted = _selecting(pod_set, flavor)
        needs += [f"{pod_set.name} {want}" for want in wanted]
        pod_sets.append(pod_set)
    return _with(workload, pod_sets), tuple(needs)


def _selecting(pod_set: PodSet, flavor: Flavor) -> tuple[PodSet, list[str]]:
    """The pod set with a node selector and affinity that let it run on a flavor."""
    labels, needs = dict(flavor.labels), []
    for key, value in sorted(pod_set.node_selector.items()):
        if labels.get(key, value) != value:
            selector = {**pod_set.node_selector, key: labels[key]}
            pod_set = pod_set.model_copy(update={"node_selector": selector})
            needs.append(f"selects {key}={labels[key]} instead of {value}")
    if not selects(flavor, pod_set):
        pod_set = pod_set.model_copy(update={"affinity": ()})
        needs.append(f"has an affinity that lets it run on {flavor.name}")
    return pod_set, needs


def _ways(policy: Active, groups: Sequence[Group], workload: Workload, held: Held) -> list[Request]:
    """What the workload would be charged on the flavors that it accepts, by choice of flavors, those tried first before others.

    What is held already by the workload whose place it takes is not charged.
    """
    together: dict[str, list[tuple[PodSet, int]]] = {}
    for index, (pod_set, count) in enumerate(zip(workload.fact.pod_sets, workload.remaining, strict=True)):
        together.setdefault(companions(index, pod_set), []).append((pod_set, count))
    parts = [
        _choices(policy, group, together[name], held)
        for name in sorted(together)
        for group in groups
        if any(asked_by_one(pod_set, resource) * count for pod_set, count in together[name] for resource in group.resources)
    ]
    ways = []
    for choice in islice(product(*parts), _MOST_WAYS):
        total: dict[int, int] = {}
        for charged in choice:
            for slot, amount in sorted(charged.items()):
                total[slot] = total.get(slot, 0) + amount
        ways.append(as_request(total))
    return ways


def _choices(policy: Active, group: Group, members: list[tuple[PodSet, int]], held: Held) -> list[dict[int, int]]:
    """The amounts by slot on each flavor of a group that pod sets accept."""
    resources = [resource for resource in sorted(group.resources) if resource not in policy.graph.ignored]
    found = []
    for index in group.flavors:
        flavor = policy.graph.flavors[index]
        if flavor.missing or not all(accepts(flavor, pod_set) for pod_set, _ in members):
            continue
        amounts = {resource: sum(asked_by_one(pod_set, resource) * count for pod_set, count in members) for resource in resources}
        for pod_set, _ in members:
            for resource, (name, amount) in sorted(held.get(pod_set.name, {}).items()):
                if name == flavor.name and resource in amounts:
                    amounts[resource] -= amount
        found.append({policy.slot_index[flavor.name, resource]: amounts[resource] for resource in resources if amounts[resource]})
    return found

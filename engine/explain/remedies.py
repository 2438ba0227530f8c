"""Changes that would let a waiting workload run. Each is tried before it is named: the core nominates the workload as if it were made.

The work is bounded: a nomination for each of a few choices of flavors, with ends and with limits, and for each of a few flavors; where
there are no places, for a few domains and those who stand there (`ends_for_places.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Literal

from ..cores import Probe, View
from ..elastic.pod_counts import least_pods
from ..eligibility import companions, groups_of, labels_of, selects, untolerated
from ..event_parts import Limit, PodSet, Toleration, asked_by_one
from ..facts import WorkloadSubmitted
from ..outcome.decision import BindingLimit, Hold
from ..outcome.nomination import Mode, Nomination, Request, as_request
from ..policy_graph import Flavor, Group, PolicyGraph, Quota
from ..workload import Workload
from .ends_for_places import ends_for_places
from .policy_lines import limit_named
from .standing import Remedy

_MOST_WAYS, _MOST_FLAVORS, _MOST_LIMITS = 4, 8, 8
"""How many choices of flavors are looked at for others' ends and for limits, how many flavors are tried that the workload or its queue
does not accept, and how many limits in a row may have to be raised."""


def release(holds: Sequence[Hold], nomination: Nomination) -> tuple[Remedy, ...]:
    """The end of all that holds a workload, where it would run then, and that is known."""
    helps = nomination.runs and all(hold.may_be_lifted for hold in holds)
    return (Remedy(kind="release", evicting=_evicting(nomination)),) if helps else ()


def nominate(probe: Probe, workload: str) -> Nomination:
    """What would be done for a waiting workload. One that is nominated as if it fitted, and does not, waits.

    Of resources that a flavor serves together the worst one decides; in a queue that would rather evict than borrow, that is one for which
    it would borrow, as in Kueue, though the other one may be short.
    """
    nomination = probe.nominate(workload)
    if nomination.fits and not probe.fits(nomination.queue, nomination.flavors.request):
        nomination.flavors = replace(nomination.flavors, mode=Mode.PREEMPT)
    return nomination


def remedies(probe: Probe, view: View, nomination: Nomination) -> tuple[Remedy, ...]:
    """The changes that would let the workload of a nomination run; none where it fits."""
    workload = view.workload(nomination.workload)
    if nomination.fits or workload is None:
        return ()
    tries = _Tries(probe, view, nomination, workload)
    time = [Remedy(kind="time", until=nomination.until)] if nomination.until is not None else []
    return (*time, *tries.ends(), *tries.limits(), *(() if nomination.victims else tries.flavors()))


def _evicting(nomination: Nomination) -> tuple[str, ...]:
    return tuple(sorted(victim.workload for victim in nomination.victims))


class _Tries:
    """Changes for one workload that cannot be admitted now."""

    def __init__(self, probe: Probe, view: View, nomination: Nomination, workload: Workload) -> None:
        self.probe, self.view, self.nomination, self.workload, self.graph = probe, view, nomination, workload, probe.graph
        self.queue = self.graph.queue_at(workload.queue)
        self.groups = groups_of(self.graph, self.queue)
        self.running = [other for other in view.workloads() if other.admitted is not None]
        self.ways = self._ways(view.workload(nomination.replaced) if nomination.replaced is not None else None)

    # --- ends and limits ------------------------------------------------------------------------------------------------

    def ends(self) -> list[Remedy]:
        """Those it would evict or, of all ways, the fewest others whose end makes room."""
        found = [list(_evicting(self.nomination))] if self.nomination.victims else [self._ending(request) for request in self.ways]
        for names in sorted((names for names in found if names), key=len):
            if self._runs_without(names):
                return [Remedy(kind="ends", workloads=tuple(sorted(names)))]
        flavors = self.nomination.flavors
        if self.nomination.victims or flavors.unplaced_if_empty is not None or all(flavor.topology < 0 for flavor in self.graph.flavors):
            return []
        names = ends_for_places(self.graph, self.view, self.nomination, self.workload, self._runs_without)
        return [Remedy(kind="ends", workloads=tuple(sorted(names)))] if names else []

    def _runs_without(self, names: Sequence[str]) -> bool:
        return nominate(self.probe.suppose(without=names), self.workload.name).fits

    def _ending(self, request: Request) -> list[str]:
        """Running workloads whose end would make a request fit: one where one will do, the smallest such.

        Otherwise the biggest first until it fits, less those that are not needed after all.
        """
        queue = self.workload.queue
        short = [slot for slot, amount in request if not self.probe.fits(queue, ((slot, amount),))]
        useful = [other for other in self.running if any(slot in short for slot, _ in other.usage)]
        useful.sort(key=lambda other: (-sum(amount for slot, amount in other.usage if slot in short), other.number))
        for other in reversed(useful):
            if self._fits_without(request, [other.name]):
                return [other.name]
        out: list[str] = []
        for other in useful:
            if self._fits_without(request, out):
                break
            out.append(other.name)
        if not self._fits_without(request, out):
            return []
        for name in list(reversed(out)):
            fewer = [other for other in out if other != name]
            out = fewer if self._fits_without(request, fewer) else out
        return out

    def _fits_without(self, request: Request, names: list[str]) -> bool:
        return self.probe.suppose(without=names).fits(self.workload.queue, request)

    def limits(self) -> Iterator[Remedy]:
        """For each way the limits that are too low for it."""
        for request in self.ways:
            grown = self._too_low(request)
            if grown and nominate(_raised(self.probe, grown), self.workload.name).fits:
                yield Remedy(kind="limits", limits=tuple(_named(self.graph, limit) for limit in grown))

    def _too_low(self, request: Request) -> list[BindingLimit]:
        """The limits that would have to grow, each by its deficit, for a request to fit: borrowing limits, or what exists or is owned."""
        found: dict[tuple[int, int, str], BindingLimit] = {}
        queue, probe = self.workload.queue, self.probe
        for _ in range(_MOST_LIMITS):
            limit = probe.limit(queue, request)
            if limit is None:
                break
            if limit.kind != "borrowing" and not self.graph.settings.forest:
                limit = replace(limit, kind="capacity", node=0)
            place = (limit.node, limit.slot, limit.kind)
            short = dict(request)[limit.slot] - probe.available(queue, limit.slot)  # may be beyond what is asked for
            before = found[place].deficit if place in found else 0
            found[place] = replace(limit, available=limit.asked - before - short)
            probe = _raised(self.probe, [found[known] for known in sorted(found)])
        return [found[place] for place in sorted(found)] if probe.fits(queue, request) else []

    # --- flavors --------------------------------------------------------------------------------------------------------

    def flavors(self) -> Iterator[Remedy]:
        """Flavors that would serve, were they accepted by the workload, its queue or both."""
        for index in islice(self._refused(), _MOST_FLAVORS):
            flavor = self.graph.flavors[index]
            by: list[Literal["queue", "workload"]] = []
            probe = self.probe
            needs: tuple[str, ...] = ()
            if not self._served(index):
                by.append("queue")
                probe = probe.suppose(graph=self._serving(index))
            if not self._accepted(index):
                by.append("workload")
                fact, needs = _accepting(self.workload.fact, flavor)
                probe = probe.suppose(instead=fact)
            after = nominate(probe, self.workload.name)
            if after.runs:
                yield Remedy(kind="flavor", flavor=flavor.name, by=tuple(by), needs=needs, evicting=_evicting(after))

    def _refused(self) -> Iterator[int]:
        """Flavors that are there and are not accepted: those that the queue serves, then those that it could."""
        known = [index for index, flavor in enumerate(self.graph.flavors) if not flavor.missing]
        yield from (index for index in known if self._served(index) and not self._accepted(index))
        yield from (index for index in known if not self._served(index) and self._group_for(index) is not None)

    def _served(self, flavor: int) -> bool:
        return any(flavor in group.flavors for group in self.groups)

    def _accepted(self, flavor: int) -> bool:
        return all(self.probe.barrier(flavor, pod_set, ()) is None for pod_set in self.workload.fact.pod_sets)

    def _group_for(self, flavor: int) -> int | None:
        """The first group of the queue whose resources a flavor has: every one or, where they are judged together, any."""
        has = {resource for resource, _ in self.graph.flavors[flavor].capacity}
        any_will_do = self.graph.settings.judges_together
        known = [(index, set(group.resources)) for index, group in enumerate(self.groups) if group.resources]
        return next((index for index, resources in known if (has & resources if any_will_do else resources <= has)), None)

    def _serving(self, flavor: int) -> PolicyGraph:
        """The policy as it would be if the queue served a flavor too, of which it owns nothing."""
        place = self._group_for(flavor)
        groups = tuple(
            replace(group, flavors=(*group.flavors, flavor)) if index == place else group for index, group in enumerate(self.groups)
        )
        queues = tuple(replace(queue, groups=groups) if queue is self.queue else queue for queue in self.graph.queues)
        return replace(self.graph, queues=queues)

    # --- ways -----------------------------------------------------------------------------------------------------------

    def _ways(self, replaced: Workload | None) -> list[Request]:
        """What the workload would be charged on the flavors that it accepts, by choice of flavors, those tried first before others.

        What is held already by the workload whose place it takes is not charged.
        """
        together: dict[str, list[tuple[PodSet, int]]] = {}
        for index, (pod_set, count) in enumerate(zip(self.workload.fact.pod_sets, least_pods(self.workload), strict=True)):
            together.setdefault(companions(index, pod_set), []).append((pod_set, count))
        parts = [
            self._choices(group, together[name])
            for name in sorted(together)
            for group in self.groups
            if any(asked_by_one(pod_set, resource) * count for pod_set, count in together[name] for resource in group.resources)
        ]
        held = dict(replaced.usage) if replaced is not None else {}
        ways = []
        for choice in islice(product(*parts), _MOST_WAYS):
            total: dict[int, int] = {}
            for charged in choice:
                for slot, amount in sorted(charged.items()):
                    total[slot] = total.get(slot, 0) + amount
            ways.append(as_request({slot: total[slot] - held.get(slot, 0) for slot in sorted(total)}))
        return ways

    def _choices(self, group: Group, members: list[tuple[PodSet, int]]) -> list[dict[int, int]]:
        """The amounts by slot on each flavor of a group that pod sets accept."""
        resources = [resource for resource in sorted(group.resources) if resource not in self.graph.ignored]
        amounts = {resource: sum(asked_by_one(pod_set, resource) * count for pod_set, count in members) for resource in resources}
        found = []
        for index in group.flavors:
            slots = {slot.resource: number for number, slot in enumerate(self.graph.slots) if slot.flavor == index}
            wanted = [resource for resource in resources if amounts[resource]]
            if any(self.probe.barrier(index, pod_set, wanted) is not None for pod_set, count in members if count):
                continue
            if all(resource in slots for resource in wanted):
                found.append({slots[resource]: amounts[resource] for resource in wanted})
        return found


def _raised(probe: Probe, grown: list[BindingLimit]) -> Probe:
    """What would be with each of these limits greater by its deficit."""
    nodes, capacity = list(probe.graph.nodes), dict[int, int]()
    for limit in grown:
        if limit.kind == "capacity":
            capacity[limit.slot] = capacity.get(limit.slot, 0) + limit.deficit
            continue
        quotas = list(nodes[limit.node].quotas)
        quotas[limit.slot] = _raised_quota(quotas[limit.slot], limit)
        nodes[limit.node] = replace(nodes[limit.node], quotas=tuple(quotas))
    return probe.suppose(graph=replace(probe.graph, nodes=tuple(nodes)), capacity=capacity)


def _raised_quota(quota: Quota, limit: BindingLimit) -> Quota:
    if limit.kind == "borrowing":
        return replace(quota, borrowing_limit=(quota.borrowing_limit or 0) + limit.deficit)
    return replace(quota, nominal=quota.nominal + limit.deficit)


def _named(graph: PolicyGraph, limit: BindingLimit) -> Limit:
    """A limit that has to grow, with what was available before."""
    named = limit_named(graph, limit)
    assert named is not None
    return named.model_copy(update={"available": max(0, limit.available)})


def _accepting(fact: WorkloadSubmitted, flavor: Flavor) -> tuple[WorkloadSubmitted, tuple[str, ...]]:
    """The workload as it would be if all its pod sets accepted a flavor, and what of it had to change."""
    needs: list[str] = []
    pod_sets = []
    for pod_set in fact.pod_sets:
        if pod_set.flavors and flavor.name not in pod_set.flavors:
            pod_set = pod_set.model_copy(update={"flavors": (*pod_set.flavors, flavor.name)})
        while (taint := untolerated(flavor, pod_set)) is not None:
            more = Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
            pod_set = pod_set.model_copy(update={"tolerations": (*pod_set.tolerations, more)})
            needs.append(f"{pod_set.name} tolerates {taint.key}={taint.value}:{taint.effect}")
        pod_set, wanted = _selecting(pod_set, flavor)
        needs += [f"{pod_set.name} {want}" for want in wanted]
        pod_sets.append(pod_set)
    return fact.model_copy(update={"pod_sets": tuple(pod_sets)}), tuple(needs)


def _selecting(pod_set: PodSet, flavor: Flavor) -> tuple[PodSet, list[str]]:
    """The pod set with a node selector and affinity that let it run on a flavor."""
    labels, needs = labels_of(flavor), []
    for key, value in sorted(pod_set.node_selector.items()):
        if labels.get(key, value) != value:
            selector = {**pod_set.node_selector, key: labels[key]}
            pod_set = pod_set.model_copy(update={"node_selector": selector})
            needs.append(f"selects {key}={labels[key]} instead of {value}")
    if not selects(flavor, pod_set):
        pod_set = pod_set.model_copy(update={"affinity": ()})
        needs.append(f"has an affinity that lets it run on {flavor.name}")
    return pod_set, needs

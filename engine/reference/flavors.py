"""Which flavors a workload would get, and whether it fits there, needs evictions, or has to wait.

Pod set by pod set, and within it group by group of resources that one flavor must serve together, flavors are tried in the
queue's order. The order of verdicts and the two choices when to look further are Kueue's (pkg/scheduler/flavorassigner).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

from ..events import Assignment, PodSet
from ..graph import Group
from .cycles.matching import accepts
from .quota import QuotaTree, Request
from .state import Active
from .workload import Workload


class Mode(IntEnum):
    """How well a flavor serves a request; a workload's mode is the worst of its parts. Better is greater."""

    NO_FLAVOR = 0
    EXCEEDS = 1
    SHORT = 2
    BLOCKED = 3
    EVICT = 4
    FIT = 5


TOKENS = {
    Mode.NO_FLAVOR: "NoMatchingFlavor",
    Mode.EXCEEDS: "ExceedsMaxQuota",
    Mode.SHORT: "WaitingForQuota",
    Mode.BLOCKED: "WaitingForProtectedWorkloads",
}
"""The reason of a refusal by mode, in Kueue's words where it has one; the fourth is gpol's own."""

Search = Callable[[Request], Mode]
"""Looks for victims for a request that does not fit: EVICT, BLOCKED (once protections end) or SHORT."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found for one flavor: mode, whether the queue would borrow, and the part of the request it was judged by.

    `resources` are those that the flavor would have to serve together.
    """

    flavor: int
    resources: tuple[str, ...]
    mode: Mode
    borrows: bool
    request: Request


@dataclass(frozen=True, slots=True)
class Plan:
    """Flavors for all pod sets (as far as there are any), the whole request by slot, the worst mode, and every verdict."""

    mode: Mode
    borrows: bool
    request: Request
    assignments: tuple[Assignment, ...]
    verdicts: tuple[tuple[str, tuple[Verdict, ...]], ...]

    def with_mode(self, mode: Mode) -> "Plan":
        """The same plan, judged as a whole."""
        return replace(self, mode=mode)


def plan(policy: Active, workload: Workload, search: Search) -> Plan:
    """Choose flavors for a workload, as things stand."""
    chosen: dict[int, int] = {}
    mode, borrows = Mode.FIT, False
    assignments, verdicts = [], []
    for pod_set, demand in workload.demand():
        flavors: dict[str, str] = {}
        for group, among in _grouped(policy, workload, demand):
            tried = _try_flavors(policy, workload, pod_set, group, among, chosen, search)
            verdicts.append((pod_set.name, tuple(tried)))
            best = max(tried, key=lambda verdict: (verdict.mode, not verdict.borrows), default=None)
            if best is None or best.mode <= Mode.NO_FLAVOR:
                return Plan(Mode.NO_FLAVOR, borrows, (), (), tuple(verdicts))
            mode, borrows = min(mode, best.mode), borrows or best.borrows
            for slot, amount in best.request:
                chosen[slot] = amount
                flavors[policy.graph.slots[slot].resource] = policy.graph.flavors[best.flavor].name
        count = sum(left for other, left in zip(workload.fact.pod_sets, workload.remaining, strict=True) if other is pod_set)
        assignments.append(Assignment(pod_set=pod_set.name, count=count, flavors={name: flavors[name] for name in sorted(flavors)}))
    request = tuple((slot, chosen[slot]) for slot in sorted(chosen))
    return Plan(mode, borrows, request, tuple(assignments), tuple(verdicts))


def _grouped(policy: Active, workload: Workload, demand: list[tuple[str, int]]) -> list[tuple[list[tuple[str, int]], tuple[int, ...]]]:
    """Split a pod set's demand into parts that one flavor must serve together, each with the flavors to try, in order.

    A resource that the queue does not serve is a part of its own, without flavors.
    """
    queue = policy.graph.queue_at(workload.queue)
    groups = queue.groups or tuple(Group(resources, queue.flavors) for resources in policy.graph.groups)
    counted = [(resource, amount) for resource, amount in demand if resource not in policy.graph.ignored and amount > 0]
    known = [([entry for entry in counted if entry[0] in group.resources], group.flavors) for group in groups]
    grouped = {resource for group in groups for resource in group.resources}
    others = [([entry], () if queue.groups else queue.flavors) for entry in counted if entry[0] not in grouped]
    return [part for part in known if part[0]] + others


def _try_flavors(
    policy: Active,
    workload: Workload,
    pod_set: PodSet,
    part: list[tuple[str, int]],
    among: tuple[int, ...],
    chosen: dict[int, int],
    search: Search,
) -> list[Verdict]:
    """Judge flavors in order, until one is good enough to stop."""
    settings, queue = policy.graph.settings, policy.graph.queue_at(workload.queue)
    go_on_borrowing = queue.looks_on_borrowing(settings)
    go_on_evicting = queue.looks_on_evicting(settings)
    tried = []
    for flavor in among:
        verdict = _judge(policy, workload, pod_set, flavor, part, chosen, search)
        tried.append(verdict)
        if verdict.mode is Mode.FIT and not (verdict.borrows and go_on_borrowing):
            break
        if verdict.mode is Mode.EVICT and not go_on_evicting:
            break
    return tried


def _judge(
    policy: Active, workload: Workload, pod_set: PodSet, flavor: int, part: list[tuple[str, int]], chosen: dict[int, int], search: Search
) -> Verdict:
    name, resources = policy.graph.flavors[flavor].name, tuple(resource for resource, _ in part)
    slots = [policy.slot_index.get((name, resource)) for resource, _ in part]
    if None in slots or not accepts(policy.graph.flavors[flavor], pod_set):
        return Verdict(flavor, resources, Mode.NO_FLAVOR, borrows=False, request=())
    request = tuple(sorted((slot, amount + chosen.get(slot, 0)) for slot, (_, amount) in zip(slots, part, strict=True) if slot is not None))
    tree, queue = policy.tree, workload.queue
    borrows = not tree.owns(queue, request)
    if exceeds(tree, queue, request):
        return Verdict(flavor, resources, Mode.EXCEEDS, borrows, request)
    mode = Mode.FIT if tree.fits(queue, request) else search(request)
    return Verdict(flavor, resources, mode, borrows, request)


def exceeds(tree: QuotaTree, queue: int, request: Request) -> bool:
    """Whether a request is more than the queue could ever use, were everything else idle."""
    return any(amount > min(tree.potential[queue][slot], tree.capacity[slot]) for slot, amount in request)

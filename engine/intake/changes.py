"""What facts and decisions change of one workload: its own fields. Its place in a queue, a line and the charges is the core's to keep.

A core takes a workload out of its places before it changes, and gives it its new ones afterwards.
"""

from collections.abc import Collection

from ..event_parts import Assignment, asked_by_one
from ..facts import OperatorAction, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ..nodes.lost_nodes import nodes_of, not_there
from ..outcome.named import SlotIndex
from ..outcome.nomination import Request, as_request
from ..policy_graph import PolicyGraph
from ..workload import NOWHERE, Workload
from .holds import is_queued
from .routing import queue_named, route, set_priority


def waits(graph: PolicyGraph, workload: Workload) -> bool:
    """Whether a workload waits in its queue: it is pending, and nothing holds it."""
    return workload.admitted is None and workload.queue != NOWHERE and is_queued(graph, workload)


# --- facts ----------------------------------------------------------------------------------------------------------


def submitted(fact: WorkloadSubmitted, number: int) -> Workload:
    """A new workload, which is not routed yet."""
    return Workload(
        entered=fact.time if fact.created is None else fact.created,
        fact=fact,
        number=number,
        queue=NOWHERE,
        asked_priority=fact.priority,
        priority=0,
        pinned=False,
        remaining=tuple(pod_set.count for pod_set in fact.pod_sets),
        boost=fact.boost,
        held_by_owner=fact.hold,
    )


def adopt(graph: PolicyGraph, slots: SlotIndex, workload: Workload, fact: WorkloadAdopted, seq: int, there: Collection[str]) -> None:
    """Let a workload run as an outside system has it; it stays in the queue where that system admitted it. `seq` is that of the fact.

    `there` are all nodes of the cluster: where the policy follows them, those are lost on which it has pods and that have left already.
    """
    node = queue_named(graph, fact.queue)
    assert node is not None
    if workload.queue != node:
        workload.queue = node
        set_priority(graph, workload)
    amounts: dict[int, int] = {}
    for placement in fact.placements:
        for resource in sorted(placement.usage):
            slot = slots[placement.flavors[resource], resource]
            amounts[slot] = amounts.get(slot, 0) + placement.usage[resource]
    workload.deferred = workload.scan = None
    workload.admitted, workload.started_by, workload.evicting, workload.held_by_owner = fact.since, seq, fact.evicting, False
    workload.usage = as_request(amounts)
    workload.assignments = tuple(
        Assignment(
            pod_set=placement.pod_set,
            count=placement.count,
            flavors=placement.flavors,
            places=placement.places,
            delayed=placement.delayed,
        )
        for placement in fact.placements
    )
    workload.lost_nodes = not_there(graph, workload, there)


def update(graph: PolicyGraph, slots: SlotIndex, workload: Workload, fact: WorkloadUpdated) -> None:
    """Change what a fact gives; `None` leaves a field as it is."""
    if fact.priority is not None:
        workload.asked_priority = fact.priority
    if fact.boost is not None:
        workload.boost = fact.boost
    waited = waits(graph, workload)
    set_priority(graph, workload)
    if stops(workload, fact):
        _stop(workload)
    workload.checks = {**workload.checks, **fact.checks}
    if fact.hold is not None:
        workload.held_by_owner = fact.hold
    if not waited and waits(graph, workload):
        workload.entered = fact.time
    if fact.requeued is not None:
        workload.requeued = workload.entered = fact.requeued
    if fact.reclaimable is not None:
        _release_pods(slots, workload, fact.reclaimable)
    if fact.lost_nodes is not None and workload.admitted is not None:
        workload.lost_nodes = _placed_there(graph, workload, fact.lost_nodes)


def stops(workload: Workload, fact: WorkloadUpdated) -> bool:
    """Whether a workload that was told to stop has done so at last, as a fact about it says."""
    return workload.evicting and fact.requeued is not None


def _release_pods(slots: SlotIndex, workload: Workload, done: dict[str, int]) -> None:
    """Let go of pods that are done: they are no longer asked for, and no longer charged.

    Of fewer pods than were asked for, those that are done count as the ones it was not given first, as in Kueue (pkg/workload,
    totalRequestsFromAdmission).
    """
    remaining = [pod_set.count - done.get(pod_set.name, pod_set.count - left) for pod_set, left in workload.pod_sets()]
    freed: dict[int, int] = {}
    given = {assignment.pod_set: assignment for assignment in workload.assignments}
    for (pod_set, left), rest in zip(workload.pod_sets(), remaining, strict=True):
        if pod_set.name in given:
            flavors, count = given[pod_set.name].flavors, given[pod_set.name].count
            for resource in sorted(flavors):
                slot = slots.get((flavors[resource], resource), -1)  # gone where nothing of it was charged
                freed[slot] = freed.get(slot, 0) + asked_by_one(pod_set, resource) * (min(count, left) - min(count, rest))
    workload.usage = as_request({slot: amount - freed.get(slot, 0) for slot, amount in workload.usage})
    workload.remaining = tuple(remaining)


def act(graph: PolicyGraph, workload: Workload, fact: OperatorAction) -> None:
    """Hold or release a workload; an operator's eviction is a decision of its own, and holds it (`evict`)."""
    waited = waits(graph, workload)
    workload.held_by_operator = fact.by if fact.action == "hold" else None
    if fact.action == "release":
        workload.held_by_owner = False
    if not waited and waits(graph, workload):
        workload.entered = fact.time


def carry_over(before: PolicyGraph, after: PolicyGraph, slots: SlotIndex, workload: Workload, now: int) -> None:
    """Bring a workload under another policy: who runs keeps its queue, flavors and amounts, by their names; who waits is matched anew."""
    workload.deferred = workload.scan = None
    if workload.admitted is None:
        waited_in = before.nodes[workload.queue].name if waits(before, workload) else None
        route(after, workload)
        if waits(after, workload) and after.nodes[workload.queue].name != waited_in:
            workload.entered = now
        return
    node = queue_named(after, before.nodes[workload.queue].name)
    assert node is not None
    workload.queue = node
    set_priority(after, workload)
    workload.usage = tuple(sorted((slots[before.slot_name(slot)], amount) for slot, amount in workload.usage))
    workload.lost_nodes = _placed_there(after, workload, workload.lost_nodes)


def _placed_there(graph: PolicyGraph, workload: Workload, nodes: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some nodes on which a workload has pods that a policy has placed."""
    there = nodes_of(graph, workload) if nodes else ()
    return tuple(node for node in nodes if node in there)


# --- decisions ------------------------------------------------------------------------------------------------------


def admit(workload: Workload, now: int, cause: int, request: Request, given: tuple[Assignment, ...]) -> None:
    """Let a workload run from now on, charged for a request; `cause` is the fact that is decided."""
    workload.deferred = workload.scan = None
    workload.admitted, workload.started_by = now, cause
    workload.usage, workload.assignments, workload.lost_nodes = request, given, ()


def place(workload: Workload, given: tuple[Assignment, ...], in_place_of_lost: bool) -> None:
    """Let the pods of a running workload stand at other places from now on; then it has all its nodes, if that was what it lacked."""
    workload.assignments = given
    if in_place_of_lost:
        workload.lost_nodes = ()


def resize(workload: Workload, request: Request, given: tuple[Assignment, ...]) -> None:
    """Let a running workload have these pods from now on, charged for a request."""
    workload.usage, workload.assignments = request, given


def evict(workload: Workload, operator: str | None, now: int) -> None:
    """Let a workload wait again from now on; an operator who evicts it holds it as well."""
    _stop(workload)
    workload.evictions += 1
    workload.entered = now
    if operator is not None:
        workload.held_by_operator = operator


def _stop(workload: Workload) -> None:
    workload.admitted, workload.usage, workload.assignments, workload.evicting, workload.lost_nodes = None, (), (), False, ()

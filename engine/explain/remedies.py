"""The smallest changes that would admit a waiting workload; each is tried before it is named."""

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..events import Limit
from ..graph import Quota
from .flavors import Mode
from .quota import QuotaTree, Request
from .settle import Proposal
from .shares import Shares
from .state import Active
from .why import binding_limit
from .workload import Workload

_MOST_LIMITS = 8
"""How many limits in a row a remedy may ask to raise."""


class Remedy(BaseModel):
    """One change that would admit a waiting workload, other things being equal.

    It is worked out for the workload alone, as if it were next: what waits ahead of it may take the room first.
    `ends`: these running workloads end; in cycles those whom it evicts, if it can evict, else none of them can be left out.
    `limits`: each of these limits grows by its deficit. `flavor`: this flavor is accepted by those `by` whom it is not: the queue, the
    workload, or both; in cycles `needs` says what of the workload has to change, where that is more than its list of flavors.
    `time`: nothing but time has to pass, until `until` (microseconds). `release`: all that holds it ends, such as a hold or a stop.
    In a policy that decides in cycles it may have to evict others then: those in `evicting`; it runs once they have gone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["ends", "limits", "flavor", "time", "release"]
    workloads: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    flavor: str | None = None
    by: tuple[Literal["queue", "workload"], ...] = ()
    needs: tuple[str, ...] = ()
    until: int | None = None
    evicting: tuple[str, ...] = ()


def remedies(policy: Active, proposal: Proposal, running: list[Workload]) -> tuple[Remedy, ...]:
    """What would admit the workload of a proposal that cannot be carried out now; `running` is all that runs."""
    workload, plan = proposal.workload, proposal.plan
    found = []
    if plan.mode is Mode.BLOCKED:
        found.append(Remedy(kind="time", until=proposal.until))
    if plan.mode in (Mode.SHORT, Mode.BLOCKED):
        ends = ending(policy, workload, plan.request, running)
        if ends:
            found.append(Remedy(kind="ends", workloads=tuple(ends)))
    if plan.mode in (Mode.SHORT, Mode.BLOCKED, Mode.EXCEEDS):
        grown = limits(policy, workload, plan.request)
        if grown:
            found.append(Remedy(kind="limits", limits=tuple(grown)))
    if plan.mode < Mode.EVICT:
        found += _other_flavors(policy, workload)
    return tuple(found)


def ending(policy: Active, workload: Workload, request: Request, running: list[Workload]) -> list[str]:
    """Running workloads whose end would make the request fit: one where one will do, the smallest such.

    Otherwise the biggest first until it fits, less those that are not needed after all.
    """
    tree = policy.tree
    short = tree.short(workload.queue, request)
    useful = [other for other in running if any(slot in short for slot, _ in other.usage)]
    useful.sort(key=lambda other: (-sum(amount for slot, amount in other.usage if slot in short), other.number))
    alone = next((other for other in reversed(useful) if _fits_without(policy, workload, request, other)), None)
    if alone is not None:
        return [alone.name]
    out: list[Workload] = []
    for other in useful:
        if tree.fits(workload.queue, request):
            break
        tree.remove(other.queue, other.usage)
        out.append(other)
    enough = tree.fits(workload.queue, request)
    for other in list(reversed(out)):
        tree.add(other.queue, other.usage)
        if enough and tree.fits(workload.queue, request):
            out.remove(other)
        else:
            tree.remove(other.queue, other.usage)
    for other in out:
        tree.add(other.queue, other.usage)
    return [other.name for other in out] if enough else []


def _fits_without(policy: Active, workload: Workload, request: Request, other: Workload) -> bool:
    policy.tree.remove(other.queue, other.usage)
    fits = policy.tree.fits(workload.queue, request)
    policy.tree.add(other.queue, other.usage)
    return fits


def limits(policy: Active, workload: Workload, request: Request) -> list[Limit]:
    """The limits that would have to grow, each by its deficit, for the request to fit: borrowing limits, or what exists or is owned."""
    found: dict[tuple[int, int, str], Limit] = {}
    trial = policy
    for _ in range(_MOST_LIMITS):
        limit = binding_limit(trial, workload.queue, request)
        if limit is None:
            break
        slot = policy.slot_index[limit.flavor, limit.resource]
        if limit.limit != "borrowing" and not trial.tree.apart:
            limit = limit.model_copy(update={"limit": "capacity", "node": policy.graph.nodes[0].name})
        place = (policy.name_index[limit.node], slot, limit.limit)
        short = dict(request)[slot] - trial.tree.room(workload.queue, slot)  # may be beyond what is asked for
        before = found[place].deficit if place in found else 0
        found[place] = limit.model_copy(update={"deficit": before + short})
        trial = raised(policy, [found[known] for known in sorted(found)])
    return [found[place] for place in sorted(found)] if trial.tree.fits(workload.queue, request) else []


def raised(policy: Active, grown: list[Limit]) -> Active:
    """The policy as it would be with each of these limits greater by its deficit, and the use of the tree as it is."""
    nodes, capacity = list(policy.graph.nodes), list(policy.tree.capacity)
    for limit in grown:
        node, slot = policy.name_index[limit.node], policy.slot_index[limit.flavor, limit.resource]
        if limit.limit == "capacity":
            capacity[slot] += limit.deficit
            continue
        quotas = list(nodes[node].quotas)
        quotas[slot] = _raised(quotas[slot], limit.limit, limit.deficit)
        nodes[node] = replace(nodes[node], quotas=tuple(quotas))
    graph = replace(policy.graph, nodes=tuple(nodes))
    tree = _charged(QuotaTree(graph, capacity), policy)
    return replace(policy, graph=graph, tree=tree, shares=Shares(graph, tree))


def _raised(quota: Quota, limit: str, amount: int) -> Quota:
    if limit == "borrowing":
        return replace(quota, borrowing_limit=(quota.borrowing_limit or 0) + amount)
    return replace(quota, nominal=quota.nominal + amount)


def _charged(tree: QuotaTree, policy: Active) -> QuotaTree:
    """A tree with the use of another; use of queues is all there is, cohorts follow from it."""
    for queue in policy.graph.queues:
        tree.add(queue.node, tuple((slot, amount) for slot, amount in enumerate(policy.tree.usage[queue.node]) if amount > 0))
    return tree


def _other_flavors(policy: Active, workload: Workload) -> list[Remedy]:
    """Flavors that would fit now, but that the workload or its queue does not accept; for workloads of one pod set."""
    if len(workload.demand()) != 1:
        return []
    pod_set, demand = workload.demand()[0]
    queue = policy.graph.queue_at(workload.queue)
    found = []
    for index, flavor in enumerate(policy.graph.flavors):
        refusing: list[Literal["queue", "workload"]] = [] if index in queue.flavors else ["queue"]
        if pod_set.flavors and flavor.name not in pod_set.flavors:
            refusing.append("workload")
        counted = [(resource, amount) for resource, amount in demand if resource not in policy.graph.ignored and amount > 0]
        slots = [policy.slot_index.get((flavor.name, resource)) for resource, _ in counted]
        if not refusing or None in slots:
            continue
        request = tuple(sorted((slot, amount) for slot, (_, amount) in zip(slots, counted, strict=True) if slot is not None))
        if policy.tree.fits(workload.queue, request):
            found.append(Remedy(kind="flavor", flavor=flavor.name, by=tuple(refusing)))
    return found

"""Figures from the stream of events alone, recounted independently of the core, in exact integers.

The recount is also the auditor: a charge beyond what exists, or a workload that is not accounted for, stops the run.
"""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from ..engine.events import (
    AnyDecision,
    CapacityChanged,
    Charge,
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    PolicyActivated,
    WorkloadAdmitted,
    WorkloadCancelled,
    WorkloadEvicted,
    WorkloadFinished,
    WorkloadRejected,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ..engine.graph import PolicyGraph
from ..engine.reference.route import matching_queues

HOUR_US = 3_600_000_000

NO_QUEUE = "(none)"
"""Where workloads are counted that belong to no queue, or to two."""


class AccountError(AssertionError):
    """The events contradict each other: a defect of the core, not of its input."""


@dataclass(slots=True)
class QueueFigures:
    """One queue's figures. GPU amounts are thousandths of a GPU, times microseconds, areas their product.

    `borrowed_area` is what it used beyond what it owned, `lent_area` what others used of what it owned and did not use.
    `entitled` holds the waiting workloads that fit what the queue owns and does not use, each with the time since when it
    does; `owner_wait_most` is the longest that one waited like that until it no longer did.
    Waits are from submission or eviction to the next admission; `waits` counts them by length in whole seconds, rounded up.
    """

    name: str
    owned: int = 0
    submitted: int = 0
    admitted: int = 0
    evicted: int = 0
    finished: int = 0
    cancelled: int = 0
    rejected: int = 0
    used: int = 0
    used_area: int = 0
    borrowed_area: int = 0
    lent_area: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    running: dict[str, int] = field(default_factory=dict)
    wait_total: int = 0
    wait_most: int = 0
    waits: Counter[int] = field(default_factory=Counter)
    owner_wait_most: int = 0
    entitled: dict[str, int] = field(default_factory=dict)

    def owner_wait(self, now: int) -> int:
        """The longest that a workload waited though it fit what the queue owns and does not use; those that still wait count."""
        return max([self.owner_wait_most, *(now - since for since in self.entitled.values())])

    @property
    def waiting_gpus(self) -> int:
        """The GPUs that waiting workloads ask for, in thousandths."""
        return sum(self.waiting.values())

    def mean_wait(self) -> Fraction:
        """Mean wait in microseconds; 0 where nothing was admitted."""
        count = sum(self.waits.values())
        return Fraction(self.wait_total, count) if count else Fraction(0)

    def wait_percentile(self, percent: int) -> int:
        """The shortest wait, in whole seconds rounded up, that is at least as long as `percent` in a hundred of all."""
        count = sum(self.waits.values())
        rank = -(-count * percent // 100)
        seen = 0
        for length in sorted(self.waits):
            seen += self.waits[length]
            if seen >= rank:
                return length
        return 0


@dataclass(slots=True)
class Measure:
    """Takes batches in order; figures are by queue name."""

    queues: dict[str, QueueFigures] = field(default_factory=dict)
    start: int | None = None
    end: int = 0
    facts: int = 0
    decisions: int = 0
    capacity: dict[tuple[str, str], int] = field(default_factory=dict)
    used: dict[tuple[str, str], int] = field(default_factory=dict)
    _live: dict[str, "_Live"] = field(default_factory=dict)
    _machines: bool = False
    _touched: dict[str, None] = field(default_factory=dict)

    def take(self, fact: Fact, decisions: list[AnyDecision], graph: PolicyGraph | None) -> None:
        """Count a batch; `graph` is the policy that decided it."""
        self._pass_time(fact.time)
        self.facts += 1
        self.decisions += len(decisions)
        if graph is not None:
            self._fact(fact, graph)
        for decision in decisions:
            self._decision(decision)
        self._audit(decisions)
        for name in self._touched:
            self._entitle(self.queues[name])
        self._touched.clear()

    def _pass_time(self, time: int) -> None:
        if self.start is None:
            self.start = self.end = time
        elapsed = time - self.end
        self.end = time
        if not elapsed:
            return
        lent = sum(max(0, figures.used - figures.owned) for figures in self.queues.values())
        idle = sum(max(0, figures.owned - figures.used) for figures in self.queues.values())
        for figures in self.queues.values():
            figures.used_area += figures.used * elapsed
            figures.borrowed_area += max(0, figures.used - figures.owned) * elapsed
            if idle:  # what is borrowed comes from all that is owned and idle, in proportion
                figures.lent_area += max(0, figures.owned - figures.used) * min(lent, idle) * elapsed // idle

    def _fact(self, fact: Fact, graph: PolicyGraph) -> None:
        match fact:
            case PolicyActivated():
                self._policy(graph)
            case CapacityChanged():
                for resource in sorted(fact.capacity):
                    self.capacity[fact.flavor, resource] = fact.capacity[resource]
            case NodeAdded() | NodeChanged() | NodeRemoved():
                self._machines = True  # the sum over nodes is the core's to know; only declared capacity is recounted
            case WorkloadSubmitted():
                self._submitted(fact, graph)
            case WorkloadFinished():
                self._over(fact.workload).finished += 1
            case WorkloadCancelled():
                self._over(fact.workload).cancelled += 1
            case WorkloadUpdated() if fact.reclaimable is not None:
                self._fewer_pods(fact.workload, fact.reclaimable)
            case _:
                return

    def _policy(self, graph: PolicyGraph) -> None:
        for queue in graph.queues:
            node = graph.nodes[queue.node]
            owned = sum(quota.nominal for slot, quota in zip(graph.slots, node.quotas, strict=True) if slot.resource == "gpu")
            self.queues.setdefault(node.name, QueueFigures(node.name)).owned = owned
            self._touched[node.name] = None
        for flavor in graph.flavors:
            for resource, amount in flavor.capacity:
                self.capacity.setdefault((flavor.name, resource), amount)

    def _submitted(self, fact: WorkloadSubmitted, graph: PolicyGraph) -> None:
        nodes = matching_queues(graph, fact)
        queue = graph.nodes[nodes[0]].name if len(nodes) == 1 else NO_QUEUE
        figures = self.queues.setdefault(queue, QueueFigures(queue))
        figures.submitted += 1
        live = self._live[fact.workload] = _Live(fact, queue, fact.time)
        figures.waiting[fact.workload] = live.gpus()
        self._touched[queue] = None

    def _find(self, name: str, what: str) -> "_Live":
        live = self._live.get(name)
        if live is None:
            raise AccountError(f"`{name}` {what}, but is not live")
        return live

    def _over(self, name: str) -> QueueFigures:
        """A workload is gone: whatever it used or waited for ends."""
        live = self._find(name, "ends")
        del self._live[name]
        figures = self.queues[live.queue]
        self._stop(live)
        figures.waiting.pop(name, None)
        return figures

    def _stop(self, live: "_Live") -> None:
        live.running = False
        self._charge(live, ())
        self.queues[live.queue].running.pop(live.fact.workload, None)

    def _charge(self, live: "_Live", charges: tuple[Charge, ...]) -> None:
        """Replace what a workload is charged."""
        figures = self.queues[live.queue]
        self._touched[live.queue] = None
        for sign, entries in ((-1, live.charges), (1, charges)):
            for charge in entries:
                key = (charge.flavor, charge.resource)
                self.used[key] = self.used.get(key, 0) + sign * charge.amount
                if charge.resource == "gpu":
                    figures.used += sign * charge.amount
        live.charges = charges
        if live.running:
            figures.running[live.fact.workload] = _gpus(charges)

    def _fewer_pods(self, name: str, done: dict[str, int]) -> None:
        live = self._find(name, "has fewer pods")
        for pod_set in live.fact.pod_sets:
            live.done[pod_set.name] = done.get(pod_set.name, live.done.get(pod_set.name, 0))
        if live.running:
            self._charge(live, live.recount())
        else:
            self.queues[live.queue].waiting[name] = live.gpus()
            self._touched[live.queue] = None

    def _decision(self, decision: AnyDecision) -> None:
        live = self._find(decision.workload, "is decided about")
        match decision:
            case WorkloadRejected():
                self._over(decision.workload).rejected += 1
            case WorkloadAdmitted():
                self._admitted(live, decision)
            case WorkloadEvicted():
                if not live.running:
                    raise AccountError(f"`{decision.workload}` is evicted, but does not run")
                figures = self.queues[live.queue]
                figures.evicted += 1
                self._stop(live)
                live.since = decision.time
                figures.waiting[decision.workload] = live.gpus()

    def _admitted(self, live: "_Live", decision: WorkloadAdmitted) -> None:
        if live.running:
            raise AccountError(f"`{decision.workload}` is admitted, but runs already")
        self.queues[live.queue].waiting.pop(decision.workload, None)
        live.queue = decision.queue
        figures = self.queues[live.queue]
        figures.admitted += 1
        wait = decision.time - live.since
        figures.wait_total += wait
        figures.wait_most = max(figures.wait_most, wait)
        figures.waits[-(-wait // 1_000_000)] += 1
        live.flavors = {assignment.pod_set: assignment.flavors for assignment in decision.assignments}
        live.running = True
        self._charge(live, decision.usage)

    def _entitle(self, figures: QueueFigures) -> None:
        """See which waiting workloads of a queue fit what it owns, now that something about it changed."""
        room = figures.owned - figures.used
        entitled = {name: figures.entitled.get(name, self.end) for name, gpus in figures.waiting.items() if 0 < gpus <= room}
        for name, since in figures.entitled.items():
            if name not in entitled:
                figures.owner_wait_most = max(figures.owner_wait_most, self.end - since)
        figures.entitled = entitled

    def _audit(self, decisions: list[AnyDecision]) -> None:
        """No admission may take more than exists; nodes are not recounted here."""
        for decision in decisions:
            if isinstance(decision, WorkloadAdmitted) and not self._machines:
                for charge in decision.usage:
                    key = (charge.flavor, charge.resource)
                    exists = self.capacity.get(key, 0)
                    if self.used[key] > exists:
                        raise AccountError(f"{self.used[key]} {charge.resource} on {charge.flavor} are in use, {exists} exist")

    def check_accounts(self) -> None:
        """Every workload that was submitted runs, waits or has ended. Raises AccountError."""
        for figures in self.queues.values():
            ended = figures.finished + figures.cancelled + figures.rejected
            live = sum(1 for live in self._live.values() if live.queue == figures.name)
            if figures.submitted != ended + live:
                raise AccountError(f"queue `{figures.name}`: {figures.submitted} submitted, {ended} ended, {live} live")


@dataclass(slots=True)
class _Live:
    """A workload that is not over."""

    fact: WorkloadSubmitted
    queue: str
    since: int
    running: bool = False
    charges: tuple[Charge, ...] = ()
    flavors: dict[str, dict[str, str]] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)

    def gpus(self) -> int:
        """The GPUs it asks for, in thousandths."""
        return sum(pod_set.requests.get("gpu", 0) * (pod_set.count - self.done.get(pod_set.name, 0)) for pod_set in self.fact.pod_sets)

    def recount(self) -> tuple[Charge, ...]:
        """What it is charged, from its pods that are not done."""
        totals: dict[tuple[str, str], int] = {}
        for pod_set in self.fact.pod_sets:
            left = pod_set.count - self.done.get(pod_set.name, 0)
            for resource, flavor in self.flavors.get(pod_set.name, {}).items():
                totals[flavor, resource] = totals.get((flavor, resource), 0) + left * pod_set.requests[resource]
        return tuple(
            Charge(flavor=flavor, resource=resource, amount=amount) for (flavor, resource), amount in sorted(totals.items()) if amount
        )


def _gpus(charges: tuple[Charge, ...]) -> int:
    return sum(charge.amount for charge in charges if charge.resource == "gpu")

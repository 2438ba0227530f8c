"""The figures of a run, counted from its events alone, independently of the core, in exact integers.

The count also audits the core: a charge above the capacity, or a workload that is not accounted for, stops the run.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from ...engine.event_parts import Charge
from ...engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced, WorkloadResized
from ...engine.facts import (
    AboutSupply,
    CapacityChanged,
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    PolicyActivated,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ...engine.intake.routing import only_queue, said_of_queue
from ...engine.policy_graph import PolicyGraph
from ...engine.workload import NOWHERE
from .gpu_amounts import charged, counted_amount, counted_as
from .lending import FlavorLending
from .queue_figures import QueueFigures
from .workload_account import WorkloadAccount

HOUR_US = 3_600_000_000

NO_QUEUE = "(none)"
"""Where workloads are counted that belong to no queue, or to two."""

MOST_REMEMBERED = 4_096
"""Of so many sorts of submissions the queue is remembered."""


class AccountError(AssertionError):
    """The events contradict each other: a defect of the core, not of its input."""


@dataclass(slots=True)
class Measure:
    """Takes batches in order; figures are by queue name.

    `live` has the account of each live workload by name, `pools` what is lent of what is counted together, and of which flavor.
    """

    queues: dict[str, QueueFigures] = field(default_factory=dict)
    start: int | None = None
    end: int = 0
    facts: int = 0
    decisions: int = 0
    capacity: dict[tuple[str, str], int] = field(default_factory=dict)
    used: dict[tuple[str, str], int] = field(default_factory=dict)
    live: dict[str, WorkloadAccount] = field(default_factory=dict)
    _overrides: dict[tuple[str, str], int] = field(default_factory=dict)
    _machines: dict[str, NodeAdded | NodeChanged] = field(default_factory=dict)
    pools: dict[tuple[str, str], FlavorLending] = field(default_factory=dict)
    _queues_of: dict[Hashable, str] = field(default_factory=dict, compare=False)
    """The queues of submissions under the policy, by what they say that decides it."""
    _touched: dict[str, None] = field(default_factory=dict)
    """Queues about which something changed, to see who fits what they own."""
    _recharged: dict[tuple[str, str, str], None] = field(default_factory=dict)
    """Queues that own or use something else than before: of what that is counted together, and of which flavor."""
    _unshared: dict[tuple[str, str], None] = field(default_factory=dict)
    """Pools of which that is so, and those of which something else exists."""

    def take(self, fact: Fact, decisions: list[AnyDecision], graph: PolicyGraph | None) -> None:
        """Count a batch; `graph` is the policy that decided it."""
        self._pass_time(fact.time)
        self.facts += 1
        self.decisions += len(decisions)
        if graph is not None:
            self._fact(fact, graph)
            if isinstance(fact, AboutSupply):
                for key, pool in self.pools.items():
                    pool.exists = self._exists(*key)
                    self._unshared[key] = None
        # in cycles there is what is owned, and who was adopted may use more
        is_audited = graph is not None and not graph.settings.in_cycles
        before = self._used_where_admitted(decisions) if is_audited else {}
        for decision in decisions:
            self._decision(decision)
        self._audit(before)
        self._share_out()
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
        for figures in self.queues.values():
            if figures.used or figures.lent:
                figures.pass_time(elapsed)
            for other in figures.others.values():
                other.pass_time(elapsed)

    def _fact(self, fact: Fact, graph: PolicyGraph) -> None:
        match fact:  # the most frequent first
            case WorkloadSubmitted():
                self._submitted(fact, graph)
            case WorkloadFinished():
                self._over(fact.workload).finished += 1
            case PolicyActivated():
                self._policy(graph)
            case CapacityChanged():
                for resource in sorted(fact.capacity):
                    self._overrides[fact.flavor, resource] = self.capacity[fact.flavor, resource] = fact.capacity[resource]
            case NodeAdded() | NodeChanged():
                self._count_machine(graph, fact.node, -1)
                self._machines[fact.node] = fact
                self._count_machine(graph, fact.node, 1)
            case NodeRemoved():
                self._count_machine(graph, fact.node, -1)
                del self._machines[fact.node]
            case WorkloadCancelled():
                self._over(fact.workload).cancelled += 1
            case WorkloadAdopted():
                self._adopted(fact)
            case WorkloadUpdated():
                if fact.requeued is not None and self._find(fact.workload, "is updated").evicting:
                    self._wait_again(self.live[fact.workload], fact.time)
                if fact.reclaimable is not None:
                    self._fewer_pods(fact.workload, fact.reclaimable)
            case _:
                return

    def _policy(self, graph: PolicyGraph) -> None:
        self.pools.clear()
        self._queues_of.clear()
        for figures in self.queues.values():
            for _, counted in figures.all_counted():
                counted.owns, counted.owned, counted.borrowed, counted.lent = {}, 0, 0, 0
            self._touched[figures.name] = None
        for queue in graph.queues:
            node = graph.nodes[queue.node]
            figures = self.queues.setdefault(node.name, QueueFigures(node.name))
            for slot, quota in zip(graph.slots, node.quotas, strict=True):
                what = counted_as(slot.resource)
                if what is not None:
                    counted, name = figures.counted(what), graph.flavors[slot.flavor].name
                    nominal = counted_amount(slot.resource, quota.nominal)
                    counted.owns[name] = counted.owns.get(name, 0) + nominal
                    counted.owned += nominal
            figures.order = tuple(graph.flavors[flavor].name for flavor in queue.flavors)
            self._touched[node.name] = None
        for figures in self.queues.values():
            for what, counted in figures.all_counted():
                self._recharged.update(dict.fromkeys((figures.name, what, name) for name in counted.owns | counted.uses))
        self.capacity.clear()
        for flavor in graph.flavors:
            for resource, declared in flavor.capacity:
                self.capacity[flavor.name, resource] = self._overrides.get((flavor.name, resource), declared) if flavor.nodes is None else 0
        for name in self._machines:
            self._count_machine(graph, name, 1)
        for live in self.live.values():  # whoever runs keeps its queue, and whoever waits is matched anew
            if not live.running:
                self._move(live, self.queue_of(live.fact, graph))
                self.queues[live.queue].wait(live.fact.workload, live.gpus())

    def _count_machine(self, graph: PolicyGraph, name: str, sign: int) -> None:
        """Add a machine to what exists of the flavor whose selector it matches, or take it away."""
        machine = self._machines.get(name)
        for flavor in graph.flavors:
            if machine is not None and flavor.nodes is not None and all(machine.labels.get(key) == value for key, value in flavor.nodes):
                for resource, _ in flavor.capacity:
                    self.capacity[flavor.name, resource] += sign * machine.capacity.get(resource, 0)

    def _share_out(self) -> None:
        """Set what each queue borrows and lends now."""
        for name, what, flavor in self._recharged:
            counted, pool = self.queues[name].counted(what), self.pools.get((what, flavor)) or self._new_pool(what, flavor)
            before = pool.borrows(name)
            if pool.put(name, counted.owns.get(flavor, 0), counted.uses.get(flavor, 0)):
                counted.borrowed += pool.borrows(name) - before
                self._unshared[what, flavor] = None
        for what, flavor in self._unshared:
            for name, change in self.pools[what, flavor].share_out().items():
                self.queues[name].counted(what).lent += change
        self._recharged.clear()
        self._unshared.clear()

    def _new_pool(self, what: str, flavor: str) -> FlavorLending:
        pool = self.pools[what, flavor] = FlavorLending(exists=self._exists(what, flavor))
        return pool

    def _exists(self, what: str, flavor: str) -> int:
        """What exists of a flavor, of all that is counted together."""
        amounts = (
            (resource, amount) for (name, resource), amount in self.capacity.items() if name == flavor and counted_as(resource) == what
        )
        return sum(counted_amount(resource, amount) for resource, amount in amounts)

    def _submitted(self, fact: WorkloadSubmitted, graph: PolicyGraph) -> None:
        if fact.workload in self.live:
            raise AccountError(f"`{fact.workload}` is submitted, but is live already")
        queue = self.queue_of(fact, graph)
        figures = self.queues.setdefault(queue, QueueFigures(queue))
        figures.submitted += 1
        live = self.live[fact.workload] = WorkloadAccount(fact, queue, fact.time)
        figures.wait(fact.workload, live.gpus())
        self._touched[queue] = None

    def queue_of(self, fact: WorkloadSubmitted, graph: PolicyGraph) -> str:
        """The queue that a submission belongs to, worked out once for all that say the same of it."""
        said = said_of_queue(fact)
        known = self._queues_of.get(said)
        if known is None:
            node = only_queue(graph, fact)
            if len(self._queues_of) >= MOST_REMEMBERED:
                self._queues_of.clear()
            known = self._queues_of[said] = NO_QUEUE if node == NOWHERE else graph.nodes[node].name
        return known

    def _find(self, name: str, what: str) -> WorkloadAccount:
        live = self.live.get(name)
        if live is None:
            raise AccountError(f"`{name}` {what}, but is not live")
        return live

    def _over(self, name: str) -> QueueFigures:
        """A workload is gone: whatever it used or waited for ends."""
        live = self._find(name, "ends")
        del self.live[name]
        figures = self.queues[live.queue]
        self._stop(live)
        figures.wait_no_more(name)
        return figures

    def _stop(self, live: WorkloadAccount) -> None:
        live.running = False
        self._charge(live, ())
        self.queues[live.queue].running.pop(live.fact.workload, None)

    def _charge(self, live: WorkloadAccount, charges: tuple[Charge, ...]) -> None:
        """Replace what a workload is charged."""
        figures = self.queues[live.queue]
        self._touched[live.queue] = None
        for sign, entries in ((-1, live.charges), (1, charges)):
            for charge in entries:
                key = (charge.flavor, charge.resource)
                self.used[key] = self.used.get(key, 0) + sign * charge.amount
                what = counted_as(charge.resource)
                if what is not None and charge.amount:
                    counted, amount = figures.counted(what), sign * counted_amount(charge.resource, charge.amount)
                    counted.used += amount
                    counted.uses[charge.flavor] = counted.uses.get(charge.flavor, 0) + amount
                    self._recharged[live.queue, what, charge.flavor] = None
        live.charges = charges
        if live.running:
            figures.running[live.fact.workload] = charged(charges)

    def _fewer_pods(self, name: str, done: dict[str, int]) -> None:
        live = self._find(name, "has fewer pods")
        charges = live.release(done)
        if live.running:
            self._charge(live, charges)
        else:
            self.queues[live.queue].wait(name, live.gpus())
            self._touched[live.queue] = None

    def _decision(self, decision: AnyDecision) -> None:
        live = self._find(decision.workload, "is decided about")
        match decision:
            case WorkloadRejected():
                self._over(decision.workload).rejected += 1
            case WorkloadReplaced():
                self._over(decision.workload).finished += 1
            case WorkloadAdmitted():
                self._admitted(live, decision)
            case WorkloadResized():
                if not live.running:
                    raise AccountError(f"`{decision.workload}` is resized, but does not run")
                live.give(decision.assignments)
                self._charge(live, decision.usage)
            case WorkloadEvicted():
                if not live.running:
                    raise AccountError(f"`{decision.workload}` is evicted, but does not run")
                self.queues[live.queue].evicted += 1
                self._wait_again(live, decision.time)

    def _wait_again(self, live: WorkloadAccount, time: int) -> None:
        self._stop(live)
        live.since, live.evicting = time, False
        self.queues[live.queue].wait(live.fact.workload, live.gpus())

    def _adopted(self, fact: WorkloadAdopted) -> None:
        """A workload runs already, maybe in another queue than its submission said; it counts as submitted there, and not as admitted."""
        live = self._find(fact.workload, "is adopted")
        self._move(live, fact.queue)
        live.running, live.evicting = True, fact.evicting
        live.give(fact.placements)
        charges = [
            Charge(flavor=placement.flavors[resource], resource=resource, amount=amount)
            for placement in fact.placements
            for resource, amount in placement.usage.items()
        ]
        self._charge(live, tuple(charges))

    def _move(self, live: WorkloadAccount, queue: str) -> None:
        """Let a workload wait no more in its queue, and be counted in another one from now, as if it had been submitted there."""
        before, after = self.queues[live.queue], self.queues.setdefault(queue, QueueFigures(queue))
        before.wait_no_more(live.fact.workload)
        before.submitted -= 1
        after.submitted += 1
        live.queue = queue
        self._touched[before.name] = self._touched[queue] = None
        if before.submitted == 0 and before.name == NO_QUEUE:
            del self.queues[NO_QUEUE], self._touched[NO_QUEUE]

    def _admitted(self, live: WorkloadAccount, decision: WorkloadAdmitted) -> None:
        if live.running:
            raise AccountError(f"`{decision.workload}` is admitted, but runs already")
        self._move(live, decision.queue)
        figures = self.queues[live.queue]
        figures.admitted += 1
        wait = decision.time - live.since
        figures.wait_total += wait
        figures.wait_most = max(figures.wait_most, wait)
        figures.waits[-(-wait // 1_000_000)] += 1
        live.give(decision.assignments)
        live.running = True
        self._charge(live, decision.usage)

    def _entitle(self, figures: QueueFigures) -> None:
        """See which waiting workloads of a queue fit what it owns, now that something about it changed."""
        if not figures.waiting and not figures.entitled:
            return
        room = figures.room()
        most, live, known = sum(room.values()), self.live, figures.entitled
        waiting = figures.waiting.items() if most else ()
        entitled = {name: known.get(name, self.end) for name, gpus in waiting if 0 < gpus <= most and live[name].fits(room)}
        for name, since in figures.entitled.items():
            if name not in entitled:
                figures.owner_wait_most = max(figures.owner_wait_most, self.end - since)
        figures.entitled = entitled

    def _used_where_admitted(self, decisions: list[AnyDecision]) -> dict[tuple[str, str], int]:
        """What is used of all to which decisions admit."""
        charges = (charge for each in decisions if isinstance(each, WorkloadAdmitted | WorkloadResized) for charge in each.usage)
        return {key: self.used.get(key, 0) for key in ((charge.flavor, charge.resource) for charge in charges)}

    def _audit(self, before: dict[tuple[str, str], int]) -> None:
        """No decisions may take more than exists, of what they admit to; `before` was used of that. Where more was used before, as less
        exists than did once, or as somebody was adopted, a smaller workload may take the place of a larger one."""
        for (flavor, resource), used_before in before.items():
            used, exists = self.used[flavor, resource], self.capacity.get((flavor, resource), 0)
            if used > max(exists, used_before):
                raise AccountError(f"{used} {resource} on {flavor} are in use, {exists} exist")

    def check_accounts(self) -> None:
        """Every workload that was submitted runs, waits or has ended. Raises AccountError."""
        for figures in self.queues.values():
            ended = figures.finished + figures.cancelled + figures.rejected
            live = sum(1 for live in self.live.values() if live.queue == figures.name)
            if figures.submitted != ended + live:
                raise AccountError(f"queue `{figures.name}`: {figures.submitted} submitted, {ended} ended, {live} live")

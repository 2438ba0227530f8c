"""Whom to evict: candidates by rule, taken best first until the workload fits, then spared again where not needed.

All rules are tried in the policy's order in one sweep: a later rule only adds to what the earlier ones took. Within a rule,
each queue offers its best running workload; shares and borrowing are looked at anew before each pick.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..events import Operand
from ..expr import Field, Type
from ..graph import PreemptRule, ProtectRule
from .guards import Bench, fields, is_timeless
from .order import victim_field
from .quota import Request
from .state import Active, SortKey
from .workload import Workload

Head = tuple[tuple[object, ...], int, Workload]
"""What a queue offers: the rank under the rule, the queue's node, the workload."""

Offers = dict[int, Iterator[tuple[SortKey, Workload]]]
"""The running workloads of each queue that were not offered yet, best victim first."""


@dataclass(frozen=True, slots=True)
class Victim:
    """A workload to evict, by which rule, and what was compared when it was picked."""

    workload: Workload
    rule: PreemptRule
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Protected:
    """A candidate that time alone will make evictable: from `until` on. `protect` is the rule that keeps it, if one does."""

    until: int
    workload: Workload
    protect: ProtectRule | None


@dataclass(slots=True)
class Hunt:
    """The outcome of a search: `victims` that make room now; or, once `until` has come, room by then; or neither.

    In the second case `waiting_for` are those whom only time keeps, and `rule` is the preempt rule they wait under.
    """

    victims: list[Victim] = field(default_factory=list)
    until: int | None = None
    waiting_for: list[Protected] = field(default_factory=list)
    rule: PreemptRule | None = None


class Hunter:
    """Searches for victims for one workload at one moment. The tree is changed on the way and always put back.

    While a hunt is on, the tree holds the workload's request, and lacks the victims taken so far.
    """

    def __init__(self, policy: Active, workload: Workload, now: int, cause: int) -> None:
        self.policy = policy
        self.tree = policy.tree
        self.workload = workload
        self.cause = cause
        self.bench = Bench(policy.graph, policy.tree, policy.shares, now, workload)
        self.request: Request = ()
        self.short: list[int] = []
        self.out: list[Victim] = []
        self.later: list[tuple[Protected, PreemptRule]] = []
        self.passed_over_fresh = False
        self._verdicts: dict[tuple[object, ...], bool] = {}
        self._timeless = True
        self._reads: list[Field] = []

    def hunt(self, request: Request) -> Hunt:
        """Find victims so that the request fits; it does not fit as things stand."""
        self.request, self.out, self.later = request, [], []
        self.short = [slot for slot, amount in request if not self.tree.fits(self.workload.queue, ((slot, amount),))]
        self.tree.add(self.workload.queue, request)
        try:
            return self._hunt()
        finally:
            for victim in self.out:
                self.tree.add(victim.workload.queue, victim.workload.usage)
            self.tree.remove(self.workload.queue, request)

    def _hunt(self) -> Hunt:
        rules = [(index, rule) for index, rule in enumerate(self.policy.graph.preempt) if self.owner_for(rule) is not None]
        scopes = [self.queues_for(rule) for _, rule in rules]
        if not self._could_fit_without([node for scope in scopes for node in scope]):
            return Hunt()
        for (index, rule), scope in zip(rules, scopes, strict=True):
            if self._sweep(index, rule, scope):
                self._spare()
                return Hunt(victims=list(self.out))
        return self._wait()

    def triggers(self, request: Request) -> list[tuple[PreemptRule, bool]]:
        """Each preempt rule in the policy's order, and whether the workload may use it for a request that does not fit."""
        self.request = request
        self.short = [slot for slot, amount in request if not self.tree.fits(self.workload.queue, ((slot, amount),))]
        self.tree.add(self.workload.queue, request)
        found = [(rule, self.owner_for(rule) is not None) for rule in self.policy.graph.preempt]
        self.tree.remove(self.workload.queue, request)
        return found

    # --- scope --------------------------------------------------------------------------------------------------

    def owner_for(self, rule: PreemptRule) -> int | None:
        """The node on whose ownership a rule rests: the queue, or the lowest cohort that owns enough; None: not triggered."""
        path = self.tree.paths[self.workload.queue]
        candidates = path[1:-1] if rule.trigger == "fits-cohort" else path[:1]
        if rule.trigger is None:
            return self.workload.queue
        return next((node for node in candidates if not self.tree.borrows(node, self.short)), None)

    def queues_for(self, rule: PreemptRule) -> list[int]:
        """The queues, by node, whose workloads a rule may evict; whether they borrow is asked at each pick."""
        own = self.workload.queue
        if rule.scope == "same-queue":
            return [own]
        owner = self.owner_for(rule)
        top = self.tree.parent[own] if rule.range == "same-cohort" else 0
        queues = [queue.node for queue in self.policy.graph.queues if queue.node != own]
        within = [node for node in queues if top in self.tree.paths[node]]
        return [node for node in within if owner == own or owner not in self.tree.paths[node]]

    def _borrows_from_us(self, node: int) -> bool:
        """Whether a queue and every cohort between it and the common ancestor use more than they own of what we lack."""
        theirs = self.tree.sides(self.workload.queue, node)[1]
        path = self.tree.paths[node]
        return all(self.tree.borrows(above, self.short) for above in path[: path.index(theirs) + 1])

    # --- room ---------------------------------------------------------------------------------------------------

    def _fits(self) -> bool:
        self.tree.remove(self.workload.queue, self.request)
        fits = self.tree.fits(self.workload.queue, self.request)
        self.tree.add(self.workload.queue, self.request)
        return fits

    def _could_fit_without(self, nodes: list[int]) -> bool:
        """Whether the request would fit if nothing ran in these queues: a quick no, before any workload is looked at."""
        removed = []
        for node in sorted(set(nodes)):
            own = self.request if node == self.workload.queue else ()
            charges = tuple((slot, total - dict(own).get(slot, 0)) for slot, total in enumerate(self.tree.total[node]))
            self.tree.remove(node, charges)
            removed.append((node, charges))
        fits = self._fits()
        for node, charges in removed:
            self.tree.add(node, charges)
        return fits

    # --- the sweep ----------------------------------------------------------------------------------------------

    def _sweep(self, index: int, rule: PreemptRule, nodes: list[int]) -> bool:
        """Take victims under one rule, best first, until the request fits; say whether it does.

        Each queue offers its best workload that may go as things stand; after each victim all offers are looked at anew.
        """
        self._timeless = is_timeless(rule.guard)
        self._reads = [field for field in fields(rule.guard) if field.subject == "victim" and field.type is not Type.SHARE]
        offers = {node: iter(self.policy.running[node][index]) for node in nodes}
        heads = self._heads(rule, offers, [(node, None) for node in nodes])
        while heads:
            _, node, victim = heads[0]
            self.bench.victim = victim
            self.out.append(Victim(victim, rule, self._operands(rule, heads)))
            self.tree.remove(victim.queue, victim.usage)
            if self._fits():
                return True
            heads = self._heads(rule, offers, [(node, None), *((node, victim) for _, node, victim in heads[1:])])
        return False

    def _heads(self, rule: PreemptRule, offers: Offers, standing: list[tuple[int, Workload | None]]) -> list[Head]:
        """The offers of queues, best first; a queue without a standing offer, or whose offer may no longer go, makes its next one."""
        self._verdicts.clear()
        heads = []
        for node, offered in standing:
            if rule.scope == "borrowing-queues" and not self._borrows_from_us(node):
                continue
            victim = offered if offered is not None and self._may_evict(rule, offered) else self._next(rule, offers[node])
            if victim is not None:
                heads.append((self._rank(rule, victim), node, victim))
        return sorted(heads, key=lambda head: head[0])

    def _next(self, rule: PreemptRule, offers: Iterator[tuple[SortKey, Workload]]) -> Workload | None:
        return next((victim for _, victim in offers if self._is_candidate(victim) and self._may_evict(rule, victim)), None)

    def _is_candidate(self, victim: Workload) -> bool:
        """Whether evicting a workload could help at all: it may be evicted, it uses what we lack, and is not taken already.

        What this very fact admitted is passed over: one settling never admits and evicts the same workload.
        """
        if victim.pinned or not any(slot in self.short for slot, _ in victim.usage):
            return False
        if victim.started_by == self.cause:
            self.passed_over_fresh = True
            return False
        return not self.out or all(victim is not taken.workload for taken in self.out)

    def _rank(self, rule: PreemptRule, victim: Workload) -> tuple[object, ...]:
        """The rule's order with the shares as they are now; the later submission first."""
        self.bench.victim = victim
        keys: list[object] = []
        for key in rule.order:
            value = self.bench.value(victim_field(key))
            if isinstance(value, tuple):
                infinite, share = value
                keys.append((-infinite, -share) if key.descending else value)
            else:
                assert isinstance(value, int)
                keys.append(-value if key.descending else value)
        return (*keys, -victim.number)

    def _may_evict(self, rule: PreemptRule, victim: Workload) -> bool:
        """Whether guard and protections let a victim go now; one that only time keeps is kept in mind."""
        self.bench.victim = victim
        if self._timeless and not self._guard_holds(rule, victim):
            return False
        keeper = self._free_to_go(rule, victim, self.bench.now)
        if keeper is None:
            return True
        moments = self.bench.turning_points(rule.guard)
        for protect in self.policy.graph.protect:
            moments += self.bench.turning_points(protect.guard)
        until = next((moment for moment in sorted(set(moments)) if self._free_to_go(rule, victim, moment) is None), None)
        if until is not None:
            protected = Protected(until, victim, keeper if isinstance(keeper, ProtectRule) else None)
            self.later.append((protected, rule))
        return False

    def _guard_holds(self, rule: PreemptRule, victim: Workload) -> bool:
        """Whether a guard without durations holds; judged once for victims that are equal in all that it reads."""
        if rule.guard is None:
            return True
        key = (victim.queue, victim.usage, *(self.bench.value(field) for field in self._reads))
        if key not in self._verdicts:
            self._verdicts[key] = self.bench.holds(rule.guard)
        return self._verdicts[key]

    def _free_to_go(self, rule: PreemptRule, victim: Workload, moment: int) -> ProtectRule | PreemptRule | None:
        """What keeps a victim at a moment: a protect rule, or the preempt rule itself by its guard; None: nothing."""
        now, self.bench.now = self.bench.now, moment
        try:
            if not self.bench.holds(rule.guard):
                return rule
            return next((protect for protect in self.policy.graph.protect if self._protects(protect, victim)), None)
        finally:
            self.bench.now = now

    def _protects(self, protect: ProtectRule, victim: Workload) -> bool:
        covered = protect.nodes is None or any(node in protect.nodes for node in self.tree.paths[victim.queue])
        return covered and self.bench.holds(protect.guard)

    # --- afterwards ---------------------------------------------------------------------------------------------

    def _spare(self) -> None:
        """Last to first, but never the last one taken, put back every victim without whom the request fits as well."""
        for victim in reversed(self.out[:-1]):
            self.tree.add(victim.workload.queue, victim.workload.usage)
            if self._fits():
                self.out.remove(victim)
            else:
                self.tree.remove(victim.workload.queue, victim.workload.usage)

    def _wait(self) -> Hunt:
        """The earliest moment by which enough protections have ended, should nothing else happen."""
        waiting_for = []
        for protected, rule in sorted(self.later, key=lambda entry: (entry[0].until, -entry[0].workload.number)):
            victim = protected.workload
            taken = any(victim is other.workload for other in self.out)
            if taken or (rule.scope == "borrowing-queues" and not self._borrows_from_us(victim.queue)):
                continue
            self.out.append(Victim(victim, rule, ()))
            self.tree.remove(victim.queue, victim.usage)
            waiting_for.append(protected)
            if self._fits():
                return Hunt(until=protected.until, waiting_for=waiting_for, rule=rule)
        return Hunt()

    # --- what was compared --------------------------------------------------------------------------------------

    def _operands(self, rule: PreemptRule, heads: list[Head]) -> tuple[Operand, ...]:
        """The fields of the guard and of the order for the victim, and for the next best candidate the first that differs."""
        shown = fields(rule.guard) + [field for key in rule.order if (field := victim_field(key)) not in fields(rule.guard)]
        operands = [Operand(name=str(field), value=self.bench.show(field)) for field in shown]
        if len(heads) > 1:
            chosen, following = heads[0], heads[1]
            operands.append(Operand(name="next", value=following[2].name))
            difference = next((key for key, mine, other in zip(rule.order, chosen[0], following[0], strict=False) if mine != other), None)
            if difference is not None:
                self.bench.victim = following[2]
                field = victim_field(difference)
                operands.append(Operand(name=f"next.{field}", value=self.bench.show(field)))
                self.bench.victim = chosen[2]
        return tuple(operands)

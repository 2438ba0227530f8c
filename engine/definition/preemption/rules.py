"""Whom to evict: candidates by rule, taken best first until the workload fits, then spared again where not needed.

All rules are tried in the policy's order in one sweep: a later rule only adds to what the earlier ones took. Within a rule,
each queue offers its best running workload; shares and borrowing are looked at anew before each pick.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from ..events import Operand
from ..graph import PreemptRule, ProtectRule
from .guards import Bench, fields
from .order import victim_field
from .quota import Request
from .scope import Scope
from .state import Active, Pool, SortKey
from .workload import Workload

Head = tuple[tuple[object, ...], int, Workload]
"""What a queue offers: the rank under the rule, the queue's node, the workload."""


@dataclass(frozen=True, slots=True)
class Victim:
    """A workload to evict, by which rule, and what was compared when it was picked."""

    workload: Workload
    rule: PreemptRule
    operands: tuple[Operand, ...]


@dataclass(slots=True)
class _Lot:
    """Running workloads of a queue that a rule cannot tell apart but by order and time; best victim first.

    The entries before `start` are taken. `may_go` is what was found for all of them when `judged` victims were out, `ever`
    whether they might at any look.
    """

    entries: list[tuple[SortKey, Workload]]
    start: int = 0
    judged: int = -1
    may_go: bool = False
    ever: bool = False


class Search:
    """One search for victims, for a workload's request that does not fit, at a moment. The tree is always put back.

    `cause` is the fact being settled: whom it admitted is passed over, since one settling never admits and evicts the same
    workload, and `passed_over_fresh` says that this happened. None where a later moment is tried out. `passed_over_kept` says
    that somebody was passed over whom nothing but time keeps. `superiors` are those for whom the workload had to go itself: no
    rule without durations takes them.
    """

    def __init__(
        self, policy: Active, workload: Workload, request: Request, now: int, cause: int | None, superiors: Collection[str] = ()
    ) -> None:
        self.policy, self.tree, self.workload, self.request, self.now, self.cause = policy, policy.tree, workload, request, now, cause
        self.scope = Scope(policy, workload.queue, policy.tree.short(workload.queue, request))
        self.bench = Bench(policy.graph, policy.tree, policy.shares, now, workload)
        self.out: list[Victim] = []
        self.passed_over_fresh = self.passed_over_kept = False
        self.superiors = superiors
        self._taken: set[int] = set()
        self._lots: list[tuple[Pool, list[_Lot]]] = []

    def run(self) -> bool:
        """Find victims without whom the request fits, in `out`; say whether there are any."""
        with self.charged():
            if self._could_fit_without(self._within_reach()):
                found = any(self._sweep(pool, self.scope.queues(pool.rule)) for pool in self.policy.pools)
                if found:
                    self._spare()
                for victim in self.out:
                    self.tree.add(victim.workload.queue, victim.workload.usage)
                return found
        return False

    @contextmanager
    def charged(self) -> Iterator[None]:
        """The tree with the workload running, as victims are compared."""
        self.tree.add(self.workload.queue, self.request)
        try:
            yield
        finally:
            self.tree.remove(self.workload.queue, self.request)

    def candidates(self) -> Iterator[tuple[Pool, Workload]]:
        """Everybody whom a rule might let go at a later moment: that was so at some look of this search, or shares may make it so."""
        for pool, lots in self._lots:
            for lot in lots:
                if lot.ever or (pool.by_share and self._would_help(lot.entries[0][1])):
                    yield from ((pool, victim) for _, victim in lot.entries)

    # --- room ---------------------------------------------------------------------------------------------------

    def _fits(self) -> bool:
        self.tree.remove(self.workload.queue, self.request)
        fits = self.tree.fits(self.workload.queue, self.request)
        self.tree.add(self.workload.queue, self.request)
        return fits

    def _within_reach(self) -> list[int]:
        """All queues where the rules might find victims; what is taken under one may be what triggers the next."""
        nodes: list[int] = []
        for pool in self.policy.pools:
            nodes += self.scope.reach(pool.rule) if nodes else self.scope.queues(pool.rule)
        return nodes

    def _could_fit_without(self, nodes: list[int]) -> bool:
        """Whether the request would fit if nothing ran in these queues: a quick no, before any workload is looked at."""
        removed = []
        for node in sorted(set(nodes)):
            own = dict(self.request) if node == self.workload.queue else {}
            charges = tuple((slot, total - own.get(slot, 0)) for slot, total in enumerate(self.tree.total[node]))
            self.tree.remove(node, charges)
            removed.append((node, charges))
        fits = self._fits()
        for node, charges in removed:
            self.tree.add(node, charges)
        return fits

    # --- the sweep ----------------------------------------------------------------------------------------------

    def _sweep(self, pool: Pool, nodes: list[int]) -> bool:
        """Take victims under one rule, best first, until the request fits; say whether it does.

        Each queue offers its best workload that may go as things stand; after each victim all are judged anew.
        """
        lots = {node: [_Lot(entries) for _, entries in pool.lines[node].by_shape()] for node in nodes}
        self._lots += [(pool, lots[node]) for node in nodes]
        while heads := self._heads(pool, lots):
            _, node, chosen = heads[0]
            self._taken.add(chosen.number)
            operands = () if self.cause is None else self._operands(pool, heads, self._best(pool, lots[node]))
            self.out.append(Victim(chosen, pool.rule, operands))
            self.tree.remove(chosen.queue, chosen.usage)
            self.scope.changed()
            if self._fits():
                return True
        return False

    def _heads(self, pool: Pool, lots: dict[int, list[_Lot]]) -> list[Head]:
        """What each queue in scope offers now, best first."""
        heads = []
        for node in sorted(lots):
            if not self.scope.covers(pool.rule, node):
                continue
            victim = self._best(pool, lots[node])
            if victim is not None:
                heads.append((self._rank(pool.rule, victim), node, victim))
        return sorted(heads, key=lambda head: head[0])

    def _best(self, pool: Pool, lots: list[_Lot]) -> Workload | None:
        """The best workload of a queue that may go now."""
        best: tuple[SortKey, Workload] | None = None
        for lot in self._open(pool, lots):
            if best is not None and best[0] < lot.entries[lot.start][0]:
                continue
            offer = next((entry for entry in islice(lot.entries, lot.start, None) if self._may_go_now(pool, entry[1])), None)
            if offer is not None and (best is None or offer[0] < best[0]):
                best = offer
        return None if best is None else best[1]

    def _open(self, pool: Pool, lots: list[_Lot]) -> Iterator[_Lot]:
        """The lots of a queue that are not used up and may go as things stand, but for what time decides."""
        for lot in lots:
            while lot.start < len(lot.entries) and lot.entries[lot.start][1].number in self._taken:
                lot.start += 1
            if lot.start == len(lot.entries):
                continue
            if lot.judged != len(self.out):  # each victim taken may change shares
                lot.judged, lot.may_go = len(self.out), self._lot_may_go(pool, lot.entries[lot.start][1])
                lot.ever = lot.ever or lot.may_go
            if lot.may_go:
                yield lot

    def _lot_may_go(self, pool: Pool, victim: Workload) -> bool:
        """Whether evicting a workload of a lot could help, and no guard or protection that time cannot change forbids it."""
        if not self._would_help(victim):
            return False
        self.bench.victim = victim
        if pool.timeless and not self.bench.holds(pool.rule.guard):
            return False
        return not any(self._protects(protect, victim) for protect in self.policy.always)

    def _would_help(self, victim: Workload) -> bool:
        return not victim.pinned and any(slot in self.scope.short for slot, _ in victim.usage)

    def _may_go_now(self, pool: Pool, victim: Workload) -> bool:
        """Whether a workload of a lot that may go is free to go at this moment."""
        if victim.number in self._taken or (pool.timeless and victim.name in self.superiors):
            return False
        if self.keeper(pool, victim, self.now) is not None:
            self.passed_over_kept = True
            return False
        if victim.started_by == self.cause:
            self.passed_over_fresh = True
            return False
        return True

    def keeper(self, pool: Pool, victim: Workload, moment: int) -> ProtectRule | PreemptRule | None:
        """Which guard or protection with a duration keeps a victim at a moment; None: nothing does."""
        self.bench.victim, self.bench.now = victim, moment
        try:
            if not pool.timeless and not self.bench.holds(pool.rule.guard):
                return pool.rule
            return next((protect for protect in self.policy.for_a_time if self._protects(protect, victim)), None)
        finally:
            self.bench.now = self.now

    def turning_points(self, pool: Pool, victim: Workload) -> list[int]:
        """The moments after this one, ascending, at which time alone may change whether a victim is kept."""
        self.bench.victim = victim
        guards = [pool.rule.guard, *(protect.guard for protect in self.policy.for_a_time)]
        return sorted({moment for guard in guards for moment in self.bench.turning_points(guard)})

    def _protects(self, protect: ProtectRule, victim: Workload) -> bool:
        covered = protect.nodes is None or any(node in protect.nodes for node in self.tree.paths[victim.queue])
        return covered and self.bench.holds(protect.guard)

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

    def _spare(self) -> None:
        """Last to first, but never the last one taken, put back every victim without whom the request fits as well."""
        for victim in reversed(self.out[:-1]):
            self.tree.add(victim.workload.queue, victim.workload.usage)
            if self._fits():
                self.out.remove(victim)
            else:
                self.tree.remove(victim.workload.queue, victim.workload.usage)

    # --- what was compared --------------------------------------------------------------------------------------

    def _operands(self, pool: Pool, heads: list[Head], second: Workload | None) -> tuple[Operand, ...]:
        """The fields of the guard and of the order for the victim, and for the runner-up the first that differs.

        `second` is who comes next in the victim's own queue.
        """
        rule = pool.rule
        rank, node, chosen = heads[0]
        others = heads[1:] if second is None else sorted([*heads[1:], (self._rank(rule, second), node, second)], key=lambda head: head[0])
        self.bench.victim = chosen
        shown = fields(rule.guard) + [field for key in rule.order if (field := victim_field(key)) not in fields(rule.guard)]
        operands = [Operand(name=str(field), value=self.bench.show(field)) for field in shown]
        if others:
            following, _, runner_up = others[0]
            operands.append(Operand(name="next", value=runner_up.name))
            difference = next((key for key, mine, other in zip(rule.order, rank, following, strict=False) if mine != other), None)
            if difference is not None:
                self.bench.victim = runner_up
                field = victim_field(difference)
                operands.append(Operand(name=f"next.{field}", value=self.bench.show(field)))
        return tuple(operands)

"""Who may have to go for a workload, in which order, and how what was taken in vain is given back.

Kueue: pkg/scheduler/preemption/common and pkg/scheduler/preemption/preemption.go.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Literal

from ...graph import Preemption
from ..state import Active
from ..workload import Workload, takes_place_of
from .admissible import inactive
from .levels import Amounts, exceeds_owned
from .usage import Rank

Kind = Literal["in-queue", "reclaim", "fair-sharing", "reclaim-while-borrowing"]
"""Why a victim goes: for one of its own queue, so that quota goes back, so that shares even out, or for one that borrows."""

Precedence = tuple[bool, bool, int, int, str, int]
"""The place of a victim among others, the best is the least."""


@dataclass(frozen=True, slots=True)
class Target:
    """A victim and why it was chosen; `operands` are what was compared, by name."""

    workload: Workload
    kind: Kind
    operands: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """What came of a candidate when it was looked at, and what was compared."""

    workload: Workload
    outcome: Literal["taken", "spared", "not borrowing", "only without borrowing", "share"]
    operands: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """Room for a workload: amounts by slot that are to fit, and the slots on which somebody has to go for it.

    Where `notes` is a list, the search tells there what came of each candidate; the last note on a workload counts.
    """

    workload: Workload
    amounts: Amounts
    slots: list[int]
    notes: list[Note] | None = None

    def note(
        self,
        workload: Workload,
        outcome: Literal["taken", "spared", "not borrowing", "only without borrowing", "share"],
        operands: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Tell what came of a candidate."""
        if self.notes is not None:
            self.notes.append(Note(workload, outcome, operands))


class Cluster:
    """What victims are looked for in: the policy with its tree, and who runs in which queue."""

    def __init__(self, policy: Active, running: list[dict[str, Workload]], usage: Callable[[Workload], Rank] | None = None) -> None:
        self.policy, self.tree, self.graph, self.running = policy, policy.tree, policy.graph, running
        self.usage = usage

    def preemption(self, node: int) -> Preemption:
        """Whom a queue may evict."""
        return self.graph.queue_at(node).preemption

    def take(self, workload: Workload) -> None:
        """Take a running workload out."""
        self.tree.remove(workload.queue, workload.usage)

    def give_back(self, workload: Workload) -> None:
        """Undo `take`."""
        self.tree.add(workload.queue, workload.usage)

    @contextmanager
    def without(self, workloads: list[Workload]) -> Iterator[None]:
        """The cluster as it is without some running workloads, while the context lasts."""
        for workload in workloads:
            self.take(workload)
        try:
            yield
        finally:
            for workload in workloads:
                self.give_back(workload)

    @contextmanager
    def charged(self, queue: int, amounts: Amounts) -> Iterator[None]:
        """The cluster as it is with these amounts charged to a queue, while the context lasts."""
        request = as_request(amounts)
        self.tree.add(queue, request)
        try:
            yield
        finally:
            self.tree.remove(queue, request)

    def fits(self, queue: int, amounts: Amounts, borrowing: bool = True) -> bool:
        """Whether a queue may take these amounts now, by quota; without `borrowing`, out of what it owns alone."""
        return all(
            amount <= max(0, self.tree.available(queue, slot)) and (borrowing or not exceeds_owned(self.tree, queue, slot, amount))
            for slot, amount in sorted(amounts.items())
        )

    def candidates(self, node: int, wish: Wish) -> list[Workload]:
        """The running workloads of a queue that use a slot in need and that the preemptor's queue may evict, by their order."""
        running = {} if inactive(self.policy, node) else self.running[node]
        return self.ordered([running[name] for name in sorted(running) if self._may_go(running[name], wish)], wish)

    def _may_go(self, victim: Workload, wish: Wish) -> bool:
        if not any(slot in wish.slots for slot, _ in victim.usage):
            return False
        preemption, preemptor = self.preemption(wish.workload.queue), wish.workload
        policy: str = preemption.own if victim.queue == preemptor.queue else preemption.reclaims
        return satisfies(policy, preemptor, victim)

    def ordered(self, victims: list[Workload], wish: Wish) -> list[Workload]:
        """Candidates, best victim first."""
        queue = wish.workload.queue
        if self.usage is None:
            return sorted(victims, key=lambda victim: precedence(victim, queue))

        def compare(left: Workload, right: Workload) -> int:
            return self._compare(left, right, queue)

        return sorted(victims, key=cmp_to_key(compare))

    def _compare(self, left: Workload, right: Workload, queue: int) -> int:
        """Negative where the left one goes first: those of one queue go by the usage of their local queues before their priority."""
        left_key, right_key = precedence(left, queue), precedence(right, queue)
        alike = left_key[:2] == right_key[:2] and left.queue == right.queue
        if self.usage is not None and alike and left.fact.local_queue != right.fact.local_queue:
            mine, other = self.usage(left), self.usage(right)
            if mine != other:
                return -1 if mine > other else 1
        return -1 if left_key < right_key else 1


def precedence(victim: Workload, queue: int) -> Precedence:
    """Which victim a queue takes first, the least: who goes anyway, then of other queues, then of low priority, then who came last."""
    return not victim.evicting, victim.queue == queue, victim.priority, -(victim.admitted or 0), victim.fact.uid, victim.number


def satisfies(policy: str, preemptor: Workload, victim: Workload) -> bool:
    """Whether a queue's policy lets a workload evict another: lower, lower-or-newer or any; nothing lets none.

    Nobody evicts whom it replaces: what it looks for is room beside that one. (Kueue may, and evicts it in vain.)
    """
    if victim.pinned or takes_place_of(preemptor, victim):
        return False
    lower = victim.priority < preemptor.priority
    match policy:
        case "any":
            return True
        case "lower":
            return lower
        case "lower-or-newer":
            return lower or (victim.priority == preemptor.priority and preemptor.queued < victim.queued)
        case _:
            return False


def as_request(amounts: Amounts) -> tuple[tuple[int, int], ...]:
    """Amounts by slot in the form that the tree takes."""
    return tuple((slot, amounts[slot]) for slot in sorted(amounts) if amounts[slot] > 0)


def spare(cluster: Cluster, wish: Wish, targets: list[Target], fits: Callable[[], bool]) -> list[Target]:
    """Give back, last first, whom the workload fits without; the last one taken stays out, and so do all in the result.

    Whoever is spared makes room in the list for the last one, as in Kueue, so the order of the result is of no meaning.
    """
    kept = list(targets)
    for index in range(len(kept) - 2, -1, -1):
        cluster.give_back(kept[index].workload)
        if fits():
            wish.note(kept[index].workload, "spared", kept[index].operands)
            kept[index] = kept[-1]
            kept.pop()
        else:
            cluster.take(kept[index].workload)
    return kept

"""Deciding at once: after a fact, decide until nothing more can be decided.

A pass looks at the waiting workloads of every queue in the queue's order. Each queue puts up its first workload that can
be admitted (maybe by evictions) or that waits for nothing but protections to end; the best of all, by the order of queues level by level
down the tree, is carried out, and the others are nominated again. One that waits for protections reserves its room for
the rest of the pass. A refused workload lets others of its queue pass, unless the queue is strict; those that ask for the same as one that
was refused are not looked at in the rest of the pass.

Passes repeat until one decides nothing.
INVARIANT: that ends, since nothing that this fact admitted is evicted for its sake: each workload is admitted at most once
and evicted at most once.
INVARIANT: looking again ends, too. Nobody evicts, by a rule without durations, one for whom it had to go itself, directly or through
others, until anything but time and submissions changes the cluster. Were some evicted again and again, one of them would stand above
all others of them, and there would be nobody for whom it could go.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ...outcome.decision import Admission, Eviction, Outcome, Replacement
from ...outcome.nomination import Nomination
from ..state.state import State, as_request
from ..state.trial import Trial
from ..state.workload import Shape, Workload
from ..transition.apply import carry_out
from .binding_limit import binding_limit
from .entry_order import Entries, next_entry
from .nominate import nominate
from .waits import Reserved, Waits


def settle(state: State, waits: Waits) -> tuple[list[Outcome], int | None]:
    """Decide all there is to decide, and when time alone may decide something next (None: never). All is carried out already."""
    outcomes: list[Outcome] = []
    while True:
        step = _Pass(state, waits)
        decided = step.run()
        step.end()
        outcomes += decided
        if not decided:
            return outcomes, step.next_wake()


def next_wake(state: State, waits: Waits) -> int | None:
    """The next moment at which time alone may decide something; None: never."""
    with reserving(state, waits) as step:
        return step.next_wake()


@contextmanager
def reserving(state: State, waits: Waits) -> Iterator["_Pass"]:
    """The room that is reserved for workloads that wait for protections to end, charged while the context lasts."""
    step = _Pass(state, waits, only_reserve=True)
    step.run()
    try:
        yield step
    finally:
        step.end()


class _Pass:
    """One pass over all waiting workloads. What is reserved stays charged until `end`."""

    def __init__(self, state: State, waits: Waits, only_reserve: bool = False) -> None:
        self.state, self.waits, self.only_reserve = state, waits, only_reserve
        self.trial = Trial(state)
        self.open = [queue.node for queue in state.graph.queues if state.queues[queue.node].line]
        self.refused: set[tuple[int, Shape]] = set()
        self.passed_over: set[str] = set()
        self.reserved: list[Nomination] = []
        self.charged: Reserved = ()
        self.later: list[int] = []

    def run(self) -> list[Outcome]:
        """Carry out the best nomination, again and again, until there is none."""
        decided: list[Outcome] = []
        while (best := self._best()) is not None:
            if not best.runs:
                request = as_request(best.flavors.usage)
                self.trial.tree.add(best.queue, request)
                self.reserved.append(best)
                self.charged = (*self.charged, (best.queue, request))
            elif self.only_reserve:
                self.refused.add((best.queue, self.state.workloads[best.workload].shape))
            else:
                decided += self._carry_out(best)
        return decided

    def next_wake(self) -> int | None:
        """The first moment at which there is room for somebody, or for a part of what somebody asks for, as time alone passes."""
        return min([*self.later, *(nomination.until for nomination in self.reserved if nomination.until is not None)], default=None)

    def end(self) -> None:
        """Free what was reserved."""
        for queue, request in self.charged:
            self.trial.tree.remove(queue, request)

    def _best(self) -> Nomination | None:
        entries: Entries = {}
        for queue in list(self.open):
            nomination = self._put_up(queue)
            if nomination is not None:
                entries[queue] = nomination
        return next_entry(self.trial, entries)

    def _put_up(self, queue: int) -> Nomination | None:
        """The nomination of the first workload of a queue for which something can be done; the queue is closed where there is none."""
        strict = self.state.graph.queue_at(queue).strict
        if strict and any(nomination.queue == queue for nomination in self.reserved):
            self.open.remove(queue)
            return None
        for workload in self.state.line(queue):
            if (queue, workload.shape) in self.refused or workload.name in self.passed_over or self._is_reserved(workload):
                continue
            nomination = self._nominate(workload)
            if nomination is not None:
                return nomination
            if self.state.superiors(workload.name):  # it may evict fewer than others that ask for the same
                self.passed_over.add(workload.name)
            else:
                self.refused.add((queue, workload.shape))
            if strict:
                break
        self.open.remove(queue)
        return None

    def _is_reserved(self, workload: Workload) -> bool:
        return any(workload.name == nomination.workload for nomination in self.reserved)

    def _nominate(self, workload: Workload) -> Nomination | None:
        """What can be done for a workload, now or once protections end; None: nothing."""
        by_memory = not self.state.superiors(workload.name)
        nomination = self.waits.recall(workload, self.charged, self.state.time) if by_memory else None
        if nomination is None:
            nomination = nominate(self.trial, workload)
            if by_memory and not nomination.runs:
                self.waits.note(workload, self.charged, nomination)
        if not nomination.possible and nomination.later is not None:
            self.later.append(nomination.later)
        return nomination if nomination.possible else None

    def _carry_out(self, nomination: Nomination) -> list[Outcome]:
        """Evict the victims in the order in which they were chosen, end whom it replaces, and admit it."""
        outcomes = decisions_of(self.trial, nomination)
        for outcome in outcomes:
            carry_out(self.state, outcome)
        self.waits.forget()
        return outcomes


def decisions_of(trial: Trial, nomination: Nomination) -> list[Outcome]:
    """The decisions that carry out a nomination, as things stand before them."""
    state, workload = trial.state, trial.state.workloads[nomination.workload]
    limit = binding_limit(trial.policy, nomination)
    outcomes: list[Outcome] = [Eviction(victim, workload.name, workload.queue, workload.priority, limit) for victim in nomination.victims]
    with trial.without(state.workloads[victim.workload] for victim in nomination.victims):
        return [*outcomes, *admission_of(trial, nomination)]


def admission_of(trial: Trial, nomination: Nomination) -> list[Outcome]:
    """The admission of a workload that fits now, after the end of the one whose place it takes."""
    state, workload, queue = trial.state, trial.state.workloads[nomination.workload], nomination.queue
    old = state.workloads[nomination.replaced] if nomination.replaced is not None else None
    request, held = as_request(nomination.flavors.whole), dict(old.usage) if old is not None else {}
    used = tuple(trial.tree.usage[queue][slot] - held.get(slot, 0) for slot, _ in request)
    owned = tuple(trial.tree.subtree[queue][slot] for slot, _ in request)
    beyond = {slot: min(amount, before + amount - own) for (slot, amount), before, own in zip(request, used, owned, strict=True)}
    admission = Admission(
        workload.name,
        queue,
        workload.priority,
        nomination.flavors,
        request,
        used,
        owned,
        as_request(beyond),
        nomination.victims,
        nomination.replaced,
    )
    return [admission] if old is None else [Replacement(old.name, old.queue, workload.name, old.usage), admission]

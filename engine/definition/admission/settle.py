"""Deciding at once: after a fact, decide until nothing more can be decided.

A pass looks at the waiting workloads of every queue in the queue's order. Each queue puts up its first workload that can
be admitted (maybe by evictions) or that waits for nothing but protections to end; the best of all, by the order of queues level by level
down the tree, is carried out, and the others are nominated again. One that waits for protections reserves its room for
the rest of the pass. A refused workload lets others of its queue pass, unless the queue is strict; those that ask for the same as one that
was refused are not looked at in the rest of the pass.

Passes repeat until one decides nothing.
INVARIANT: that ends, since nothing that this fact admitted is evicted for its sake: each workload is admitted at most once
and evicted at most once.
INVARIANT: looking again ends, too. Where A evicted B, directly or through others, B does not evict A by a rule without durations. This
holds until anything but time and submissions changes the cluster. So no circle of workloads can evict one another for ever.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...outcome.decision import Admission, Eviction, Outcome, Replacement
from ...outcome.nomination import Nomination, Request, as_request
from ...workload import Shape, Workload
from ..state.state import State
from ..state.trial import Trial
from ..transition.apply import carry_out
from .binding_limit import binding_limit
from .entry_order import next_entry
from .nominate import nominate

Reserved = tuple[tuple[int, Request], ...]
"""What is reserved in a pass, by queue, in the order in which it was."""

Waits = dict[tuple[Reserved, int, Shape], Nomination]
"""How workloads were nominated that have to wait, by what was reserved for others at that time, by queue and by shape.

It is for speed alone: a core that forgets decides the same (`tests/property/test_waits.py`).
INVARIANT: such a nomination depends on the state; before its `changes_at` the time does not matter. All are forgotten whenever anything
but time and submissions changes the state.
"""


def settle(state: State, waits: Waits) -> tuple[list[Outcome], int | None]:
    """Decide all there is to decide, and when time alone may decide something next (None: never). All is carried out already."""
    outcomes: list[Outcome] = []
    while True:
        with _one_pass(state, waits, only_reserve=False) as step:
            if not step.decided:
                return outcomes, step.next_wake()
            outcomes += step.decided


def next_wake(state: State, waits: Waits) -> int | None:
    """The next moment at which time alone may decide something; None: never."""
    with _one_pass(state, waits, only_reserve=True) as step:
        return step.next_wake()


def reservations(state: State, waits: Waits) -> list[Nomination]:
    """Who waits for nothing but protections to end, and keeps its room until then."""
    with _one_pass(state, waits, only_reserve=True) as step:
        return step.reserved


@contextmanager
def _one_pass(state: State, waits: Waits, only_reserve: bool) -> Iterator["_Pass"]:
    """One pass over all that waits. What is reserved in it stays charged while the context lasts."""
    step = _Pass(state, waits, only_reserve)
    try:
        step.run()
        yield step
    finally:
        for queue, request in step.charged:
            step.trial.tree.remove(queue, request)


class _Pass:
    """One pass over all waiting workloads; with `only_reserve` it carries nothing out."""

    def __init__(self, state: State, waits: Waits, only_reserve: bool) -> None:
        self.state, self.waits, self.only_reserve = state, waits, only_reserve
        self.trial = Trial(state)
        self.open = [queue.node for queue in state.graph.queues if state.queues[queue.node].line]
        self.refused: set[tuple[int, Shape]] = set()
        self.passed_over: set[str] = set()
        self.decided: list[Outcome] = []
        self.reserved: list[Nomination] = []
        self.charged: Reserved = ()
        self.later: list[int] = []

    def run(self) -> None:
        """Carry out the best nomination, again and again, until there is none."""
        while (best := self._best()) is not None:
            if not best.runs:
                request = best.flavors.request
                self.trial.tree.add(best.queue, request)
                self.reserved.append(best)
                self.charged = (*self.charged, (best.queue, request))
            elif self.only_reserve:
                self.refused.add((best.queue, self.state.workloads[best.workload].shape))
            else:
                self._carry_out(best)

    def next_wake(self) -> int | None:
        """The first moment at which there is room for somebody, or for a part of what somebody asks for, as time alone passes."""
        return min([*self.later, *(nomination.later for nomination in self.reserved if nomination.later is not None)], default=None)

    def _best(self) -> Nomination | None:
        put_up = [(queue, self._put_up(queue)) for queue in list(self.open)]
        return next_entry(self.trial, {queue: nomination for queue, nomination in put_up if nomination is not None})

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
        place, by_memory = (self.charged, workload.queue, workload.shape), not self.state.superiors(workload.name)
        known = self.waits.get(place) if by_memory else None
        if known is not None and (known.changes_at is None or known.changes_at > self.state.time):
            nomination = replace(known, workload=workload.name)
        else:
            nomination = nominate(self.trial, workload)
            if by_memory and not nomination.runs:
                self.waits[place] = nomination
        if not nomination.possible and nomination.later is not None:
            self.later.append(nomination.later)
        return nomination if nomination.possible else None

    def _carry_out(self, nomination: Nomination) -> None:
        """Evict the victims in the order in which they were chosen, end whom it replaces, and admit it."""
        state, workload = self.state, self.state.workloads[nomination.workload]
        limit = binding_limit(self.trial.policy, nomination)
        with self.trial.without(state.workloads[victim.workload] for victim in nomination.victims):
            admission = admission_of(self.trial, nomination)
        evictions = [Eviction(victim, workload.name, workload.queue, workload.priority, limit) for victim in nomination.victims]
        for outcome in (*evictions, *admission):
            carry_out(state, outcome)
            self.decided.append(outcome)
        self.waits.clear()


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

"""Deciding at once: after a fact, decide until nothing more can be decided.

A pass looks at the waiting workloads of every queue in the queue's order. Each queue puts up its first workload that can
be admitted (maybe by evictions) or that waits for nothing but protections to end; the best of all, by the order of queues level by level
down the tree, is carried out, and the others are nominated again. One that waits for protections reserves its room for
the rest of the pass. A refused workload lets others of its queue pass, unless the queue is strict; those that ask for the same as one that
was refused are not looked at in the rest of the pass.

Before all that, who runs and has lost nodes, or waits for places that a check provides, gets places or has to go.

Passes repeat until one decides nothing. Then elastic workloads get more pods where there is room (`growth.py`), and passes go on.
INVARIANT: that ends, since nothing that this fact admitted is evicted for its sake: each workload is admitted at most once
and evicted at most once. Pods are added only
as long as nobody who waits can be admitted for it, so that growing makes nothing else possible.
INVARIANT: looking again ends, too. Where A evicted B, directly or through others, B does not evict A by a rule without durations. This
holds until anything but time and submissions changes the cluster. So no circle of workloads can evict one another for ever.
"""

from collections.abc import Collection
from contextlib import ExitStack

from ...outcome.decision import Admission, Eviction, Outcome, Replacement, Resize
from ...outcome.nomination import Nomination, as_request
from ...workload import Shape
from ..state.state import State
from ..state.trial import Trial
from ..transition.apply import carry_out
from .binding_limit import binding_limit
from .entry_order import next_entry
from .growth import grow
from .nominate import nominate
from .place_pods import places_held
from .second_pass import place_at_once


def settle(state: State) -> list[Outcome]:
    """Decide all there is to decide; all of it is carried out already."""
    outcomes = place_at_once(state)
    while decided := _Pass(state).run().decided:
        outcomes += decided
    return outcomes


def next_wake(state: State) -> int | None:
    """The next moment at which time alone may decide something; None: never."""
    return _Pass(state, only_reserve=True).run().next_wake()


def reservations(state: State, among: Collection[str] | None = None) -> list[Nomination]:
    """Who waits for nothing but protections to end, and keeps its room until then. `among`: all others are known not to."""
    return _Pass(state, only_reserve=True, among=among).run().reserved


class _Pass:
    """One pass over all waiting workloads, or `among` some of them; with `only_reserve` it carries nothing out."""

    def __init__(self, state: State, only_reserve: bool = False, among: Collection[str] | None = None) -> None:
        self.state, self.only_reserve = state, only_reserve
        self.trial = Trial(state)
        self.open = [queue.node for queue in state.graph.queues if state.line(queue.node)]
        self.refused: set[tuple[int, Shape]] = set()
        self.passed_over = set() if among is None else state.workloads.keys() - set(among)
        self.decided: list[Outcome] = []
        self.reserved: list[Nomination] = []
        self.later: list[int] = []

    def run(self) -> "_Pass":
        """Carry out the best nomination, again and again, until there is none; let workloads grow where there was none at all. What is
        reserved is charged for as long as that takes."""
        with ExitStack() as charges:
            while (best := self._best()) is not None:
                if not best.runs:
                    places = places_held(self.trial.places, self.state.workloads[best.workload], best.flavors)
                    charges.enter_context(self.trial.charged(best.queue, best.flavors.request, places))
                    self.reserved.append(best)
                    self.passed_over.add(best.workload)
                elif self.only_reserve:
                    self.refused.add((best.queue, self.state.workloads[best.workload].shape))
                else:
                    self._carry_out(best)
            if not self.only_reserve and not self.decided:
                self.decided += grow(self.trial, self._nobody_gets_in)
        return self

    def _nobody_gets_in(self) -> bool:
        """Whether nobody who waits, and reserves nothing, could be admitted as things stand in the trial, now or once protections end."""
        reserved = {nomination.workload for nomination in self.reserved}
        for queue in (queue.node for queue in self.state.graph.queues):
            refused: set[Shape] = set()
            for workload in self.state.line(queue):
                if workload.name not in reserved and workload.shape not in refused:
                    if nominate(self.trial, workload).possible:
                        return False
                    if not self.state.superiors(workload.name):
                        refused.add(workload.shape)
                if self.state.graph.queue_at(queue).strict:
                    break
        return True

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
            if (queue, workload.shape) in self.refused or workload.name in self.passed_over:
                continue
            nomination = nominate(self.trial, workload)
            if nomination.possible:
                return nomination
            if nomination.later is not None:
                self.later.append(nomination.later)
            if self.state.superiors(workload.name):  # it may evict fewer than others that ask for the same
                self.passed_over.add(workload.name)
            else:
                self.refused.add((queue, workload.shape))
            if strict:
                break
        self.open.remove(queue)
        return None

    def _carry_out(self, nomination: Nomination) -> None:
        """Evict the victims, or take their surplus, in the order in which they were chosen, end whom it replaces, and admit it."""
        state, workload = self.state, self.state.workloads[nomination.workload]
        limit = binding_limit(self.trial.policy, nomination)
        with self.trial.after(nomination.victims):
            admission = admission_of(self.trial, nomination)
        going = [
            Eviction(victim, workload.name, workload.queue, workload.priority, limit)
            if victim.left is None
            else Resize(
                victim.workload, victim.queue, victim.priority, victim.left.changes, victim.left.assignments, victim.left.usage,
                victim=victim, beneficiary=workload.name, limit=limit,
            )
            for victim in nomination.victims
        ]  # fmt: skip
        for outcome in (*going, *admission):
            carry_out(state, outcome)
            self.decided.append(outcome)


def admission_of(trial: Trial, nomination: Nomination) -> list[Outcome]:
    """The admission of a workload that fits now, after the end of the one whose place it takes."""
    state, workload, queue = trial.state, trial.state.workloads[nomination.workload], nomination.queue
    victims, replaced = nomination.victims, nomination.replaced
    old = state.workloads[replaced] if replaced is not None else None
    request, held = as_request(nomination.flavors.whole), dict(old.usage) if old is not None else {}
    used = tuple(trial.tree.usage[queue][slot] - held.get(slot, 0) for slot, _ in request)
    owned = tuple(trial.tree.subtree[queue][slot] for slot, _ in request)
    beyond = {slot: min(amount, before + amount - own) for (slot, amount), before, own in zip(request, used, owned, strict=True)}
    admission = Admission(
        workload.name, queue, workload.priority, nomination.flavors, request, used, owned, as_request(beyond), victims, replaced
    )
    return [admission] if old is None else [Replacement(old.name, old.queue, workload.name, old.usage), admission]

"""Victims by preempt rules, such as this one:

    preempt reclaim-owned {
      when workload fits what its queue owns                          its trigger: `owner`
      evict from queues that borrow                                   its scope: `queues` and `reaches`
      where victim.priority < workload.priority                       its guard: `keeper`
      order by victim.queue.share desc, victim.admitted desc          the order of victims: `ranked`
    }

All rules are used in the policy's order; a later one only adds to what the earlier ones took. Victims are taken one by one until the
workload fits, and before each pick everybody is judged anew, as each victim changes shares and use. In the end those who turn out not to be
needed are put back (`fill_back`).
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from ...event_parts import EvictionKind
from ...guard import is_timeless
from ...intake.slices import takes_place_of
from ...outcome.nomination import CandidateOutcome, ComparedShares, Grade, Note, Request, RunnerUp, Victim
from ...policy_graph import PreemptRule, ProtectRule, covers
from ...workload import Workload, victim
from ..placement.placer import ToPlace, find_places
from ..queue.line import directed
from ..state.guard_values import GuardValues
from ..state.trial import Trial
from .surplus import SurplusSearch

Ranked = tuple[tuple[object, ...], Workload]
"""A candidate with its place in the rule's order; the best is the least."""


@dataclass(frozen=True, slots=True)
class Preemptor:
    """A workload that looks for victims: the request that is to fit, the slots on which somebody has to go for it, and the pod sets that
    are to find places."""

    workload: Workload
    request: Request
    slots: list[int]
    to_place: tuple[ToPlace, ...] = ()

    def fits(self, trial: Trial) -> bool:
        """Whether it fits as things stand in a trial: its request by quota, and its pods on places."""
        return trial.tree.fits(self.workload.queue, self.request) and self.has_places(trial)

    def has_places(self, trial: Trial) -> bool:
        """Whether its pods find places as things stand in a trial."""
        return not self.to_place or not find_places(trial.policy.places, self.to_place).failures


class RuleSearch:
    """A search at a moment for a workload whose request is charged; `short` lists the slots of which too little is free.

    The trial is always put back. `cause` is the fact that is being decided; it is None where a later moment is tried. One fact never admits
    and evicts the same workload, so whoever it admitted is passed over. `superiors` are those for whom the workload had to go itself.
    """

    def __init__(
        self, trial: Trial, preemptor: Preemptor, short: list[int], now: int, superiors: Collection[str], cause: int | None = None
    ) -> None:
        self.trial, self.preemptor, self.short, self.now, self.superiors, self.cause = trial, preemptor, short, now, superiors, cause
        self.graph, self.tree, self.workload, self.queue = trial.graph, trial.tree, preemptor.workload, preemptor.workload.queue
        self.values = GuardValues(trial.policy, now, preemptor.workload)

    @classmethod
    def present(cls, trial: Trial, preemptor: Preemptor) -> "RuleSearch":
        """The search as of the present moment; the request is not charged yet."""
        state, workload = trial.state, preemptor.workload
        short = trial.tree.short(workload.queue, preemptor.request)
        if preemptor.to_place and not preemptor.has_places(trial):
            short = sorted({*short, *preemptor.slots})
        return cls(trial, preemptor, short, state.time, state.superiors(workload.name), state.cause)

    def at(self, moment: int) -> "RuleSearch":
        """The same search by another fact, at this moment or a later one."""
        return RuleSearch(self.trial, self.preemptor, self.short, moment, self.superiors)

    # --- take until it fits, then fill back -------------------------------------------------------------------------------

    def run(self) -> list[Victim]:
        """Victims without whom the request fits; none where there are not enough."""
        taken: list[Victim] = []
        surplus = SurplusSearch(self)
        with self.trial.undone():
            if self.graph.settings.shrinks_first and surplus.take():
                return surplus.only_needed(self.fits, set())
            enough = any(self._sweep(index, rule, taken) for index, rule in enumerate(self.graph.preempt))
            if not enough:
                return []
            whole = self._only_needed(fill_back(self.trial, taken, self.fits))
            return [*surplus.only_needed(self.fits, {each.workload for each in whole}), *whole]

    def _only_needed(self, victims: list[Victim]) -> list[Victim]:
        """The same without everybody without whom it fits as well. Where pods have to find places, that may be so of some who were needed
        while others were out: pods that come first may then have taken other places."""
        if not self.preemptor.to_place:
            return victims
        for each in reversed(victims):
            workload = self.trial.current(self.trial.state.workloads[each.workload])
            self.trial.give_back(workload)
            if self.fits():
                return self._only_needed([other for other in victims if other is not each])
            self.trial.take(workload)
        return victims

    def fits(self) -> bool:
        """Whether the request fits."""
        with self.trial.uncharged(self.queue, self.preemptor.request):
            return self.preemptor.fits(self.trial)

    def fits_by_quota(self) -> bool:
        """Whether the request fits by quota, wherever its pods are to stand."""
        with self.trial.uncharged(self.queue, self.preemptor.request):
            return self.tree.fits(self.queue, self.preemptor.request)

    def _sweep(self, index: int, rule: PreemptRule, taken: list[Victim]) -> bool:
        """Take victims by one rule, best first, until the request fits; say whether it does."""
        queues = self.queues(rule)
        while ranked := sorted(self.ranked(rule, queues), key=itemgetter(0)):
            chosen = ranked[0][1]
            values = tuple(self.values.value(field, chosen) for field in rule.compared)
            runner_up = self._runner_up(rule, *ranked[:2]) if len(ranked) > 1 and not taken else None
            taken.append(victim(self.trial.state.workloads[chosen.name], self.kind(rule, chosen), index, values, runner_up))
            self.trial.take(chosen)
            if self.fits():
                return True
        return False

    def kind(self, rule: PreemptRule, each: Workload) -> EvictionKind:
        """Why a victim of a rule goes."""
        if each.queue == self.queue:
            return "in-queue"
        return "reclaim" if rule.trigger is not None else "other"

    # --- trigger and scope ------------------------------------------------------------------------------------------------

    def owner(self, rule: PreemptRule) -> int | None:
        """The node that has to own enough for a rule to apply: the queue, or the lowest cohort that does; None: no trigger."""
        if rule.trigger is None:
            return self.queue
        path = self.tree.paths[self.queue]
        owners = path[1:-1] if rule.trigger == "fits-cohort" else path[:1]
        return next((node for node in owners if not self.tree.borrows(node, self.short)), None)

    def queues(self, rule: PreemptRule) -> list[int]:
        """The queues, by node, where a rule may find victims; none where it is not triggered.

        A queue that does not borrow now will not borrow later in a search: taking victims only lowers use.
        """
        return [node for node in self.in_range(rule, self.owner(rule)) if self.reaches(rule, node)]

    def in_range(self, rule: PreemptRule, owner: int | None) -> list[int]:
        """The queues where a rule that rests on an owner looks, by node, whether they borrow or not: never those below the owner."""
        if owner is None:
            return []
        if rule.scope == "same-queue":
            return [self.queue]
        top = self.tree.parent[self.queue] if rule.range == "same-cohort" else 0
        others = [queue.node for queue in self.graph.queues if queue.node != self.queue and top in self.tree.paths[queue.node]]
        return [node for node in others if owner == self.queue or owner not in self.tree.paths[node]]

    def reaches(self, rule: PreemptRule, node: int) -> bool:
        """Whether a rule still reaches a queue of its range, as use is now: it and the cohorts above it borrow, if the rule wants that."""
        if rule.scope != "borrowing-queues":
            return True
        theirs, path = self.tree.sides(self.queue, node)[1], self.tree.paths[node]
        return all(self.tree.borrows(above, self.short) for above in path[: path.index(theirs) + 1])

    # --- guards -----------------------------------------------------------------------------------------------------------

    def candidates(self, queue: int) -> list[Workload]:
        """Those who run in a queue, use what is short, and are not kept for good."""
        users = [each for each in self.trial.running(queue) if any(slot in self.short for slot, _ in each.usage)]
        return [each for each in users if not each.pinned and not takes_place_of(self.workload, each)]

    def protecting(self, queue: int) -> list[ProtectRule]:
        """The protect rules that cover a queue, whether they hold now or not."""
        return [rule for rule in self.graph.protect if covers(rule, self.tree.paths[queue])]

    def keeper(self, rule: PreemptRule, each: Workload) -> PreemptRule | ProtectRule | None:
        """What keeps a workload: the rule, whose guard is false of it, or a protect rule; None: nothing."""
        if not self.values.holds(rule.guard, each):
            return rule
        return next((protect for protect in self.protecting(each.queue) if self.values.holds(protect.guard, each)), None)

    def gave_way(self, rule: PreemptRule, each: Workload) -> bool:
        """Whether a candidate is spared because this workload had to go for it before; only rules without durations spare it."""
        return each.name in self.superiors and is_timeless(rule.guard)

    def _may_go(self, rule: PreemptRule, each: Workload) -> bool:
        """Whether a rule lets a workload go now."""
        return self.keeper(rule, each) is None and not self.gave_way(rule, each) and each.started_by != self.cause

    # --- the order of victims ---------------------------------------------------------------------------------------------

    def ranked(self, rule: PreemptRule, queues: list[int]) -> Iterator[Ranked]:
        """Everybody who may go by a rule as things stand, with the place in its order: ties go to the later submitted one."""
        for each in (each for queue in queues if self.reaches(rule, queue) for each in self.candidates(queue)):
            if self._may_go(rule, each):
                yield (*(directed(self.values.value(key.of_victim, each), key.descending) for key in rule.order), -each.number), each

    def _runner_up(self, rule: PreemptRule, first: Ranked, second: Ranked) -> RunnerUp:
        """Who would have gone instead, and the first key in which the two differ."""
        key = next((index for index, (mine, other) in enumerate(zip(first[0][:-1], second[0][:-1], strict=True)) if mine != other), -1)
        return RunnerUp(second[1].name, key, self.values.value(rule.order[key].of_victim, second[1]) if key >= 0 else 0)


# --- what all ways to look for victims have in common ---------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """What a search came to: victims without whom the request fits, or none, and what that makes of the flavor.

    `until`: the first later moment at which the request fits if nothing happens but that time passes. `notes`: what came of each workload
    that was looked at, by name.
    """

    victims: list[Victim] = field(default_factory=list)
    grade: Grade = Grade.NO_VICTIMS
    until: int | None = None
    notes: dict[str, Note] = field(default_factory=dict)

    def note(self, workload: str, outcome: CandidateOutcome, shares: ComparedShares | None = None) -> None:
        """Note what came of a workload; the last note counts."""
        self.notes[workload] = (outcome, shares)

    def succeed(self, victims: list[Victim], queue: int) -> None:
        """Note that these are enough for a workload of a queue, as Kueue grades it: its own have to go, or only others that borrow."""
        self.victims = victims
        self.grade = Grade.PREEMPT if any(victim.queue == queue for victim in victims) else Grade.RECLAIM


def fill_back(trial: Trial, taken: list[Victim], fits: Callable[[], bool], found: Found | None = None) -> list[Victim]:
    """Put back, last to first and never the last one, every victim without whom the request fits as well; all others stay out."""
    kept = list(taken)
    for each in reversed(taken[:-1]):
        workload = trial.current(trial.state.workloads[each.workload])
        trial.give_back(workload)
        if fits():
            kept.remove(each)
            if found is not None:
                found.note(each.workload, "spared", each.shares)
        else:
            trial.take(workload)
    return kept

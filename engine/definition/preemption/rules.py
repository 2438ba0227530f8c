"""Victims by preempt rules: all rules in the policy's order, the best victim first, until the workload fits.

A later rule only adds to what the earlier ones took. Before each pick everybody is judged anew, as each victim changes shares and use;
in the end those who turn out not to be needed are put back.
"""

from collections.abc import Collection, Iterator
from operator import itemgetter

from ...event_parts import EvictionKind
from ...guard import is_timeless
from ...outcome.nomination import RunnerUp, Victim
from ...policy_graph import PreemptRule, ProtectRule
from ...workload import Workload, victim
from ..state.guard_values import GuardValues
from ..state.order import directed
from ..state.trial import Trial
from .rule_scope import RuleScope
from .search import Preemptor, fill_back, give_back

Ranked = tuple[tuple[object, ...], Workload]
"""A candidate with its place in the rule's order; the best is the least."""


class RuleSearch:
    """A search at a moment, while the request is charged; the trial is always put back.

    `cause` is the fact that is being decided; it is None where a later moment is tried. One fact never admits and evicts the same
    workload: whoever it admitted is passed over, and `passed_over_fresh` says that this happened. `superiors` are those for whom the
    workload had to go itself: no rule without durations takes them.
    """

    def __init__(
        self, trial: Trial, preemptor: Preemptor, scope: RuleScope, now: int, superiors: Collection[str], cause: int | None = None
    ) -> None:
        self.trial, self.preemptor, self.scope, self.now, self.superiors, self.cause = trial, preemptor, scope, now, superiors, cause
        self.graph, self.tree, self.workload = trial.graph, trial.tree, preemptor.workload
        self.values = GuardValues(trial.policy, now, preemptor.workload)
        self.passed_over_fresh = False

    def at(self, moment: int) -> "RuleSearch":
        """The same search at a later moment."""
        return RuleSearch(self.trial, self.preemptor, self.scope, moment, self.superiors)

    def run(self) -> list[Victim]:
        """Victims without whom the request fits; none where there are not enough."""
        taken: list[Victim] = []
        enough = any(self._sweep(index, rule, taken) for index, rule in enumerate(self.graph.preempt))
        kept = fill_back(self.trial, taken, self.fits) if enough else taken
        give_back(self.trial, kept)
        return kept if enough else []

    def fits(self) -> bool:
        """Whether the request fits."""
        with self.trial.uncharged(self.workload.queue, self.preemptor.request):
            return self.tree.fits(self.workload.queue, self.preemptor.request)

    # --- one rule ---------------------------------------------------------------------------------------------------

    def _sweep(self, index: int, rule: PreemptRule, taken: list[Victim]) -> bool:
        """Take victims by one rule, best first, until the request fits; say whether it does."""
        queues = self.scope.queues(rule)
        while ranked := sorted(self._ranked(rule, queues), key=itemgetter(0)):
            chosen = ranked[0][1]
            self.values.victim = chosen
            values = tuple(self.values.value(field) for field in rule.compared)
            runner_up = self._runner_up(rule, *ranked[:2]) if len(ranked) > 1 and not taken else None
            taken.append(victim(chosen, self._kind(rule, chosen), index, values, runner_up))
            self.trial.take(chosen)
            if self.fits():
                return True
        return False

    def _ranked(self, rule: PreemptRule, queues: list[int]) -> Iterator[Ranked]:
        """Everybody who may go by a rule as things stand, with the place in its order: ties go to the later submitted one."""
        for each in (each for queue in queues if self.scope.reaches(rule, queue) for each in self.scope.helpers(queue)):
            if self._may_go(rule, each):
                self.values.victim = each
                yield (*(directed(self.values.value(key.of_victim), key.descending) for key in rule.order), -each.number), each

    def _may_go(self, rule: PreemptRule, each: Workload) -> bool:
        """Whether a rule lets a workload go now."""
        if self.keeper(rule, each) is not None or (each.name in self.superiors and is_timeless(rule.guard)):
            return False
        if each.started_by == self.cause:
            self.passed_over_fresh = True
            return False
        return True

    def keeper(self, rule: PreemptRule, each: Workload) -> PreemptRule | ProtectRule | None:
        """What keeps a workload: the rule, whose guard is false of it, or a protect rule; None: nothing."""
        self.values.victim = each
        if not self.values.holds(rule.guard):
            return rule
        return next((protect for protect in self.scope.protecting(each.queue) if self.values.holds(protect.guard)), None)

    def _kind(self, rule: PreemptRule, each: Workload) -> EvictionKind:
        if each.queue == self.workload.queue:
            return "in-queue"
        return "reclaim" if rule.trigger is not None else "other"

    def _runner_up(self, rule: PreemptRule, first: Ranked, second: Ranked) -> RunnerUp:
        """Who would have gone instead, and the first key in which the two differ."""
        key = next((index for index, (mine, other) in enumerate(zip(first[0][:-1], second[0][:-1], strict=True)) if mine != other), -1)
        self.values.victim = second[1]
        return RunnerUp(second[1].name, key, self.values.value(rule.order[key].of_victim) if key >= 0 else 0)

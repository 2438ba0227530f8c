"""Looking ahead: the first moment at which time alone will have made room, should nothing else happen.

Time changes a guard only where a duration reaches a constant. So every moment at which that happens for somebody who could go is tried, the
earliest first, by the search that is made for the present. Moments by which even all who may go by then would not be enough are left out,
the present one too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...guard import Expr, Type
from ...outcome.nomination import Grade, ProtectedVictim
from ...policy_graph import PreemptRule, ProtectRule
from ...workload import Workload
from ..state.guard_values import GuardValues
from ..state.trial import Trial
from .rule_scope import RuleScope
from .rules import RuleSearch
from .search import Found, Preemptor


def search(trial: Trial, preemptor: Preemptor) -> Found:
    """Victims by the policy's rules without whom a request fits; or the first moment at which time will have freed enough of them.

    Where somebody was passed over only because this fact admitted it, that is the present moment, for the next fact.
    """
    present = present_search(trial, preemptor)
    with trial.charged(preemptor.workload.queue, preemptor.request):
        helpers = list(_helpers(present))
        earliest = _earliest(present, helpers)
        if earliest is None:
            return Found()
        victims = present.run() if earliest <= present.now else []
        if victims:
            return Found(victims, Grade.PREEMPT)
        moments = sorted({moment for helper in helpers for moment in helper.turns if moment >= earliest})
        for moment in [*([present.now] if present.passed_over_fresh else []), *moments]:
            if present.at(moment).run():
                return Found(grade=Grade.PROTECTED, until=moment)
        return Found()


def present_search(trial: Trial, preemptor: Preemptor) -> RuleSearch:
    """The search as of the present moment; the request is not charged yet."""
    state, workload = trial.state, preemptor.workload
    scope = RuleScope(trial, workload, trial.tree.short(workload.queue, preemptor.request))
    return RuleSearch(trial, preemptor, scope, state.time, state.superiors(workload.name), state.cause)


@dataclass(frozen=True, slots=True)
class _Helper:
    """A workload that some rule may let go: the first moment at which it may, and the moments ahead at which time may change that."""

    workload: Workload
    free: int
    turns: list[int]


def _helpers(present: RuleSearch) -> Iterator[_Helper]:
    """Everybody who may go by some rule, now or later, as far as anything but shares says: these change as others go."""
    values = GuardValues(present.trial.policy, present.now, present.workload)
    for rule, queues in present.scope.reach():
        for queue in queues:
            guards = guards_on(present, rule, queue)
            for each in present.scope.helpers(queue):
                values.victim, values.now = each, present.now
                if not all(values.holds(guard, wanted, (Type.SHARE, Type.DURATION)) for guard, wanted in guards):
                    continue
                turns = values.turning_points(guard for guard, _ in guards)
                for moment in (present.now, *turns):
                    values.now = moment
                    if all(values.holds(guard, wanted, (Type.SHARE,)) for guard, wanted in guards):
                        yield _Helper(each, moment, turns)
                        break


def guards_on(present: RuleSearch, rule: PreemptRule, queue: int) -> list[tuple[Expr | None, bool]]:
    """The guards that decide whether workloads of a queue may go by a rule, each with what it has to be for that."""
    return [(rule.guard, True), *((protect.guard, False) for protect in present.scope.protecting(queue))]


def _earliest(present: RuleSearch, helpers: list[_Helper]) -> int | None:
    """The first moment by which enough may have become free, now or later; None: never."""
    gone: list[Workload] = []
    enough: int | None = None
    for helper in sorted(helpers, key=lambda helper: (helper.free, helper.workload.number)):
        if not present.trial.is_out(helper.workload):
            present.trial.take(helper.workload)
            gone.append(helper.workload)
        if present.fits():
            enough = helper.free
            break
    for workload in gone:
        present.trial.give_back(workload)
    return enough


def protected_victims(present: RuleSearch, until: int) -> tuple[list[ProtectedVictim], int]:
    """The victims of the search at a later moment who may not go yet, each with when it may and what keeps it, and the last one's rule."""
    found = []
    with present.trial.charged(present.workload.queue, present.preemptor.request):
        later = present.at(until).run()
        for each in later:
            rule, workload = present.graph.preempt[each.rule], present.trial.state.workloads[each.workload]
            if present.keeper(rule, workload) is not None:
                present.values.victim = workload
                points = present.values.turning_points(guard for guard, _ in guards_on(present, rule, workload.queue))
                freed = [point for point in points if point <= until and present.at(point).keeper(rule, workload) is None]
                starts = [point for point in freed if present.at(point - 1).keeper(rule, workload) is not None]
                if not starts:  # what keeps it is a share, which changes as the others go
                    continue
                last = present.at(starts[-1] - 1).keeper(rule, workload)
                protect = present.graph.protect.index(last) if isinstance(last, ProtectRule) else -1
                found.append(ProtectedVictim(each.workload, starts[-1], protect))
    return found, later[-1].rule if later else -1

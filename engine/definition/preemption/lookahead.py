"""Looking ahead: the first moment at which time alone will have made room, should nothing else happen.

Time changes a guard only where a duration reaches a constant. So every moment at which that happens for somebody who could go is tried, the
earliest first, by the search that is made for the present. Moments by which even all who may go by then would not be enough are left out,
the present one too (docs/decisions/0039).
"""

from collections.abc import Iterator

from ...guard import Expr, Type
from ...outcome.nomination import Grade
from ...policy_graph import PreemptRule
from ...workload import Workload
from ..state.trial import Trial
from .rules import Found, Preemptor, RuleSearch


def search(trial: Trial, preemptor: Preemptor) -> Found:
    """Victims by the policy's rules without whom a request fits; or the first moment at which time will have freed enough of them.

    Where somebody was passed over only because this fact admitted it, that is the present moment, for the next fact.
    """
    present = RuleSearch.present(trial, preemptor)
    with trial.charged(preemptor.workload.queue, preemptor.request):
        for moment in _moments(present):
            victims = present.run() if moment == present.now else []
            if victims:
                return Found(victims, Grade.PREEMPT)
            if present.at(moment).run():
                return Found(grade=Grade.PROTECTED, until=moment)
    return Found()


def _moments(present: RuleSearch) -> list[int]:
    """The moments to try, ascending: the present one and those at which time may change who goes, from the first by which all may fit."""
    turns, free = {present.now}, list[tuple[int, Workload]]()
    for rule, queue in _reach(present):
        guards = guards_on(present, rule, queue)
        for each in present.candidates(queue):
            ahead = turning_points(present, rule, each)
            turns.update(ahead)
            free += [(moment, each) for moment in (present.now, *ahead) if _may_go(present.at(moment), guards, each)][:1]
    enough = _enough(present, sorted(free, key=lambda one: (one[0], one[1].number)))
    return [] if enough is None else sorted(moment for moment in turns if moment >= enough)


def _reach(present: RuleSearch) -> Iterator[tuple[PreemptRule, int]]:
    """Where each rule may find victims in a search, queue by queue: what goes by one rule may be what triggers the next."""
    something_goes = False
    for rule in present.graph.preempt:
        owner = present.queue if something_goes else present.owner(rule)
        for queue in present.in_range(rule, owner):
            if present.reaches(rule, queue):
                something_goes = True
                yield rule, queue


def _may_go(search: RuleSearch, guards: list[tuple[Expr | None, bool]], each: Workload) -> bool:
    """Whether a workload may go at the moment of a search, as far as anything but shares says: these change as others go."""
    return all(search.values.holds(guard, each, wanted, (Type.SHARE,)) for guard, wanted in guards)


def _enough(present: RuleSearch, free: list[tuple[int, Workload]]) -> int | None:
    """The first moment by which enough would be free, if all went as soon as they may; None: never. Only quota counts: with more room pods
    may be placed otherwise, so that places are no bound."""
    with present.trial.undone():
        for moment, each in free:
            if not present.trial.is_out(each):
                present.trial.take(each)
            if present.fits_by_quota():
                return moment
    return None


def guards_on(present: RuleSearch, rule: PreemptRule, queue: int) -> list[tuple[Expr | None, bool]]:
    """The guards that decide whether workloads of a queue may go by a rule, each with what it has to be for that."""
    return [(rule.guard, True), *((protect.guard, False) for protect in present.protecting(queue))]


def turning_points(present: RuleSearch, rule: PreemptRule, each: Workload) -> list[int]:
    """The moments ahead at which time alone may change whether a rule lets a workload go."""
    return present.values.turning_points((guard for guard, _ in guards_on(present, rule, each.queue)), each)

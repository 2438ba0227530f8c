"""How a course may go on where it failed: by a difference, with what Kueue did taken as it is."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ......engine.events import WorkloadAdmitted, WorkloadEvicted
from ..decision_difference import KueueDifference
from .course import Course
from .course_plan import CourseFailure, CoursePlan, EarlyDecision, RunCycles, SetAside, TakeAdmission, TakePreemption
from .difference_judge import DifferenceJudge

MOST_SET_ASIDE = 4
"""Of so many decisions that gpol made early, the last ones, it is tried that Kueue passed over them."""

Correction = tuple[CoursePlan, KueueDifference | None]
"""A plan that goes on, and the difference that it takes; None where it takes none."""


def usual_correction(
    plan: CoursePlan, course: Course, failure: CourseFailure, names: Callable[[str], str], left_out: int, taking_first: bool
) -> Correction:
    """The one that fits most often: what Kueue did is taken before gpol's cycles or, not `taking_first`, what gpol did is set aside."""
    judge = DifferenceJudge(course.script, names, left_out, course, failure)
    ending = next((odd for odd in failure.odd if odd.ends), None)
    if ending is not None:
        return replace(plan, passed=plan.passed | {ending.subject}), None
    for odd in failure.odd:
        if isinstance(odd.decision, WorkloadAdmitted) and odd.shown is not None and judge.is_now(odd.shown):
            found = judge.other_flavors(odd.decision, odd.shown)
            return plan.with_action(failure.serial, TakeAdmission(odd.shown, found)), found
        steps = judge.preemption(odd.subject) if isinstance(odd.decision, WorkloadEvicted) else ()
        if steps:
            found = judge.other_victims(odd.subject, steps)
            return plan.with_action(failure.serial, TakePreemption(steps, odd.subject, found)), found
        if isinstance(odd.decision, WorkloadEvicted) and odd.shown is not None and odd.shown is failure.step:
            found = judge.other_preemptor(odd.decision, odd.shown)
            return replace(plan, accepted={**plan.accepted, (odd.decision.workload, odd.shown.serial): found}), found
    step, is_taken = failure.step, (taking_first and not failure.is_met) or not failure.odd
    if step is not None and failure.missed == "admission" and is_taken:
        found = judge.admitted(step)
        return plan.with_action(failure.serial, TakeAdmission(step, found)), found
    if step is not None and failure.missed == "eviction" and is_taken:
        steps = judge.preemption(judge.preemptor) or (step,)
        found = judge.preempted(steps)
        return plan.with_action(failure.serial, TakePreemption(steps, "", found)), found
    found = judge.passed_over(failure.odd[0])
    return plan.with_action(failure.serial, SetAside(failure.odd[0].subject, found)), found


def all_corrections(
    plan: CoursePlan, course: Course, failure: CourseFailure, names: Callable[[str], str], left_out: int
) -> Iterator[Correction]:
    """All that are tried where one difference has to be enough, the usual ones first."""
    for taking_first in (True, False):
        yield usual_correction(plan, course, failure, names, left_out, taking_first)
    judge = DifferenceJudge(course.script, names, left_out, course, failure)
    for odd in failure.odd:  # the rest of the cycle is as gpol has it
        if isinstance(odd.decision, WorkloadAdmitted) and odd.shown is not None and judge.is_now(odd.shown):
            found = judge.other_flavors(odd.decision, odd.shown)
            yield replace(plan, regiven={**plan.regiven, (odd.decision.workload, odd.shown.serial): found}), found
    if failure.missed is not None and not failure.odd:  # the rest of the cycle was decided without what Kueue did
        after_cycles = plan.with_action(failure.serial, RunCycles(None))
        yield usual_correction(after_cycles, course, failure, names, left_out, taking_first=True)
    yield from _set_aside(plan, course, failure, names, left_out)


def _set_aside(
    plan: CoursePlan, course: Course, failure: CourseFailure, names: Callable[[str], str], left_out: int
) -> Iterator[Correction]:
    """Whom Kueue passed over at first: gpol's decision about it is shown later, and another one took its place meanwhile."""
    later = [early for early in course.early.values() if _is_shown_after(early, failure)]
    subjects = dict.fromkeys(early.decided.subject for early in reversed(later))
    for subject in list(subjects)[:MOST_SET_ASIDE]:
        decided = [early for early in later if early.decided.subject == subject]
        odd = tuple(early.decided for early in decided)
        judge = DifferenceJudge(course.script, names, left_out, course, failure._replace(odd=odd))
        found = judge.passed_over(odd[0])
        yield plan.with_action(decided[0].serial, SetAside(subject, found)), found


def _is_shown_after(early: EarlyDecision, failure: CourseFailure) -> bool:
    return early.decided.shown is not None and early.decided.shown.serial > failure.serial

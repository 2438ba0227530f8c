"""Finds how Kueue came to what it did: a course without a difference or, if there is none, one with as few as can be.

Which of the watched changes Kueue knew at a decision, nobody tells: a change may have reached it late. So where a course fails, cycles are
tried at the moments before, the latest first, and then after each change. Only when none of these ways leads to what Kueue did is it a
difference. Then what Kueue did is taken as it is, and the course goes on from there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from ......engine.cores import Core
from ......engine.events import WorkloadAdmitted, WorkloadEvicted
from ..decision_difference import KueueDifference
from ..watch.script import AT_END, AT_START, Script
from .course import Course
from .course_plan import CourseFailure, CoursePlan, RunCycles, SetAside, TakeAdmission, TakePreemption
from .difference_judge import DifferenceJudge

MOST_MOMENTS = 8
"""At so many moments before a decision, cycles are tried."""

MOST_TRIES = 60
"""So many courses are tried before something is called a difference."""

MOST_DIFFERENCES = 20
"""With so many differences in one stretch, gpol and Kueue are too far apart: the rest of it is taken as it is, unchecked."""


@dataclass(frozen=True, slots=True)
class FoundCourse:
    """A course that goes through; `differences` are those that it takes. `unchecked`: some of what Kueue did was taken as it is."""

    course: Course
    differences: tuple[KueueDifference, ...] = ()
    unchecked: bool = False


class TriedPlan(NamedTuple):
    """A plan, the course that follows it, and where that has failed; None if it did not."""

    plan: CoursePlan
    course: Course
    failure: CourseFailure | None


@dataclass(slots=True)
class Explainer:
    """Explains one script from one state. `expected` and `names` as a course has them; `left_out` as a difference has it."""

    base: Core
    script: Script
    expected: Mapping[str, int]
    names: Callable[[str], str]
    left_out: int = 0
    tried: int = field(default=0)

    def explain(self) -> FoundCourse:
        """The course with the fewest differences. A decision of Kueue that gpol did not make is taken first, or what gpol did instead."""
        first = self._explain(taking_first=True)
        if len(first.differences) <= 1:
            return first
        second = self._explain(taking_first=False)
        return second if len(second.differences) < len(first.differences) else first

    def _explain(self, taking_first: bool) -> FoundCourse:
        plan, differences = CoursePlan(), list[KueueDifference]()
        while True:
            tried = self._farthest(self._try(plan))
            plan, course, failure = tried
            if failure is None:
                return FoundCourse(course, tuple(differences), plan.unchecked <= AT_END)
            if failure.at_action:
                plan = plan.without_cycles(failure.serial)
            elif failure.is_late:
                plan = replace(plan, late=plan.late | {failure.serial})
            elif len(differences) >= MOST_DIFFERENCES:
                plan = replace(plan, unchecked=failure.serial)
            else:
                plan, found = self._corrected(plan, course, failure, taking_first)
                differences += [found] if found is not None else []

    def _farthest(self, first: TriedPlan) -> TriedPlan:
        """The plan that leads through all steps or, if none does, as far as can be; found by best-first search."""
        best, left, number = first, MOST_TRIES, count()
        waiting = [(0, next(number), first)]
        while waiting and left > 0 and best.failure is not None:
            _, _, tried = heappop(waiting)
            if tried.failure is None or tried.failure.at_action:
                break
            for plan in self._other_moments(tried):
                left -= 1
                other = self._try(plan)
                if other.failure is None:
                    return other
                if other.failure.serial > tried.failure.serial and not other.failure.at_action:
                    heappush(waiting, (-other.failure.serial, next(number), other))
                    best = other if other.failure.serial > best.failure.serial else best
                if left <= 0:
                    break
        return best

    def _try(self, plan: CoursePlan) -> TriedPlan:
        self.tried += 1
        course = Course(self.base.copy(), self.script, self.expected, self.names, plan)
        return TriedPlan(plan, course, course.run())

    def _other_moments(self, tried: TriedPlan) -> Iterator[CoursePlan]:
        """Plans with cycles at one more moment: where some run already, or right before one of the last changes; or after each change.

        They run until gpol decides what it did not in the plan that was tried, or until it rests.
        """
        plan, course, failure = tried
        assert failure is not None
        until = [RunCycles(failure.step.seen)] if failure.step is not None and failure.missed is not None else []
        earlier = plan.has_cycles()
        changes = [serial for serial in course.fact_steps if serial <= failure.serial]
        before = [self.script.previous(serial) for serial in reversed(changes)]
        moments = list(dict.fromkeys([*reversed(earlier), *before]))[: MOST_MOMENTS + len(earlier)]
        for run in (*until, RunCycles(None)):
            for serial in moments:
                yield plan.with_action(serial, run)
        if len(changes) > 1:
            eager = plan
            for serial in sorted({AT_START, *changes}):
                eager = eager.with_action(serial, RunCycles(None))
            yield eager

    # --- differences ------------------------------------------------------------------------------------------------

    def _corrected(
        self, plan: CoursePlan, course: Course, failure: CourseFailure, taking_first: bool
    ) -> tuple[CoursePlan, KueueDifference | None]:
        """The plan that goes on with what Kueue did, and the difference; None where it is none."""
        judge = DifferenceJudge(self.script, self.names, self.left_out, course, failure)
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

"""Finds how Kueue came to what it did: a course without a difference or, if there is none, one with as few as can be.

Which of the watched changes Kueue knew at a decision, nobody tells: a change may have reached it late. So where a course fails, cycles are
tried at the moments before, the latest first, and then after each change. And when there is room again, Kueue looks at those whom it has
refused only after a second; whoever comes meanwhile goes before them. Only when none of these ways leads to what Kueue did is it a
difference. Then what Kueue did is taken as it is, and the course goes on from there. A search that is to end is over after the course that
it tries just then; what it has not explained by then is taken as it is, unchecked.

After a gap nobody knows all that Kueue has decided: who was evicted and has got quota again shows only the latter. So nothing is a
difference from there on. What gpol cannot explain is taken as it is, unchecked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from ......engine.cores import Core
from ......engine.units import SECOND
from ..decision_difference import KueueDifference
from ..watch.script import AT_END, AT_START, Script
from .corrections import Correction, all_corrections, usual_correction
from .course import Course
from .course_plan import CourseFailure, CoursePlan, RunCycles, SetAside, Sleep, TakeBack
from .outside_facts import SHADOW

MOST_MOMENTS = 8
"""At so many moments before a decision, cycles are tried."""

MOST_TRIES = 60
"""So many plans are tried before something is called a difference, each with more and more asleep."""

MOST_SEARCHED = 3
"""Of so many corrections, those that lead the farthest, other moments are tried for one difference."""

MOST_TAKEN_BACK = 4
"""Of so many whom Kueue has passed over before it is tried, each alone, whether they keep others waiting."""

MOST_DIFFERENCES = 20
"""With so many differences in one stretch, gpol and Kueue are too far apart: the rest of it is taken as it is, unchecked."""

MOST_ASLEEP = 8
"""So often more are put to sleep, as Kueue looks at those whom it has refused a second later. The first times those for whom gpol acts."""

ONE_BY_ONE = 3
"""After so many times all in their queues are put to sleep who were refused: where many wait, one comes after the other."""


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
    """Explains one script from one state. `expected` and `names` as a course has them; `left_out` as a difference has it.

    `requeue` is how long after there is room again Kueue looks at those whom it has refused, in microseconds, and `room` when there was
    room again last before the script. `goes_on` says whether the search may take longer.
    """

    base: Core
    script: Script
    expected: Mapping[str, int]
    names: Callable[[str], str]
    left_out: int = 0
    requeue: int = 0
    room: int | None = None
    goes_on: Callable[[], bool] = lambda: True
    tried: int = field(default=0)

    def explain(self) -> FoundCourse:
        """The course with the fewest differences. A decision of Kueue that gpol did not make is taken first, or what gpol did instead."""
        best = self._explain(CoursePlan(), taking_first=True)
        for plan in self._with_whom_was_set_aside() if best.differences else ():
            best = self._explain(plan, taking_first=True, best=best) if self.goes_on() else best
        if len(best.differences) > 1 and self.goes_on():
            best = self._explain(CoursePlan(), taking_first=False, best=best)
        if len(best.differences) > 1 and self.goes_on():
            best = self._with_one() or best
        return best if self.goes_on() else replace(best, unchecked=True)

    def at_rest(self) -> Course:
        """A course without steps. Whoever gpol would act for is set aside and not told: Kueue looks at nobody until something changes."""
        plan = CoursePlan()
        for _ in range(MOST_DIFFERENCES):
            tried = self._try(plan)
            if tried.failure is None:
                return tried.course
            for odd in tried.failure.odd:
                plan = plan.with_action(AT_END, SetAside(odd.subject, None))
        return self._try(replace(plan, unchecked=AT_END)).course

    def _with_whom_was_set_aside(self) -> list[CoursePlan]:
        """Plans in which somebody takes part again whom Kueue has passed over, as that was told: each alone, and all of them."""
        plans, together = [], CoursePlan()
        for known in self.base.view.workloads():
            if known.held_by_operator == SHADOW:
                plans.append(CoursePlan().with_action(AT_START, TakeBack(known.name)))
                together = together.with_action(AT_START, TakeBack(known.name))
        return [*plans[:MOST_TAKEN_BACK], together] if len(plans) > 1 else plans

    def _explain(self, plan: CoursePlan, taking_first: bool, best: FoundCourse | None = None) -> FoundCourse:
        """A course from difference to difference; `best` where it has no fewer of them."""
        differences = list[KueueDifference]()
        while True:
            tried = self._farthest(self._try(plan))
            plan, course, failure = tried
            if failure is None:
                return FoundCourse(course, tuple(differences), plan.unchecked <= AT_END)
            if not self.goes_on():
                return best if best is not None else self._rest_unchecked(plan, failure.serial, differences)
            if failure.at_action:
                plan = plan.without_cycles(failure.serial)
            elif failure.is_late:
                plan = replace(plan, late=plan.late | {failure.serial})
            elif len(differences) >= MOST_DIFFERENCES or (self.script.gap is not None and failure.serial >= self.script.gap):
                plan = replace(plan, unchecked=failure.serial)
            else:
                plan, found = usual_correction(plan, course, failure, self.names, self.left_out, taking_first)
                differences += [found] if found is not None else []
                if best is not None and len(differences) >= len(best.differences):
                    return best
            if plan == tried.plan:  # there is nothing else to try
                return self._rest_unchecked(plan, failure.serial, differences)

    def _rest_unchecked(self, plan: CoursePlan, serial: int, differences: Sequence[KueueDifference]) -> FoundCourse:
        """A course in which whatever Kueue did from a step on is taken as it is; if that fails, from the start, without a difference."""
        before = {at: actions for at, actions in plan.actions.items() if at < serial}
        tried = self._try(replace(plan, actions=before, unchecked=serial))
        if tried.failure is None:
            return FoundCourse(tried.course, tuple(differences), unchecked=True)
        return FoundCourse(self._try(CoursePlan(unchecked=AT_START)).course, unchecked=True)

    def _with_one(self) -> FoundCourse | None:
        """A course with one difference, if one of all corrections of the first place that fails leads through; None if none does."""
        near = self._settled(CoursePlan())
        corrections = list[Correction]()
        for tried in (near, self._farthest(near)):
            if tried.failure is not None and not tried.failure.at_action and not tried.failure.is_late:
                corrections += all_corrections(tried.plan, tried.course, tried.failure, self.names, self.left_out)
        corrected = list[tuple[TriedPlan, KueueDifference]]()
        for place, (plan, found) in enumerate(corrections):
            if not self.goes_on():
                return None
            if found is None or (plan, found) in corrections[:place]:
                continue
            tried = self._settled(plan)
            if tried.failure is None:
                return FoundCourse(tried.course, (found,))
            corrected.append((tried, found))
        corrected.sort(key=_how_near)
        for tried, found in corrected[:MOST_SEARCHED]:
            farthest = self._farthest(tried)
            if farthest.failure is None:
                return FoundCourse(farthest.course, (found,))
        return None

    def _settled(self, plan: CoursePlan) -> TriedPlan:
        """A plan tried, without those of its added cycles that decide what Kueue did not."""
        tried = self._try(plan)
        while tried.failure is not None and tried.failure.at_action and self.goes_on():
            tried = self._try(tried.plan.without_cycles(tried.failure.serial))
        return tried

    def _farthest(self, first: TriedPlan) -> TriedPlan:
        """The plan that leads through all steps or, if none does, as far as can be; found by best-first search."""
        best = first = self._with_sleepers(first)
        left, number = MOST_TRIES, count()
        waiting = [(0, next(number), first)]
        while waiting and left > 0 and best.failure is not None and self.goes_on():
            _, _, tried = heappop(waiting)
            if tried.failure is None or tried.failure.at_action:
                break
            for plan in self._other_moments(tried):
                left -= 1
                other = self._with_sleepers(self._try(plan))
                if other.failure is None:
                    return other
                if other.failure.serial > tried.failure.serial and not other.failure.at_action:
                    heappush(waiting, (-other.failure.serial, next(number), other))
                    best = other if other.failure.serial > best.failure.serial else best
                if left <= 0 or not self.goes_on():
                    break
        return best

    def _with_sleepers(self, tried: TriedPlan) -> TriedPlan:
        """The plan, with those asleep for whom gpol would act though Kueue had refused them: as far as that leads."""
        best = tried
        for number in range(MOST_ASLEEP):
            plan = self._let_sleep(tried, with_queues=number >= ONE_BY_ONE)
            if plan == tried.plan or not self.goes_on():
                break
            tried = self._try(plan)
            if tried.failure is None:
                return tried
            if best.failure is not None and tried.failure.serial > best.failure.serial and not tried.failure.at_action:
                best = tried
        return best

    def _let_sleep(self, tried: TriedPlan, with_queues: bool) -> CoursePlan:
        """The plan with more asleep where it failed: those whom Kueue has refused, while it decided about one that it had not refused."""
        plan, course, failure = tried
        step = failure.step if failure is not None else None
        if not self.requeue or failure is None or failure.missed is None or step is None or step.seen is None or failure.at_action:
            return plan
        seen, serial = step.seen, failure.serial
        decided = seen.since if failure.missed == "admission" and seen.since is not None else step.time
        subject = seen.key if failure.missed == "admission" else self.names(seen.words.preemptor)
        if self._was_refused(subject, serial) or not self._had_room(course, decided):
            return plan
        later = [early for early in course.early.values() if early.decided.shown is not None and early.decided.shown.serial > serial]
        places = {early.decided.subject: early.serial for early in later} | {odd.subject: serial for odd in failure.odd}
        if with_queues:
            queues = {each.queue: places[each.name] for each in course.core.view.workloads() if each.name in places}
            others = [each for each in self.base.view.workloads() if each.admitted is None and each.queue in queues]
            places = {each.name: queues[each.queue] for each in others if each.name != subject} | places
        for name in places:
            sleep = Sleep(name, serial)
            if self._was_refused(name, serial) and sleep not in plan.actions.get(places[name], ()):
                plan = plan.with_action(places[name], sleep)
        return plan

    def _had_room(self, course: Course, decided: int) -> bool:
        """Whether something changed shortly before a decision that may have made room for those who were refused."""
        since = decided - self.requeue - SECOND  # times are whole seconds
        before = [self.room] if self.room is not None else []
        return any(since <= time <= decided for time in (*before, *course.record.made_room))

    def _was_refused(self, name: str, serial: int) -> bool:
        """Whether Kueue had said before a step that there is no room for a workload."""
        before = self.script.latest(name, self.script.previous(serial))
        return before is not None and before.was_refused

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


def _how_near(corrected: tuple[TriedPlan, KueueDifference]) -> int:
    """For sorting: what leads farther comes first."""
    failure = corrected[0].failure
    return -failure.serial if failure is not None else -AT_END

"""Makes a difference of the place where a course failed: what Kueue did there, and what gpol would have done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ......engine.events import WorkloadAdmitted, WorkloadEvicted
from ......engine.explain.pending import standing
from .....live.wording import told, why_it_waits
from ..decision_difference import DifferenceKind, GpolSide, KueueDifference, KueueSide, decision_data, flavors_of
from ..watch.script import Script, ScriptStep
from ..watch.seen_workload import SeenWorkload
from .course import Course
from .course_plan import CourseFailure, OddDecision


@dataclass(frozen=True, slots=True)
class DifferenceJudge:
    """Judges one failure of a course. `names` gives a workload's name by its uid, `left_out` is as a difference has it."""

    script: Script
    names: Callable[[str], str]
    left_out: int
    course: Course
    failure: CourseFailure

    @property
    def preemptor(self) -> str:
        """For whom Kueue evicts a workload at the step that failed; empty where it evicts none, or does not say for whom."""
        seen = self.failure.step.seen if self.failure.step is not None else None
        return self.names(seen.words.preemptor) if seen is not None and self.failure.missed == "eviction" else ""

    def is_now(self, step: ScriptStep) -> bool:
        """Whether a step may show what Kueue decided when gpol decided otherwise: it is no later, by the time that it names."""
        return step.serial >= self.failure.serial and step.time <= self._time

    def preemption(self, preemptor: str) -> tuple[ScriptStep, ...]:
        """The steps at which Kueue evicts others for a workload now: they are one decision."""
        known = self.course.core.view.workload(preemptor) if preemptor else None
        found: dict[str, ScriptStep] = {}
        for step in self.script.steps:
            seen = step.seen
            if known is None or seen is None or step.only_outside or not self.is_now(step):
                continue
            if seen.was_preempted and seen.words.preemptor == known.fact.uid:
                found.setdefault(seen.key, step)
        return tuple(found.values())

    @property
    def _time(self) -> int:
        step = self.failure.step
        return max(step.time, self.course.core.time) if step is not None else self.course.core.time

    # --- Kueue did what gpol would not ------------------------------------------------------------------------------

    def admitted(self, step: ScriptStep) -> KueueDifference:
        """Kueue alone has admitted a workload."""
        seen = _seen(step)
        return self._difference("admitted", seen.key, seen.uid, step, _admitted(seen), self._waits(seen.key))

    def other_flavors(self, decision: WorkloadAdmitted, step: ScriptStep) -> KueueDifference:
        """Both admit a workload, on different flavors."""
        seen = _seen(step)
        return self._difference("other flavors", seen.key, seen.uid, step, _admitted(seen), _admits(decision))

    def preempted(self, steps: Sequence[ScriptStep]) -> KueueDifference:
        """Kueue alone preempts for a workload, or for somebody whom it does not name."""
        workload = self.preemptor or _seen(steps[0]).key
        uid = _seen(steps[0]).words.preemptor if self.preemptor else _seen(steps[0]).uid
        admitted = next((odd.decision for odd in self.failure.odd if odd.decision.workload == self.preemptor), None)
        side = _admits(admitted) if isinstance(admitted, WorkloadAdmitted) else self._waits(workload)
        return self._difference("preempted", workload, uid, steps[0], self._preempted(steps), side)

    def other_victims(self, preemptor: str, steps: Sequence[ScriptStep]) -> KueueDifference:
        """Both preempt for a workload, and take different victims."""
        evicted = [decision for decision in self.course.last_cycle if isinstance(decision, WorkloadEvicted)]
        own = [decision for decision in evicted if decision.beneficiary == preemptor]
        uid = _seen(steps[0]).words.preemptor
        return self._difference("other victims", preemptor, uid, steps[0], self._preempted(steps), _preempts(own))

    def other_preemptor(self, decision: WorkloadEvicted, step: ScriptStep) -> KueueDifference:
        """Both evict a workload, for different ones."""
        seen = _seen(step)
        return self._difference("other preemptor", seen.key, seen.uid, step, self._preempted([step]), _preempts([decision]))

    def _preempted(self, steps: Sequence[ScriptStep]) -> KueueSide:
        words = _seen(steps[0]).words
        victims = tuple(_seen(step).key for step in steps)
        reason = words.preempted or words.evicted
        return KueueSide("preempted", reason, words.evicted_message, victims=victims, preemptor=self.names(words.preemptor))

    # --- gpol would have done what Kueue did not --------------------------------------------------------------------

    def passed_over(self, odd: OddDecision) -> KueueDifference:
        """gpol has decided something that Kueue has not."""
        subject = self.course.core.view.workload(odd.subject)
        uid = subject.fact.uid if subject is not None else ""
        last = self.script.latest(odd.subject, self.failure.serial)
        did = KueueSide("nothing", last.words.waits, last.words.waits_message) if last is not None else KueueSide("nothing")
        if isinstance(odd.decision, WorkloadAdmitted):
            return self._difference("passed over", odd.subject, uid, self.failure.step, did, _admits(odd.decision))
        evicted = [each.decision for each in self.failure.odd if isinstance(each.decision, WorkloadEvicted) and each.subject == odd.subject]
        return self._difference("not preempted", odd.subject, uid, self.failure.step, did, _preempts(evicted))

    # --- parts ------------------------------------------------------------------------------------------------------

    def _waits(self, workload: str) -> GpolSide:
        """Why gpol lets a workload wait."""
        found = standing(self.course.core, workload)
        if found is None:
            return GpolSide("wait", "it does not know of it", {})
        text = "it runs already" if found.state == "running" else why_it_waits(found)
        return GpolSide("wait", text, found.model_dump(mode="json", exclude_defaults=True))

    def _difference(
        self, kind: DifferenceKind, workload: str, uid: str, step: ScriptStep | None, kueue: KueueSide, gpol: GpolSide
    ) -> KueueDifference:
        instead = tuple(odd.decision for odd in self.failure.odd)
        odd = {decision.workload for decision in instead}
        early = tuple(sorted(name for name, serial in self.course.expected.items() if serial > self.failure.serial and name not in odd))
        at = step.time if step is not None else self.course.core.time
        side = replace(gpol, instead=instead, early=early)
        return KueueDifference(kind, workload, uid, at, kueue, side, self.left_out)


def _seen(step: ScriptStep) -> SeenWorkload:
    assert step.seen is not None
    return step.seen


def _admitted(seen: SeenWorkload) -> KueueSide:
    return KueueSide("admitted", message=seen.words.reserved_message, queue=seen.queue, flavors=flavors_of(seen.placements))


def _admits(decision: WorkloadAdmitted) -> GpolSide:
    return GpolSide("admit", told(decision), decision_data(decision), flavors_of(decision.assignments))


def _preempts(decisions: Sequence[WorkloadEvicted]) -> GpolSide:
    victims = tuple(decision.workload for decision in decisions)
    return GpolSide("preempt", told(decisions[0]), decision_data(decisions[0]), victims=victims)

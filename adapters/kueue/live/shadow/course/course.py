"""One way in which Kueue may have come to what it did: what was watched, step by step, and gpol's cycles between.

    a step tells what is no doing of Kueue's scheduler     its facts are played
    a step shows a decision that gpol has not made yet     cycles run until gpol makes it
    the last step, and Kueue has come to rest              cycles run until gpol has come to rest

Cycles may decide more than the step that they run for. All of it has to be seen in a later step. A course fails as soon as a cycle decides
what Kueue is not seen to do, or gpol rests without having decided what Kueue did.
"""

from collections.abc import Callable, Mapping
from functools import partial

from ......engine.cores import Core
from ......engine.errors import FactError
from ......engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadReplaced
from ......engine.facts import Fact, TimeAdvanced, WorkloadSubmitted
from ......engine.units import SECOND
from ......engine.workload import Workload
from ....decide.kueue_reasons import REASONS
from ..decision_difference import KueueDifference
from ..watch.script import AT_END, AT_START, Script, ScriptStep
from ..watch.seen_workload import SeenWorkload, core_standing, holds_the_same
from .course_plan import (
    NO_PLAN,
    CourseFailure,
    CoursePlan,
    EarlyDecision,
    OddDecision,
    RunCycles,
    SetAside,
    Sleep,
    TakeAdmission,
    TakeBack,
    TakePreemption,
)
from .course_record import CourseRecord
from .outside_facts import MissedDecision, is_met, missed_decision, outside_facts, stopped

MOST_CYCLES = 2_000
"""After so many cycles in a row it is given up that gpol comes to rest: cycles end soon, unless each decides something that Kueue did."""

MOST_LAG = 20 * SECOND
"""Kueue knows every change after so long: no course counts in which it decides without an older one."""

_MOST_ROUNDS = 8
"""A step about a workload brings facts at most so many times."""

_NOTE, _GOES_ON = "it ends before Kueue looks at it", "Kueue preempts for it"
_UNSEEN = "it waits since before gpol has watched"


class Course:
    """A course over a core, which is its own from then on. `expected` are the steps that show what gpol has decided already, by workload.

    `names` gives a workload's name by its uid. `record` has what was played. `explained` counts decisions of Kueue that gpol made too;
    `early` are those among them that a later step shows, by workload. `fact_steps` are the steps at which facts were played, with their
    times, and `last_cycle` is what the last cycle decided.
    """

    def __init__(
        self, core: Core, script: Script, expected: Mapping[str, int], names: Callable[[str], str], plan: CoursePlan = NO_PLAN
    ) -> None:
        self.core, self.script, self.plan = core, script, plan
        self.record = CourseRecord(core)
        self.expected = dict(expected)
        self.early: dict[str, EarlyDecision] = {}
        self.fact_steps: dict[int, int] = {}
        self.problems: dict[str, str] = {}
        self.explained = 0
        self.last_cycle: list[AnyDecision] = []
        self._names = names
        self._in_added_cycles = False
        self._preempting = ""
        self._spared = False
        self._regiven: list[ScriptStep] = []
        self._replaced: set[str] = set()

    def run(self, until: int = AT_END) -> CourseFailure | None:
        """Take the steps up to a serial number, including it; the cycles behind the last one are at `AT_END`. None: all is explained."""
        for name in sorted(self.plan.passed):
            self.record.set_aside(name, _NOTE)
        failure = self._act(AT_START, None)
        for step in self.script.steps:
            if failure is not None or step.serial > until:
                return failure
            failure = self._take(step)
            self.record.wake(step.serial)
        if failure is not None or until < AT_END:
            return failure
        return self._finish()

    def _finish(self) -> CourseFailure | None:
        """What is left once all steps were taken."""
        if not self.script.is_quiet:
            return None
        for name in sorted(self._replaced):  # the slice that took its place has never got quota
            self.record.end(name)
        failure = self._act(AT_END, None)
        if failure is None and self.plan.unchecked > AT_END and (odd := self._cycles(AT_END, self.core.time, lambda: False)):
            failure = CourseFailure(AT_END, None, None, odd)
        for name in sorted(self.plan.passed):
            self.record.take_back(name, "it goes on")
        return failure

    # --- a step -----------------------------------------------------------------------------------------------------

    def _take(self, step: ScriptStep) -> CourseFailure | None:
        at, seen = max(self.core.time, step.time), step.seen
        if step.policy is not None:
            self._activate(step, at)
        for fact in step.facts:
            self._try(fact.model_copy(update={"time": at}), step)
        if seen is None:
            return self._act(step.serial, step)
        if self.expected.get(seen.key) == step.serial:
            del self.expected[seen.key]
            early = self.early.pop(seen.key, None)
            if early is not None and self._knew_too_little(early, step, seen):
                return CourseFailure(early.serial, step, None, (), at_action=True)
        is_early = seen.key in self.expected  # gpol has decided already what a later step shows
        if not (is_early and self.core.view.workload(seen.key) is None):
            self._learn(step, seen, at, step.only_outside or is_early)
        failure = self._act(step.serial, step)
        if failure is not None or step.only_outside or seen.key in self.expected:
            return failure
        for _ in range(_MOST_ROUNDS):
            missed = missed_decision(seen, self.core.view.workload(seen.key))
            if missed is None:
                return None
            failure = self._meet(step, seen, missed)
            if failure is not None:
                return failure
            self._learn(step, seen, at, False)
        return None

    def _knew_too_little(self, early: EarlyDecision, step: ScriptStep, seen: SeenWorkload) -> bool:
        """Whether gpol has decided in added cycles without a fact that Kueue must have known when it did so."""
        decided = seen.since if seen.standing == "holds" and seen.since is not None else step.time
        changes = (time for serial, time in self.fact_steps.items() if serial > early.serial)
        return early.in_added_cycles and not step.after_gap and any(time <= decided - MOST_LAG for time in changes)

    def _learn(self, step: ScriptStep, seen: SeenWorkload, at: int, only_outside: bool) -> None:
        """Play the facts about a workload that are no doing of Kueue's scheduler."""
        for _ in range(_MOST_ROUNDS):
            known, graph, at = self.core.view.workload(seen.key), self.core.graph, max(at, self.core.time)
            if graph is None or (seen.is_replaced and known is not None and self._is_being_replaced(seen.key)):
                return
            facts = outside_facts(seen, known, at, graph, only_outside)
            if not facts or not all(self._try(fact, step) for fact in facts):
                return
            self.problems.pop(seen.key, None)

    def _is_being_replaced(self, name: str) -> bool:
        """Whether a workload waits that is to take the place of one that runs; the core ends that one when it admits the other."""
        waiting = any(each.admitted is None and each.fact.replaces == name for each in self.core.view.workloads())
        if waiting:
            self._replaced.add(name)
        return waiting

    def _activate(self, step: ScriptStep, at: int) -> None:
        """Let a policy decide. Whoever it tells to stop at once holds its quota until it was seen to have stopped."""
        assert step.policy is not None
        active = self.core.graph
        if active is not None and active.digest == step.policy.graph.digest:
            return
        try:
            decisions = self.record.play(step.policy.activation(at), step.policy.graph)
        except FactError as error:
            self.problems[""] = str(error)
            return
        self.problems.pop("", None)
        self.fact_steps[step.serial] = step.time
        for decision in decisions:
            known = self.core.view.workload(decision.workload) if isinstance(decision, WorkloadEvicted) else None
            if known is not None:
                self._let_stop(known, step.serial)

    def _let_stop(self, known: Workload, serial: int, evicting: bool = True) -> None:
        """Let a workload that was evicted right now hold its quota until it was seen to have stopped or, not `evicting`, go on with it."""
        holding = self.script.holding(known.name, known.fact.uid, self._shown_from(known.name, serial))
        if holding is not None:
            self.record.play(holding.adopted(self.core.time, evicting))

    # --- what Kueue decided -----------------------------------------------------------------------------------------

    def _meet(self, step: ScriptStep, seen: SeenWorkload, missed: MissedDecision) -> CourseFailure | None:
        """Let cycles run until gpol has decided what Kueue did, or take it as it is where the plan says so."""
        if step.serial >= self.plan.unchecked:
            if missed == "admission":
                self._take_admission(seen)
            else:
                self._take_eviction(step, seen)
            return None
        if missed == "eviction":
            self.record.take_back(self._names(seen.words.preemptor), _GOES_ON)
        if self._is_late(step, seen, missed):
            return CourseFailure(step.serial, step, missed, (), is_late=True)
        odd = self._cycles(step.serial, step.time, lambda: is_met(seen, self.core.view.workload(seen.key), missed))
        met = is_met(seen, self.core.view.workload(seen.key), missed)
        if odd or not met:
            return CourseFailure(step.serial, step, missed, odd, is_met=met)
        self.expected.pop(seen.key, None)
        return None

    def _is_late(self, step: ScriptStep, seen: SeenWorkload, missed: MissedDecision) -> bool:
        """Whether Kueue decided before something of which the core knows already, and the plan does not put up with that."""
        if missed != "admission" or seen.since is None or step.after_gap or step.serial in self.plan.late:
            return False
        return seen.since < self.core.time

    # --- what the plan wants ----------------------------------------------------------------------------------------

    def _act(self, serial: int, step: ScriptStep | None) -> CourseFailure | None:
        """Do what the plan wants at a place."""
        for action in self.plan.actions.get(serial, ()):
            time, odd = step.time if step is not None else self.core.time, tuple[OddDecision, ...]()
            match action:
                case TakeBack():
                    self.record.take_back(action.workload, "it keeps others waiting")
                case Sleep():
                    self.record.let_sleep(action.workload, action.until)
                case SetAside():
                    if core_standing(self.core.view.workload(action.workload)) == "waits":
                        self.record.set_aside(action.workload, _UNSEEN, action.difference)
                case TakeAdmission():
                    self._take_early(action.step, serial, action.difference)
                case TakePreemption():
                    odd = self._let_preempt(action, serial, time)
                    for each in action.steps if not odd else ():
                        self._take_early(each, serial, action.difference)
                case RunCycles():
                    self._in_added_cycles = True
                    odd = self._cycles(serial, time, partial(self._has_come, action.seen))
                    self._in_added_cycles = False
            if odd:
                return CourseFailure(serial, step, None, odd, at_action=isinstance(action, RunCycles))
        return None

    def _has_come(self, seen: SeenWorkload | None) -> bool:
        known = self.core.view.workload(seen.key) if seen is not None else None
        return seen is not None and known is not None and missed_decision(seen, known) is None

    def _let_preempt(self, action: TakePreemption, serial: int, time: int) -> tuple[OddDecision, ...]:
        """Let gpol evict for a workload, so that this one waits for its victims; they go on running, as Kueue takes others."""
        if not action.preemptor:
            return ()
        self.record.take_back(action.preemptor, _GOES_ON)
        self._preempting, self._spared = action.preemptor, False
        odd = self._cycles(serial, time, lambda: self._spared)
        self._preempting = ""
        return odd

    def _take_early(self, step: ScriptStep, serial: int, difference: KueueDifference) -> None:
        """Take what a step shows as it is."""
        assert step.seen is not None
        known = self.core.view.workload(step.seen.key)
        if known is None:
            return
        if step.seen.standing == "holds" and known.admitted is None:
            self._take_admission(step.seen, difference)
        elif step.seen.standing != "holds" and core_standing(known) == "holds":
            self._take_eviction(step, step.seen, difference)
        self._expect(step.seen.key, step.serial, serial)

    def _take_admission(self, seen: SeenWorkload, difference: KueueDifference | None = None) -> None:
        known = self.core.view.workload(seen.key)
        assert known is not None
        self.expected.pop(seen.key, None)
        if difference is not None:
            self.record.note(seen.key, difference)
        replaced = self.core.view.workload(known.fact.replaces) if known.fact.replaces is not None else None
        if replaced is not None and replaced.admitted is not None:
            self.record.end(replaced.name)
        self.record.give(seen)

    def _take_eviction(self, step: ScriptStep, seen: SeenWorkload, difference: KueueDifference | None = None) -> None:
        self.expected.pop(seen.key, None)
        self.record.stop(seen.key, seen.words.evicted_message, difference)
        known = self.core.view.workload(seen.key)
        if known is not None:
            self._let_stop(known, step.serial)

    # --- cycles -----------------------------------------------------------------------------------------------------

    def _cycles(self, serial: int, time: int, has_come: Callable[[], bool]) -> tuple[OddDecision, ...]:
        """Let cycles run until something has come, nothing more is to be decided, or one decides what Kueue is not seen to do."""
        for _ in range(MOST_CYCLES):
            if has_come() or self.core.next_wake() is None:
                return ()
            odd = self._cycle(serial, max(self.core.time, time))
            if odd:
                return odd
        return ()

    def _cycle(self, serial: int, time: int) -> tuple[OddDecision, ...]:
        odd = []
        self.last_cycle = list(self.record.play(TimeAdvanced(time=time)))
        for decision in self.last_cycle:
            if isinstance(decision, WorkloadAdmitted | WorkloadEvicted | WorkloadReplaced):
                found = self._odd(decision, serial)
                odd += [found] if found is not None else []
        for step in self._regiven:
            self._regive(step, serial)
        self._regiven.clear()
        return tuple(odd)

    def _regive(self, step: ScriptStep, serial: int) -> None:
        """Let a workload hold what Kueue gave it, once the cycle is over in which gpol has given it something else."""
        assert step.seen is not None
        self.record.stop(step.seen.key, "", self.plan.regiven[step.seen.key, step.serial])
        self.record.give(step.seen)
        self._expect(step.seen.key, step.serial, serial)

    def _odd(self, decision: WorkloadAdmitted | WorkloadEvicted | WorkloadReplaced, serial: int) -> OddDecision | None:
        """Look for the step that shows a decision; None if there is one."""
        name = decision.workload
        since, known = self._shown_from(name, serial), self.core.view.workload(name)
        if isinstance(decision, WorkloadReplaced):
            last = self.script.latest(name, since)
            self._expect(name, self.script.end_seen(name, last.uid, since) if last is not None else None, serial)
            return None
        assert known is not None
        if isinstance(decision, WorkloadEvicted):
            return self._odd_eviction(decision, known, serial, since)
        step = self.script.admission_seen(known, since)
        if step is not None and step.seen is not None and holds_the_same(known, step.seen.placements):
            self._explain(OddDecision(decision, name, False, step), step, serial)
        elif step is not None and (name, step.serial) in self.plan.regiven:
            self._regiven.append(step)
        else:
            return OddDecision(decision, name, step is None and self._ends(known, serial), step)
        return None

    def _odd_eviction(self, decision: WorkloadEvicted, known: Workload, serial: int, since: int) -> OddDecision | None:
        step = self.script.eviction_seen(known.name, known.fact.uid, since)
        beneficiary = self.core.view.workload(decision.beneficiary) if decision.beneficiary is not None else None
        subject = beneficiary if beneficiary is not None else known
        words = step.seen.words if step is not None and step.seen is not None else None
        is_other = words is None or words.name_another(subject.fact.uid, REASONS.get(decision.preemption))
        accepted = self.plan.accepted.get((known.name, step.serial)) if step is not None else None
        if is_other and accepted is None and self._preempting == subject.name:
            self._let_stop(known, serial, evicting=False)
            self._spared = True
            return None
        self._let_stop(known, serial)
        if step is None or (is_other and accepted is None):
            return OddDecision(decision, subject.name, step is None and (self._ends(subject, serial) or self._ends(known, serial)), step)
        if accepted is not None:
            self.record.mark(accepted, len(self.record.played) - 1)
        if step.after_gap and step.seen is not None and step.seen.standing != "stopping":
            self._stop_unseen(step.seen)
        self._explain(OddDecision(decision, subject.name, False, step), step, serial)
        return None

    def _stop_unseen(self, seen: SeenWorkload) -> None:
        """Let a workload have stopped at once that did so in a gap: when it did, nobody has seen, and others may have its room since."""
        known = self.core.view.workload(seen.key)
        if known is not None and core_standing(known) == "stopping":
            self.record.play(stopped(seen, known, self.core.time))

    def _explain(self, decided: OddDecision, step: ScriptStep, serial: int) -> None:
        """Note that a step shows what gpol has decided."""
        self.explained += 1
        name = decided.decision.workload
        self._expect(name, step.serial, serial)
        if step.serial > serial:
            self.early[name] = EarlyDecision(serial, decided, self._in_added_cycles)

    def _shown_from(self, name: str, serial: int) -> int:
        """From which step on a workload may be shown as it is in the core."""
        return max(serial, self.expected.get(name, AT_START))

    def _expect(self, name: str, shown: int | None, serial: int) -> None:
        """Note which step shows what gpol has decided; a step that is taken now needs no note."""
        if shown is not None and shown > serial:
            self.expected[name] = shown
        else:
            self.expected.pop(name, None)

    def _ends(self, known: Workload, serial: int) -> bool:
        return known.name not in self.plan.passed and self.script.end_seen(known.name, known.fact.uid, serial) is not None

    # --- playing ----------------------------------------------------------------------------------------------------

    def _try(self, fact: Fact, step: ScriptStep) -> bool:
        """Play a fact about what was watched; one that cannot have happened is told as a problem of its workload."""
        try:
            self.record.play(fact)
        except FactError as error:
            self.problems[getattr(fact, "workload", "")] = str(error)
            return False
        self.fact_steps[step.serial] = step.time
        if isinstance(fact, WorkloadSubmitted) and fact.workload in self.plan.passed:
            self.record.set_aside(fact.workload, _NOTE)
        return True

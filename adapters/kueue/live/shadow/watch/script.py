"""A stretch of what was watched, as steps in order: what Kueue knew, and what it did. gpol decides along it, and looks ahead in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ......engine.facts import Fact
from ......engine.workload import Workload
from ......sim.drive.policy import Policy
from .seen_workload import SeenWorkload

AT_START, AT_END = -1, 2**62
"""The places before the first step and behind the last one, where steps have their serial number."""


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One step: a policy that the objects of the cluster make now, other facts, or a workload as it is now.

    `serial` numbers all steps of all scripts. `only_outside`: of the workload only that counts which is no doing of Kueue's scheduler.
    `after_gap`: earlier versions of the object may have been missed. `received` is in seconds of a clock.
    """

    time: int
    received: float
    policy: Policy | None = None
    facts: tuple[Fact, ...] = ()
    seen: SeenWorkload | None = None
    only_outside: bool = False
    after_gap: bool = False
    serial: int = 0


@dataclass(slots=True)
class Script:
    """Steps to be taken, and steps after them that are known already: `ahead`. `before` are workloads as they were before the first step.

    `is_quiet`: Kueue has had its time for all of it, so whatever it did not do by the last step it does not do.
    """

    steps: Sequence[ScriptStep]
    ahead: Sequence[ScriptStep]
    before: Mapping[str, SeenWorkload]
    is_quiet: bool
    _of: dict[str, list[ScriptStep]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for step in (*self.steps, *self.ahead):
            if step.seen is not None and not step.only_outside:
                self._of.setdefault(step.seen.key, []).append(step)

    def previous(self, serial: int) -> int:
        """The place before a step."""
        found = AT_START
        for step in self.steps:
            if step.serial >= serial:
                break
            found = step.serial
        return found

    @property
    def gap(self) -> int | None:
        """The first step of a workload of which versions may have been missed: what Kueue decided from there on is not all known."""
        return next((step.serial for step in self.steps if step.after_gap and not step.only_outside), None)

    def latest(self, name: str, serial: int) -> SeenWorkload | None:
        """A workload as it is at a step; None where it was not seen yet."""
        earlier = [step.seen for step in self._of.get(name, ()) if step.serial <= serial]
        return earlier[-1] if earlier else self.before.get(name)

    def admission_seen(self, known: Workload, since: int) -> ScriptStep | None:
        """The first step from `since` on that shows that a workload has got quota; None if none does."""
        for step, seen in self._later(known.name, known.fact.uid, since):
            if seen.placements:
                return step
            if seen.is_over:
                return None
        return None

    def eviction_seen(self, name: str, uid: str, since: int) -> ScriptStep | None:
        """The step from `since` on that shows that Kueue's scheduler has told a running workload to stop; None if none does.

        Where versions were missed, it may hold quota again by then.
        """
        before = self.holding(name, uid, since)
        for step, seen in self._later(name, uid, since):
            if seen.is_over:
                return None
            if seen.standing != "holds":
                return step if seen.was_preempted else None
            if step.after_gap and before is not None and seen.since != before.since:
                return step
        return None

    def end_seen(self, name: str, uid: str, since: int) -> int | None:
        """The step from `since` on by which a workload is over; None if there is none."""
        for step in self._of.get(name, ()):
            if step.serial >= since and step.seen is not None and (step.seen.is_over or step.seen.uid != uid):
                return step.serial
        return None

    def holding(self, name: str, uid: str, since: int) -> SeenWorkload | None:
        """A workload as it was last shown to hold something up to a step or, where it was not yet, as it is shown next."""
        earlier = [step.seen for step in self._of.get(name, ()) if step.serial <= since and step.seen is not None]
        if name in self.before:
            earlier = [self.before[name], *earlier]
        later = [seen for _, seen in self._later(name, uid, since)]
        return next((seen for seen in (*reversed(earlier), *later) if seen.uid == uid and seen.placements), None)

    def _later(self, name: str, uid: str, since: int) -> Iterator[tuple[ScriptStep, SeenWorkload]]:
        """The steps of a workload from `since` on, until another one of its name comes."""
        for step in self._of.get(name, ()):
            if step.serial >= since and step.seen is not None:
                if step.seen.uid != uid:
                    return
                yield step, step.seen

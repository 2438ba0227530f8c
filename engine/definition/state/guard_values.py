"""The values of fields and the truth of guards, for a workload that wants to run and a victim that may have to go."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ...guard import Const, Expr, Field, Type, comparisons
from ...guard_truth import is_true, own_value
from ...outcome.nomination import Value
from ...workload import Workload
from .state import ActivePolicy

_MOVING = (Type.SHARE, Type.DURATION)
"""Types of fields that change while nothing about a workload itself does: by what others use, and with time."""


@dataclass(frozen=True, slots=True)
class GuardValues:
    """Everything a guard may look at, but for the victim: a policy with its charges, a moment, and a workload.

    The tree holds the workload's charge already while victims are compared, so shares are those with it running.
    """

    policy: ActivePolicy
    now: int
    workload: Workload

    def holds(self, guard: Expr | None, victim: Workload, wanted: bool = True, either: Collection[Type] = ()) -> bool:
        """Whether a guard is true now; `wanted` and `either` as in `is_true`."""
        return is_true(guard, lambda field: self.value(field, victim), wanted, either)

    def value(self, field: Field, victim: Workload) -> Value:
        """The value of a field now."""
        subject = victim if field.subject == "victim" else self.workload
        if field.type not in _MOVING:
            return own_value(self.policy.graph, subject, field)
        match field.path:
            case "queue.share":
                return self.policy.shares.of(self._side(victim, of_victim=field.subject == "victim"))
            case "queue.share_after":
                return self.policy.shares.after(self._side(victim, of_victim=True), victim.queue, victim.usage)
            case "waiting":
                return subject.waiting(self.now)
            case _:
                return self.now - (subject.admitted or 0)  # how long it has been running

    def _side(self, victim: Workload, of_victim: bool) -> int:
        if victim.queue == self.workload.queue:
            return self.workload.queue
        ours, theirs = self.policy.tree.sides(self.workload.queue, victim.queue)
        return theirs if of_victim else ours

    def turning_points(self, guards: Iterable[Expr | None], victim: Workload) -> list[int]:
        """The moments after now, ascending, at which time alone may change guards: when a duration reaches a constant.

        Durations are whole microseconds: `<` and `>=` turn when the constant is reached, `<=` and `>` one microsecond later, others twice.
        """
        found = set[int]()
        for comparison in (each for guard in guards for each in comparisons(guard)):
            if isinstance(comparison.right, Const) and comparison.left.type is Type.DURATION:
                reached = self.now - int(str(self.value(comparison.left, victim))) + int(comparison.right.value)
                found |= {"<": {reached}, ">=": {reached}, "<=": {reached + 1}, ">": {reached + 1}}.get(
                    comparison.op, {reached, reached + 1}
                )
        return sorted(moment for moment in found if moment > self.now)

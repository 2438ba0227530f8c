"""The values of fields and the truth of guards, for a workload that wants to run and a victim that may have to go."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from ...guard import And, Compare, Const, Expr, Field, Not, Or, Type, comparisons, matches
from ...outcome.nomination import Share, Value
from ...workload import Workload
from ..quota.fair_share import ZERO
from .state import ActivePolicy

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(slots=True)
class GuardValues:
    """Everything a guard may look at: a workload with what it would be charged, maybe a victim, and a moment.

    The tree holds the workload's charge already while victims are compared, so shares are those with it running.
    """

    policy: ActivePolicy
    now: int
    workload: Workload
    victim: Workload | None = None

    def holds(self, guard: Expr | None, wanted: bool = True, either: Collection[Type] = ()) -> bool:
        """Whether a guard is true; no guard is. With `wanted` False, whether it is false.

        Comparisons of the types in `either` are taken as unknown: the answer is then whether it may be so.
        """
        match guard:
            case None:
                return wanted
            case And(items) | Or(items):
                found = (self.holds(item, wanted, either) for item in items)
                return all(found) if isinstance(guard, And) == wanted else any(found)
            case Not(item):
                return self.holds(item, not wanted, either)
            case Compare(op, left, right):
                return left.type in either or self._compare(op, left, right) == wanted

    def _compare(self, op: str, left: Field, right: Field | Const) -> bool:
        value = self.value(left)
        other = self.value(right) if isinstance(right, Field) else constant(right)
        if isinstance(value, str) and isinstance(other, str) and isinstance(right, Const):
            return matches(value, other) == (op == "=")
        return bool(_COMPARISONS[op](value, other))  # the checker gave both the same type

    def value(self, field: Field) -> Value:
        """The value of a field now."""
        subject = self.workload if field.subject == "workload" or self.victim is None else self.victim
        if field.label is not None:
            return subject.fact.labels.get(field.label, "")
        if field.type is Type.AMOUNT:  # whatever the resource is called
            return subject.total(field.path)
        match field.path:
            case "queue.share":
                return self.policy.shares.of(self._side(of_victim=field.subject == "victim"))
            case "queue.share_after":
                return self._share_after()
            case "queue":
                return self.policy.graph.nodes[subject.queue].name
            case "waiting":
                return self.now - subject.submitted
            case "running":
                return self.now - (subject.admitted or 0)
            case "admitted":
                return subject.admitted or 0
            case "priority" | "pods" | "evictions" | "submitted" as name:
                return int(getattr(subject, name))
            case "kind":
                return subject.fact.workload_kind
            case name:
                return str(getattr(subject.fact, name))

    def _side(self, of_victim: bool) -> int:
        if self.victim is None or self.victim.queue == self.workload.queue:
            return self.workload.queue
        ours, theirs = self.policy.tree.sides(self.workload.queue, self.victim.queue)
        return theirs if of_victim else ours

    def _share_after(self) -> Share:
        if self.victim is None:
            return ZERO
        return self.policy.shares.after(self._side(of_victim=True), self.victim.queue, self.victim.usage)

    def turning_points(self, guards: Iterable[Expr | None]) -> list[int]:
        """The moments after now, ascending, at which time alone may change guards: when a duration reaches a constant.

        Durations are whole microseconds: `<` and `>=` turn when the constant is reached, `<=` and `>` one microsecond later, others twice.
        """
        found = set[int]()
        for comparison in (each for guard in guards for each in comparisons(guard)):
            if isinstance(comparison.right, Const) and comparison.left.type is Type.DURATION:
                reached = self.now - int(str(self.value(comparison.left))) + int(comparison.right.value)
                found |= {"<": {reached}, ">=": {reached}, "<=": {reached + 1}, ">": {reached + 1}}.get(
                    comparison.op, {reached, reached + 1}
                )
        return sorted(moment for moment in found if moment > self.now)


def constant(const: Const) -> Value:
    """A constant in the form in which field values come."""
    if const.type is Type.SHARE:
        return (0, Fraction(const.value))
    return const.value if isinstance(const.value, str) else int(const.value)

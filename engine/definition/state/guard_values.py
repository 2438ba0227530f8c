"""The values of fields and the truth of guards, for a workload that wants to run and a victim that may have to yield."""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

from ..expr import And, Compare, Const, Expr, Field, Not, Or, Type
from ..graph import PolicyGraph, PreemptRule
from ..units import format_amount, format_duration, format_time
from .quota import QuotaTree, Request
from .shares import ZERO, Share, Shares, show
from .workload import Workload

Value = int | str | Share


@dataclass(slots=True)
class Bench:
    """Everything a guard may look at: a workload with what it would be charged, maybe a victim, and a moment.

    The tree holds the workload's charge already while victims are compared, so shares are those with it running.
    """

    graph: PolicyGraph
    tree: QuotaTree
    shares: Shares
    now: int
    workload: Workload
    victim: Workload | None = None

    def holds(self, guard: Expr | None) -> bool:
        """Whether a guard is true; no guard is."""
        match guard:
            case None:
                return True
            case And(items):
                return all(self.holds(item) for item in items)
            case Or(items):
                return any(self.holds(item) for item in items)
            case Not(item):
                return not self.holds(item)
            case Compare(op, left, right):
                return self._compare(op, left, right)

    def _compare(self, op: str, left: Field, right: Field | Const) -> bool:
        value = self.value(left)
        other = self.value(right) if isinstance(right, Field) else constant(right)
        if isinstance(value, str) and isinstance(other, str) and isinstance(right, Const):
            return matches(value, other) == (op == "=")
        match op:
            case "=":
                return value == other
            case "!=":
                return value != other
            case "<":
                return value < other  # type: ignore[operator]  # the checker gave both the same type
            case "<=":
                return value <= other  # type: ignore[operator]
            case ">":
                return value > other  # type: ignore[operator]
            case _:
                return value >= other  # type: ignore[operator]

    def value(self, field: Field) -> Value:
        """The value of a field now."""
        subject = self.workload if field.subject == "workload" or self.victim is None else self.victim
        if field.label is not None or field.type is Type.AMOUNT:  # whatever the label or the resource is called
            return own_value(subject, field)
        match field.path:
            case "waiting":
                return self.now - subject.submitted
            case "running":
                return self.now - (subject.admitted or 0)
            case "queue":
                return self.graph.nodes[subject.queue].name
            case "queue.share":
                return self._side_share(of_victim=field.subject == "victim")
            case "queue.share_after":
                return self._share_after()
            case _:
                return own_value(subject, field)

    def _side(self, of_victim: bool) -> int:
        if self.victim is None or self.victim.queue == self.workload.queue:
            return self.workload.queue
        ours, theirs = self.tree.sides(self.workload.queue, self.victim.queue)
        return theirs if of_victim else ours

    def _side_share(self, of_victim: bool) -> Share:
        return self.shares.of(self._side(of_victim))

    def _share_after(self) -> Share:
        if self.victim is None:
            return ZERO
        return self.shares.after(self._side(of_victim=True), self.victim.queue, self.victim.usage)

    def turning_points(self, guard: Expr | None) -> list[int]:
        """The moments after now, ascending, at which time alone may change a guard: a duration reaching a constant."""
        moments = set()
        for comparison in comparisons(guard):
            if isinstance(comparison.right, Const) and comparison.left.type is Type.DURATION:
                length = comparison.right.value
                assert isinstance(length, int)
                since = self.now - int(str(self.value(comparison.left)))
                # At `since + length` the duration equals the constant; one microsecond later it is above it.
                moments |= {since + length, since + length + 1}
        return sorted(moment for moment in moments if moment > self.now)

    def show(self, field: Field) -> str:
        """The value of a field now, as a user would write it."""
        value = self.value(field)
        if isinstance(value, tuple):
            return show(value)
        if field.type is Type.AMOUNT:
            return f"{format_amount(int(value), field.path)} {field.path}"
        if field.type is Type.TIME:
            return format_time(int(value))
        return format_duration(int(value)) if field.type is Type.DURATION else str(value)


def own_value(workload: Workload, field: Field) -> int | str:
    """The value of a field that depends on nothing but the workload itself."""
    if field.label is not None:
        return workload.fact.labels.get(field.label, "")
    if field.type is Type.AMOUNT:
        return workload.total(field.path)
    match field.path:
        case "priority":
            return workload.priority
        case "pods":
            return workload.pods
        case "evictions":
            return workload.evictions
        case "submitted":
            return workload.submitted
        case "admitted":
            return workload.admitted or 0
        case "kind":
            return workload.fact.workload_kind
        case name:
            return str(getattr(workload.fact, name))


def constant(const: Const) -> Value:
    """A constant in the form in which field values come."""
    if const.type is Type.SHARE:
        return (0, Fraction(const.value))
    return const.value if isinstance(const.value, str) else int(const.value)


def matches(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern in which * is any text and ? any one character; nothing else is special."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def comparisons(guard: Expr | None) -> Iterator[Compare]:
    """All comparisons of a guard, left to right."""
    match guard:
        case Compare():
            yield guard
        case And(items) | Or(items):
            for item in items:
                yield from comparisons(item)
        case Not(item):
            yield from comparisons(item)
        case _:
            return


def fields(guard: Expr | None) -> list[Field]:
    """The distinct fields a guard reads, in order of appearance."""
    found: list[Field] = []
    for comparison in comparisons(guard):
        for side in (comparison.left, comparison.right):
            if isinstance(side, Field) and side not in found:
                found.append(side)
    return found


def victim_fields(graph: PolicyGraph, rule: PreemptRule) -> tuple[Field, ...]:
    """What a rule's guard and the protect guards read of a victim, apart from shares and from the time it has run."""
    guards = [rule.guard, *(protect.guard for protect in graph.protect)]
    read = [field for guard in guards for field in fields(guard) if field.subject == "victim"]
    own = [field for field in read if field.type not in (Type.SHARE, Type.DURATION)]
    return tuple(field for index, field in enumerate(own) if field not in own[:index])


def reads_shares(graph: PolicyGraph, rule: PreemptRule) -> bool:
    """Whether a rule's guard or a protect guard reads a share."""
    guards = [rule.guard, *(protect.guard for protect in graph.protect)]
    return any(field.type is Type.SHARE for guard in guards for field in fields(guard))


def is_timeless(guard: Expr | None) -> bool:
    """Whether time alone can never change a guard."""
    return all(comparison.left.type is not Type.DURATION for comparison in comparisons(guard))


def time_only_frees(graph: PolicyGraph) -> bool:
    """Whether time alone can only make preempt guards true and protect guards false, never the other way round."""
    preempts = all(_grows(rule.guard, true=True) for rule in graph.preempt)
    return preempts and all(_grows(protect.guard, true=False) for protect in graph.protect)


def _grows(guard: Expr | None, true: bool) -> bool:
    """Whether time alone can turn a guard only to true (or else only to false)."""
    match guard:
        case Compare(op, left, right) if left.type is Type.DURATION:
            return isinstance(right, Const) and op in ((">", ">=") if true else ("<", "<="))
        case And(items) | Or(items):
            return all(_grows(item, true) for item in items)
        case Not(item):
            return _grows(item, not true)
        case _:
            return True


__all__ = [
    "Bench",
    "Request",
    "Value",
    "comparisons",
    "constant",
    "fields",
    "is_timeless",
    "matches",
    "own_value",
    "reads_shares",
    "time_only_frees",
    "victim_fields",
]

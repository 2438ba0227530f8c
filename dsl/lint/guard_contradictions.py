"""What can be proved about a guard without running it: that it never holds, why, and that it holds both ways between two workloads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...engine import guard as expr
from ...engine import policy_graph as graph
from .quota_reach import Reach
from .satisfiable import Case, FieldKey, Possible, can_hold, is_possible, matches_all, possible_cases
from .text_patterns import TooManyError

_STEADY = (expr.Type.PRIORITY, expr.Type.AMOUNT, expr.Type.NUMBER, expr.Type.TEXT)
"""Types of which two workloads can be equal, and stay so. Shares move with every decision."""

_HELD = (expr.Type.DURATION,)
"""Types that grow from the moment at which one workload takes the place of the other, for both alike."""


def never_holds(guard: expr.Expr | None, world: Possible) -> bool:
    """Whether no workload and victim satisfy a guard."""
    return guard is not None and not can_hold([guard], world)


def contradiction(guard: expr.Expr, world: Possible) -> tuple[expr.Compare, ...]:
    """The comparisons of a guard that exclude each other, two or one; none where it takes more to see that it never holds."""
    conjuncts = [part for part in (guard.items if isinstance(guard, expr.And) else (guard,)) if isinstance(part, expr.Compare)]
    alone = next(((each,) for each in conjuncts if not is_possible((each,), world)), None)
    pairs = ((one, other) for at, one in enumerate(conjuncts) for other in conjuncts[at + 1 :])
    return alone or next((pair for pair in pairs if not is_possible(pair, world)), ())


@dataclass(frozen=True, slots=True)
class Turns:
    """Two queues (one, twice, of a rule for the same queue) of which like workloads evict each other, each so long after the other, in
    microseconds.
    """

    queues: tuple[str, str]
    after: int


def turns_by(rule: graph.PreemptRule, policy: graph.PolicyGraph, world: Possible, reach: Reach) -> Turns | None:
    """Two queues of which workloads, alike in all else, satisfy a rule's guard in both directions; None where that is not certain.

    It is not for guards with shares that move or past evictions. A duration is taken as the time since one of them took the place
    of the other: so long one has waited and the other run.
    """
    try:
        for case in possible_cases(() if rule.guard is None else (rule.guard,), world):
            found = _turns_of(case, rule, policy, world, reach)
            if found is not None:
                return found
    except TooManyError:
        pass
    return None


def _turns_of(case: Case, rule: graph.PreemptRule, policy: graph.PolicyGraph, world: Possible, reach: Reach) -> Turns | None:
    tests: dict[FieldKey, list[expr.Compare]] = {}
    durations: list[expr.Compare] = []
    for comparison in case:
        if comparison.left.type is expr.Type.SHARE and not world.shares:
            continue
        if comparison.left.type in _HELD:
            durations.append(comparison)
        elif comparison.left.type not in _STEADY or comparison.left.path == "evictions":
            return None
        elif isinstance(comparison.right, expr.Const):
            tests.setdefault(("", comparison.left.path, comparison.left.label), []).append(comparison)
        elif not _holds_between_equals(comparison, comparison.right):
            return None
    queues = tests.pop(("", "queue", None), [])
    if not all(_some_value(comparisons, world) for comparisons in tests.values()):
        return None
    alike = [name for name in sorted(world.queues) if holds(name, queues)]
    pair = ((alike[0], alike[0]) if alike else None) if rule.scope == "same-queue" else reach.rivals(alike, rule)
    if pair is None:
        return None
    shields = [shield for shield in policy.protect if _covers(policy, shield, pair)]
    for moment in _moments([*durations, *(each for shield in shields for each in expr.comparisons(shield.guard))]):
        if all(_holds_at(comparison, moment) for comparison in durations) and _unprotected(shields, case, moment, world):
            return Turns(pair, moment)
    return None


def _moments(durations: Sequence[expr.Compare]) -> list[int]:
    """Moments at which comparisons with durations may change: each constant, just before and just after it; and the beginning."""
    compared = [each.right.value for each in durations if each.left.type in _HELD and isinstance(each.right, expr.Const)]
    return sorted({0} | {int(value) + more for value in compared for more in (-1, 0, 1) if int(value) + more >= 0})


def _holds_at(comparison: expr.Compare, moment: int) -> bool:
    """Whether a comparison holds once one workload has waited so long as the other has run."""
    return _holds(moment, comparison.op, comparison.right.value if isinstance(comparison.right, expr.Const) else moment)


def _covers(policy: graph.PolicyGraph, shield: graph.ProtectRule, pair: tuple[str, str]) -> bool:
    nodes = [number for number, node in enumerate(policy.nodes) if node.is_queue and node.name in pair]
    return any(graph.covers(shield, [*policy.path(node), 0]) for node in nodes)


def _unprotected(shields: Sequence[graph.ProtectRule], case: Case, at: int, world: Possible) -> bool:
    """Whether no protect rule need keep two like workloads of a case from being evicted at a moment."""
    guards = [shield.guard for shield in shields if shield.guard is not None]
    sides = ("workload", "victim")
    alike = [
        replace(each, left=replace(each.left, subject=side))
        for each in case
        for side in sides
        if isinstance(each.right, expr.Const) and each.left.type in _STEADY and each.left.path != "queue"
    ]
    now = expr.Const(at, expr.Type.DURATION, "")
    moment = [
        expr.Compare("=", expr.Field(side, path, expr.Type.DURATION), now) for side, path in zip(sides, ("waiting", "running"), strict=True)
    ]
    return len(guards) == len(shields) and can_hold([*alike, *moment, *(expr.Not(guard) for guard in guards)], world)


def _holds_between_equals(comparison: expr.Compare, right: expr.Field) -> bool:
    """Whether a comparison of two fields holds where the workload and the victim are alike, whichever is which."""
    same = (comparison.left.path, comparison.left.label) == (right.path, right.label) and right.path != "queue"
    return same and comparison.op in ("=", "<=", ">=")


def _some_value(tests: list[expr.Compare], world: Possible) -> bool:
    """Whether one value satisfies several comparisons with constants."""
    subject, path, label = tests[0].left.subject, tests[0].left.path, tests[0].left.label
    field = expr.Field(subject, path, tests[0].left.type, label)
    return is_possible(tuple(replace(test, left=field) for test in tests), world)


def holds(value: int | Fraction | str, tests: Sequence[expr.Compare]) -> bool:
    """Whether a value satisfies comparisons with constants."""
    return all(isinstance(test.right, expr.Const) and _holds(value, test.op, test.right.value) for test in tests)


def _holds(value: int | Fraction | str, op: str, constant: int | Fraction | str) -> bool:
    if isinstance(value, str) or isinstance(constant, str):
        return matches_all(str(value), *(([str(constant)], []) if op == "=" else ([], [str(constant)])))
    match op:
        case "<":
            return value < constant
        case "<=":
            return value <= constant
        case "=":
            return value == constant
        case "!=":
            return value != constant
        case ">":
            return value > constant
        case _:
            return value >= constant

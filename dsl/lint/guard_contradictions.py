"""What can be proved about a guard without running it: that it never holds, or that it holds both ways between two workloads."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import TypeGuard

from ...engine import guard as expr
from ...engine import policy_graph as graph

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_FRESH = "\0"
"""A text that no policy can name."""

_STEADY = (expr.Type.PRIORITY, expr.Type.AMOUNT, expr.Type.NUMBER, expr.Type.TEXT)
"""Types of which two workloads can be equal, and stay so. Shares and durations move with every decision."""


@dataclass(frozen=True, slots=True)
class Possible:
    """What can occur under a policy: the priorities that workloads can count with, bounds included, the queues by name,
    and whether shares are ever anything but 0.
    """

    lowest: int
    highest: int
    queues: frozenset[str]
    shares: bool


def possible(policy: graph.PolicyGraph) -> Possible:
    """What can occur: no priority above the highest ceiling, if all queues have one."""
    ceilings = [queue.ceiling for queue in policy.queues]
    known = [ceiling for ceiling in ceilings if ceiling is not None]
    highest = max(known) if known and len(known) == len(ceilings) else _HIGHEST
    names = frozenset(policy.nodes[queue.node].name for queue in policy.queues)
    return Possible(_LOWEST, highest, names, shares=policy.settings.share != "none")


def never_holds(guard: expr.Expr | None, world: Possible) -> bool:
    """Whether some conjunct compares a field with a constant that no value of the field satisfies, or shares that are all 0."""
    return any(isinstance(conjunct, expr.Compare) and _is_impossible(conjunct, world) for conjunct in _conjuncts(guard))


def is_mutual(rule: graph.PreemptRule, world: Possible) -> bool:
    """Whether two workloads, alike but for their queues, satisfy a rule's guard in both directions.

    Answers no wherever that is not certain: for guards with `or`, `not`, shares that move, durations or past evictions.
    """
    constants: dict[tuple[str, str | None], list[expr.Compare]] = {}
    for conjunct in _conjuncts(rule.guard):
        if _compares_zeros(conjunct, world) and not _is_impossible(conjunct, world):
            continue
        if not isinstance(conjunct, expr.Compare) or conjunct.left.type not in _STEADY or conjunct.left.path == "evictions":
            return False
        if isinstance(conjunct.right, expr.Const):
            constants.setdefault((conjunct.left.path, conjunct.left.label), []).append(conjunct)
        elif not _holds_between_equals(conjunct, conjunct.right):
            return False
    queues = constants.pop(("queue", None), [])
    alike = [name for name in sorted(world.queues) if _satisfies(name, queues)]
    return len(alike) >= (1 if rule.scope == "same-queue" else 2) and all(_some_value(tests, world) for tests in constants.values())


def _conjuncts(guard: expr.Expr | None) -> tuple[expr.Expr, ...]:
    return () if guard is None else guard.items if isinstance(guard, expr.And) else (guard,)


def _compares_zeros(conjunct: expr.Expr, world: Possible) -> TypeGuard[expr.Compare]:
    """Whether a conjunct compares shares where all of them are 0."""
    return isinstance(conjunct, expr.Compare) and conjunct.left.type is expr.Type.SHARE and not world.shares


def _is_impossible(comparison: expr.Compare, world: Possible) -> bool:
    if _compares_zeros(comparison, world):
        return not _holds(0, comparison.op, comparison.right.value if isinstance(comparison.right, expr.Const) else 0)
    if not isinstance(comparison.right, expr.Const):
        return False
    value = comparison.right.value
    if isinstance(value, str):
        return (
            comparison.left.path == "queue"
            and value not in world.queues
            and not any(_satisfies(name, [comparison]) for name in world.queues)
        )
    lowest, highest = (world.lowest, world.highest) if comparison.left.type is expr.Type.PRIORITY else (0, None)
    match comparison.op:
        case "<":
            return value <= lowest
        case "<=":
            return value < lowest
        case ">":
            return highest is not None and value >= highest
        case ">=":
            return highest is not None and value > highest
        case "=":
            return value < lowest or (highest is not None and value > highest)
        case _:
            return False


def _holds_between_equals(comparison: expr.Compare, right: expr.Field) -> bool:
    """Whether a comparison of two fields holds where the workload and the victim are alike, whichever is which."""
    same = (comparison.left.path, comparison.left.label) == (right.path, right.label) and right.path != "queue"
    return same and comparison.op in ("=", "<=", ">=")


def _some_value(tests: list[expr.Compare], world: Possible) -> bool:
    """Whether one value satisfies several comparisons with constants; tries the constants and their neighbours."""
    candidates: list[int | Fraction | str] = []
    for test in tests:
        assert isinstance(test.right, expr.Const)
        value = test.right.value
        candidates += [value.replace("*", "").replace("?", "x"), _FRESH] if isinstance(value, str) else [value - 1, value, value + 1]
    lowest, highest = (world.lowest, world.highest) if tests[0].left.type is expr.Type.PRIORITY else (0, None)
    in_range = [value for value in candidates if isinstance(value, str) or (lowest <= value and (highest is None or value <= highest))]
    return any(_satisfies(value, tests) for value in in_range)


def _satisfies(value: int | Fraction | str, tests: list[expr.Compare]) -> bool:
    return all(isinstance(test.right, expr.Const) and _holds(value, test.op, test.right.value) for test in tests)


def _holds(value: int | Fraction | str, op: str, constant: int | Fraction | str) -> bool:
    if isinstance(value, str) or isinstance(constant, str):
        # The brackets of a file pattern mean nothing in the language.
        return fnmatchcase(str(value), str(constant).replace("[", "[[]")) == (op == "=")
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

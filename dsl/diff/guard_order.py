"""Guards compared: what they mean, how they are written, and whether one holds wherever the other does."""

from dataclasses import replace
from functools import lru_cache

from ...engine.guard import And, Compare, Const, Expr, Field, Not, Or, Type
from ..print.words import quoted


def meaning(guard: Expr | None) -> Expr | None:
    """A guard without the way in which its constants were written."""
    match guard:
        case Compare(_, _, Const() as constant):
            return replace(guard, right=replace(constant, text=""))
        case And(items) | Or(items):
            return type(guard)(tuple(_meaning(item) for item in items))
        case Not(item):
            return Not(_meaning(item))
        case _:
            return guard


def _meaning(guard: Expr) -> Expr:
    known = meaning(guard)
    assert known is not None
    return known


def written(guard: Expr) -> str:
    """A guard as the language writes it."""
    match guard:
        case Compare(op, left, right):
            return f"{left} {op} {_operand(right)}"
        case And(items):
            return " and ".join(f"({written(item)})" if isinstance(item, Or) else written(item) for item in items)
        case Or(items):
            return " or ".join(written(item) for item in items)
        case Not(item):
            return f"not {written(item)}" if isinstance(item, Compare | Not) else f"not ({written(item)})"


def _operand(right: Field | Const) -> str:
    if isinstance(right, Field):
        return str(right)
    return quoted(right.text) if right.type is Type.TEXT else right.text


class Holds:
    """Where a guard holds, as an extent: one is less than another where that holds wherever it does, and not the other way round."""

    __slots__ = ("guard",)

    def __init__(self, guard: Expr | None) -> None:
        self.guard = meaning(guard)

    def __lt__(self, other: "Holds") -> bool:
        """Whether this is certain; guards of which it cannot be told are not less than each other."""
        return implies(self.guard, other.guard) and not implies(other.guard, self.guard)


@lru_cache(maxsize=65_536)
def implies(one: Expr | None, other: Expr | None) -> bool:
    """Whether the other guard certainly holds wherever the first one does. Takes guards without the writing of their constants."""
    if other is None or one == other:
        return True
    if one is None:
        return False
    match one, other:
        case _, And(items):
            return all(implies(one, item) for item in items)
        case Or(items), _:
            return all(implies(item, other) for item in items)
        case Compare(_, _, Const()), Compare(_, _, Const()):
            return _within(one, other)
        case Not(item), Not(wider):
            return implies(wider, item)
    some = other.items if isinstance(other, Or) else ()
    given = one.items if isinstance(one, And) else ()
    return any(implies(one, item) for item in some) or any(implies(item, other) for item in given)


def _within(one: Compare, other: Compare) -> bool:
    """Whether a comparison with a number lets through no more than another of the same field."""
    assert isinstance(one.right, Const)
    assert isinstance(other.right, Const)
    low, high = one.right.value, other.right.value
    if one.left != other.left or isinstance(low, str) or isinstance(high, str):
        return False
    match one.op, other.op:
        case ("<", "<" | "<=") | ("<=" | "=", "<="):
            return low <= high
        case ("<=" | "=", "<"):
            return low < high
        case (">", ">" | ">=") | (">=" | "=", ">="):
            return low >= high
        case (">=" | "=", ">"):
            return low > high
        case ("=", "!="):
            return low != high
        case ("<" | "<=", "!="):
            return low < high or (low == high and one.op == "<")
        case (">" | ">=", "!="):
            return low > high or (low == high and one.op == ">")
        case _:
            return False

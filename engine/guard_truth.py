"""The truth of guards, by the values of the fields that they read; and the values that a workload has by itself."""

from collections.abc import Callable, Collection
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from .guard import And, Compare, Const, Expr, Field, Not, Or, Type, matches
from .outcome.nomination import Value
from .policy_graph import PolicyGraph
from .workload import Workload

ValueOf = Callable[[Field], Value]
"""Gives the value of each field that a guard reads."""

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def is_true(guard: Expr | None, value: ValueOf, wanted: bool = True, either: Collection[Type] = ()) -> bool:
    """Whether a guard is true; no guard is. With `wanted` False, whether it is false.

    Comparisons of the types in `either` are taken as unknown: the answer is then whether it may be so.
    """
    match guard:
        case None:
            return wanted
        case And(items) | Or(items):
            found = (is_true(item, value, wanted, either) for item in items)
            return all(found) if isinstance(guard, And) == wanted else any(found)
        case Not(item):
            return is_true(item, value, not wanted, either)
        case Compare(op, left, right):
            return left.type in either or _compare(op, left, right, value) == wanted


def _compare(op: str, left: Field, right: Field | Const, value: ValueOf) -> bool:
    mine = value(left)
    other = value(right) if isinstance(right, Field) else _constant(right)
    if isinstance(mine, str) and isinstance(other, str) and isinstance(right, Const):
        return matches(mine, other) == (op == "=")
    return bool(_COMPARISONS[op](mine, other))  # the checker gave both the same type


def _constant(const: Const) -> Value:
    """A constant in the form in which field values come."""
    if const.type is Type.SHARE:
        return (0, Fraction(const.value))
    return const.value if isinstance(const.value, str) else int(const.value)


def own_value(graph: PolicyGraph, workload: Workload, field: Field) -> Value:
    """The value of a field of a workload that depends on nothing but its own state: neither on a moment nor on what others use."""
    if field.label is not None:
        return workload.fact.labels.get(field.label, "")
    if field.type is Type.AMOUNT:  # whatever the resource is called
        return workload.total(field.path)
    match field.path:
        case "queue":
            return graph.nodes[workload.queue].name
        case "admitted":
            return workload.admitted or 0
        case "priority" | "pods" | "evictions" | "submitted" as name:
            return int(getattr(workload, name))
        case "kind":
            return workload.fact.workload_kind
        case name:
            return str(getattr(workload.fact, name))

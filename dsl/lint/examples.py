"""Examples that show a warning: values of fields with which a guard holds, or does not."""

from collections.abc import Sequence
from fractions import Fraction

from ...engine import guard as expr
from ...engine.units import SECOND, format_amount, format_duration, scale_of
from ..diagnostics import DiagnosticNote
from .guard_contradictions import contradiction, holds
from .satisfiable import Case, Possible, matches_all, possible_cases
from .text_patterns import TooManyError, shortest_text


def sample(guards: Sequence[expr.Expr], world: Possible) -> str:
    """Values with which some guards hold together, in words; empty where none are found."""
    try:
        case = next(possible_cases(guards, world), None)
    except TooManyError:
        return ""
    return "" if case is None else _values(case, world)


def _values(case: Case, world: Possible) -> str:
    tests: dict[expr.Field, list[expr.Compare]] = {}
    for comparison in case:
        if isinstance(comparison.right, expr.Field):
            return ""
        tests.setdefault(comparison.left, []).append(comparison)
    found = {field: _value(field, comparisons, world) for field, comparisons in tests.items()}
    return " and ".join(f"`{field}` {_told(value, field)}" for field, value in found.items() if value is not None)


def _value(field: expr.Field, tests: list[expr.Compare], world: Possible) -> int | Fraction | str | None:
    constants = [test.right.value for test in tests if isinstance(test.right, expr.Const)]
    if field.type is expr.Type.TEXT:
        matched, excluded = (
            [str(test.right.value) for test in tests if isinstance(test.right, expr.Const) and test.op == op] for op in ("=", "!=")
        )
        if field.path == "queue":
            return next((name for name in sorted(world.queues) if matches_all(name, matched, excluded)), None)
        try:
            return shortest_text(matched, excluded, world.work)
        except TooManyError:
            return None
    unit = scale_of(field.path) if field.type is expr.Type.AMOUNT else SECOND if field.type is expr.Type.DURATION else 1
    lowest, highest = world.bounds(field.type)
    near = [value + more for value in constants if not isinstance(value, str) for more in (0, unit, -unit, 1, -1)]
    in_range = (value for value in [*near, lowest] if lowest <= value and (highest is None or value <= highest))
    return next((value for value in in_range if holds(value, tests)), None)


def _told(value: int | Fraction | str, field: expr.Field) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    match field.type:
        case expr.Type.AMOUNT:
            return f"{format_amount(int(value), field.path)} {field.path}"
        case expr.Type.DURATION:
            return format_duration(int(value))
        case _:
            return str(value)


def of_never(guard: expr.Expr, world: Possible) -> tuple[DiagnosticNote, ...]:
    """Why a guard never holds, with values that show it."""
    from ..diff.guard_order import written  # only needed where something is wrong

    clash = contradiction(guard, world)
    if len(clash) == 1:
        return (DiagnosticNote(_why_impossible(clash[0], written(clash[0]), world)),)
    if len(clash) == 2:
        one, other = clash
        values = sample([one], world)
        shown = f"for example, with {values} only the first holds" if values else "whatever the values are"
        return (DiagnosticNote(f"`{written(one)}` and `{written(other)}` never hold together: {shown}"),)
    values = sample([expr.Not(guard)], world)
    return (DiagnosticNote(f"for example, it does not hold with {values}"),) if values else ()


def _why_impossible(comparison: expr.Compare, written: str, world: Possible) -> str:
    if comparison.left.type is expr.Type.TEXT:
        kind = "no queue is called so" if comparison.left.path == "queue" and comparison.left.label is None else "no text is like that"
        return f"`{written}`: {kind}"
    if isinstance(comparison.right, expr.Field):
        return f"`{written}` compares a value with itself"
    lowest, highest = world.bounds(comparison.left.type)
    least, most = (None if value is None else _told(value, comparison.left) for value in (lowest, highest))
    return f"`{written}`: `{comparison.left}` is at least {least}" + (f" and at most {most}" if most is not None else "")


def of_always(guard: expr.Expr, world: Possible) -> tuple[DiagnosticNote, ...]:
    """Values with which a guard holds though it looks as if it would not: the lowest there are."""
    lowest: dict[expr.Field, int | str] = {}
    for comparison in expr.comparisons(guard):
        if isinstance(comparison.right, expr.Const):
            value = "" if comparison.left.type is expr.Type.TEXT else world.bounds(comparison.left.type)[0]
            lowest.setdefault(comparison.left, value)
    told = " and ".join(f"`{field}` {_told(value, field)}" for field, value in lowest.items() if field.path != "queue")
    return (DiagnosticNote(f"for example, it holds even with {told}"),) if told else ()

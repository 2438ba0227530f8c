"""Guards and orders: every field gets its type and every comparison is checked, so that the core can evaluate them without checks."""

from dataclasses import dataclass

from ....engine import guard as expr
from ....engine.policy_settings import VICTIM_KEYS, OrderKey
from ....engine.units import format_amount
from ...syntax import tree
from ...syntax.names import closest, listed
from ..context import Context, in_units

_UNORDERED = (expr.Type.TEXT,)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a guard stands: which subjects it may look at, and whether only at what a submission says."""

    subjects: tuple[str, ...]
    static: bool
    place: str


IN_PREEMPT = Setting(("workload", "victim"), static=False, place="a preempt rule")
IN_PROTECT = Setting(("workload", "victim"), static=False, place="a protect rule")
IN_ADMISSION = Setting(("workload",), static=True, place="a deny or hold rule")


def guard(context: Context, where: tree.Where | None, setting: Setting) -> expr.Expr | None:
    """The typed guard of a rule; None where there is none or it is wrong."""
    return None if where is None else _guard(context, where.guard, setting)


def _guard(context: Context, node: tree.Guard, setting: Setting) -> expr.Expr | None:
    match node:
        case tree.FieldComparison():
            return _comparison(context, node, setting)
        case tree.Negation(item):
            inner = _guard(context, item, setting)
            return None if inner is None else expr.Not(inner)
        case tree.AllOf(items) | tree.AnyOf(items):
            inner_all = [_guard(context, item, setting) for item in items]
            if any(inner is None for inner in inner_all):
                return None
            parts = tuple(inner for inner in inner_all if inner is not None)
            return expr.And(parts) if isinstance(node, tree.AllOf) else expr.Or(parts)


def _comparison(context: Context, node: tree.FieldComparison, setting: Setting) -> expr.Compare | None:
    left = field(context, node.left, setting)
    if left is None:
        return None
    if isinstance(node.right, tree.FieldRef):
        right: expr.Field | expr.Const | None = field(context, node.right, setting)
        if right is not None and right.type is not left.type:
            message = f"`{left}` is a {left.type.value}, `{right}` is a {right.type.value}"
            context.error("GP030", message, node, "cannot be compared", f"compare `{left}` with a {left.type.value}")
            return None
        if isinstance(right, expr.Field) and left.type is expr.Type.AMOUNT and right.path != left.path:
            message = f"`{left}` is an amount of {left.path}, `{right}` is an amount of {right.path}"
            context.error("GP030", message, node, "cannot be compared", f"compare `{left}` with an amount of {left.path}")
            return None
    else:
        right = _constant(context, node.right, left)
    if right is None:
        return None
    if left.type in _UNORDERED and node.op not in ("=", "!="):
        context.error("GP030", f"`{left}` is a text and has no order", node, f"`{node.op}`", "use `=` or `!=`")
        return None
    return expr.Compare(node.op, left, right)


def field(context: Context, node: tree.FieldRef, setting: Setting) -> expr.Field | None:
    """A field with its type, if it may be used here."""
    if node.subject not in setting.subjects:
        path = node.path or node.subject
        is_field = path in expr.WORKLOAD_FIELDS or path in expr.VICTIM_FIELDS or path in context.resources
        known = " or ".join(f"`{subject}.{path}`" if is_field else f"`{subject}`" for subject in setting.subjects)
        help_text = f"{'write' if is_field else 'start with'} {known}"
        context.error("GP031", f"`{node.subject}` is nothing that {setting.place} can look at", node, "unknown here", help_text)
        return None
    if node.label is not None:
        if node.path == "label":
            context.named(node.label, "label")
            return expr.Field(node.subject, "label", expr.Type.TEXT, node.label.text)
        context.error("GP031", f"only `{node.subject}.label` takes a key", node, "with a key", "remove the text behind it")
        return None
    if node.path == "label":
        context.error("GP031", f"`{node.subject}.label` needs a key", node, "without a key", f'write `{node.subject}.label "key"`')
        return None
    table = expr.WORKLOAD_FIELDS if node.subject == "workload" else expr.VICTIM_FIELDS
    type_ = table.get(node.path, expr.Type.AMOUNT if node.path in context.resources else None)
    if type_ is None:
        known_paths = sorted({*table, "label", *context.resources})
        guess = closest(node.path, known_paths)
        help_text = f"did you mean `{node.subject}.{guess}`?" if guess else f"known: {listed(known_paths, 12, like=node.path)}"
        other = expr.VICTIM_FIELDS if node.subject == "workload" else expr.WORKLOAD_FIELDS
        if node.path in other and not guess:
            who = "victim" if node.subject == "workload" else "workload"
            help_text = (
                f"only a {who} has it: write `{who}.{node.path}`"
                if who in setting.subjects
                else f"remove it: {setting.place} judges a submission"
            )
        context.error("GP020", f"unknown field `{node.subject}.{node.path}`", node, "not known", help_text)
        return None
    if type_ is expr.Type.TIME:
        help_text = "compare `victim.running` or `workload.waiting` with a duration"
        context.error("GP031", f"`{node.subject}.{node.path}` is a moment; a guard would depend on the calendar", node, "here", help_text)
        return None
    if setting.static and type_ is not expr.Type.AMOUNT and node.path not in expr.STATIC_FIELDS:
        message = f"`{node.subject}.{node.path}` changes by itself; {setting.place} judges a submission once"
        context.error("GP031", message, node, "not fixed", f"use {listed(expr.STATIC_FIELDS, 12)}, a label or a resource")
        return None
    return expr.Field(node.subject, node.path, type_)


def _constant(context: Context, node: tree.Name | tree.Text | tree.Number | tree.Amount, left: expr.Field) -> expr.Const | None:
    match left.type, node:
        case expr.Type.PRIORITY, tree.Name(text):
            if text not in context.priorities:
                context.unknown("priority", node, context.priorities)
                return None
            return expr.Const(context.priorities[text], left.type, text)
        case expr.Type.PRIORITY, tree.Number(text):
            value = context.integer(node, "priority", -(2**31), 2**31 - 1)
            return None if value is None else expr.Const(value, left.type, text)
        case expr.Type.AMOUNT, tree.Number(text):
            amount = context.amount(node, left.path)
            return None if amount is None else expr.Const(amount, left.type, f"{format_amount(amount, left.path)} {left.path}")
        case expr.Type.AMOUNT, tree.Amount(number, resource) if resource.text == left.path:
            amount = context.amount(number, left.path)
            return None if amount is None else expr.Const(amount, left.type, f"{format_amount(amount, left.path)} {left.path}")
        case expr.Type.NUMBER, tree.Number(text):
            value = context.integer(node, "number", 0, 2**63 - 1)
            return None if value is None else expr.Const(value, left.type, text)
        case expr.Type.DURATION, tree.Number(text):
            value = context.duration(node)
            return None if value is None else expr.Const(value, left.type, text)
        case expr.Type.SHARE, tree.Number(text):
            share = context.fraction(node, "share")
            return None if share is None else expr.Const(share, left.type, text)
        case expr.Type.TEXT, tree.Text(text):
            return expr.Const(text, left.type, text)
        case expr.Type.TEXT, tree.Name(text) if left.path == "queue":
            if text not in context.queues:
                context.unknown("queue", node, context.queues)
                return None
            return expr.Const(text, left.type, text)
        case _:
            own = f"an amount of {left.path}" if left.type is expr.Type.AMOUNT else f"a {left.type.value}"
            message = f"`{left}` is {own}, not {_kind(node)}"
            context.error("GP030", message, node, f"is {_kind(node)}", _meant(node, left) or _EXAMPLES[left.type])
            return None


def _meant(node: tree.Name | tree.Text | tree.Number | tree.Amount, left: expr.Field) -> str | None:
    """What to write for a duration such as `10 minutes`; None for all else."""
    if left.type is not expr.Type.DURATION or not isinstance(node, tree.Amount):
        return None
    meant = in_units(node.number.text, node.resource.text)
    return None if meant is None else f"write `{meant}`"


def _kind(node: tree.Name | tree.Text | tree.Number | tree.Amount) -> str:
    """What a constant looks like, in words."""
    match node:
        case tree.Amount(_, resource):
            return f"an amount of {resource.text}"
        case tree.Text():
            return "a text"
        case tree.Name():
            return "a name"
        case tree.Number():
            return "a number"


_EXAMPLES = {
    expr.Type.PRIORITY: "compare it with the name of a priority or a whole number",
    expr.Type.AMOUNT: "compare it with an amount of the same resource, such as `8` or `8 gpu`",
    expr.Type.NUMBER: "compare it with a whole number",
    expr.Type.DURATION: "compare it with a duration, such as `10m`",
    expr.Type.SHARE: "compare it with another share or an exact number, such as `1/2`",
    expr.Type.TEXT: 'compare it with a text in quotes, such as `"nlp-*"`',
    expr.Type.TIME: "use it in an order",
}


def victim_order(context: Context, keys: tuple[tree.Key, ...]) -> tuple[OrderKey, ...]:
    """The order of victims; without one the least important and youngest go first."""
    if not keys:
        return (OrderKey("victim.priority", descending=False), OrderKey("victim.admitted", descending=True))
    return order(context, keys, [f"victim.{path}" for path in (*VICTIM_KEYS, *context.resources)])


def order(context: Context, keys: tuple[tree.Key, ...], known: list[str]) -> tuple[OrderKey, ...]:
    """An order by known keys, none of them twice."""
    made = []
    seen: dict[str, tree.Spanned] = {}
    for key in keys:
        if key.path not in known:
            guess = closest(key.path, known)
            help_text = f"did you mean `{guess}`?" if guess else f"known: {listed(known, 12, like=key.path)}"
            context.error("GP020", f"`{key.path}` is no key of this order", key, "not known", help_text)
        elif context.once(seen, key.path, key, f"`{key.path}`"):
            made.append(OrderKey(key.path, key.descending))
    return tuple(made)

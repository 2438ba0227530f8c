"""What each queue says beyond its quota."""

from collections.abc import Mapping

from ....engine import policy_graph as graph
from ....engine.policy.doors import Condition
from ...diagnostics import DiagnosticNote
from ...syntax import tree
from ..context import Context
from . import queue_entry as entrance
from . import resource_groups as serving

_Said = Mapping[str, tree.Spanned]
"""The statements of a queue that are said once, by what they are about."""


def items(context: Context) -> dict[str, tree.QueueItem]:
    """The queues of the policy by name, the first of each name."""
    found: dict[str, tree.QueueItem] = {}
    below: list[tree.Spanned] = [*reversed(context.merged.queues), *reversed(context.merged.cohorts)]
    while below:
        item = below.pop()
        if isinstance(item, tree.QueueItem):
            found.setdefault(item.name.text, item)
        elif isinstance(item, tree.CohortItem):
            below += reversed(item.body)
    return found


def queues(context: Context, nodes: tuple[graph.Node, ...], flavors: tuple[graph.Flavor, ...]) -> tuple[graph.Queue, ...]:
    """The queues, in the order in which nodes number them."""
    said = items(context)
    index = {flavor.name: number for number, flavor in enumerate(flavors)}
    return tuple(_queue(context, said[node.name], number, index) for number, node in enumerate(nodes) if node.queue >= 0)


def _queue(context: Context, item: tree.QueueItem, node: int, flavors: dict[str, int]) -> graph.Queue:
    said = _said_once(context, item)
    ceiling = said.get("the ceiling")
    default = said.get("the default priority") or context.merged.choices.get("DefaultPriority")
    queueing = said.get("the queueing") or context.merged.choices.get("Queueing")
    rather = said.get("`rather`")
    value, pinned = _default(context, default)
    groups = serving.groups(context, item, flavors)
    tried = serving.tried(context, item, said.get("the order of flavors"), flavors)
    return graph.Queue(
        node=node,
        matches=_matches(context, item),
        flavors=tuple(flavor for group in groups for flavor in group.flavors) if groups else tried,
        ceiling=_ceiling(context, ceiling),
        ceiling_source=context.source(ceiling) if ceiling is not None else None,
        default_priority=value,
        default_pinned=pinned,
        strict=isinstance(queueing, tree.Queueing) and queueing.strict,
        groups=groups,
        next_flavor_before_borrowing=_next_flavor(said.get("`when borrowing`")),
        next_flavor_before_evicting=_next_flavor(said.get("`when evicting`")),
        rather=rather.rather if isinstance(rather, tree.Rather) else "borrow",
        preemption=_preemption(context, said),
        stopped=entrance.stop(said.get("`stopped`")),
        namespaces=entrance.namespaces(context, said.get("`for namespaces`")),
        checks=entrance.checks(context, item, flavors),
        by_usage="`admits by usage`" in said,
        local_queues=entrance.local_queues(context, item),
    )


def _said_once(context: Context, item: tree.QueueItem) -> _Said:
    """What may be said once in a queue, and is."""
    said: dict[str, tree.Spanned] = {}
    for statement in item.body:
        subject = about(statement)
        if subject is not None:
            context.once(said, subject, statement, f"{subject} of queue `{item.name.text}`")
    return said


def about(statement: tree.Spanned) -> str | None:
    """What a statement of a queue is about, in words, if a queue says that once only."""
    match statement:
        case tree.FlavorList():
            return "the order of flavors"
        case tree.Ceiling():
            return "the ceiling"
        case tree.DefaultPriority():
            return "the default priority"
        case tree.Queueing():
            return "the queueing"
        case tree.FlavorChoice(occasion):
            return f"`when {occasion}`"
        case tree.Rather():
            return "`rather`"
        case tree.Evicts(occasion):
            return _EVICTS[occasion]
        case tree.Stopped():
            return "`stopped`"
        case tree.Namespaces():
            return "`for namespaces`"
        case tree.ByUsage():
            return "`admits by usage`"
        case tree.NeverReclaimed():
            return "`never reclaimed`"
        case _:
            return None


_EVICTS = {"own": "`evicts its own`", "reclaims": "`reclaims from`", "borrowing": "`borrows by evicting`"}


def _next_flavor(statement: tree.Spanned | None) -> bool | None:
    return statement.next_flavor if isinstance(statement, tree.FlavorChoice) else None


def _preemption(context: Context, said: _Said) -> graph.Preemption:
    """Whom the queue may evict, with the lines that say so."""
    own, reclaims, borrowing = (said.get(_EVICTS[occasion]) for occasion in ("own", "reclaims", "borrowing"))
    up_to = borrowing.up_to if isinstance(borrowing, tree.Evicts) else None
    return graph.Preemption(
        own="nothing" if not isinstance(own, tree.Evicts) else "lower" if own.whom == "lower" else "lower-or-newer",
        reclaims="nothing" if not isinstance(reclaims, tree.Evicts) else "lower" if reclaims.whom == "lower" else "any",
        borrowing="nothing" if borrowing is None else "lower",
        borrowing_up_to=None if up_to is None else context.integer(up_to, "priority", -(2**31), 2**31 - 1),
        own_source=None if own is None else context.source(own),
        reclaims_source=None if reclaims is None else context.source(reclaims),
        borrowing_source=None if borrowing is None else context.source(borrowing),
    )


def _matches(context: Context, item: tree.QueueItem) -> tuple[tuple[Condition, ...], ...]:
    """The alternatives by which workloads belong to a queue, in an order of their own."""
    matches: dict[tuple[Condition, ...], tree.Spanned] = {}
    for statement in item.body:
        if isinstance(statement, tree.Match):
            match = _match(context, statement)
            if match in matches:
                note = (DiagnosticNote("first said here", matches[match].span),)
                context.error("GP022", "this alternative is said twice", statement, "again here", "keep one", note)
            matches.setdefault(match, statement)
    return tuple(sorted(matches, key=repr))


def _match(context: Context, match: tree.Match) -> tuple[Condition, ...]:
    """The conditions of a `for`, in an order of their own: all have to hold, so the text's order means nothing."""
    seen: dict[str, tree.Spanned] = {}
    conditions = []
    for condition in match.conditions:
        made = _condition(context, condition)
        if context.once(seen, repr(made), condition, "this condition"):
            conditions.append(made)
    return tuple(sorted(conditions, key=repr))


def _condition(context: Context, condition: tree.MatchCondition) -> Condition:
    if condition.key is not None:
        context.named(condition.key, "label")
    key = None if condition.key is None else condition.key.text
    return Condition(condition.attribute, key, condition.pattern.text)


def _ceiling(context: Context, statement: tree.Spanned | None) -> int | None:
    if not isinstance(statement, tree.Ceiling) or not _is_priority(context, statement.priority):
        return None
    return context.priorities[statement.priority.text]


def _is_priority(context: Context, name: tree.Name) -> bool:
    if name.text in context.priorities:
        return True
    context.unknown("priority", name, context.priorities)
    return False


def _default(context: Context, choice: tree.Spanned | None) -> tuple[int, bool]:
    """The value of the default priority, and whether its class is never evicted."""
    if not isinstance(choice, tree.DefaultPriority) or not _is_priority(context, choice.priority):
        return 0, False
    item = next(item for item in context.merged.priorities if item.name.text == choice.priority.text)
    return context.priorities[choice.priority.text], item.never_evicted

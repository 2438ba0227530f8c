"""The header's choices, and what each queue says beyond its quota."""

from ..engine import graph
from . import tree
from .context import Context
from .diagnostics import Note
from .guards import order
from .merge import choice_key
from .names import listed


def settings(context: Context) -> graph.Settings:
    """The choices of the policy or, where it says nothing, of its profile."""
    for header in context.merged.headers:
        context.at(header)
        seen: dict[str, tree.Spanned] = {}
        for choice in header.choices:
            context.once(seen, choice_key(choice), choice, f"`{choice_key(choice)}`" if " " in choice_key(choice) else "this choice")
    queues = _order(context, "queues", (*graph.QUEUE_KEYS, *context.resources))
    workloads = _order(context, "workloads", (*graph.WORKLOAD_KEYS, *context.resources))
    share = context.merged.choices.get("Share")
    return graph.Settings(
        queue_order=queues,
        workload_order=workloads,
        share=share.formula if isinstance(share, tree.Share) else "none",
        next_flavor_before_borrowing=_next_flavor(context, "borrowing"),
        next_flavor_before_evicting=_next_flavor(context, "evicting"),
    )


def _order(context: Context, subject: str, known: tuple[str, ...]) -> tuple[graph.OrderKey, ...]:
    choice = context.merged.choices.get(f"order {subject}")
    if not isinstance(choice, tree.Order):
        return ()
    context.at(choice)
    return order(context, choice.keys, list(known))


def _next_flavor(context: Context, occasion: str) -> bool:
    choice = context.merged.choices.get(f"when {occasion}")
    return isinstance(choice, tree.FlavorChoice) and choice.next_flavor


def ignored(context: Context) -> tuple[str, ...]:
    """The resources that the policy does not count; none that a flavor has."""
    choice = context.merged.choices.get("Ignore")
    if not isinstance(choice, tree.Ignore):
        return ()
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    for name in choice.resources:
        context.named(name, "resource")
        context.once(seen, name.text, name, f"`{name.text}`")
        having = [flavor for flavor in sorted(context.flavors) if name.text in context.flavors[flavor]]
        if having:
            message = f"`{name.text}` is ignored, but {listed(having)} has it"
            context.error("GP027", message, name, "counted elsewhere", f"do not ignore it, or take it out of {listed(having)}")
    return tuple(sorted({name.text for name in choice.resources}))


def queues(context: Context, nodes: tuple[graph.Node, ...], flavors: tuple[graph.Flavor, ...]) -> tuple[graph.Queue, ...]:
    """The queues, in the order in which nodes number them."""
    items: dict[str, tree.Queue] = {}

    def visit(item: tree.Cohort | tree.Queue) -> None:
        if isinstance(item, tree.Queue):
            items.setdefault(item.name.text, item)
        else:
            for below in item.body:
                if isinstance(below, tree.Cohort | tree.Queue):
                    visit(below)

    for cohort in context.merged.cohorts:
        visit(cohort)
    for queue in context.merged.queues:
        visit(queue)
    index = {flavor.name: number for number, flavor in enumerate(flavors)}
    return tuple(_queue(context, items[node.name], number, index) for number, node in enumerate(nodes) if node.queue >= 0)


def _queue(context: Context, item: tree.Queue, node: int, flavors: dict[str, int]) -> graph.Queue:
    seen: dict[str, tree.Spanned] = {}
    said: dict[type, tree.Spanned] = {}
    matches: dict[tuple[graph.Condition, ...], tree.Spanned] = {}
    for statement in item.body:
        if isinstance(statement, tree.Match):
            match = _match(context, statement)
            if match in matches:
                note = (Note("first said here", matches[match].span),)
                context.error("GP022", "this alternative is said twice", statement, "again here", "keep one", note)
            matches.setdefault(match, statement)
        elif not isinstance(statement, tree.Quota | tree.Weight) and context.once(
            seen, type(statement).__name__, statement, f"{_SAID[type(statement)]} of queue `{item.name.text}`"
        ):
            said[type(statement)] = statement
    default = said.get(tree.DefaultPriority) or context.merged.choices.get("DefaultPriority")
    queueing = said.get(tree.Queueing) or context.merged.choices.get("Queueing")
    ceiling = said.get(tree.Ceiling)
    limit = (
        context.priorities[ceiling.priority.text] if isinstance(ceiling, tree.Ceiling) and _is_priority(context, ceiling.priority) else None
    )
    value, pinned = _default(context, default)
    return graph.Queue(
        node=node,
        matches=tuple(sorted(matches, key=repr)),
        flavors=_flavors(context, said.get(tree.FlavorList), flavors),
        ceiling=limit,
        ceiling_source=context.source(ceiling) if ceiling is not None else None,
        default_priority=value,
        default_pinned=pinned,
        strict=isinstance(queueing, tree.Queueing) and queueing.strict,
    )


_SAID = {
    tree.FlavorList: "the order of flavors",
    tree.Ceiling: "the ceiling",
    tree.DefaultPriority: "the default priority",
    tree.Queueing: "the queueing",
}


def _match(context: Context, match: tree.Match) -> tuple[graph.Condition, ...]:
    """The conditions of a `for`, in an order of their own: all have to hold, so the text's order means nothing."""
    seen: dict[str, tree.Spanned] = {}
    conditions = []
    for condition in match.conditions:
        made = _condition(context, condition)
        if context.once(seen, repr(made), condition, "this condition"):
            conditions.append(made)
    return tuple(sorted(conditions, key=repr))


def _condition(context: Context, condition: tree.MatchCondition) -> graph.Condition:
    if condition.key is not None:
        context.named(condition.key, "label")
    key = None if condition.key is None else condition.key.text
    return graph.Condition(condition.attribute, key, condition.pattern.text)


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


def _flavors(context: Context, choice: tree.Spanned | None, flavors: dict[str, int]) -> tuple[int, ...]:
    """The order in which a queue tries flavors: those it lists, then, unless it says `only`, the others by name."""
    if not isinstance(choice, tree.FlavorList):
        return tuple(flavors[name] for name in sorted(flavors))
    listed_first = []
    seen: dict[str, tree.Spanned] = {}
    for name in choice.flavors:
        if name.text not in flavors:
            context.unknown("flavor", name, flavors)
        elif context.once(seen, name.text, name, f"flavor `{name.text}`"):
            listed_first.append(flavors[name.text])
    others = [flavors[name] for name in sorted(flavors) if flavors[name] not in listed_first]
    return tuple(listed_first if choice.verb == "only" else [*listed_first, *others])

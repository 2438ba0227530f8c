"""Rules: preempt, protect, deny and hold, and the order in which preempt rules are tried."""

from ....engine import policy_graph as graph
from ...syntax import tree
from ...syntax.names import listed
from ..context import Context
from ..passes.pass_rules import pass_rules
from .guards import IN_ADMISSION, IN_PREEMPT, IN_PROTECT, guard, victim_order


def preempt_rules(context: Context) -> tuple[graph.PreemptRule, ...]:
    """The preempt rules in the order of `preempt by`, or of the passes that use them; none where the policy decides in cycles."""
    if context.in_cycles:
        return ()  # `cycles` refuses them
    if context.by_passes:
        return pass_rules(context)
    made: dict[str, graph.PreemptRule] = {}
    for item in context.merged.preempt:
        context.at(item)
        made.setdefault(item.name.text, _preempt(context, item))
    return tuple(made[name] for name in _tried(context, list(made)))


def _preempt(context: Context, item: tree.PreemptItem) -> graph.PreemptRule:
    seen: dict[str, tree.Spanned] = {}
    parts: dict[type, tree.Spanned] = {}
    for statement in item.body:
        if context.once(seen, type(statement).__name__, statement, f"this part of rule `{item.name.text}`"):
            parts[type(statement)] = statement
    trigger, evict, where, order_by = (parts.get(kind) for kind in (tree.TriggerStatement, tree.EvictFrom, tree.Where, tree.OrderBy))
    if not isinstance(evict, tree.EvictFrom):
        help_text = "say `evict from the same queue`, `evict from queues that borrow` or `evict from any queue`"
        context.error("GP033", f"rule `{item.name.text}` does not say whom to evict", item.name, "no `evict from`", help_text)
        evict = tree.EvictFrom("same-queue", same_cohort=False)
    if isinstance(trigger, tree.TriggerStatement) and trigger.owner == "cohort" and evict.scope == "same-queue":
        message = "victims outside the cohort that owns cannot be of the same queue"
        context.error("GP027", message, evict, "the same queue", "evict from queues that borrow")
    return graph.PreemptRule(
        name=item.name.text,
        source=context.source(item),
        trigger=None if not isinstance(trigger, tree.TriggerStatement) else "fits-queue" if trigger.owner == "queue" else "fits-cohort",
        scope=evict.scope,
        range="same-cohort" if evict.same_cohort else "cluster",
        guard=guard(context, where if isinstance(where, tree.Where) else None, IN_PREEMPT),
        order=victim_order(context, order_by.keys if isinstance(order_by, tree.OrderBy) else ()),
    )


def _tried(context: Context, names: list[str]) -> list[str]:
    """The order of the rules: as `preempt by` says, which lists each once."""
    choice = context.merged.choices.get("preempt by")
    if isinstance(choice, tree.PreemptWay):
        return names  # refused as well
    if not isinstance(choice, tree.PreemptBy):
        if len(names) > 1 and context.merged.header is not None:
            help_text = f"add `preempt by {', '.join(sorted(names))}` to the policy, in the order you want"
            message = f"the order of the preempt rules {listed(names)} is not said"
            context.error("GP032", message, context.merged.header.name, "no `preempt by`", help_text)
        return names
    context.at(choice)
    if not choice.rules:
        own = [item for item in context.merged.preempt if context.merged.origin[id(item)] is context.parsed]
        for item in own:
            message = f"rule `{item.name.text}` is never tried: the policy says `preempt by nothing`"
            context.error("GP032", message, item.name, "never tried", "list it in `preempt by`, or remove it")
        return []
    ordered: list[str] = []
    seen: dict[str, tree.Spanned] = {}
    for name in choice.rules:
        if name.text not in names:
            context.unknown("preempt rule", name, names)
        elif context.once(seen, name.text, name, f"rule `{name.text}`"):
            ordered.append(name.text)
    missing = [name for name in names if name not in ordered]
    if missing:
        help_text = f"write `preempt by {', '.join([*ordered, *missing])}`, in the order you want"
        message = f"`preempt by` does not list {listed(missing)}"
        _not_listed(context, choice, missing, message, help_text)
    return ordered


def _not_listed(context: Context, choice: tree.PreemptBy, missing: list[str], message: str, help_text: str) -> None:
    """Report at `preempt by` where the policy says it; at the policy's own rule where the profile does."""
    own = context.merged.origin[id(context.merged.header)]
    if context.parsed is own:
        context.error("GP032", message, choice, "incomplete", help_text)
        return
    item = next((item for item in context.merged.preempt if item.name.text in missing and context.merged.origin[id(item)] is own), None)
    if item is None:
        context.error("GP032", message, choice, "incomplete", help_text)
        return
    context.at(item)
    context.error("GP032", f"{message}: the profile's list is in use", item.name, "not listed", f"{help_text}, in the policy's header")


def protect_rules(context: Context, index: dict[str, int]) -> tuple[graph.ProtectRule, ...]:
    """The protect rules in order of name; `index` finds nodes by name."""
    made: dict[str, graph.ProtectRule] = {}
    for item in context.merged.protect:
        context.at(item)
        where = guard(context, item.where, IN_PROTECT)
        made.setdefault(item.name.text, graph.ProtectRule(item.name.text, context.source(item), _scope(context, item.scope, index), where))
    return tuple(made[name] for name in sorted(made))


def admission_rules(context: Context, index: dict[str, int]) -> tuple[graph.AdmissionRule, ...]:
    """The deny and hold rules in order of action and name."""
    made: dict[tuple[str, str], graph.AdmissionRule] = {}
    for item in context.merged.admission:
        context.at(item)
        if not item.because.text.strip():
            context.error("GP036", f"rule `{item.name.text}` gives no reason", item.because, "empty", "say why; users are shown it")
        rule = graph.AdmissionRule(
            name=item.name.text,
            source=context.source(item),
            action=item.action,
            nodes=_scope(context, item.scope, index),
            guard=guard(context, item.where, IN_ADMISSION),
            because=item.because.text,
        )
        made.setdefault((item.action, item.name.text), rule)
    return tuple(made[key] for key in sorted(made))


def _scope(context: Context, names: tuple[tree.Name, ...], index: dict[str, int]) -> tuple[int, ...] | None:
    """The nodes that `for` names; None where it is left out."""
    if not names:
        return None
    seen: dict[str, tree.Spanned] = {}
    found = []
    for name in names:
        if name.text not in index:
            context.unknown("queue or cohort", name, index)
        elif context.once(seen, name.text, name, f"`{name.text}`"):
            found.append(index[name.text])
    return tuple(sorted(found))

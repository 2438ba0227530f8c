"""Warnings: what is allowed and certainly not meant. A lint may miss a case, it never warns of what could be meant."""

from ..engine import expr, graph
from . import tree
from .context import Context


def lint(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of rules that can never fire, evictions that can go on for ever, and priorities and queues nobody can use."""
    _unreachable(context, policy)
    _in_turns(context, policy)
    _unusable_priorities(context, policy)
    _dead_queues(context, policy)
    _all_protected(context, policy)


def _items(context: Context, kind: type) -> dict[str, tree.Preempt | tree.Protect]:
    """The policy's own rules of a kind by name; a profile's are not the author's to change."""
    merged = context.merged
    header = merged.header
    own = merged.origin[id(header)] if header is not None else None
    rules = merged.preempt if kind is tree.Preempt else merged.protect
    return {item.name.text: item for item in rules if merged.origin[id(item)] is own}


def _conjuncts(guard: expr.Expr | None) -> tuple[expr.Expr, ...]:
    return () if guard is None else guard.items if isinstance(guard, expr.And) else (guard,)


def _priorities_in_use(policy: graph.PolicyGraph) -> tuple[int, int] | None:
    """The lowest and highest priority that a workload can count with; None where numbers allow any."""
    ceilings = [queue.ceiling for queue in policy.queues]
    known = [ceiling for ceiling in ceilings if ceiling is not None]
    return (-(2**31), max(known)) if policy.queues and len(known) == len(ceilings) else None


def _unreachable(context: Context, policy: graph.PolicyGraph) -> None:
    own = _items(context, tree.Preempt)
    bounds = _priorities_in_use(policy)
    for rule in policy.preempt:
        if rule.name not in own:
            continue
        item = own[rule.name]
        context.at(item)
        if rule.scope != "same-queue" and len(policy.queues) < 2:
            context.warn("GP050", f"rule `{rule.name}` can never fire: there is no other queue", item.name, "no victims")
        elif any(_never(conjunct, bounds) for conjunct in _conjuncts(rule.guard)):
            message = f"rule `{rule.name}` can never fire: its guard is never true"
            context.warn("GP050", message, item.name, "never true", "change the guard or remove the rule")


def _never(conjunct: expr.Expr, bounds: tuple[int, int] | None) -> bool:
    """Whether a comparison with a constant is false for every value that there can be."""
    if not isinstance(conjunct, expr.Compare) or not isinstance(conjunct.right, expr.Const):
        return False
    kind, value = conjunct.left.type, conjunct.right.value
    if isinstance(value, str):
        return False
    lowest, highest = (bounds or (-(2**31), 2**31 - 1)) if kind is expr.Type.PRIORITY else (0, None)
    match conjunct.op:
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


def _in_turns(context: Context, policy: graph.PolicyGraph) -> None:
    own = _items(context, tree.Preempt)
    for rule in policy.preempt:
        if rule.name in own and rule.trigger is None and not any(_ranks(conjunct) for conjunct in _conjuncts(rule.guard)):
            item = own[rule.name]
            context.at(item)
            message = f"rule `{rule.name}` lets two workloads evict each other in turns"
            help_text = "add `victim.priority < workload.priority`, `workload.queue.share <= victim.queue.share_after` or a `when`"
            context.warn("GP052", message, item.name, "nothing ranks the two", help_text)


def _ranks(conjunct: expr.Expr) -> bool:
    """Whether a comparison puts the workload above the victim, so that the same rule cannot turn them round."""
    if not isinstance(conjunct, expr.Compare) or not isinstance(conjunct.right, expr.Field):
        return False
    left, op, right = str(conjunct.left), conjunct.op, str(conjunct.right)
    if left.startswith("victim"):
        left, op, right = right, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op), left
    if (left, right) == ("workload.priority", "victim.priority"):
        return op == ">"
    if (left, right) == ("workload.queue.share", "victim.queue.share_after"):
        return op in ("<", "<=")
    if left.split(".")[-1] == right.split(".")[-1] and conjunct.left.type in (expr.Type.AMOUNT, expr.Type.NUMBER):
        return op in ("<", ">")
    return False


def _unusable_priorities(context: Context, policy: graph.PolicyGraph) -> None:
    ceilings = [queue.ceiling for queue in policy.queues]
    highest = max((ceiling for ceiling in ceilings if ceiling is not None), default=None)
    if highest is None or None in ceilings:
        return
    for item in context.merged.priorities:
        if context.priorities[item.name.text] > highest:
            context.at(item)
            message = f"nobody may use priority `{item.name.text}`: every queue's ceiling is below it"
            context.warn("GP051", message, item.name, "above every ceiling", "raise a ceiling or remove the priority")


def _dead_queues(context: Context, policy: graph.PolicyGraph) -> None:
    for queue in policy.queues:
        node = policy.nodes[queue.node]
        quotas = [(policy.slots[number].flavor, quota) for number, quota in enumerate(node.quotas)]
        dead = all(quota.nominal == 0 and quota.borrowing_limit == 0 for flavor, quota in quotas if flavor in queue.flavors)
        if quotas and dead:
            message = f"queue `{node.name}` can never run anything: it owns nothing and borrows nothing"
            context.warn("GP053", message, _queue_item(context, node.name).name, "no quota", "let it own or borrow something")


def _queue_item(context: Context, name: str) -> tree.Queue:
    stack: list[tree.Spanned] = [*context.merged.cohorts, *context.merged.queues]
    while stack:
        item = stack.pop()
        if isinstance(item, tree.Queue) and item.name.text == name:
            return item
        if isinstance(item, tree.Cohort):
            stack += item.body
    raise LookupError(name)


def _all_protected(context: Context, policy: graph.PolicyGraph) -> None:
    own = _items(context, tree.Protect)
    for rule in policy.protect:
        if rule.name in own and rule.guard is None and rule.nodes is None and policy.preempt:
            item = own[rule.name]
            context.at(item)
            message = f"rule `{rule.name}` protects everything always, so no preempt rule can ever evict"
            context.warn("GP054", message, item.name, "no guard, no scope", "add a guard or `for`, or write `preempt by nothing`")

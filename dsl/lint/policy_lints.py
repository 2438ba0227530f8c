"""Warnings about what is allowed but certainly not intended. A lint may miss a case, but it never gives a false warning."""

from ...engine import policy_graph as graph
from ..analysis.context import Context
from ..analysis.declarations import queues
from ..syntax import tree
from ..syntax.guard_walk import guards_of, levels
from .guard_contradictions import Possible, is_mutual, never_holds, possible
from .livelocks import turns

MadeRule = graph.PreemptRule | graph.ProtectRule | graph.AdmissionRule
RuleKey = tuple[str, str]
"""A rule's kind and name."""

_SHARES = ("queue.share", "queue.share_after")


def lint(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn about rules that can never fire or that order by nothing, endless evictions, and unusable priorities and queues."""
    own = _own_rules(context)
    world = possible(policy)
    silent = _silent_rules(context, policy, world, own)
    firing = {key: item for key, item in own.items() if key not in silent}
    turning = _in_turns(context, policy, world, firing)
    if not world.shares:
        _idle_shares(context, {key: item for key, item in firing.items() if key not in turning})
    _unusable_priorities(context, world)
    _dead_queues(context, policy)
    _all_protected(context, policy, own)
    turns(context, policy)


def _own_rules(context: Context) -> dict[RuleKey, tree.RuleItem]:
    """The policy's own rules by kind and name; a profile's are not the author's to change."""
    merged = context.merged
    rules: list[tree.RuleItem] = [*merged.preempt, *merged.protect, *merged.admission]
    policy = merged.origin[id(merged.header)]
    return {(tree.keyword(item), item.name.text): item for item in rules if merged.origin[id(item)] is policy}


# --- rules that can never fire


def _silent_rules(context: Context, policy: graph.PolicyGraph, world: Possible, own: dict[RuleKey, tree.RuleItem]) -> set[RuleKey]:
    """Warn of the rules that can never fire, and name them."""
    silent = set()
    for key, rule in _made_rules(policy).items():
        reason = _why_silent(policy, world, rule) if key in own else None
        if reason is not None:
            silent.add(key)
            context.at(own[key])
            message, label, help_text = reason
            context.warn("GP050", f"rule `{rule.name}` can never fire: {message}", own[key].name, label, help_text)
    return silent


def _made_rules(policy: graph.PolicyGraph) -> dict[RuleKey, MadeRule]:
    return {
        **{("preempt", rule.name): rule for rule in policy.preempt},
        **{("protect", rule.name): rule for rule in policy.protect},
        **{(rule.action, rule.name): rule for rule in policy.admission},
    }


def _why_silent(policy: graph.PolicyGraph, world: Possible, rule: MadeRule) -> tuple[str, str, str] | None:
    """Why a rule can never fire: what to say, the label and the help; None where it may fire."""
    if isinstance(rule, graph.PreemptRule):
        if rule.scope != "same-queue" and len(policy.queues) < 2:
            return "there is no other queue", "no victims", "add a queue, or write `evict from the same queue`"
        if rule.trigger == "fits-cohort" and not any(node.queue < 0 for node in policy.nodes[1:]):
            return "there is no cohort that could own anything", "no cohort", "write `when workload fits what its queue owns`"
    elif rule.nodes is not None and not any(_has_queue(policy, node) for node in rule.nodes):
        return "no queue is below what `for` names", "for no queue", "name a queue, or a cohort that holds one"
    if never_holds(rule.guard, world):
        return "its guard is never true", "never true", "change the guard or remove the rule"
    return None


def _has_queue(policy: graph.PolicyGraph, node: int) -> bool:
    return policy.nodes[node].queue >= 0 or any(_has_queue(policy, child) for child in policy.nodes[node].children)


def _in_turns(context: Context, policy: graph.PolicyGraph, world: Possible, own: dict[RuleKey, tree.RuleItem]) -> set[RuleKey]:
    """Warn of the rules by which workloads evict each other in turns, and name them.

    A profile's rule is told where the policy's own `share none` takes away the shares that rank the two.
    """
    turning: set[RuleKey] = set()
    for rule in policy.preempt:
        item, key = own.get(("preempt", rule.name)), ("preempt", rule.name)
        if rule.trigger is not None or not is_mutual(rule, world):
            continue
        message = f"rule `{rule.name}` lets two workloads evict each other in turns"
        if item is not None:
            context.at(item)
            ranks = "`victim.priority < workload.priority`"
            ranks += ", `workload.queue.share <= victim.queue.share_after` or a `when`" if world.shares else " or a `when`"
            context.warn("GP052", message, item.name, "nothing ranks the two", f"add {ranks}")
            turning.add(key)
        elif (share := _own_share(context)) is not None:
            context.at(share)
            help_text = f"write `share borrowed` or `share used`, or a rule `{rule.name}` of your own that ranks them"
            context.warn("GP052", f"{message}: all shares are 0", share, "ranks nobody", help_text)
    return turning


def _own_share(context: Context) -> tree.ShareChoice | None:
    """The choice of the share where the policy itself makes it."""
    merged = context.merged
    share = merged.choices.get("share")
    return share if isinstance(share, tree.ShareChoice) and merged.origin[id(share)] is merged.origin[id(merged.header)] else None


def _idle_shares(context: Context, own: dict[RuleKey, tree.RuleItem]) -> None:
    """Warn of comparisons and orders of the policy's own by shares, which are all 0."""
    help_text = "write `share borrowed` or `share used` in the header, or leave it out"
    order = context.merged.choices.get("order queues")
    if isinstance(order, tree.Order) and context.merged.origin[id(order)] is context.merged.origin[id(context.merged.header)]:
        context.at(order)
        for key in order.keys:
            if key.path == "share":
                context.warn("GP055", "`share` orders nothing: all shares are 0", key, "always equal", help_text)
    for item in own.values():
        context.at(item)
        for node in _by_share(item):
            context.warn("GP055", f"rule `{item.name.text}` goes by shares, which are all 0", node, "always equal", help_text)


def _by_share(item: tree.RuleItem) -> list[tree.Spanned]:
    """The comparisons and keys of a rule that go by shares."""
    orders = [part for part in item.body if isinstance(part, tree.OrderBy)] if isinstance(item, tree.PreemptItem) else []
    keys = [key for order in orders for key in order.keys if key.path == "victim.queue.share"]
    guards = [inner for guard in guards_of(item) for level in levels(guard) for inner in level]
    return [*keys, *(guard for guard in guards if isinstance(guard, tree.FieldComparison) and guard.left.path in _SHARES)]


def _all_protected(context: Context, policy: graph.PolicyGraph, own: dict[RuleKey, tree.RuleItem]) -> None:
    for rule in policy.protect:
        item = own.get(("protect", rule.name))
        if item is not None and rule.guard is None and rule.nodes is None and policy.preempt:
            context.at(item)
            message = f"rule `{rule.name}` protects everything always, so no preempt rule can ever evict"
            context.warn("GP054", message, item.name, "no guard, no scope", "add a guard or `for`, or write `preempt by nothing`")


# --- priorities and queues that nobody can use


def _unusable_priorities(context: Context, world: Possible) -> None:
    for item in context.merged.priorities:
        if context.priorities[item.name.text] > world.highest:
            context.at(item)
            message = f"nobody may use priority `{item.name.text}`: every queue's ceiling is below it, the highest is {world.highest}"
            context.warn("GP051", message, item.name, "above every ceiling", "raise a ceiling or remove the priority")


def _dead_queues(context: Context, policy: graph.PolicyGraph) -> None:
    items = queues.items(context)
    context.at(context.merged.header)  # queues are the policy's alone; those inside cohorts have no origin of their own
    for queue in policy.queues:
        node = policy.nodes[queue.node]
        quotas = [node.quotas[number] for number, slot in enumerate(policy.slots) if slot.flavor in queue.flavors]
        if quotas and all(quota.nominal == 0 and quota.borrowing_limit == 0 for quota in quotas):
            message = f"queue `{node.name}` can never run anything: it owns nothing and borrows nothing"
            context.warn("GP053", message, items[node.name].name, "no quota", "let it own or borrow something")

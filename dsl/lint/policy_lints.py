"""Warnings about what is allowed but certainly not intended. A lint may miss a case, but it never gives a false warning."""

from ...engine import guard as expr
from ...engine import policy_graph as graph
from ...engine.units import format_duration
from ..analysis.context import Context
from ..diagnostics import DiagnosticNote
from ..syntax import tree
from ..syntax.guard_walk import guards_of, levels
from ..syntax.names import listed, shortened
from .examples import of_always, of_never
from .guard_contradictions import Turns, never_holds, turns_by
from .livelocks import turns
from .pass_lints import judge_votes
from .place_lints import judge_places
from .queue_lints import judge_queues
from .quota_reach import Reach
from .refusals import refused_together
from .satisfiable import Possible, always_holds, can_hold, possible

MadeRule = graph.PreemptRule | graph.ProtectRule | graph.AdmissionRule
RuleKey = tuple[str, str]
"""A rule's kind and name."""

_SHARES = ("queue.share", "queue.share_after")


def lint(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn about rules that can never fire or that order by nothing, endless evictions, and unusable priorities and queues."""
    own = _own_rules(context)
    world, reach = possible(policy), Reach(policy)
    silent = _silent_rules(context, policy, world, own)
    firing = {key: item for key, item in own.items() if key not in silent}
    if context.by_passes:
        _lint_passes(context, policy, world, firing)
        return
    turning = _in_turns(context, policy, world, reach, firing)
    if not world.shares:
        _idle_shares(context, {key: item for key, item in firing.items() if key not in turning})
    _unusable_priorities(context, world)
    judge_queues(context, policy, reach)
    judge_places(context, policy)
    protecting = _all_protected(context, policy, world, own)
    idle = _idle_guards(context, policy, world, {key: item for key, item in firing.items() if key not in protecting})
    refused_together(context, policy, world, {key: item for key, item in firing.items() if key not in idle})
    _idle_tests(context)
    turns(context, policy)


def _lint_passes(context: Context, policy: graph.PolicyGraph, world: Possible, firing: dict[RuleKey, tree.RuleItem]) -> None:
    """The warnings that hold where passes decide: searches, shares and quotas are others there."""
    judge_votes(context)
    _unusable_priorities(context, world)
    idle = _idle_guards(context, policy, world, firing)
    refused_together(context, policy, world, {key: item for key, item in firing.items() if key not in idle})
    _idle_tests(context)


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
            notes = of_never(rule.guard, world) if rule.guard is not None and label == "never true" else ()
            context.warn("GP050", f"rule `{rule.name}` can never fire: {message}", own[key].name, label, help_text, notes)
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


def _in_turns(
    context: Context, policy: graph.PolicyGraph, world: Possible, reach: Reach, own: dict[RuleKey, tree.RuleItem]
) -> set[RuleKey]:
    """Warn of the rules by which workloads evict each other in turns, and name them.

    A profile's rule is told where the policy's own `share none` takes away the shares that rank the two.
    """
    turning: set[RuleKey] = set()
    for rule in policy.preempt:
        item, key = own.get(("preempt", rule.name)), ("preempt", rule.name)
        found = None if rule.trigger is not None else turns_by(rule, policy, world, reach)
        if found is None:
            continue
        message = f"rule `{rule.name}` lets two workloads evict each other in turns"
        notes = (DiagnosticNote(_turn(rule, found)),)
        if item is not None:
            context.at(item)
            ranks = "`victim.priority < workload.priority`"
            ranks += ", `workload.queue.share <= victim.queue.share_after` or a `when`" if world.shares else " or a `when`"
            context.warn("GP052", message, item.name, "nothing ranks the two", f"add {ranks}", notes)
            turning.add(key)
        elif (share := _own_share(context)) is not None:
            context.at(share)
            help_text = f"write `share borrowed` or `share used`, or a rule `{rule.name}` of your own that ranks them"
            context.warn("GP052", f"{message}: all shares are 0", share, "ranks nobody", help_text, notes)
    return turning


def _turn(rule: graph.PreemptRule, found: Turns) -> str:
    """Two workloads that take turns, in words."""
    one, other = found.queues
    where = f"queue `{one}`" if one == other else f"queues `{one}` and `{other}`"
    if found.after == 0:
        return f"for example, of two like workloads of {where}, each may evict the other"
    return (
        f"for example, of two like workloads of {where}, each evicts the other {format_duration(found.after)} after it was evicted itself"
    )


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


def _all_protected(context: Context, policy: graph.PolicyGraph, world: Possible, own: dict[RuleKey, tree.RuleItem]) -> set[RuleKey]:
    """Warn where every workload is protected always, and name the rules that do it, one or several together."""
    everywhere = [rule for rule in policy.protect if rule.nodes is None]
    if not policy.preempt:
        return set()
    alone = next((rule for rule in everywhere if rule.guard is None or always_holds(rule.guard, world)), None)
    guards = [expr.Not(rule.guard) for rule in everywhere if rule.guard is not None]
    together = [alone] if alone is not None else everywhere if guards and not can_hold(guards, world) else []
    told = [rule for rule in together if ("protect", rule.name) in own]
    if not told:
        return set()
    item = own["protect", told[-1].name]
    context.at(item)
    help_text = "add a guard or `for`, or write `preempt by nothing`"
    if alone is not None:
        message, label = f"rule `{alone.name}` protects everything always", "no guard, no scope" if alone.guard is None else "always true"
    else:
        message, label = f"rules {listed(rule.name for rule in together)} together protect everything always", "the last of them"
    if alone is not None and alone.guard is not None:
        help_text = "change the guard, or write `preempt by nothing`"
    notes = of_always(alone.guard, world) if alone is not None and alone.guard is not None else ()
    context.warn("GP054", f"{message}, so no preempt rule can ever evict", item.name, label, help_text, notes)
    return {("protect", rule.name) for rule in together}


def _idle_guards(context: Context, policy: graph.PolicyGraph, world: Possible, own: dict[RuleKey, tree.RuleItem]) -> set[RuleKey]:
    """Warn of guards that always hold, and name their rules."""
    idle = set()
    for key, rule in _made_rules(policy).items():
        if key in own and rule.guard is not None and _says_nothing(rule.guard, world):
            context.at(own[key])
            message = f"the guard of rule `{rule.name}` always holds"
            help_text = "write the condition that you mean, or leave `where` out"
            context.warn("GP060", message, own[key].name, "always true", help_text, of_always(rule.guard, world))
            idle.add(key)
    return idle


def _says_nothing(guard: expr.Expr, world: Possible) -> bool:
    """Whether a guard always holds; not where that is so for shares that are all 0, of which another warning speaks."""
    by_share = any(field.type is expr.Type.SHARE for field in expr.fields(guard))
    return always_holds(guard, world) and (world.shares or not by_share)


def _idle_tests(context: Context) -> None:
    """Warn of tests that only submit and expect nothing. One that finishes a workload shows at least that it ran."""
    context.at(context.merged.header)
    for item in context.merged.tests:
        if not any(isinstance(step, tree.Expect) or isinstance(step.action, tree.Act) for step in item.steps):
            message = f'test "{shortened(item.name.text)}" expects nothing: it passes whatever becomes of its workloads'
            note = DiagnosticNote("for example, it passes where no workload is ever admitted")
            context.warn("GP063", message, item.name, "no `expect`", "add a line such as `expect w admitted`", (note,))


# --- priorities that nobody can use


def _unusable_priorities(context: Context, world: Possible) -> None:
    for item in context.merged.priorities:
        if world.ceiling is not None and context.priorities[item.name.text] > world.ceiling:
            context.at(item)
            message = f"nobody may use priority `{item.name.text}`: every queue's ceiling is below it, the highest is {world.ceiling}"
            context.warn("GP051", message, item.name, "above every ceiling", "raise a ceiling or remove the priority")

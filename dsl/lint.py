"""Warnings: what is allowed and certainly not meant. A lint may miss a case, it never warns of what could be meant."""

from collections.abc import Iterator

from ..engine import graph
from . import tree
from .context import Context
from .lint_guards import Possible, is_mutual, never_holds, possible

Rule = tree.Preempt | tree.Protect | tree.Admission
MadeRule = graph.PreemptRule | graph.ProtectRule | graph.AdmissionRule
Key = tuple[str, str]
"""A rule's kind and name."""


def lint(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of rules that can never fire, evictions that can go on for ever, and priorities and queues nobody can use."""
    own = _own_rules(context)
    world = possible(policy)
    silent = _silent_rules(context, policy, world, own)
    firing = {key: item for key, item in own.items() if key not in silent}
    _in_turns(context, policy, world, firing)
    _unusable_priorities(context, world)
    _dead_queues(context, policy)
    _all_protected(context, policy, own)


def _own_rules(context: Context) -> dict[Key, Rule]:
    """The policy's own rules by kind and name; a profile's are not the author's to change."""
    merged = context.merged
    rules: list[Rule] = [*merged.preempt, *merged.protect, *merged.admission]
    policy = merged.origin[id(merged.header)]
    return {(_kind(item), item.name.text): item for item in rules if merged.origin[id(item)] is policy}


def _kind(item: Rule) -> str:
    return item.action if isinstance(item, tree.Admission) else type(item).__name__.lower()


# --- rules that can never fire


def _silent_rules(context: Context, policy: graph.PolicyGraph, world: Possible, own: dict[Key, Rule]) -> set[Key]:
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


def _made_rules(policy: graph.PolicyGraph) -> dict[Key, MadeRule]:
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


def _in_turns(context: Context, policy: graph.PolicyGraph, world: Possible, own: dict[Key, Rule]) -> None:
    for rule in policy.preempt:
        item = own.get(("preempt", rule.name))
        if item is not None and rule.trigger is None and is_mutual(rule, world):
            context.at(item)
            message = f"rule `{rule.name}` lets two workloads evict each other in turns"
            help_text = "add `victim.priority < workload.priority`, `workload.queue.share <= victim.queue.share_after` or a `when`"
            context.warn("GP052", message, item.name, "nothing ranks the two", help_text)


def _all_protected(context: Context, policy: graph.PolicyGraph, own: dict[Key, Rule]) -> None:
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
    items = {item.name.text: item for item in _queue_items(context)}
    context.at(context.merged.header)  # queues are the policy's alone; those inside cohorts have no origin of their own
    for queue in policy.queues:
        node = policy.nodes[queue.node]
        quotas = [node.quotas[number] for number, slot in enumerate(policy.slots) if slot.flavor in queue.flavors]
        if quotas and all(quota.nominal == 0 and quota.borrowing_limit == 0 for quota in quotas):
            message = f"queue `{node.name}` can never run anything: it owns nothing and borrows nothing"
            context.warn("GP053", message, items[node.name].name, "no quota", "let it own or borrow something")


def _queue_items(context: Context) -> Iterator[tree.Queue]:
    below: list[tree.Spanned] = [*context.merged.cohorts, *context.merged.queues]
    while below:
        item = below.pop()
        if isinstance(item, tree.Queue):
            yield item
        elif isinstance(item, tree.Cohort):
            below += item.body

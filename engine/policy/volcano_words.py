"""What a policy has to say as Volcano decides it: the language can say more, and Volcano has no choice there.

A policy that searches for victims node by node is decided by Volcano's passes (`gpol.engine.definition.volcano`).
"""

from collections.abc import Mapping

from ..policy_graph import Node, PolicyGraph, PreemptRule
from .pass_settings import Passes

_QUEUE_ORDERS: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "proportion": (("queue-priority", True), ("share", False), ("created", False)),
    "capacity": (("queue-priority", True), ("share", False), ("unentitled", False), ("created", False)),
    "drf": (("saturated", False), ("share", False), ("created", False)),
}
"""The order of queues of each plugin."""

_SHARES = {"proportion": ("entitlement", "1"), "capacity": ("owned", "1"), "drf": ("used", "")}
_MOST_WEIGHT = 65_535
_WORKLOAD_KEYS = {"priority": True, "readiness": False, "share": False}
"""The keys of workloads, each with whether the greater value comes first."""


def unlike_volcano(graph: PolicyGraph) -> str | None:
    """The first thing that a policy says otherwise than Volcano decides it, as the language writes it; None where there is none."""
    settings, passes = graph.settings, graph.settings.passes
    assert passes is not None
    plugin = _plugin(passes)
    if plugin is None:
        return "`share`: to Volcano it is `used`, or `of entitlement` with `entitle by weight`, or `of owned` with `entitle as owned`"
    if (passes.share.of, passes.share.nothing_due) != _SHARES[plugin]:
        return "`share`: Volcano counts 1 where nothing is due"
    if tuple((key.field, key.descending) for key in settings.queue_order) != _QUEUE_ORDERS[plugin]:
        order = ", ".join(f"{key} {'desc' if descending else 'asc'}" for key, descending in _QUEUE_ORDERS[plugin])
        return f"`order queues by`: with Volcano's plugin `{plugin}` the order is `{order}`"
    keys = [(key.field, key.descending) for key in settings.workload_order]
    if keys[-1:] != [("submitted", False)] or any(_WORKLOAD_KEYS.get(key) is not descending for key, descending in keys[:-1]):
        return "`order workloads by`: Volcano's keys are `priority desc`, `readiness asc` and `share asc`, then `submitted asc`"
    if [(key.field, key.descending) for key in passes.place_by] != [("score", True)]:
        return "`place pods by`: Volcano's order is `score desc`"
    if any(score.weight.denominator != 1 for score in passes.scores):
        return "`score nodes`: Volcano's weights are whole numbers"
    bounds = {each.bound for each in passes.admit_within}
    if bounds != {"proportion": {"entitlement"}, "capacity": {"limits"}, "drf": set()}[plugin]:
        return f"`admit within`: Volcano's plugin `{plugin}` has bounds of its own, as the profile `volcano.{plugin}` has it"
    if plugin == "proportion" and any(not node.is_queue for node in graph.nodes[1:]):
        return "`cohort`: Volcano's plugin `proportion` knows no tree of queues"
    if any(node.weight.denominator != 1 or not 1 <= node.weight <= _MOST_WEIGHT for node in graph.nodes[1:]):
        return f"`weight`: Volcano's weights are whole numbers from 1 to {_MOST_WEIGHT:,}"
    if plugin == "drf" and any(map(_says_more_than_weight, graph.nodes[1:])):
        return "a queue: to Volcano's plugin `drf` queues have a `weight` and no more"
    tiers = [{vote: number for number, votes in enumerate(rule.search.votes) for vote in votes} for rule in graph.preempt if rule.search]
    if any(one[vote] != other[vote] for one in tiers for other in tiers for vote in sorted(one.keys() & other.keys())):
        return "`votes`: a plugin of Volcano is in one tier, and so are its votes in all rules"
    return next((said for rule in graph.preempt if (said := _unlike_rule(rule, plugin)) is not None), None)


def _says_more_than_weight(node: Node) -> bool:
    """Whether a queue or cohort owns something, or has limits, guarantees or a priority."""
    terms = node.terms
    more = terms is not None and (any(each is not None for each in terms.limits) or any(terms.guaranteed) or terms.priority != 0)
    return more or any(quota.nominal_source is not None for quota in node.quotas)


def _plugin(passes: Passes) -> str | None:
    """The plugin that orders queues."""
    ways = {("used", "owned"): "drf", ("entitlement", "weight"): "proportion", ("owned", "owned"): "capacity"}
    return ways.get((passes.share.of, passes.entitlement.way))


def _unlike_rule(rule: PreemptRule, plugin: str) -> str | None:
    """The same of one rule."""
    search = rule.search
    assert search is not None
    scope = {"preempt": "same-queue", "reclaim": "other-queues"}.get(search.in_pass)
    trigger = "fits-entitlement" if search.in_pass == "reclaim" and plugin != "drf" else None
    if rule.scope != scope or rule.trigger != trigger or rule.guard is not None:
        return f"rule `{rule.name}`: Volcano decides the pass `{search.in_pass}` by one rule, as the profile `volcano.{plugin}` has it"
    if search.in_pass == "reclaim" and search.any_resource != (plugin == "capacity"):
        return f"rule `{rule.name}`: Volcano's plugin `capacity` asks `in any resource`, and no other one does"
    if search.in_pass == "reclaim" and any(vote == "priority" for votes in search.votes for vote in votes):
        return f"rule `{rule.name}`: Volcano's plugin `priority` has no say about victims of other queues"
    if search.in_pass == "preempt" and any(vote == "deserved" for votes in search.votes for vote in votes):
        return f"rule `{rule.name}`: no plugin of Volcano that knows what queues are entitled to has a say about victims of the same queue"
    return None

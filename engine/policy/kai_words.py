"""What a policy has to say as KAI decides it: the language can say more, and KAI has no choice there.

A policy that searches for victims by scenarios is decided by KAI's passes (`gpol.engine.definition.kai`).
"""

from collections.abc import Mapping

from ..guard import Compare, Expr, Field, Type
from ..policy_graph import PolicyGraph, PreemptRule
from .pass_settings import Entitlement, PassShare, Within

_QUEUE_KEYS = {
    ("over-entitlement", False),
    ("starved", True),
    ("queue-priority", True),
    ("unentitled", False),
    ("share-with", False),
    ("share", False),
    ("entitlement", False),
    ("created", False),
}
"""The keys of the order of queues, each with whether the greater value comes first."""

_WORKLOAD_ORDER = (("priority", True), ("readiness", False), ("submitted", False))
_NODE_ORDER = (("domain", True), ("fits-now", True), ("plain-node", True))
_ENTITLEMENT, _SHARE = Entitlement("owned-first", whole_units=True, by_priority=True), PassShare("entitlement", "x1000")
_BOUNDS = {Within("limits"), Within("owned-if-never-evicted")}
_LOWER = Compare("<", Field("victim", "priority", Type.PRIORITY), Field("workload", "priority", Type.PRIORITY))

_RULES: Mapping[str, tuple[str | None, str, Expr | None, str, tuple[tuple[str, ...], ...]]] = {
    "consolidate": ("may-be-evicted", "any-queue", None, "everybody", ()),
    "reclaim": ("fits-entitlement", "other-queues", None, "whom-it-can", (("over-entitlement", "owed"), ("less-saturated",))),
    "preempt": (None, "same-queue", _LOWER, "whom-it-can", ()),
}
"""Of each rule: when it is used, whom it may evict, its guard, who is moved, and its tests."""


def unlike_kai(graph: PolicyGraph) -> str | None:
    """The first thing that a policy says otherwise than KAI decides it, as the language writes it; None where there is none."""
    settings, passes = graph.settings, graph.settings.passes
    assert passes is not None
    keys = [(key.field, key.descending) for key in settings.queue_order]
    nodes = [(key.field, key.descending) for key in passes.place_by]
    if passes.entitlement != _ENTITLEMENT:
        return "`entitle`: KAI entitles `owned first, then by weight in whole units by priority`"
    if passes.share != _SHARE:
        return "`share`: KAI's is `of entitlement where nothing is due counts x1000`"
    if not keys or any(key not in _QUEUE_KEYS for key in keys):
        return "`order queues by`: KAI knows each key in one direction alone, as the profile `kai.default` has it"
    if [(key.field, key.descending) for key in settings.workload_order] != list(_WORKLOAD_ORDER):
        return "`order workloads by`: KAI's order is `priority desc, readiness asc, submitted asc`"
    last = passes.place_by[-1]
    if nodes[:-1] != list(_NODE_ORDER) or (last.field, last.resource, last.step) != ("free", "gpu", 0):
        return "`place pods by`: KAI's order is `domain desc, fits-now desc, plain-node desc`, then `free gpu` of either direction"
    if set(passes.admit_within) != _BOUNDS:
        return "`admit within`: KAI's bounds are `limits, owned if never evicted`"
    return next((said for rule in graph.preempt if (said := _unlike_rule(rule)) is not None), None)


def _unlike_rule(rule: PreemptRule) -> str | None:
    """The same of one rule."""
    search = rule.search
    assert search is not None
    trigger, scope, guard, moving, tests = _RULES[search.in_pass]
    said = (rule.trigger, rule.scope, rule.guard, search.moving, tuple(tuple(each.test for each in tests) for tests in search.accept))
    if said == (trigger, scope, guard, moving, tests) or (search.in_pass == "reclaim" and said == (trigger, scope, guard, "", tests)):
        return None
    return f"rule `{rule.name}`: KAI decides the pass `{search.in_pass}` by one rule, as the profile `kai.default` has it"

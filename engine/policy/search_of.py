"""By which search for victims a policy decides that decides by passes, and so whose passes these are."""

from ..policy_graph import PolicyGraph
from .pass_settings import VictimSearch


def search_of(graph: PolicyGraph) -> VictimSearch:
    """The search of the policy's preempt rules, which is one. A policy without rules evicts nobody, and is known by what it entitles to."""
    passes = graph.settings.passes
    assert passes is not None
    said = sorted({rule.search.search for rule in graph.preempt if rule.search is not None})
    if said:
        return said[0]
    if "balance" in passes.order:
        return "by-rescheduling"
    return "by-scenarios" if passes.entitlement.way == "owned-first" else "node-by-node"

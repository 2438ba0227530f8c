"""What a policy has to say as Armada decides it: the language can say more, and Armada has no choice there.

A policy that searches for victims by rescheduling is decided by Armada's round (`gpol.engine.definition.armada`).
"""

from fractions import Fraction

from ..policy_graph import PolicyGraph
from .pass_settings import Entitlement, Within

_ENTITLEMENT = Entitlement("demand", rounds=10, remainder=Fraction(1, 100))
_QUEUE_ORDERS = (
    [("priority", True), ("share-with", False)],
    [("priority", True), ("large-first", True), ("share-with", False)],
)
_TESTS: tuple[list[list[str]], ...] = ([], [["over-entitlement"]], [["over-uncapped"]])


def unlike_armada(graph: PolicyGraph) -> str | None:
    """The first thing that a policy says otherwise than Armada decides it, as the language writes it; None where there is none."""
    settings, passes = graph.settings, graph.settings.passes
    assert passes is not None
    nodes = [(key.field, key.descending) for key in passes.place_by]
    if passes.entitlement != _ENTITLEMENT:
        return "`entitle`: Armada entitles `by weight up to demand, in at most 10 rounds, to 1/100`"
    if (passes.share.of, passes.share.nothing_due) != ("cost", "0"):
        return "`share`: Armada's is `of cost where nothing is due counts 0`"
    if [(key.field, key.descending) for key in settings.queue_order] not in _QUEUE_ORDERS:
        return "`order queues by`: Armada's order is `priority desc, share-with asc`, or with `large-first desc` between the two"
    if [(key.field, key.descending) for key in settings.workload_order] != [("priority", True), ("submitted", False)]:
        return "`order workloads by`: Armada's order is `priority desc, submitted asc`"
    if nodes[:1] != [("evicts", False)] or any(key != ("free", False) for key in nodes[1:]):
        return "`place pods by`: Armada's order is `evicts asc`, then what is free of resources, each `asc`"
    if passes.admit_within != (Within("limits"),):
        return "`admit within`: Armada's bounds are `limits`"
    if any(node.weight <= 0 for node in graph.nodes[1:]):
        return "`weight`: Armada's weights are above 0"
    for rule in graph.preempt:
        search = rule.search
        assert search is not None
        tests = [[each.test for each in tests] for tests in search.accept]
        if (rule.scope, rule.trigger, rule.guard) != ("any-queue", None, None) or tests not in _TESTS:
            return f"rule `{rule.name}`: Armada decides by one rule, as the profile `armada.default` has it"
    return None

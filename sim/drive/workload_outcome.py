"""What happened to a workload of a test: the strictest `expect` statement that is true of it, and the reason."""

from dataclasses import dataclass

from ...dsl.analysis.policy_tests import REASONS
from ...dsl.syntax import tree
from ...engine.event_parts import Charge
from ...engine.explain.pending import standing as standing_of
from ...engine.outcome.grounds import Why
from ...engine.policy_graph import PolicyGraph
from .policy_tests import TestPlay, keeping_rule


@dataclass(frozen=True, slots=True)
class WorkloadOutcome:
    """What happened to a workload: the matching `expect` statement, the reason and what it borrows.

    `evicts` names the victims that were evicted for it; `beneficiary` names the workload for which it was evicted itself.
    """

    expect: tree.Expect
    reason: str
    why: Why
    borrowed: tuple[Charge, ...] = ()
    evicts: tuple[str, ...] = ()
    beneficiary: str | None = None


def outcome_of(play: TestPlay, workload: str) -> WorkloadOutcome | None:
    """What has happened to a workload so far; None if it finished or was cancelled."""
    graph = play.player.core.graph
    assert graph is not None
    name, standing = tree.Name(workload), standing_of(play.player.core, workload, briefly=True)
    if standing is None:
        rejected = play.rejected.get(workload)
        if rejected is None:
            return None
        denied = _known(rejected.why, [rule.name for rule in graph.admission if rule.action == "deny"])
        return WorkloadOutcome(tree.Expect(name, "rejected", rule=denied), rejected.reason, rejected.why)
    if standing.state == "running":
        admitted = play.admitted[workload]
        flavors = sorted({charge.flavor for charge in admitted.usage})
        flavor = tree.Name(flavors[0]) if len(flavors) == 1 else None
        evicts = tuple(sorted(name for name, eviction in play.evicted.items() if eviction.beneficiary == workload))
        expect = tree.Expect(name, "admitted", borrowing=bool(admitted.borrowed), flavor=flavor)
        return WorkloadOutcome(expect, admitted.reason, admitted.why, admitted.borrowed, evicts)
    if workload in play.evicted:
        evicted = play.evicted[workload]
        rule = _known(evicted.why, _evicting(graph))
        return WorkloadOutcome(tree.Expect(name, "evicted", rule=rule), evicted.reason, evicted.why, beneficiary=evicted.beneficiary)
    reason = tree.Name(standing.reason) if standing.reason in REASONS else None
    keeping, known = keeping_rule(play, standing), [rule.name for rule in graph.protect]
    known += [rule.name for rule in graph.admission if rule.action == "hold"]
    rule = tree.Name(keeping) if keeping in known else None
    expect = tree.Expect(name, "pending", reason=reason, rule=rule)
    why = Why(rule=standing.rule, operands=standing.operands, limit=standing.limit)
    return WorkloadOutcome(expect, standing.reason, why)


def _evicting(graph: PolicyGraph) -> list[str]:
    """The names that a test may give as the cause of an eviction: preempt rules or, in cycles, queues."""
    if not graph.settings.in_cycles:
        return [rule.name for rule in graph.preempt]
    return [graph.nodes[queue.node].name for queue in graph.queues]


def _known(why: Why, names: list[str]) -> tree.Name | None:
    return tree.Name(why.rule.name) if why.rule is not None and why.rule.name in names else None

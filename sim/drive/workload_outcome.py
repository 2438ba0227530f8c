"""What becomes of a workload of a test: the strongest expectation that holds of it, and why it is so."""

from dataclasses import dataclass

from ..dsl import tree
from ..dsl.scenario import REASONS
from ..engine.events import Charge, Why
from ..engine.graph import PolicyGraph
from .policytest import TestPlay, keeping_rule


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a workload: what a test can expect of it, why, what it borrows, and who goes or went for whom.

    `evicts` are those that went for it with its admission; `beneficiary` is for whom it went itself.
    """

    expect: tree.Expect
    why: Why
    borrowed: tuple[Charge, ...] = ()
    evicts: tuple[str, ...] = ()
    beneficiary: str | None = None


def outcome(play: TestPlay, workload: str) -> Outcome | None:
    """What became of a workload by now; None of one that is over by itself."""
    graph = play.player.core.graph
    assert graph is not None
    name, standing = tree.Name(workload), play.player.core.standing(workload)
    if standing is None:
        rejected = play.rejected.get(workload)
        if rejected is None:
            return None
        denied = _known(rejected.why, [rule.name for rule in graph.admission if rule.action == "deny"])
        return Outcome(tree.Expect(name, "rejected", rule=denied), rejected.why)
    if standing.state == "running":
        admitted = play.admitted[workload]
        flavors = sorted({charge.flavor for charge in admitted.usage})
        flavor = tree.Name(flavors[0]) if len(flavors) == 1 else None
        evicts = tuple(sorted(name for name, eviction in play.evicted.items() if eviction.beneficiary == workload))
        expect = tree.Expect(name, "admitted", borrowing=bool(admitted.borrowed), flavor=flavor)
        return Outcome(expect, admitted.why, admitted.borrowed, evicts)
    if workload in play.evicted:
        evicted = play.evicted[workload]
        rule = _known(evicted.why, _evicting(graph))
        return Outcome(tree.Expect(name, "evicted", rule=rule), evicted.why, beneficiary=evicted.beneficiary)
    reason = tree.Name(standing.reason) if standing.reason in REASONS else None
    keeping, known = keeping_rule(play, standing), [rule.name for rule in graph.protect]
    known += [rule.name for rule in graph.admission if rule.action == "hold"]
    rule = tree.Name(keeping) if keeping in known else None
    expect = tree.Expect(name, "pending", reason=reason, rule=rule)
    why = Why(reason=standing.reason, rule=standing.rule, operands=standing.operands, limit=standing.limit)
    return Outcome(expect, why)


def _evicting(graph: PolicyGraph) -> list[str]:
    """What a test may name as evicting: preempt rules or, in cycles, queues."""
    if graph.settings.cycles is None:
        return [rule.name for rule in graph.preempt]
    return [graph.nodes[queue.node].name for queue in graph.queues]


def _known(why: Why, names: list[str]) -> tree.Name | None:
    return tree.Name(why.rule.name) if why.rule is not None and why.rule.name in names else None

"""Who uses what a waiting workload lacks, and what keeps each of them from going for it by preempt rules."""

from ..cores import Probe, View
from ..event_parts import Operand, RuleRef
from ..guard import fields
from ..outcome.named import charges
from ..outcome.nomination import CandidateOutcome, KeptCandidate, Mode, Nomination, Request, as_request
from ..policy_graph import PolicyGraph
from ..workload import Workload
from .policy_lines import reference, rule_line
from .standing import CandidatesLeftOut, CandidateStanding
from .wording import compared

_MOST = 20
"""How many candidates are listed; of all others it is said how many they are."""

Listed = tuple[tuple[CandidateStanding, ...], tuple[CandidatesLeftOut, ...]]
"""The candidates that use most of what is needed, and how many others there are."""


def kept_candidates(probe: Probe, view: View, nomination: Nomination) -> Listed:
    """What keeps everybody who uses what a nomination lacks, who uses most first; nobody where it runs, or never will."""
    graph = probe.graph
    if graph.settings.victims != "rules" or nomination.flavors.mode is not Mode.PREEMPT or nomination.runs:
        return (), ()
    short = {slot for slot, amount in nomination.flavors.request if not probe.fits(nomination.queue, ((slot, amount),))}
    if not short and nomination.flavors.unplaced is not None:  # places are short: what they use there is told instead
        short = nomination.flavors.needing
    found: list[tuple[Workload, KeptCandidate]] = []
    for each in probe.kept(nomination, _MOST):
        workload = view.workload(each.workload)
        if workload is not None:
            found.append((workload, each))
    listed = tuple(_standing(graph, workload, each, short) for workload, each in found[:_MOST])
    return listed, _left_out(graph, found[_MOST:], short)


def _needed(workload: Workload, short: set[int]) -> Request:
    """What a running workload uses of the slots that are short."""
    return tuple((slot, amount) for slot, amount in workload.usage if slot in short)


def _left_out(graph: PolicyGraph, rest: list[tuple[Workload, KeptCandidate]], short: set[int]) -> tuple[CandidatesLeftOut, ...]:
    totals: dict[CandidateOutcome, tuple[int, dict[int, int]]] = {}
    for workload, each in rest:
        count, usage = totals.get(each.outcome, (0, {}))
        for slot, amount in _needed(workload, short):
            usage[slot] = usage.get(slot, 0) + amount
        totals[each.outcome] = count + 1, usage
    return tuple(
        CandidatesLeftOut(outcome=outcome, count=totals[outcome][0], usage=charges(graph, as_request(totals[outcome][1])))
        for outcome in sorted(totals)
    )


def _standing(graph: PolicyGraph, workload: Workload, each: KeptCandidate, short: set[int]) -> CandidateStanding:
    rule, operands = _line(graph, workload, each)
    return CandidateStanding(
        workload=workload.name,
        queue=graph.nodes[workload.queue].name,
        outcome=each.outcome,
        rule=rule,
        operands=operands,
        usage=charges(graph, _needed(workload, short)),
        evicting=workload.evicting,
        until=each.until,
    )


def _line(graph: PolicyGraph, workload: Workload, each: KeptCandidate) -> tuple[RuleRef | None, tuple[Operand, ...]]:
    """The line of the policy that keeps a candidate, and what its guard compared."""
    if each.outcome == "never evicted":
        asked = workload.asked_priority
        name = asked if asked is not None else graph.queue_at(workload.queue).default_priority
        pinned = [priority for priority in graph.priorities if priority.never_evicted]
        known = next((priority for priority in pinned if name in (priority.name, priority.value)), None)
        return (None if known is None else reference(known.name, known.source)), ()
    if each.rule < 0:
        return None, ()
    rule = graph.protect[each.protect] if each.protect >= 0 else graph.preempt[each.rule]
    return rule_line(rule), tuple(compared(fields(rule.guard), each.values)) if each.values else ()

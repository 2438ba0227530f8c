"""Everybody who uses what a waiting workload needs, and whether and why they would go for it, or would not."""

from collections.abc import Iterator

from ..cores import Probe, View
from ..event_parts import Operand, RuleRef
from ..intake.slices import takes_place_of
from ..outcome.named import charges
from ..outcome.nomination import CandidateOutcome, ComparedShares, Mode, Nomination
from ..policy_graph import PolicyGraph
from ..units import format_time
from ..workload import Workload
from .decisions import SHARES
from .policy_lines import node_line, reference
from .standing import CandidateStanding
from .wording import show_share

_WORDS = {"nothing": "nobody", "lower": "lower priority", "lower-or-newer": "lower priority or newer", "any": "anyone"}
"""What a queue says of whom it evicts, as the language does."""


def candidates(probe: Probe, view: View, nomination: Nomination) -> Iterator[CandidateStanding]:
    """What came of everybody in the tree who uses a slot on which the workload needs room; of nobody where it fits or never will.

    For Kueue's two ways of looking for victims; preempt rules say by themselves whom they take.
    """
    graph, workload = probe.graph, view.workload(nomination.workload)
    slots = sorted(nomination.flavors.needing) if nomination.flavors.mode is Mode.PREEMPT else _short(graph, nomination)
    if workload is None or not slots or graph.settings.victims == "rules":
        return
    notes, enough = probe.search_notes(nomination)
    for other in _users(graph, view, workload.queue, slots):
        noted = other.name in notes
        outcome, shares = notes[other.name] if noted else (_unseen(probe, workload, other, slots, nomination, enough), None)
        rule, operands = _compared(graph, workload, other, outcome, shares, noted)
        if outcome == "taken" and not nomination.victims:
            operands.append(Operand(name="enough", value="no"))
        yield CandidateStanding(
            workload=other.name,
            queue=graph.nodes[other.queue].name,
            outcome=outcome,
            rule=rule,
            operands=tuple(operands),
            usage=charges(graph, tuple((slot, amount) for slot, amount in other.usage if slot in slots)),
            evicting=other.evicting,
        )


def _short(graph: PolicyGraph, nomination: Nomination) -> list[int]:
    """The slots that a workload lacks of flavors on which nobody was looked for, because it would have to borrow."""
    if nomination.flavors.mode is not Mode.NO_FIT:
        return []
    attempts = [attempt for pods in nomination.flavors.pod_sets for attempt in pods.attempts if attempt.reason == "WaitingForQuota"]
    lacks = {(each.flavor, each.resource) for attempt in attempts for each in attempt.obstacles if each.kind == "short"}
    return [index for index, slot in enumerate(graph.slots) if (slot.flavor, slot.resource) in lacks]


def _users(graph: PolicyGraph, view: View, queue: int, slots: list[int]) -> list[Workload]:
    """Who runs in the tree of a queue and uses one of these slots, by queue and name."""
    root = graph.path(queue)[-1]
    running = [each for each in view.workloads() if each.admitted is not None and graph.path(each.queue)[-1] == root]
    users = [each for each in running if any(slot in slots for slot, _ in each.usage)]
    return sorted(users, key=lambda each: (graph.nodes[each.queue].queue, each.name))


def _unseen(probe: Probe, workload: Workload, other: Workload, slots: list[int], nomination: Nomination, enough: bool) -> CandidateOutcome:
    """Why the search did not look at a workload."""
    graph, own = probe.graph, other.queue == workload.queue
    if other.pinned:
        return "never evicted"
    if takes_place_of(workload, other):
        return "replaced"
    if probe.is_inactive(other.queue):
        return "queue inactive"
    preemption = graph.queue_at(workload.queue).preemption
    if not probe.may_evict(workload.name, other.name, preemption.own if own else preemption.reclaims):
        return "not allowed"
    if not own:  # it is reached only where its queue, and every cohort on the way up to the common one, borrows
        path, theirs = graph.path(other.queue), graph.sides(workload.queue, other.queue)[1]
        if not all(probe.borrows(node, slots) for node in path[: path.index(theirs) + 1]):
            return "not borrowing"
    if nomination.flavors.mode is not Mode.PREEMPT:
        return "only without borrowing"
    return "not reached" if enough else "not borrowing"  # one that finds not enough has looked at all whose queues still borrow


def _compared(
    graph: PolicyGraph, workload: Workload, other: Workload, outcome: CandidateOutcome, shares: ComparedShares | None, noted: bool
) -> tuple[RuleRef | None, list[Operand]]:
    """The line that decided about a candidate, and what was compared."""
    preemption = graph.queue_at(workload.queue).preemption
    to_borrow = node_line(graph, workload.queue, preemption.borrowing_source)
    match outcome:
        case "never evicted":
            known = next((each for each in graph.priorities if each.name == other.asked_priority), None)
            return None if known is None else reference(known.name, known.source), []
        case "queue inactive":
            return node_line(graph, other.queue), []
        case "not allowed":
            own = other.queue == workload.queue
            wanted, source = (preemption.own, preemption.own_source) if own else (preemption.reclaims, preemption.reclaims_source)
            says = Operand(name="of its own it evicts" if own else "reclaims from", value=_WORDS[wanted])
            return node_line(graph, workload.queue, source), [says, *([] if wanted == "nothing" else _priorities(graph, workload, other))]
        case "only without borrowing":
            return to_borrow, _priorities(graph, workload, other) if noted else []
        case "replaced":
            return None, []
        case "not borrowing" if not noted:
            return None, []
        case _:
            named = zip(SHARES, shares or (), strict=False)
            shown = [Operand(name=name, value=show_share(share, graph.settings.rounded)) for name, share in named]
            return None, [*_priorities(graph, workload, other), *shown]


def _priorities(graph: PolicyGraph, mine: Workload, theirs: Workload) -> list[Operand]:
    """Both priorities and, where these are equal and the queue of both evicts what is newer, since when both wait or waited."""
    compared = [("workload.priority", str(mine.priority)), ("victim.priority", str(theirs.priority))]
    own = graph.queue_at(mine.queue).preemption.own
    if mine.priority == theirs.priority and mine.queue == theirs.queue and own == "lower-or-newer":
        compared += [("workload is queued since", format_time(mine.queued)), ("victim was queued", format_time(theirs.queued))]
    return [Operand(name=name, value=value) for name, value in compared]

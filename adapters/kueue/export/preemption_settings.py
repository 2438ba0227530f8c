"""Kueue's settings that correspond to a policy: with or without fair sharing, and which workloads may evict which.

A policy that decides in cycles must follow Kueue's own procedure. The rules of a policy that decides at once must match Kueue's preemption
policies; the names of the rules do not matter.
"""

from dataclasses import dataclass

from ....engine.guard import Compare, Expr, Field
from ....engine.policy_graph import PolicyGraph, Preemption, PreemptRule
from ....engine.policy_settings import Cycles, OrderKey, Strategy
from ....engine.units import SECOND, format_duration
from ..problems import Findings
from .kubernetes_names import place

_PERIOD = SECOND
_BOTH: tuple[Strategy, ...] = ("final-share", "initial-share")
_VALID = (_BOTH, ("final-share",), ("initial-share",))
"""The lists of strategies with which Kueue's manager starts."""


@dataclass(frozen=True, slots=True)
class PreemptionSettings:
    """Kueue's settings. Without `strategies` fair sharing is off. `preemption` holds for all queues; None: each queue has its own."""

    strategies: tuple[Strategy, ...]
    preemption: Preemption | None


def preemption_settings(graph: PolicyGraph, found: Findings) -> PreemptionSettings:
    """Kueue's settings for a policy. What Kueue cannot do is added to `found`."""
    found.begin("policy", graph.name, place(graph.nodes[0].source))
    if graph.settings.workload_order != _WORKLOADS:
        cause = f"orders workloads by {_listed(graph.settings.workload_order)}"
        found.problem("order workloads", cause, f"Kueue goes by {_listed(_WORKLOADS)}: write that, or leave it to the profile")
    cycles = graph.settings.cycles
    return _at_once(graph, found) if cycles is None else _in_cycles(graph, cycles, found)


# --- orders -----------------------------------------------------------------------------------------------------------


def _key(text: str) -> OrderKey:
    field, direction = text.split()
    return OrderKey(field, direction == "desc")


_HEADS = tuple(map(_key, ("borrowing asc", "priority desc", "submitted asc")))
_TOURNAMENT = tuple(map(_key, ("borrowing asc", "share asc", "priority desc", "submitted asc")))
_WORKLOADS = tuple(map(_key, ("priority desc", "submitted asc")))


def _listed(order: tuple[OrderKey, ...]) -> str:
    return ", ".join(f"{key.field} {'desc' if key.descending else 'asc'}" for key in order) or "nothing"


# --- in cycles --------------------------------------------------------------------------------------------------------


def _in_cycles(graph: PolicyGraph, cycles: Cycles, found: Findings) -> PreemptionSettings:
    settings = graph.settings
    fair = cycles.victims == "fair"
    subject, order = ("queues", _TOURNAMENT) if fair else ("heads", _HEADS)
    if cycles.flat == fair or settings.queue_order != order:
        cause = f"orders {'heads' if cycles.flat else 'queues'} by {_listed(settings.queue_order)}"
        remedy = f"Kueue {'with' if fair else 'without'} fair sharing says `order {subject} by {_listed(order)}`: write that"
        found.problem(f"order {subject}", cause, remedy)
    if fair and cycles.strategies not in _VALID:
        found.problem("preempt fairly", "tries initial share first, and Kueue does not start so", "put final share first, or leave one out")
    if fair and not settings.rounded:
        found.note("share", "are exact here, and Kueue rounds them: two that are almost equal may compare otherwise")
    if cycles.period != _PERIOD:
        found.note("decide in cycles", f"is every {format_duration(cycles.period)} here: Kueue's cycles follow one another at once")
    return PreemptionSettings(cycles.strategies, None)


# --- at once ----------------------------------------------------------------------------------------------------------

_Says = tuple[str | None, str, str]
"""What a rule says: when, from whom, and its guard as text."""

_LOWER = "victim.priority < workload.priority"
_KINDS: dict[_Says, Preemption | Strategy] = {
    (None, "same-queue", _LOWER): Preemption(own="lower"),
    ("fits-queue", "borrowing-queues", ""): Preemption(reclaims="any"),
    ("fits-queue", "borrowing-queues", _LOWER): Preemption(reclaims="lower"),
    (None, "borrowing-queues", _LOWER): Preemption(reclaims="lower", borrowing="lower"),
    (None, "borrowing-queues", "workload.queue.share <= victim.queue.share_after"): "final-share",
    (None, "borrowing-queues", "workload.queue.share < victim.queue.share"): "initial-share",
}
"""Rules that say what Kueue's policies of preemption or its strategies of fair sharing say."""

_VICTIMS = frozenset(map(_key, ("victim.queue.share desc", "victim.priority asc", "victim.admitted desc")))
"""What Kueue orders victims by."""

_PROCEDURE = "decides at once; Kueue decides in cycles by its own procedure: who goes first, and who has to go, may be others"
_ORDER_LOST = "goes by share among those that borrow; Kueue without fair sharing goes by priority and time alone"


def _at_once(graph: PolicyGraph, found: Findings) -> PreemptionSettings:
    found.note("", _PROCEDURE)
    kinds = [kind for rule in graph.preempt if (kind := _kind(rule, found)) is not None]
    strategies = tuple(strategy for strategy in _BOTH if strategy in kinds)
    preemption = _joined([kind for kind in kinds if isinstance(kind, Preemption)])
    if strategies and preemption.borrowing != "nothing":
        rule = next(rule for rule in graph.preempt if _KINDS.get(_says(rule)) == Preemption(reclaims="lower", borrowing="lower"))
        found.begin("preempt rule", rule.name, place(rule.source))
        found.problem("", "evicts while its workload borrows, which Kueue with fair sharing does not", "remove it, or the rules by share")
    if strategies:
        preemption = Preemption(own=preemption.own, reclaims="any")
    found.begin("policy", graph.name, place(graph.nodes[0].source))
    return PreemptionSettings(_ordered(graph, strategies, preemption, found), preemption)


def _kind(rule: PreemptRule, found: Findings) -> Preemption | Strategy | None:
    """What a rule says, in Kueue's terms; None where Kueue has no such policy, which is reported."""
    found.begin("preempt rule", rule.name, place(rule.source))
    kind = _KINDS.get(_says(rule))
    if kind is None:
        remedy = "use the rules of gpol.fair or gpol.reclaim, or rules with the same conditions"
        found.problem("", "evicts by conditions that no policy of preemption in Kueue has", remedy)
    elif not _VICTIMS.issuperset(rule.order):
        found.note("order by", "counts for nothing: Kueue takes the lowest priority first, then what was admitted last")
    return kind


def _says(rule: PreemptRule) -> _Says:
    """The conditions of a rule. Kueue searches the whole tree, so a rule that is limited to its cohort has no match."""
    near = rule.range == "same-cohort" and rule.scope != "same-queue"
    return rule.trigger, "same-cohort" if near else rule.scope, _guard(rule.guard)


_TURNED = {">": "<", ">=": "<="}


def _guard(guard: Expr | None) -> str:
    """A guard that compares two fields as text, the smaller side first; of any other a text that is no condition of Kueue's."""
    if guard is None:
        return ""
    if not isinstance(guard, Compare) or not isinstance(guard.right, Field):
        return "other"
    if guard.op in _TURNED:
        return f"{guard.right} {_TURNED[guard.op]} {guard.left}"
    return f"{guard.left} {guard.op} {guard.right}"


def _joined(parts: list[Preemption]) -> Preemption:
    """All that several rules let a queue evict."""
    reclaims = {part.reclaims for part in parts}
    return Preemption(
        own="lower" if any(part.own == "lower" for part in parts) else "nothing",
        reclaims="any" if "any" in reclaims else "lower" if "lower" in reclaims else "nothing",
        borrowing="lower" if any(part.borrowing == "lower" for part in parts) else "nothing",
    )


def _ordered(graph: PolicyGraph, strategies: tuple[Strategy, ...], preemption: Preemption, found: Findings) -> tuple[Strategy, ...]:
    """The strategies with which Kueue serves queues in the policy's order; none where that is without fair sharing."""
    share, order = graph.settings.share, graph.settings.queue_order
    if share == "none":  # all shares are 0: an order that goes by them does not
        order = tuple(key for key in order if key.field != "share")
    wanted = (_TOURNAMENT,) if strategies else (_TOURNAMENT, _HEADS)
    if (strategies or order == _TOURNAMENT) and share != "borrowed":
        found.problem("share", f"is `share {share}`, and Kueue compares what is borrowed", "write `share borrowed`")
    elif order not in wanted:
        remedy = f"Kueue goes by {' or '.join(map(_listed, wanted))}: write that, or leave it to the profile"
        found.problem("order queues", f"orders queues by {_listed(order)}", remedy)
    elif order == _TOURNAMENT and not strategies and preemption.reclaims != "nothing":
        found.note("order queues", _ORDER_LOST)
    elif order == _TOURNAMENT:
        return strategies or _BOTH
    return ()

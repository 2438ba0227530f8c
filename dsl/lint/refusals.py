"""Warnings about deny and hold rules that together leave nothing to be admitted (GP061)."""

from collections.abc import Mapping, Sequence

from ...engine import guard as expr
from ...engine import policy_graph as graph
from ..analysis.context import Context
from ..diagnostics import DiagnosticNote
from ..syntax import tree
from ..syntax.names import listed
from .examples import sample
from .satisfiable import Possible, always_holds, can_hold

_Rules = tuple[graph.AdmissionRule, ...]


def refused_together(context: Context, policy: graph.PolicyGraph, world: Possible, own: Mapping[tuple[str, str], tree.RuleItem]) -> None:
    """Warn of rules with guards, none of which always holds, of which for every workload of a queue one holds. Each set of rules once.

    A rule without a guard says openly that it is about everything, and one that alone refuses a queue names it.
    """
    told: set[tuple[str, ...]] = set()
    for rules, queues in _by_rules(policy).items():
        if any(rule.guard is None or always_holds(rule.guard, world) for rule in rules):
            continue
        for queue in queues if _reads_queue(rules) else queues[:1]:
            needed = _needed(rules, queue, world)
            names = tuple(f"{rule.action} {rule.name}" for rule in needed)
            mine = [rule for rule in needed if (rule.action, rule.name) in own]
            if len(needed) > 1 and mine and names not in told:
                told.add(names)
                _warn(context, needed, queue, len(queues) == len(policy.queues), world, own[mine[-1].action, mine[-1].name])


def _by_rules(policy: graph.PolicyGraph) -> dict[_Rules, list[str]]:
    """The queues by the deny and hold rules that are for them, without those that one rule alone is for."""
    everywhere = [number for number, rule in enumerate(policy.admission) if rule.nodes is None]
    by_node: dict[int, list[int]] = {}
    for number, rule in enumerate(policy.admission):
        for node in rule.nodes or ():
            by_node.setdefault(node, []).append(number)
    found: dict[_Rules, list[str]] = {}
    for queue in policy.queues if policy.admission else ():
        numbers = {*everywhere, *(number for node in {*policy.path(queue.node), 0} for number in by_node.get(node, ()))}
        if len(numbers) > 1:
            rules = tuple(policy.admission[number] for number in sorted(numbers))
            found.setdefault(rules, []).append(policy.nodes[queue.node].name)
    return found


def _reads_queue(rules: _Rules) -> bool:
    return any(field.path == "queue" and field.label is None for rule in rules for field in expr.fields(rule.guard))


def _needed(rules: _Rules, queue: str, world: Possible) -> list[graph.AdmissionRule]:
    """As few of the rules as refuse every workload of a queue; none where some may pass."""
    if not _all_refused(rules, queue, world):
        return []
    needed = list(rules)
    for rule in rules:
        others = [each for each in needed if each is not rule]
        if _all_refused(others, queue, world):
            needed = others
    return needed


def _all_refused(rules: Sequence[graph.AdmissionRule], queue: str, world: Possible) -> bool:
    return not can_hold([_in(queue), *(expr.Not(rule.guard) for rule in rules if rule.guard is not None)], world)


def _in(queue: str) -> expr.Compare:
    """The workload is in a queue; the queue is written as a pattern that matches nothing else, if there is one."""
    return expr.Compare("=", expr.Field("workload", "queue", expr.Type.TEXT), expr.Const(queue, expr.Type.TEXT, queue))


def _warn(
    context: Context, rules: Sequence[graph.AdmissionRule], queue: str, everywhere: bool, world: Possible, item: tree.RuleItem
) -> None:
    context.at(item)
    names = listed(rule.name for rule in rules)
    which = "every workload" if everywhere and not _reads_queue(tuple(rules)) else f"every workload of queue `{queue}`"
    shown = []
    for rule in rules:
        others = [expr.Not(other.guard) for other in rules if other is not rule and other.guard is not None]
        values = sample([*([rule.guard] if rule.guard is not None else []), *others], world)
        if values:
            shown.append(f"one with {values} is {'denied' if rule.action == 'deny' else 'held'} by `{rule.name}`")
    notes = (DiagnosticNote(f"for example, of the workloads of queue `{queue}`, {' and '.join(shown)}"),) if shown else ()
    help_text = "change a guard, or write one rule without a guard if nothing may be admitted"
    context.warn("GP061", f"rules {names} together refuse {which}", item.name, "nothing is left", help_text, notes)

"""What the preempt rules of a policy are in Volcano: its actions preempt and reclaim, and the queues that others may not reclaim from.

The conditions of a rule matter, not its name.
Sources: Volcano, pkg/scheduler/actions/preempt and reclaim; the plugins capacity and priority.
"""

from dataclasses import dataclass
from typing import Literal

from ....engine.guard import And, Compare, Const, Expr, Field, matches
from ....engine.policy_graph import PolicyGraph, PreemptRule
from ...kueue.export.kubernetes_names import place
from ...kueue.problems import Findings

VolcanoAction = Literal["preempt", "reclaim", "even out"]
"""What a rule does. Volcano has no action for the last one: its plugin proportion evens out by weights, in reclaim."""

_LOWER = "victim.priority < workload.priority"
_KINDS: dict[tuple[str | None, str, str], VolcanoAction] = {
    (None, "same-queue", _LOWER): "preempt",
    ("fits-queue", "borrowing-queues", ""): "reclaim",
    (None, "borrowing-queues", "workload.queue.share <= victim.queue.share_after"): "even out",
    (None, "borrowing-queues", "workload.queue.share < victim.queue.share"): "even out",
}
"""Rules by when they apply, from whom they evict, and their guard as text."""

_TURNED = {">": "<", ">=": "<="}
_EVENS_OUT = (
    "evens out shares of what is borrowed: Volcano's plugin capacity does not. There a queue evicts others only for what it deserves "
    "itself, and keeps what it has borrowed until then"
)
_NO_ACTION = "evicts by conditions that no action of Volcano has"
_RULES = "use the rules of gpol.fair or gpol.reclaim, or rules with the same conditions"


@dataclass(frozen=True, slots=True)
class VolcanoEvictions:
    """The actions for which a policy has rules, in the order of Volcano's own example; the queues that nobody may reclaim from."""

    actions: tuple[Literal["preempt", "reclaim"], ...]
    spared: frozenset[str]


def volcano_evictions(graph: PolicyGraph, found: Findings) -> VolcanoEvictions:
    """What the rules of a policy are; what Volcano cannot do is added to `found`. Without a rule for it nobody is reclaimed from."""
    queues = frozenset(graph.nodes[queue.node].name for queue in graph.queues)
    done: set[VolcanoAction] = set()
    spared: frozenset[str] | None = None
    for rule in graph.preempt:
        found.begin("preempt rule", rule.name, place(rule.source))
        conditions = _conditions(rule.guard)
        patterns = [] if rule.scope == "same-queue" else [pattern for each in conditions if (pattern := _spared(each)) is not None]
        kind = _kind(rule, [each for each in conditions if not patterns or _spared(each) is None])
        if kind is None:
            found.problem("", _NO_ACTION, _RULES)
            continue
        done.add(kind)
        if kind == "even out":
            found.note("", _EVENS_OUT)
        if kind != "preempt":
            named = frozenset(queue for queue in queues if any(matches(queue, pattern) for pattern in patterns))
            if spared is not None and named != spared:
                _refuse_difference(named ^ spared, found)
            spared = named
    actions = tuple(action for action in ("preempt", "reclaim") if action in done)
    return VolcanoEvictions(actions, queues if spared is None or "reclaim" not in done else spared)


def _refuse_difference(queues: frozenset[str], found: Findings) -> None:
    cause = f"spares queue {min(queues)} unlike another rule; in Volcano a queue is reclaimable or not"
    found.problem("where", cause, "let all rules that evict from other queues spare the same ones")


def _kind(rule: PreemptRule, rest: list[Expr]) -> VolcanoAction | None:
    near = rule.range == "same-cohort" and rule.scope != "same-queue"
    guard = "" if not rest else _text(rest[0]) if len(rest) == 1 else "other"
    return None if near else _KINDS.get((rule.trigger, rule.scope, guard))


def _conditions(guard: Expr | None) -> list[Expr]:
    """The conditions all of which have to hold."""
    return [] if guard is None else list(guard.items) if isinstance(guard, And) else [guard]


def _spared(condition: Expr) -> str | None:
    """The pattern of the queues that a condition spares; None for another condition."""
    if not isinstance(condition, Compare) or condition.op != "!=" or not isinstance(condition.right, Const):
        return None
    left = condition.left
    return str(condition.right.value) if (left.subject, left.path) == ("victim", "queue") else None


def _text(condition: Expr) -> str:
    """A comparison of two fields as text, the smaller side first; of any other condition a text that no action has."""
    if not isinstance(condition, Compare) or not isinstance(condition.right, Field):
        return "other"
    if condition.op in _TURNED:
        return f"{condition.right} {_TURNED[condition.op]} {condition.left}"
    return f"{condition.left} {condition.op} {condition.right}"

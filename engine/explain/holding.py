"""What holds a workload, with its reason token, its line, and what it says."""

from collections.abc import Iterator

from ..eligibility import holds
from ..event_parts import Operand, RuleRef
from ..guard import fields
from ..outcome.decision import Hold
from ..policy_graph import PolicyGraph
from ..workload import Workload
from .policy_lines import local_queue_line, node_line, rule_line
from .standing import HoldStanding
from .wording import compared


def hold_standing(graph: PolicyGraph, workload: Workload, hold: Hold) -> HoldStanding:
    """A hold of a workload in words."""
    rule: RuleRef | None = None
    operands: list[Operand] = []
    match hold.kind:
        case "owner":
            operands = [Operand(name="held by", value="its owner")]
        case "operator":
            operands = [Operand(name="operator", value=hold.name)]
        case "local-queue-stopped":
            rule, operands = local_queue_line(graph, workload.queue, hold.name), [Operand(name="local queue", value="stopped")]
        case "hold-rule":
            said = graph.admission[hold.rule]
            rule, operands = rule_line(said), [*compared(fields(said.guard), hold.values), Operand(name="because", value=said.because)]
        case "queue-stopped":
            rule, operands = node_line(graph, workload.queue), [Operand(name="queue", value="stopped")]
        case "missing-flavor":
            rule, operands = node_line(graph, workload.queue), [Operand(name="queue", value=f"flavor {hold.name} is missing")]
        case "check":
            says = Operand(name="it says", value=workload.checks[hold.name])
            operands = [Operand(name="because of", value=f"admission check {hold.name}"), says]
        case "namespace":
            rule = node_line(graph, workload.queue)
            operands = [Operand(name="because of", value="namespace"), *_conditions(graph, workload)]
        case "misconfigured":
            operands = [Operand(name="because of", value=hold.name)]
    return HoldStanding(reason=_reason(hold), rule=rule, operands=tuple(operands))


def _reason(hold: Hold) -> str:
    match hold.kind:
        case "owner" | "operator" | "hold-rule":
            return "OnHold"
        case "check":
            return "PendingEvaluation"
        case "namespace" | "misconfigured":
            return "Misconfigured"
        case _:
            return "Suspended"


def _conditions(graph: PolicyGraph, workload: Workload) -> Iterator[Operand]:
    """The conditions of the queue that speak of labels, and what the workload's namespace says instead."""
    labels = workload.fact.namespace_labels
    for condition in graph.queue_at(workload.queue).namespaces or ():
        if not holds(condition, labels):
            wanted = f"{condition.operator} {', '.join(condition.values)}".strip()
            said = f"`{labels[condition.key]}`" if condition.key in labels else "not there"
            yield Operand(name=f"namespace label {condition.key}", value=f"{said}, has to be {wanted}")

"""Who is not even nominated: workloads of queues that put up nobody, those that are turned away, those that are not queued at all.

Kueue: pkg/cache/scheduler/clusterqueue.go (active), pkg/scheduler/scheduler.go (nominate), pkg/workload (IsAdmissible).
"""

from ...events import Operand, Why
from ..route import admission_rule_why, in_scope, stopped_locally
from ..state import Active
from ..workload import Workload
from .matching import all_hold

NAMESPACE = "namespace"
"""The detail of a workload that comes from a namespace which its queue does not admit."""


def inactive(policy: Active, node: int) -> str:
    """Why a queue takes no part: it is stopped, held as a whole, or a flavor that it serves is missing; empty where it does.

    It puts up nobody, and nobody is evicted from it for others; what runs there counts all the same.
    """
    queue = policy.graph.queues[policy.graph.nodes[node].queue]
    if queue.stopped:
        return "stopped"
    for rule in policy.graph.admission:
        if rule.action == "hold" and rule.guard is None and in_scope(policy, rule, node):
            return rule.because
    flavors = [policy.graph.flavors[flavor] for group in queue.groups for flavor in group.flavors]
    return next((f"flavor {flavor.name} is missing" for flavor in flavors if flavor.missing), "")


def inadmissible(policy: Active, workload: Workload) -> tuple[str, str]:
    """Why a head is turned away before it is nominated, as a reason and a detail; empty where it is not."""
    queue = policy.graph.queues[policy.graph.nodes[workload.queue].queue]
    failed = [name for name in sorted(workload.checks) if workload.checks[name] in ("Retry", "Rejected")]
    if failed:
        return "PendingEvaluation", f"admission check {failed[0]}"
    if queue.namespaces is not None and not all_hold(queue.namespaces, workload.fact.namespace_labels):
        return "Misconfigured", NAMESPACE
    if workload.fact.misconfigured:
        return "Misconfigured", workload.fact.misconfigured
    return "", ""


def aside(policy: Active, workload: Workload) -> Why | None:
    """Why a workload is not queued at all: it is on hold, or its local queue is stopped; None where it is."""
    if workload.held_by_owner:
        return Why(reason="OnHold", operands=(Operand(name="held by", value="its owner"),))
    if workload.held_by_operator is not None:
        return Why(reason="OnHold", operands=(Operand(name="operator", value=workload.held_by_operator),))
    return stopped_locally(policy, workload) or admission_rule_why(policy, workload, "hold", "OnHold")

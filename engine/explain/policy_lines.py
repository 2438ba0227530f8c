"""The lines of the policy that decisions cite: of a rule, a node, a local queue, a limit or a quota."""

from ..event_parts import Limit, RuleRef
from ..outcome.decision import BindingLimit
from ..outcome.nomination import Request
from ..policy_graph import AdmissionRule, PolicyGraph, PreemptRule, ProtectRule, Source


def reference(name: str, source: Source | None) -> RuleRef | None:
    """A rule of the policy as events name it."""
    return None if source is None else RuleRef(name=name, file=source.file, line=source.line)


def rule_line(rule: PreemptRule | ProtectRule | AdmissionRule) -> RuleRef:
    """The line of a rule."""
    return RuleRef(name=rule.name, file=rule.source.file, line=rule.source.line)


def node_line(graph: PolicyGraph, node: int, source: Source | None = None) -> RuleRef | None:
    """A line that says something of a node, else the node's own."""
    place = graph.nodes[node]
    return reference(place.name, source or place.source)


def local_queue_line(graph: PolicyGraph, queue: int, name: str) -> RuleRef | None:
    """The line of a local queue."""
    local = graph.queue_at(queue).local_queue(name)
    return None if local is None else reference(name, local.source)


def limit_named(graph: PolicyGraph, limit: BindingLimit | None) -> Limit | None:
    """A limit by name, with the line that sets it."""
    if limit is None:
        return None
    place, slot = graph.nodes[limit.node], graph.slots[limit.slot]
    flavor, quota = graph.flavors[slot.flavor], place.quotas[limit.slot]
    source: Source | None = flavor.source
    if limit.node:
        source = (quota.borrowing_source if limit.kind == "borrowing" else quota.nominal_source) or place.source
    return Limit(
        node=place.name,
        limit=limit.kind,
        flavor=flavor.name,
        resource=slot.resource,
        asked=limit.asked,
        available=limit.available,
        deficit=limit.deficit,
        source=reference(place.name if limit.node else flavor.name, source),
    )


def quota_line(graph: PolicyGraph, queue: int, request: Request, borrowed: Request) -> RuleRef | None:
    """The line that lets a queue use a request: how it may borrow what is borrowed, or what it owns; else the queue itself."""
    quotas = [graph.nodes[queue].quotas[slot] for slot, _ in borrowed or request]
    lines = [quota.borrowing_source if borrowed else quota.nominal_source for quota in quotas]
    return node_line(graph, queue, next((line for line in lines if line is not None), None))

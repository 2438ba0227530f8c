"""What rules say, as statements. Larger is what lets a rule apply to more: a preempt rule evicts more, a protect rule protects more."""

from collections.abc import Iterator

from ...engine.guard import Expr
from ...engine.policy_graph import AdmissionRule, PolicyGraph, PreemptRule, ProtectRule, Source
from ..print.words import quoted
from .guard_order import Holds, meaning, written
from .statements import Said, Statement, keys

_ALWAYS = Said(None, "always", Holds(None))
_TRIGGERS = {
    "fits-queue": "workload fits what its queue owns",
    "fits-cohort": "workload fits what its cohort owns",
    "fits-entitlement": "workload fits what its queue is entitled to",
    "may-be-evicted": "workload may be evicted",
}
_SCOPES = {
    "same-queue": "the same queue",
    "borrowing-queues": "queues that borrow",
    "any-queue": "any queue",
    "other-queues": "other queues",
}
_KINDS = {
    "same-queue": {"own"},
    "borrowing-queues": {"borrowing"},
    "any-queue": {"borrowing", "other"},
    "other-queues": {"borrowing", "other"},
}


def preempt(rule: PreemptRule) -> Iterator[Statement]:
    """When a preempt rule is used, on whom, and who goes first. Its turn among the rules is the policy's to say."""
    when = Said(rule.trigger, _TRIGGERS.get(rule.trigger or "", "always"), {None: 1, "fits-queue": 0}.get(rule.trigger))
    yield Statement("when", when, Said(None, "always", 1), rule.source, ("trigger",))
    near = rule.range == "same-cohort"
    whom = _SCOPES[rule.scope] + (", in the same cohort" if near else "")
    kinds = _KINDS[rule.scope]
    reach = frozenset((kind, place) for kind in kinds for place in (("near",) if near else ("near", "far")))
    yield Statement("evict from", Said((rule.scope, rule.range), whom, reach), None, rule.source, ("scope", "range"))
    yield from _where(rule.guard, rule.source)
    yield Statement("order by", Said(rule.order, keys(rule.order)), None, rule.source, ("order",))


def protect(graph: PolicyGraph, rule: ProtectRule) -> Iterator[Statement]:
    """Whom a protect rule protects, and while what holds."""
    yield _scope(graph, rule.nodes, rule.source)
    yield from _where(rule.guard, rule.source)


def admission(graph: PolicyGraph, rule: AdmissionRule) -> Iterator[Statement]:
    """Whom a deny or hold rule keeps out, and the reason that it gives."""
    yield _scope(graph, rule.nodes, rule.source)
    yield from _where(rule.guard, rule.source)
    yield Statement("because", Said(rule.because, quoted(rule.because)), None, rule.source, ("because",))


def _where(guard: Expr | None, source: Source) -> Iterator[Statement]:
    if guard is not None:
        yield Statement("where", Said(meaning(guard), written(guard), Holds(guard)), _ALWAYS, source, ("guard",))


def _scope(graph: PolicyGraph, nodes: tuple[int, ...] | None, source: Source) -> Statement:
    names = None if nodes is None else tuple(sorted(graph.nodes[node].name for node in nodes))
    everybody = Said(None, "all", (1, frozenset[str]()))
    said = everybody if names is None else Said(names, ", ".join(names), (0, frozenset(names)))
    return Statement("for", said, everybody, source, ("nodes",))

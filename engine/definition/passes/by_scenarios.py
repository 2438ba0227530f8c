"""A cycle that searches for victims by scenarios, as KAI does: what a policy chooses of it, and the passes run over a session."""

from collections.abc import Mapping
from fractions import Fraction

from ...event_parts import EvictionKind
from ...policy_graph import PolicyGraph
from ...units import scale_of
from ..kai.kai_cycle import KaiCycle
from ..kai.kai_passes import run_cycle
from ..kai.settings import KaiPass, KaiSettings, NodePick, QueueKey
from ..kai.terms import KaiTerms, WorkloadTerms
from ..session.session import Session
from ..state.state import State
from .pass_eviction import PassesDone, PassEviction

_PASSES: Mapping[str, KaiPass] = {
    "allocate": KaiPass.ALLOCATE,
    "consolidate": KaiPass.CONSOLIDATE,
    "reclaim": KaiPass.RECLAIM,
    "preempt": KaiPass.PREEMPT,
    "end-broken-gangs": KaiPass.BROKEN,
}

_KINDS: Mapping[KaiPass, EvictionKind] = {
    KaiPass.CONSOLIDATE: "consolidation",
    KaiPass.RECLAIM: "reclaim",
    KaiPass.PREEMPT: "in-queue",
    KaiPass.BROKEN: "broken-gang",
}

_QUEUE_KEYS: Mapping[str, QueueKey] = {
    "over-entitlement": QueueKey.OVER_SHARE,
    "starved": QueueKey.STARVED,
    "queue-priority": QueueKey.PRIORITY,
    "unentitled": QueueKey.NO_SHARE,
    "share-with": QueueKey.SHARE_WITH,
    "share": QueueKey.SHARE,
    "entitlement": QueueKey.ALLOCATABLE,
    "created": QueueKey.CREATED,
}


def decide_by_scenarios(state: State, session: Session) -> PassesDone:
    """Run the passes over a session."""
    graph = state.graph
    passes = graph.settings.passes
    assert passes is not None
    now = max([state.time, *(workload.created for workload in session.workloads)])
    grace = -1 if passes.broken_for is None else passes.broken_for
    terms = KaiTerms(tuple(WorkloadTerms(grace=grace) for _ in session.workloads), now)
    units = tuple(scale_of(resource) if resource == "gpu" else 1 for resource in session.resources)
    cycle = KaiCycle(session, terms, kai_settings(graph), units)
    run_cycle(cycle)
    return PassesDone({pod: PassEviction(_KINDS[by.by], by.workload) for pod, by in sorted(cycle.evictions.items())})


def kai_settings(graph: PolicyGraph) -> KaiSettings:
    """What a policy chooses of KAI's settings; all else it says as KAI decides it (`kai_words.unlike_kai`)."""
    passes = graph.settings.passes
    assert passes is not None
    saturation, moved, most = Fraction(1), True, -1
    for rule in graph.preempt:
        assert rule.search is not None
        if rule.search.in_pass == "consolidate":
            most = -1 if rule.search.most_moved is None else rule.search.most_moved
        if rule.search.in_pass == "reclaim":
            moved = rule.search.moving == "whom-it-can"
            saturation = next(test.part for tests in rule.search.accept for test in tests if test.test == "less-saturated")
    return KaiSettings(
        passes=tuple(_PASSES[name] for name in passes.order),
        queue_keys=tuple(_QUEUE_KEYS[key.field] for key in graph.settings.queue_order),
        pick=NodePick.SPREAD if passes.place_by[-1].descending else NodePick.PACK,
        saturation=saturation,
        usage_weight=Fraction(1),
        moves_victims=moved,
        most_consolidated=most,
    )

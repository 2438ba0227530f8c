"""A cycle that searches for victims by rescheduling, as Armada does: what a policy chooses of it, and the round over a session."""

from fractions import Fraction

from ...policy_graph import PolicyGraph
from ..armada.armada_settings import ArmadaCap, ArmadaSettings
from ..armada.rescheduling import reschedule
from ..session.pods import PodStatus
from ..session.session import Session
from ..state.state import State
from .pass_eviction import PassesDone, PassEviction

_NOBODY = -1


def decide_by_rescheduling(state: State, session: Session) -> PassesDone:
    """Play a round over a session. Who is evicted goes for whoever got the room; for nobody where others just came first."""
    ran = [pod.number for pod in session.pods if pod.status is PodStatus.RUNNING]
    played = reschedule(session, armada_settings(state.graph))
    gone = [pod for pod in ran if session.pods[pod].status is PodStatus.STOPPING]
    found = {}
    for pod in gone:
        by = played.displaced_by.get(pod)
        found[pod] = PassEviction("balance", _NOBODY if by is None else session.pods[by].workload)
    return PassesDone(found)


def armada_settings(graph: PolicyGraph) -> ArmadaSettings:
    """What a policy chooses of Armada's settings; all else it says as Armada decides it (`armada_words.unlike_armada`)."""
    passes = graph.settings.passes
    assert passes is not None
    search = graph.preempt[0].search
    assert search is not None
    protected = search.accept[0][0] if search.accept else None
    weights = passes.share.weights or tuple((resource, Fraction(1)) for resource in sorted({slot.resource for slot in graph.slots}))
    return ArmadaSettings(
        measured=weights,
        packing=tuple((key.resource, max(1, key.step)) for key in passes.place_by if key.field == "free"),
        protected=Fraction(0) if protected is None else protected.part,
        protects_uncapped=protected is not None and protected.test == "over-uncapped",
        large_first=any(key.field == "large-first" for key in graph.settings.queue_order),
        caps=tuple(
            ArmadaCap(priority.value, not priority.never_evicted, priority.queue_limits)
            for priority in graph.priorities
            if priority.queue_limits
        ),
        round_cap=passes.start_cap,
    )

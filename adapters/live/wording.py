"""Decisions and standings in one line, for those who look at a workload in a cluster."""

from ...engine.events import AnyDecision
from ...engine.explain.standing import Standing
from ...engine.explain.unplaced import unplaced_told
from ...sim.report.wording import by, decision_told, limit_told


def told(decision: AnyDecision) -> str:
    """What was decided, by which line of the policy, what was compared, and the limit that binds."""
    return "; ".join(decision_told(decision))


def why_it_waits(standing: Standing) -> str:
    """Why a workload waits: the reason, the line of the policy, the limit that binds, what places it lacks, and its place in the queue."""
    parts = [f"waits in queue {standing.queue}: {standing.reason}{by(standing.rule)}"]
    if standing.operands:
        parts.append(", ".join(f"{operand.name} {operand.value}" for operand in standing.operands))
    if standing.limit is not None:
        parts.append(limit_told(standing.limit, standing.reason))
    if standing.places is not None:
        parts.append(f"no places on {unplaced_told(standing.places)}")
    if standing.position is not None:
        parts.append(f"{standing.position} of {standing.waiting} in the queue" if standing.waiting else f"{standing.position} in the queue")
    return "; ".join(parts)

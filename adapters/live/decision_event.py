"""Decisions as Kubernetes Events on the objects that they are about."""

from typing import Literal

from ...engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from ..kubernetes.object_events import ObjectEvent
from ..kubernetes.resource_kinds import Kind
from .wording import told

ToldDecision = WorkloadAdmitted | WorkloadEvicted | WorkloadRejected
"""The decisions that are told."""

_ACTIONS = {WorkloadAdmitted: "Admit", WorkloadEvicted: "Evict", WorkloadRejected: "TurnAway"}
_REASONS = {WorkloadAdmitted: "GpolAdmitted", WorkloadEvicted: "GpolEvicted", WorkloadRejected: "GpolTurnedAway"}


def decision_event(kind: Kind, uid: str, journal: str, seq: int, decision: ToldDecision) -> ObjectEvent:
    """A decision as an Event on the object of its workload, which is `namespace/name`. `journal` is the journal's identity."""
    namespace, _, name = decision.workload.partition("/")
    severity: Literal["Normal", "Warning"] = "Normal" if isinstance(decision, WorkloadAdmitted) else "Warning"
    note, action, reason = f"event {seq}: {told(decision)}", _ACTIONS[type(decision)], _REASONS[type(decision)]
    return ObjectEvent(kind, namespace, name, uid, f"{journal[:12]}.{seq}", decision.time, action, reason, note, severity)

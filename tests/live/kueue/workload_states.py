"""Workloads in the states that Kueue and gpol bring them to, and a small policy."""

from typing import Any

from gpol.adapters.kueue.live.observed import Observed, observe
from gpol.adapters.kueue.live.protocol import DECIDED, Mark
from gpol.dsl.analysis.checker import check
from gpol.engine.policy_graph import PolicyGraph
from kueue_steps import KueueSteps

Json = dict[str, Any]
NOW = 1_800_000_000_000_000
JOURNAL = "0" * 31 + "1"
POLICY = """policy "live" { use gpol.fair }
flavor h100 {
  gpu 8
  label model = "h100"
}
queue research { owns 8 gpu on h100 }
"""
STEPS = KueueSteps("2027-01-15T08:00:00Z")


def policy(text: str = POLICY) -> PolicyGraph:
    """The policy."""
    checked = check(text, "live.gpol")
    assert checked.graph is not None, checked.errors
    return checked.graph


def plain(name: str = "a", gpus: str = "2", **spec: Any) -> Json:
    """A Workload that was just created."""
    container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": gpus}}}
    pod_set = {"name": "main", "count": 2, "minCount": 1, "template": {"spec": {"containers": [container]}}}
    metadata = {
        "name": name,
        "namespace": "team",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": "2027-01-15T07:00:00Z",
    }
    return {
        "metadata": metadata,
        "spec": {"queueName": "research", "priority": 3, "active": True, "podSets": [pod_set], **spec},
        "status": {},
    }


def after(workload: Json, *steps: Any) -> Json:
    """A Workload after steps of Kueue, or of gpol: a state of the check with the mark of an event."""
    for step in steps:
        if isinstance(step, tuple):
            state, seq = step
            STEPS.row(workload["status"]).update(state=state)  # type: ignore[union-attr]
            rows = [row for row in workload["status"]["conditions"] if row["type"] != DECIDED]
            marked = {"type": DECIDED, "status": "True", "reason": Mark(JOURNAL, seq).reason, "message": ""}
            workload["status"]["conditions"] = [*rows, marked]
        else:
            kept = [row for row in workload["status"].get("conditions", []) if row["type"] == DECIDED]
            workload["status"] = step(workload)
            workload["status"]["conditions"] += kept
    return workload


def seen(workload: Json) -> Observed:
    """What is read of it."""
    return observe(workload, "gpol")

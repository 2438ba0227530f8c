"""What Kueue's controllers write to a Workload, as far as an admission check can see it: the next status, from the Workload as it is.

Each step is one write of Kueue 0.17 to 0.20, or None where it is not possible. ClusterQueues are so wide that quota is always reserved.
Source: Kueue, pkg/workload (Evict, UnsetQuotaReservationWithCondition, SyncAdmittedCondition), pkg/controller/core/workload_controller.go,
pkg/controller/jobframework/reconciler.go.
"""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
CHECK = "gpol"
MANAGED = ("QuotaReserved", "Admitted", "Evicted", "Requeued", "DeactivationTarget", "Finished")
"""The conditions that Kueue writes, all of them with every write."""


class KueueSteps:
    """Kueue's steps at a moment, `now` as Kubernetes writes it."""

    def __init__(self, now: str, check: str = CHECK) -> None:
        self.now, self.check = now, check

    def reserve(self, workload: Json, is_running: bool = False) -> Json | None:
        """The scheduler reserves quota for one that waits."""
        if workload["spec"].get("active") is False or is_true(workload, "Finished") or is_true(workload, "QuotaReserved"):
            return None
        if is_running or self.state(workload) in ("Retry", "Rejected") or is_false(workload, "Requeued"):
            return None
        status = managed(workload)
        pod_sets = [{"name": each["name"], "count": each.get("count", 1)} for each in workload["spec"]["podSets"]]
        status["admission"] = {"clusterQueue": workload["spec"]["queueName"], "podSetAssignments": pod_sets}
        self.set(status, "QuotaReserved", "True", "QuotaReserved")
        if is_true(workload, "Evicted"):
            self.set(status, "Evicted", "False", "QuotaReserved")
        if self.row(status) is None:
            status["admissionChecks"].append(self.answer("Pending", ""))
        return status

    def admit(self, workload: Json) -> Json | None:
        """A workload whose checks are ready is admitted, and its job starts."""
        if not is_true(workload, "QuotaReserved") or is_true(workload, "Admitted") or is_true(workload, "Finished"):
            return None
        if self.state(workload) != "Ready" or is_true(workload, "Evicted"):
            return None
        status = managed(workload)
        self.set(status, "Admitted", "True", "Admitted")
        return status

    def evict(self, workload: Json, reason: str = "AdmissionCheck") -> Json | None:
        """A workload is told to stop: by a check that says Retry, or for another reason. Its checks say Pending again."""
        if is_true(workload, "Finished") or is_true(workload, "Evicted") or not is_true(workload, "QuotaReserved"):
            return None
        if (reason == "AdmissionCheck") != (self.state(workload) == "Retry"):
            return None
        if reason == "PodsReadyTimeout" and not is_true(workload, "Admitted"):
            return None
        status = managed(workload)
        self.set(status, "Evicted", "True", reason)
        row = self.row(status)
        if row is not None and row["state"] != "Pending":
            was = row["state"]
            row.clear()
            row.update(self.answer("Pending", f"Reset to Pending after eviction. Previously: {was}"))
        return status

    def stop(self, workload: Json) -> Json | None:
        """The job of a workload that was told to stop has ended: it gives its quota back, and may wait again."""
        if not is_true(workload, "Evicted") or not is_true(workload, "QuotaReserved"):
            return None
        status = managed(workload)
        self.set(status, "QuotaReserved", "False", "Pending")
        if is_true(workload, "Admitted"):
            self.set(status, "Admitted", "False", "NoReservation")
        self.set(status, "Requeued", "True", "Stopped")
        del status["admission"]
        return status

    def take_back(self, workload: Json) -> Json | None:
        """The queue is stopped (Hold): who is not admitted yet loses its quota, without an eviction and a word to its checks."""
        if not is_true(workload, "QuotaReserved") or is_true(workload, "Evicted") or is_true(workload, "Finished"):
            return None
        if is_true(workload, "Admitted"):
            return None
        status = managed(workload)
        self.set(status, "QuotaReserved", "False", "Inadmissible")
        del status["admission"]
        return status

    def finish(self, workload: Json, reason: str = "Succeeded") -> Json:
        """A job has ended by itself, or a later slice takes its place."""
        status = managed(workload)
        self.set(status, "Finished", "True", reason)
        return status

    def is_to_be_deactivated(self, workload: Json) -> bool:
        """Whether a check has turned a workload away, so that Kueue deactivates it."""
        return self.state(workload) == "Rejected" and workload["spec"].get("active") is not False

    def stop_inactive(self, workload: Json) -> Json | None:
        """A workload that is not active is told to stop."""
        return self.evict(workload, "Deactivated") if workload["spec"].get("active") is False else None

    def of_itself(self) -> list[Callable[[Json], Json | None]]:
        """What Kueue does with the status without anybody's doing."""
        return [self.reserve, self.admit, self.evict, self.stop, self.stop_inactive]

    # --- parts of a status ------------------------------------------------------------------------------------------

    def set(self, status: Json, kind: str, value: str, reason: str) -> None:
        """Set a condition."""
        rows = status["conditions"]
        rows[:] = [row for row in rows if row["type"] != kind]
        rows.append({"type": kind, "status": value, "reason": reason, "message": "", "lastTransitionTime": self.now})

    def answer(self, state: str, message: str) -> Json:
        """A state of the check."""
        return {"name": self.check, "state": state, "message": message, "lastTransitionTime": self.now}

    def row(self, status: Json) -> Json | None:
        """The state of the check in a status."""
        return next((row for row in status.get("admissionChecks", []) if row["name"] == self.check), None)

    def state(self, workload: Json) -> str:
        """What the check says of a workload; empty where it has none."""
        return str((self.row(workload.get("status", {})) or {}).get("state", ""))


def managed(workload: Json) -> Json:
    """What Kueue sends of a status with every write, to be changed."""
    status = workload.get("status", {})
    found = {
        "conditions": [dict(each) for each in status.get("conditions", []) if each["type"] in MANAGED],
        "admissionChecks": [dict(row) for row in status.get("admissionChecks", [])],
    }
    return {**found, "admission": status["admission"]} if status.get("admission") else found


def is_true(workload: Json, kind: str) -> bool:
    """Whether a condition is true."""
    return _has(workload, kind, "True")


def is_false(workload: Json, kind: str) -> bool:
    """Whether a condition is false."""
    return _has(workload, kind, "False")


def _has(workload: Json, kind: str, value: str) -> bool:
    return any(row["type"] == kind and row["status"] == value for row in workload.get("status", {}).get("conditions", []))

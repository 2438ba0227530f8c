"""Kueue's controllers and their users beside a store of objects: each call is what they write, one or several writes in Kueue's order."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from fake_kinds import KINDS, Kind
from fake_store import FakeStore
from gpol.adapters.kueue.read.quantity import parse

Json = dict[str, Any]
Flavors = dict[str, dict[str, str]]
"""The flavor of each resource, by pod set."""

MANAGER = "kueue-admission"
MANAGED = ("QuotaReserved", "Admitted", "Evicted", "Preempted", "Requeued", "Finished")
OBJECTS = {
    "namespaces": "namespaces",
    "flavors": "resourceflavors",
    "cohorts": "cohorts",
    "clusterQueues": "clusterqueues",
    "localQueues": "localqueues",
    "priorityClasses": "workloadpriorityclasses",
    "admissionChecks": "admissionchecks",
}
"""The plural names of the kinds of a scenario, by its keys, in the order in which they are created."""


def kind_called(plural: str) -> Kind:
    """A kind of the store by its plural name."""
    return next(kind for kind in KINDS if kind.plural == plural and kind.group in ("", "kueue.x-k8s.io"))


WORKLOADS = kind_called("workloads")


def typed(kind: Kind, plain: Json) -> Json:
    """An object that says what it is."""
    return {"apiVersion": kind.api_version, "kind": kind.name, **plain}


class SetClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:  # noqa: D102
        return self.now

    def at(self, time: str | int) -> None:
        """Set it to an RFC 3339 time, or to microseconds since the epoch."""
        if isinstance(time, str):
            self.now = datetime.fromisoformat(time.replace("Z", "+00:00"))
        else:
            self.now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)

    @property
    def micros(self) -> int:
        """Microseconds since the epoch."""
        return int((self.now - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 1_000_000


@dataclass
class KueueWriter:
    """Writes to a store. `writes` counts the writes of Kueue."""

    store: FakeStore
    clock: SetClock
    writes: int = 0
    _seen: set[str] = field(default_factory=set)

    # --- administrators and users -----------------------------------------------------------------------------------

    def set_up(self, scenario: Json) -> None:
        """Create the objects of a scenario, in the namespaces that it names."""
        named = {row["metadata"]["namespace"] for row in scenario.get("localQueues", ())} - {"default"}
        given = {"namespaces": [{"metadata": {"name": name}} for name in sorted(named)]} | scenario
        for key, plural in OBJECTS.items():
            for plain in given.get(key) or ():
                kind = kind_called(plural)
                self.store.create(kind, typed(kind, plain), namespace=plain["metadata"].get("namespace", ""))

    def submit(self, plain: Json) -> None:
        """A job is created, and its Workload with it, at the time that the object says."""
        now = self.clock.now
        self.clock.at(plain["metadata"].get("creationTimestamp") or self.clock.micros)
        self.store.create(WORKLOADS, typed(WORKLOADS, plain), namespace=plain["metadata"]["namespace"], manager="kueue")
        self.clock.now = now

    def delete(self, key: str) -> None:
        """A workload is deleted."""
        namespace, _, name = key.partition("/")
        self.store.delete(WORKLOADS, name, namespace=namespace)

    # --- Kueue ------------------------------------------------------------------------------------------------------

    def admit(self, key: str, queue: str, flavors: Flavors, counts: dict[str, int] | None = None) -> None:
        """The scheduler reserves quota, and with no checks the workload is admitted by the same write."""
        workload = self.workload(key)
        status = self._managed(workload)
        rows = workload["spec"]["podSets"]
        status["admission"] = {"clusterQueue": queue, "podSetAssignments": [_assigned(row, flavors, counts or {}) for row in rows]}
        self._set(status, "QuotaReserved", "True", "QuotaReserved", f"quota is reserved in {queue}")
        for kind in ("Evicted", "Preempted"):
            if any(row["type"] == kind and row["status"] == "True" for row in status["conditions"]):
                self._set(status, kind, "False", "QuotaReserved", "")
        self._set(status, "Admitted", "True", "Admitted", "")
        self._write(key, status)

    def wait(self, key: str, message: str, reason: str = "Pending") -> None:
        """The scheduler could not admit a workload, and says why."""
        status = self._managed(self.workload(key))
        self._set(status, "QuotaReserved", "False", reason, message)
        self._write(key, status)

    def preempt(self, key: str, reason: str, preemptor: str) -> None:
        """The scheduler tells a workload to stop, for another one; it holds its quota until it has stopped."""
        uid = self.workload(preemptor)["metadata"]["uid"]
        message = f"to make room for a workload (UID: {uid}, JobUID: UNKNOWN) due to {reason}; its path is unknown"
        status = self._managed(self.workload(key))
        self._set(status, "Evicted", "True", "Preempted", message)
        self._set(status, "Preempted", "True", reason, message)
        self._write(key, status)

    def evict(self, key: str, reason: str) -> None:
        """A controller tells a workload to stop, for a reason that is none of the scheduler's."""
        status = self._managed(self.workload(key))
        self._set(status, "Evicted", "True", reason, "it has to stop")
        self._write(key, status)

    def stop(self, key: str, requeued: bool = True) -> None:
        """A workload that was told to stop has stopped: it gives its quota back, and waits again once it is requeued."""
        status = self._managed(self.workload(key))
        why = next((row["message"] for row in status["conditions"] if row["type"] == "Evicted"), "")
        self._set(status, "QuotaReserved", "False", "Pending", why)
        self._set(status, "Admitted", "False", "NoReservation", "")
        self._set(status, "Requeued", "True" if requeued else "False", "Stopped", "")
        status.pop("admission", None)
        self._write(key, status)

    def requeue(self, key: str) -> None:
        """The time for which an evicted workload has to wait is over."""
        status = self._managed(self.workload(key))
        self._set(status, "Requeued", "True", "BackoffFinished", "")
        self._write(key, status)

    def finish(self, key: str, reason: str = "Succeeded") -> None:
        """The job of a workload has ended by itself; all else stays as it is."""
        status = self._managed(self.workload(key))
        self._set(status, "Finished", "True", reason, "")
        self._write(key, status)

    def patch(self, key: str, patch: Json, subresource: str = "") -> None:
        """Somebody changes a workload."""
        namespace, _, name = key.partition("/")
        self.store.merge_patch(WORKLOADS, name, patch, namespace=namespace, subresource=subresource)

    def workload(self, key: str) -> Json:
        """A workload as it is."""
        namespace, _, name = key.partition("/")
        return self.store.get(WORKLOADS, name, namespace)

    def names(self) -> list[str]:
        """The names of all workloads."""
        return [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in self.store.list(WORKLOADS)["items"]]

    def _managed(self, workload: Json) -> Json:
        status = workload.get("status", {})
        kept: Json = {"conditions": [dict(row) for row in status.get("conditions", ()) if row["type"] in MANAGED]}
        return {**kept, "admission": status["admission"]} if status.get("admission") else kept

    def _set(self, status: Json, kind: str, value: str, reason: str, message: str) -> None:
        """Set a condition; its time stays where its status does."""
        rows = status["conditions"]
        before = next((row for row in rows if row["type"] == kind), None)
        time = self.clock.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        if before is not None and before["status"] == value:
            time = before["lastTransitionTime"]
        rows[:] = [row for row in rows if row["type"] != kind]
        rows.append({"type": kind, "status": value, "reason": reason, "message": message, "lastTransitionTime": time})

    def _write(self, key: str, status: Json) -> None:
        namespace, _, name = key.partition("/")
        body = {"apiVersion": WORKLOADS.api_version, "kind": WORKLOADS.name, "metadata": {"name": name}, "status": status}
        self.store.apply(WORKLOADS, name, body, manager=MANAGER, namespace=namespace, subresource="status", force=True)
        self.writes += 1


def _assigned(row: Json, flavors: Flavors, counts: dict[str, int]) -> Json:
    """What a pod set is given."""
    name = row["name"]
    count = counts.get(name, row.get("count", 1))
    given = flavors.get(name, {})
    usage = {resource: _total(row, resource, count) for resource in sorted(given)}
    return {"name": name, "count": count, "flavors": dict(given), "resourceUsage": usage}


def _total(row: Json, resource: str, count: int) -> str:
    containers: Iterable[Json] = row["template"]["spec"]["containers"]
    asked = sum(parse(each.get("resources", {}).get("requests", {}).get(resource, 0)) for each in containers)
    total = (asked if resource != "pods" else 1) * count * 1000
    assert total.denominator == 1
    return str(total // 1000) if total % 1000 == 0 else f"{total}m"

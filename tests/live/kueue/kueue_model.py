"""Kueue and its users beside a store of objects: they take one step at a time, in any order that a test wants."""

from collections.abc import Callable
from typing import Any

from fake_kinds import KINDS, Kind
from fake_store import FakeStore
from kueue_steps import Json, KueueSteps, is_true

WORKLOADS = next(kind for kind in KINDS if kind.plural == "workloads")
POD = Kind("", "v1", "Pod", "pods", built_in=True, unconditional=True, counts_generation=False)
"""Pods, as far as they matter here: `Terminating` stands for pods that were told to stop and hold their machines still."""

TYPE = {"apiVersion": WORKLOADS.api_version, "kind": WORKLOADS.name}
QUEUE = "wide"


class KueueModel:
    """Kueue beside a store of objects. `running` are the workloads whose jobs run, by name; each has a pod, which may end later."""

    def __init__(self, store: FakeStore) -> None:
        self.store = store
        self.running: set[str] = set()

    # --- users ------------------------------------------------------------------------------------------------------

    def submit(self, name: str, gpus: int, priority: int = 0, queue: str = QUEUE, **metadata: Any) -> Json:
        """A job is created, and its Workload with it."""
        container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}
        pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
        spec = {"queueName": queue, "priority": priority, "active": True, "podSets": [pod_set]}
        body = {**TYPE, "metadata": {"name": name, "finalizers": ["kueue.x-k8s.io/resource-in-use"], **metadata}, "spec": spec}
        return self.store.create(WORKLOADS, body, namespace="default", manager="kueue")

    def activate(self, name: str, active: bool) -> bool:
        """The owner of a job stops it, or lets it go on."""
        workload = self.workload(name)
        if workload is None or workload["spec"]["active"] is active or is_true(workload, "Finished"):
            return False
        return self._patch(name, {"spec": {"active": active}})

    def delete(self, name: str) -> bool:
        """A job is deleted: its Workload goes, and its pods are told to end."""
        if self.workload(name) is None:
            return False
        self._end(name)
        self._patch(name, {"metadata": {"finalizers": None}})
        self.store.delete(WORKLOADS, name, namespace="default")
        return True

    def finish(self, name: str) -> bool:
        """A running job ends by itself."""
        workload = self.workload(name)
        if workload is None or name not in self.running:
            return False
        self.running.discard(name)
        for pod in self.pods(name):
            self.store.merge_patch(POD, pod["metadata"]["name"], {"status": {"phase": "Succeeded"}}, namespace="default")
        return self._write(workload, self._steps().finish(workload))

    def end_pods(self, name: str) -> bool:
        """The pods of a job that was stopped have ended at last."""
        ending = [pod for pod in self.pods(name) if pod["status"]["phase"] == "Terminating"]
        for pod in ending:
            self.store.delete(POD, pod["metadata"]["name"], namespace="default")
        return bool(ending)

    def hold(self, name: str) -> bool:
        """An administrator stops the queue, and lets it go on."""
        return self._step(name, self._steps().take_back)

    def not_ready(self, name: str) -> bool:
        """The pods of a running workload were not ready in time."""
        return self._step(name, lambda workload: self._steps().evict(workload, "PodsReadyTimeout"))

    # --- Kueue ------------------------------------------------------------------------------------------------------

    def reserve(self, name: str) -> bool:
        """Quota is reserved."""
        return self._step(name, lambda workload: self._steps().reserve(workload, name in self.running))

    def admit(self, name: str) -> bool:
        """The workload is admitted: its job starts, with what the check says of its pods."""
        workload = self.workload(name)
        if workload is None or not self._step(name, self._steps().admit):
            return False
        self.running.add(name)
        self._start_pod(name, workload)
        return True

    def evict(self, name: str) -> bool:
        """The workload is told to stop, as a check says Retry."""
        return self._step(name, self._steps().evict)

    def stop(self, name: str) -> bool:
        """A job that was told to stop counts no pods any more."""
        if not self._step(name, self._steps().stop):
            return False
        self._end(name)
        return True

    def deactivate(self, name: str) -> bool:
        """A workload that a check has turned away is deactivated."""
        workload = self.workload(name)
        return workload is not None and self._steps().is_to_be_deactivated(workload) and self._patch(name, {"spec": {"active": False}})

    def stop_inactive(self, name: str) -> bool:
        """A workload that is not active is told to stop."""
        return self._step(name, self._steps().stop_inactive)

    def steps(self) -> list[Callable[[str], bool]]:
        """All that Kueue does by itself."""
        return [self.reserve, self.admit, self.evict, self.stop, self.deactivate, self.stop_inactive]

    # --- what there is ----------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """All workloads."""
        return [item["metadata"]["name"] for item in self.store.list(WORKLOADS)["items"]]

    def workload(self, name: str) -> Json | None:
        """A workload; None where there is none."""
        return next((item for item in self.store.list(WORKLOADS)["items"] if item["metadata"]["name"] == name), None)

    def pods(self, name: str = "") -> list[Json]:
        """The pods of a workload, or all."""
        pods = self.store.list(POD)["items"]
        return [pod for pod in pods if pod["metadata"]["labels"]["workload"] == name or not name]

    # --- writing ----------------------------------------------------------------------------------------------------

    def _steps(self) -> KueueSteps:
        return KueueSteps(self.store.now().strftime("%Y-%m-%dT%H:%M:%SZ"))

    def _step(self, name: str, step: Callable[[Json], Json | None]) -> bool:
        workload = self.workload(name)
        status = step(workload) if workload is not None else None
        return workload is not None and status is not None and self._write(workload, status)

    def _write(self, workload: Json, status: Json) -> bool:
        metadata = {key: workload["metadata"][key] for key in ("name", "uid", "resourceVersion")}
        body = {**TYPE, "metadata": metadata, "status": status}
        name = metadata["name"]
        self.store.apply(WORKLOADS, name, body, manager="kueue-admission", namespace="default", subresource="status", force=True)
        return True

    def _patch(self, name: str, patch: Json) -> bool:
        self.store.merge_patch(WORKLOADS, name, patch, namespace="default", manager="kueue")
        return True

    def _start_pod(self, name: str, workload: Json) -> None:
        update = ((self._steps().row(workload["status"]) or {}).get("podSetUpdates") or [{}])[0]  # none where somebody wrote Ready by hand
        labels = {**update.get("labels", {}), "workload": name}
        container = workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
        body = {
            "metadata": {"generateName": f"{name}-", "labels": labels},
            "spec": {"containers": [container], "nodeSelector": update.get("nodeSelector", {})},
            "status": {"phase": "Running"},
        }
        self.store.create(POD, body, namespace="default", manager="kubelet")

    def _end(self, name: str) -> None:
        self.running.discard(name)
        for pod in self.pods(name):
            if pod["status"]["phase"] == "Running":
                self.store.merge_patch(POD, pod["metadata"]["name"], {"status": {"phase": "Terminating"}}, namespace="default")

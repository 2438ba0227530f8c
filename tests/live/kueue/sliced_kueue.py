"""A model of Kueue that keeps which decisions it has carried out, starts what differs from its pod template never, and knows slices."""

from fake_store import FakeStore
from gpol.adapters.kueue.live.protocol import DECIDED
from kueue_model import QUEUE, TYPE, WORKLOADS, KueueModel
from kueue_steps import Json, is_true

REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"


class SlicedKueue(KueueModel):
    """`admitted` has the name and the mark of each admission that was carried out, in order.

    `has_check` is whether the ClusterQueue needs gpol's check.
    """

    def __init__(self, store: FakeStore) -> None:
        super().__init__(store)
        self.admitted: list[tuple[str, str]] = []
        self.has_check = True

    def submit_pods(self, name: str, priority: int = 0, **pod_sets: Json) -> None:
        """A job with several pod sets: by name, `gpus` of one pod, `count`, and what else its `spec` and `metadata` say."""
        rows = []
        for pods, said in pod_sets.items():
            container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(said["gpus"])}}}
            spec = {"containers": [container], **said.get("spec", {})}
            template = {"metadata": said.get("metadata", {}), "spec": spec}
            rows.append({"name": pods, "count": said.get("count", 1), "template": template})
        metadata = {"name": name, "finalizers": ["kueue.x-k8s.io/resource-in-use"]}
        body = {**TYPE, "metadata": metadata, "spec": {"queueName": QUEUE, "priority": priority, "active": True, "podSets": rows}}
        self.store.create(WORKLOADS, body, namespace="default", manager="kueue")

    def grow(self, earlier: str, name: str, gpus: int) -> None:
        """An elastic job grows: it gets another Workload."""
        self.submit(name, gpus, annotations={REPLACES: f"default/{earlier}"})

    def reserve(self, name: str) -> bool:
        """Quota is reserved; the slice before it is finished by that."""
        if not super().reserve(name):
            return False
        earlier = self._earlier(name)
        replaced = self.workload(earlier) if earlier else None
        if replaced is not None and not is_true(replaced, "Finished"):
            self._write(replaced, self._steps().finish(replaced, "WorkloadSliceReplaced"))
        return True

    def admit(self, name: str) -> bool:
        """Admitted; a job whose checks say something else than its template has failed for good."""
        workload = self.workload(name)
        if workload is None or self._steps().admit(workload) is None:
            return False
        if self._differs(workload):
            return self._write(workload, self._steps().finish(workload, "FailedToStart"))
        marks = [row["reason"] for row in workload["status"]["conditions"] if row["type"] == DECIDED]
        self.admitted.append((name, marks[0] if marks else ""))
        return super().admit(name)

    def sync_check(self, name: str) -> bool:
        """The checks of a workload become those that its ClusterQueue needs; who needs none is admitted."""
        workload = self.workload(name)
        if workload is None or is_true(workload, "Finished") or not is_true(workload, "QuotaReserved"):
            return False
        steps, row = self._steps(), self._steps().row(workload["status"])
        if (row is not None) is self.has_check:
            return False
        rows = [steps.answer("Pending", "")] if self.has_check else []
        status: Json = {"admissionChecks": rows}
        if not self.has_check and not is_true(workload, "Admitted"):
            conditions = [each for each in workload["status"]["conditions"] if each["type"] != "Admitted"]
            status["conditions"] = [*conditions, {"type": "Admitted", "status": "True", "reason": "Admitted", "message": ""}]
            self.running.add(name)
        self.store.merge_patch(WORKLOADS, name, {"status": status}, namespace="default", subresource="status", manager="kueue")
        return True

    def steps(self) -> list[object]:  # type: ignore[override]
        """All that Kueue does by itself."""
        return [self.sync_check, *super().steps()]

    def _end(self, name: str) -> None:
        super()._end(name)
        earlier = self._earlier(name)
        if earlier:
            self._end(earlier)

    def _earlier(self, name: str) -> str:
        workload = self.workload(name) or {"metadata": {}}
        return str(workload["metadata"].get("annotations", {}).get(REPLACES, "")).partition("/")[2]

    def _differs(self, workload: Json) -> bool:
        updates = {each["name"]: each for each in (self._steps().row(workload["status"]) or {}).get("podSetUpdates", [])}
        for pods in workload["spec"]["podSets"]:
            template, update = pods["template"], updates.get(pods["name"], {})
            metadata = template.get("metadata", {})
            said = (template["spec"].get("nodeSelector", {}), metadata.get("labels", {}), metadata.get("annotations", {}))
            given = (update.get("nodeSelector", {}), update.get("labels", {}), update.get("annotations", {}))
            if any(ours[key] != theirs[key] for ours, theirs in zip(said, given, strict=True) for key in ours.keys() & theirs.keys()):
                return True
        return False

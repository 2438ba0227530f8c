"""A small player of Volcano's scheduler: it asks the extender's verbs, and does with PodGroups what the answers let it do.

A gang has one pod for each GPU that it asks for; the cluster has so many GPUs. Evicted pods are gone at once. `asked` asks a verb.
"""

from collections.abc import Callable
from typing import Any

from fake_kinds import POD_GROUP
from fake_store import FakeStore

Json = dict[str, Any]
Ask = Callable[[str, Json], Json]
GPU = "nvidia.com/gpu"
SPACE = "team"


class VolcanoPlayer:
    """Plays the scheduler, its controllers, and those who use them. `enqueued` and `evicted` are told of what is done by an answer."""

    def __init__(self, store: FakeStore, gpus: int, asked: Ask) -> None:
        self.store, self.gpus, self.asked = store, gpus, asked
        self.enqueued: Callable[[str], None] = lambda name: None
        self.evicted: Callable[[str, str], None] = lambda name, by: None

    # --- users

    def groups(self) -> dict[str, Json]:
        """The PodGroups by name."""
        return {item["metadata"]["name"]: item for item in self.store.list(POD_GROUP)["items"]}

    def submit(self, name: str, gpus: int, queue: str, priority: str = "", with_resources: bool = True) -> None:
        """A job is made, with its PodGroup."""
        spec: Json = {"minMember": gpus, "queue": queue, **({"priorityClassName": priority} if priority else {})}
        if with_resources:
            spec["minResources"] = {GPU: str(gpus)}
        head = {"apiVersion": POD_GROUP.api_version, "kind": "PodGroup", "metadata": {"name": name}}
        self.store.create(POD_GROUP, {**head, "spec": spec, "status": {"phase": "Pending"}}, namespace=SPACE)

    def change(self, name: str, spec: Json) -> None:
        """Somebody changes what a PodGroup asks for."""
        self.store.merge_patch(POD_GROUP, name, {"spec": spec}, namespace=SPACE)

    def set_phase(self, name: str, phase: str) -> None:
        """Its phase becomes another one, by the scheduler, or by what happens to its pods."""
        self.store.merge_patch(POD_GROUP, name, {"status": {"phase": phase}}, namespace=SPACE)

    def delete(self, name: str) -> None:
        """A job is deleted, with its PodGroup."""
        self.store.delete(POD_GROUP, name, namespace=SPACE)

    # --- the scheduler

    def phase(self, name: str) -> str:
        """Where a PodGroup is; empty where there is none."""
        found = self.groups().get(name)
        return "" if found is None else str(found["status"]["phase"])

    def size(self, name: str) -> int:
        """How many GPUs the pods of a PodGroup have."""
        return int(self.groups()[name]["spec"]["minMember"])

    def free(self) -> int:
        """How many GPUs nobody has."""
        return self.gpus - sum(self.size(name) for name in self.groups() if self.phase(name) == "Running")

    def schedule(self, name: str) -> bool:
        """What a session does for one PodGroup; whether that was anything."""
        phase = self.phase(name)
        if phase == "Pending":
            return self._enqueue(name)
        return phase == "Inqueue" and self._allocate(name)

    def _enqueue(self, name: str) -> bool:
        group = self.groups()[name]
        is_asked = "minResources" in group["spec"]  # Volcano asks about no other
        job = {"Name": name, "Namespace": SPACE, "UID": f"{SPACE}/{name}", "PgUID": group["metadata"]["uid"]}
        if not is_asked or self.asked("jobEnqueueable", {"job": job})["status"] != 1:
            return False
        self.enqueued(name)
        self.set_phase(name, "Inqueue")
        return True

    def _allocate(self, name: str) -> bool:
        queue = self.groups()[name]["spec"]["queue"]
        if self.asked("queueOverused", {"queue": {"Name": queue}})["overused"]:
            return False
        if self.free() < self.size(name) and not self._make_room(name, queue):
            return False
        self.set_phase(name, "Running")
        return True

    def _make_room(self, name: str, queue: str) -> bool:
        """Evict for a PodGroup whom the extender lets it evict, unless that is too little."""
        running = {other: group["spec"]["queue"] for other, group in self.groups().items() if group["status"]["phase"] == "Running"}
        victims: list[str] = []
        for verb, evictees in (
            ("preemptable", [other for other in running if running[other] == queue]),
            ("reclaimable", [other for other in running if running[other] != queue]),
        ):
            body = {"evictor": _task(name), "evictees": [_task(other) for other in evictees]}
            victims += [each["Name"] for each in self.asked(verb, body)["victims"]] if evictees else []
        if self.free() + sum(self.size(victim) for victim in victims) < self.size(name):
            return False
        while self.free() < self.size(name):
            victim = victims.pop(0)
            self.evicted(victim, name)
            self.set_phase(victim, "Pending")
        return True


def _task(name: str) -> Json:
    return {"UID": f"pod-{name}", "Job": f"{SPACE}/{name}", "Name": name, "Namespace": SPACE, "Status": 32}

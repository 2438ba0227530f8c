"""Plays Kueue and its users on a real API server: Workloads are created, reserved, admitted, stopped and finished, each by a write.

It is what Kueue's controllers would do, by the steps of `kueue_steps.py`, and it keeps what it saw: which decision let which workload run.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kubernetes.reflector import ObjectChange, Reflector
from gpol.adapters.kueue.live.protocol import DECIDED, WORKLOAD
from gpol.adapters.live.work_queue import WorkQueue
from kueue_steps import KueueSteps, is_true

Json = dict[str, Any]
NAMESPACE = "default"


@dataclass
class KueuePlayer:
    """`admitted` has, for each admission that was carried out, the workload, its uid and the mark of the decision, in order.

    Both are what was seen, not what was written: the answer to a write that was carried out may be lost.
    """

    api: Api
    rng: random.Random
    run_seconds: float
    admitted: list[tuple[str, str, str]] = field(default_factory=list)
    workloads: Reflector[Json] = field(init=False)
    writes: WorkQueue = field(default_factory=WorkQueue)
    _tasks: set["asyncio.Future[None]"] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.workloads = Reflector(self.api, WORKLOAD, lambda plain: plain, self._see)

    @property
    def finished(self) -> int:
        """How many workloads have finished."""
        return sum(is_true(seen.value, "Finished") for seen in self.workloads.known.values())

    async def run(self) -> None:
        """Play Kueue until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.workloads.run())
            for _ in range(8):
                tasks.create_task(self.writes.work(self._step))

    async def submit(self, name: str, queue: str, gpus: int, priority: int) -> None:
        """Create a job's Workload; tried again until the server has it."""
        container = {"name": "main", "image": "none", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        spec = {"queueName": queue, "priority": priority, "active": True, "podSets": [{"name": "main", "count": 1, "template": template}]}
        body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}
        while True:
            try:
                await self.api.create(WORKLOAD.path(NAMESPACE), body)
                return
            except ApiError as error:
                if error.status == 409:
                    return
                await asyncio.sleep(0.2)

    def _see(self, changes: Sequence[ObjectChange[Json]]) -> None:
        for change in changes:
            if change.new is None:
                continue
            self.writes.add(change.key)
            workload = change.new.value
            if is_true(workload, "Admitted") and not (change.old is not None and is_true(change.old.value, "Admitted")):
                mark = next((row["reason"] for row in workload["status"]["conditions"] if row["type"] == DECIDED), "")
                self.admitted.append((change.key, workload["metadata"]["uid"], mark))

    async def _step(self, key: str) -> float | None:
        """Make the next write to a workload, if there is one."""
        seen = self.workloads.known.get(key)
        if seen is None or is_true(seen.value, "Finished"):
            return None
        workload, steps = seen.value, KueueSteps(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        try:
            if steps.is_to_be_deactivated(workload):
                await self.api.merge(WORKLOAD.path(NAMESPACE, key.partition("/")[2]), {"spec": {"active": False}})
                return None
            status = steps.admit(workload) or next((found for step in steps.of_itself() if (found := step(workload)) is not None), None)
            if status is None:
                return self._maybe_finish(key, workload)
            self.workloads.written(await self._write(workload, status))
        except ApiError:
            return 0.1
        return None

    def _maybe_finish(self, key: str, workload: Json) -> float | None:
        if is_true(workload, "Admitted") and not is_true(workload, "Evicted"):
            asyncio.get_running_loop().call_later(self.rng.expovariate(1 / self.run_seconds), self._finish_soon, key)
        return None

    def _finish_soon(self, key: str) -> None:
        task = asyncio.ensure_future(self._finish(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _finish(self, key: str) -> None:
        seen = self.workloads.known.get(key)
        if seen is None or not is_true(seen.value, "Admitted") or is_true(seen.value, "Evicted") or is_true(seen.value, "Finished"):
            return
        try:
            steps = KueueSteps(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
            self.workloads.written(await self._write(seen.value, steps.finish(seen.value)))
        except ApiError:
            asyncio.get_running_loop().call_later(0.5, self._finish_soon, key)

    async def _write(self, workload: Json, status: Json) -> Json:
        metadata = {key: workload["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": metadata, "status": status}
        path = WORKLOAD.path(NAMESPACE, metadata["name"], "status")
        return await self.api.apply(path, body, "kueue-admission")

"""Plays the controllers beside a real API server for batch/v1 Jobs: Kueue's, by the steps of `kueue_steps.py`, and that of Jobs.

A Job with the label of a LocalQueue gets a Workload. Once that is admitted the Job goes on, and has pods; once it is evicted its pods end.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kubernetes.resource_kinds import POD, Kind
from gpol.adapters.kueue.live.protocol import LOCAL_QUEUE, WORKLOAD
from kueue_steps import KueueSteps, is_true

Json = dict[str, Any]
JOB = Kind("batch", "v1", "Job", "jobs")
QUEUE_LABEL, PRIORITY_LABEL = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"


class JobPlayer:
    """Looks at all Jobs and Workloads, or those of a namespace, again and again, and makes the next write to each."""

    def __init__(self, api: Api, namespace: str = "") -> None:
        self._api, self._namespace = api, namespace

    async def run(self) -> None:
        """Play until cancelled."""
        while True:
            for job in (await self._api.list_all(JOB, self._namespace)).items:
                try:
                    await self._step(job)
                except ApiError as error:
                    if error.status != 409:  # gpol has written between reading and writing; the next round sees that
                        raise
            await asyncio.sleep(0.1)

    async def _step(self, job: Json) -> None:
        namespace, name = job["metadata"]["namespace"], f"job-{job['metadata']['name']}-{job['metadata']['uid'][:5]}"
        try:
            workload = await self._api.get(WORKLOAD.path(namespace, name))
        except ApiError as error:
            if error.status != 404:
                raise
            await self._create_workload(job, namespace, name)
            return
        queue = await self._api.get(LOCAL_QUEUE.path(namespace, workload["spec"]["queueName"]))
        steps = KueueSteps(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        if is_true(workload, "Evicted") and not job["spec"]["suspend"]:
            await self._stop(job)
            return
        if steps.is_to_be_deactivated(workload):
            await self._api.merge(WORKLOAD.path(namespace, name), {"spec": {"active": False}})
            return
        status = next((found for step in (steps.admit, *steps.of_itself()) if (found := step(workload)) is not None), None)
        if status is not None:
            if "admission" in status:
                status["admission"]["clusterQueue"] = queue["spec"]["clusterQueue"]
            await self._write(workload, status)
        elif is_true(workload, "Admitted") and job["spec"]["suspend"]:
            await self._start(job, workload)

    async def _create_workload(self, job: Json, namespace: str, name: str) -> None:
        labels, spec = job["metadata"]["labels"], job["spec"]
        classes = f"/apis/{WORKLOAD.api_version}/workloadpriorityclasses"
        priority = await self._api.get(f"{classes}/{labels[PRIORITY_LABEL]}") if PRIORITY_LABEL in labels else {"value": 0}
        template = {"spec": spec["template"]["spec"]}
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": job["metadata"]["uid"]}
        for container in template["spec"]["containers"]:
            container["resources"]["requests"] = {**container["resources"]["limits"], **container["resources"].get("requests", {})}
        body = {
            "apiVersion": WORKLOAD.api_version,
            "kind": WORKLOAD.kind,
            "metadata": {"name": name, "namespace": namespace, "ownerReferences": [owner]},
            "spec": {
                "queueName": labels[QUEUE_LABEL],
                "priority": priority["value"],
                "active": True,
                "podSets": [{"name": "main", "count": spec["parallelism"], "template": template}],
            },
        }
        await self._api.create(WORKLOAD.path(namespace), body)

    async def _write(self, workload: Json, status: Json) -> None:
        metadata = {key: workload["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": metadata, "status": status}
        await self._api.apply(WORKLOAD.path(metadata["namespace"], metadata["name"], "status"), body, "kueue-admission")

    async def _start(self, job: Json, workload: Json) -> None:
        """The Job goes on: it has pods, with what the check says of them."""
        row = next(each for each in workload["status"]["admissionChecks"] if each["name"] == "gpol")
        update = row["podSetUpdates"][0]
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        for number in range(job["spec"]["parallelism"]):
            metadata = {
                "generateName": f"{name}-{number}-",
                "namespace": namespace,
                "labels": {**update.get("labels", {}), "job-name": name},
            }
            spec = {**job["spec"]["template"]["spec"], "nodeSelector": update["nodeSelector"]}
            await self._api.create(POD.path(namespace), {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        await self._api.merge(JOB.path(namespace, name), {"spec": {"suspend": False}})

    async def _stop(self, job: Json) -> None:
        """The Job is suspended, and its pods end."""
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        await self._api.merge(JOB.path(namespace, name), {"spec": {"suspend": True}})
        for pod in await self._api.labelled(POD, namespace, "job-name", name):
            await self._api.merge(POD.path(namespace, pod["metadata"]["name"], "status"), {"status": {"phase": "Failed"}})

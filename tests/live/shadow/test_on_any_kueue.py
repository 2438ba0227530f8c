"""A shadow beside a Kueue of its own right: jobs come and go for a minute, and nothing that Kueue decides about them is a difference.

GPOL_TEST_KUBECONFIG=~/.kube/config make test-live      on a cluster where nothing finishes jobs but this test: they need what no node has
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from any_cluster import NAMED
from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kubernetes.resource_kinds import NAMESPACE, Kind
from gpol.adapters.kueue.live.protocol import CLUSTER_QUEUE, GROUP, LOCAL_QUEUE, RESOURCE_FLAVOR, VERSION
from gpol.adapters.kueue.live.shadow.kueue_shadow import KueueShadow
from gpol.adapters.kueue.live.shadow.shadow_settings import ShadowSettings
from gpol.adapters.live.decider import LiveDecider
from gpol.engine.default_core import thaw
from job_player import JOB, PRIORITY_LABEL, QUEUE_LABEL

Json = dict[str, Any]
PRIORITY = Kind(GROUP, VERSION, "WorkloadPriorityClass", "workloadpriorityclasses", namespaced=False)
RESOURCE, QUEUES, FLAVORS, PRIORITIES = "gpol.dev/none", ("x", "y", "z"), ("a", "b"), (0, 100, 200)
STEPS = 60

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not NAMED, reason="needs a cluster with Kueue's own controllers: GPOL_TEST_KUBECONFIG names it"),
]


class Users:
    """Submit jobs of random sizes and priorities, finish those that run, and delete others."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api, self.name, self.random = api, f"gpol-test-{uuid4().hex[:6]}", Random(seed)
        self.jobs: list[str] = []

    @asynccontextmanager
    async def ready(self) -> AsyncIterator[None]:
        """Three queues share two flavors in a cohort, in a namespace of their own."""
        made: list[str] = []
        try:
            await self.api.create(NAMESPACE.path(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}})
            made.append(NAMESPACE.path(name=self.name))
            for kind, namespace, name, rest in self._objects():
                head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
                await self.api.apply(kind.path(namespace, name), {**head, **rest}, "gpol-tests")
                made.append(kind.path(namespace, name))
            yield
        finally:
            for job in list(self.jobs):
                await self._delete(job)
            for path in reversed(made):
                with suppress(ApiError):
                    await self.api.delete(path)

    def _objects(self) -> list[tuple[Kind, str, str, Json]]:
        quotas = [{"name": f"{self.name}-{each}", "resources": [{"name": RESOURCE, "nominalQuota": 4}]} for each in FLAVORS]
        group = {"coveredResources": [RESOURCE], "flavors": quotas}
        preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
        spec = {"cohortName": self.name, "namespaceSelector": {}, "preemption": preemption, "resourceGroups": [group]}
        return [
            *((RESOURCE_FLAVOR, "", f"{self.name}-{each}", {"spec": {"nodeLabels": {"gpol-test": each}}}) for each in FLAVORS),
            *((PRIORITY, "", f"{self.name}-{each}", {"value": each}) for each in PRIORITIES),
            *((CLUSTER_QUEUE, "", f"{self.name}-{each}", {"spec": spec}) for each in QUEUES),
            *((LOCAL_QUEUE, self.name, each, {"spec": {"clusterQueue": f"{self.name}-{each}"}}) for each in QUEUES),
        ]

    async def do_something(self, number: int) -> None:
        """Submit a job, or let one end."""
        if len(self.jobs) < 4 or self.random.random() < 0.6:
            await self._submit(f"j{number}")
            return
        job = self.jobs.pop(self.random.randrange(len(self.jobs)))
        found = await self.api.get(JOB.path(self.name, job))
        if found["spec"].get("suspend") or self.random.random() < 0.3:
            await self._delete(job)
            return
        begun, pods = found["metadata"]["creationTimestamp"], found["spec"]["parallelism"]
        row = {"status": "True", "lastTransitionTime": begun, "lastProbeTime": begun}
        conditions = [{"type": kind, **row} for kind in ("SuccessCriteriaMet", "Complete")]
        counts = {"startTime": begun, "completionTime": begun, "succeeded": pods, "uncountedTerminatedPods": {}}
        await self.api.merge(JOB.path(self.name, job, "status"), {"status": {**counts, "conditions": conditions}})

    async def _submit(self, name: str) -> None:
        size, pods = self.random.choice((1, 1, 2, 3, 4, 6, 8)), self.random.choice((1, 1, 2))
        amounts = {RESOURCE: str(size)}
        container = {"name": "main", "image": "registry.example/none", "resources": {"limits": amounts, "requests": amounts}}
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        priority = f"{self.name}-{self.random.choice(PRIORITIES)}"
        metadata = {"name": name, "labels": {QUEUE_LABEL: self.random.choice(QUEUES), PRIORITY_LABEL: priority}}
        spec = {"suspend": True, "parallelism": pods, "completions": pods, "template": template}
        await self.api.create(JOB.path(self.name), {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
        self.jobs.append(name)

    async def _delete(self, job: str) -> None:
        with suppress(ApiError):
            await self.api._send("DELETE", JOB.path(self.name, job), (("propagationPolicy", "Background"),))


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_kueue_decides_is_a_difference(tmp_path: Path, seed: int) -> None:
    """All that its scheduler decides is explained, with its preemptions."""

    async def watched() -> None:
        async with await Api.connect(Path(NAMED)) as api:
            users = Users(api, seed)
            async with users.ready():
                await asyncio.sleep(3)
                with LiveDecider.open(str(tmp_path / "shadow.db"), lambda frozen: thaw(*frozen)) as decider:
                    shadow = KueueShadow(api, decider, ShadowSettings(config_map=""))
                    working = asyncio.ensure_future(shadow.run())
                    await asyncio.sleep(3)
                    for number in range(STEPS):
                        await users.do_something(number)
                        await asyncio.sleep(users.random.uniform(0, 1.2))
                    await asyncio.sleep(5)
                    working.cancel()
                    await asyncio.wait((working,))
                assert [difference.text for difference in shadow.differences] == []
                assert (shadow.problem, shadow.unchecked) == ("", 0)
                assert shadow.explained > 15
        await asyncio.sleep(0.25)  # connections with TLS take a moment to end after they were closed

    asyncio.run(watched())

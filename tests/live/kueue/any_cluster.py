"""Jobs in a cluster where gpol decides for Kueue: one that `GPOL_TEST_KUBECONFIG` names, where Kueue has to run, or the tests' own server.

On the tests' own, `job_player.py` plays Kueue. All that is made has a name of its own, and is deleted at the end.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from gpol.adapters.kubernetes.api import Api, ApiError, Plain
from gpol.adapters.kubernetes.nodes import HOSTNAME
from gpol.adapters.kubernetes.resource_kinds import NAMESPACE, NODE, Kind
from gpol.adapters.kueue.export.live.live_objects import LiveChoices, export_live
from gpol.adapters.kueue.live.decides import KueueDecisions
from gpol.adapters.kueue.live.protocol import ADMISSION_CHECK, CLUSTER_QUEUE, LOCAL_QUEUE, RESOURCE_FLAVOR, WORKLOAD
from gpol.adapters.live.decider import LiveDecider
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.sim.drive.policy import Policy
from job_player import JOB, QUEUE_LABEL, JobPlayer
from kueue_steps import is_true

Json = dict[str, Any]
NAMED = os.environ.get("GPOL_TEST_KUBECONFIG", "")
SECONDS = 30
KUEUE_SECONDS = 20
"""How long Kueue may take to say whether a ClusterQueue is active."""

KINDS: dict[str, Kind] = {kind.kind: kind for kind in (RESOURCE_FLAVOR, ADMISSION_CHECK, CLUSTER_QUEUE, LOCAL_QUEUE)}
POLICY = """policy "any" {
  use gpol.fair
  ignore cpu, memory
}
flavor h100 {
  gpu 8
  label gpol-test = "h100"
}
queue NAME-wide {
  owns 4 gpu
  local queue "NAME/wide"
}
queue NAME-other {
  owns 4 gpu
  local queue "NAME/other"
}
deny too-big { where workload.gpu > 8 } because "it never fits"
"""


class DiedError(Exception):
    """gpol died here."""


class DyingApi:
    """The client of a gpol that dies at the first Ready that it writes: before that is sent, or before its answer is read."""

    def __init__(self, api: Api, after_sending: bool) -> None:
        self._api, self._after_sending = api, after_sending

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    async def apply(self, path: str, body: Plain, *options: Any, **more: Any) -> Plain:
        """Apply, or die."""
        if not any(row["state"] == "Ready" for row in (body.get("status") or {}).get("admissionChecks") or []):
            return await self._api.apply(path, body, *options, **more)
        if self._after_sending:
            await self._api.apply(path, body, *options, **more)
        raise DiedError


class AnyCluster:
    """The cluster, and gpol's journal. `name` is that of the namespace, and begins those of the ClusterQueues."""

    def __init__(self, api: Api, folder: Path, policy: str = POLICY) -> None:
        self.api, self.name = api, f"gpol-test-{uuid4().hex[:6]}"
        self.check = self.name if NAMED else "gpol"  # the player knows one check
        self.journal = str(folder / "journal.db")
        self.checked = check(policy.replace("NAME", self.name), "any.gpol")
        assert self.checked.graph is not None, self.checked.errors

    @asynccontextmanager
    async def ready(self) -> AsyncIterator[None]:
        """Everything is installed, and Kueue, or its player, is at work."""
        assert self.checked.graph is not None
        made: list[str] = []
        if NAMED and not await self._knows_kueue():
            pytest.skip("the cluster of GPOL_TEST_KUBECONFIG has no Kueue")
        try:
            await self.api.create(NAMESPACE.path(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}})
            made.append(NAMESPACE.path(name=self.name))
            for item in export_live(self.checked.graph, LiveChoices(check=self.check)).objects:
                if item["kind"] in KINDS:
                    place, kind = item["metadata"], KINDS[item["kind"]]
                    path = kind.path(place.get("namespace", ""), place["name"])
                    await self.api.apply(path, item, "gpol-tests")
                    made += [path] if kind is not RESOURCE_FLAVOR else []  # others may use the flavor
            if await self._kueue_is_there():
                yield
            elif NAMED:
                pytest.skip("Kueue does not run in the cluster of GPOL_TEST_KUBECONFIG")
            else:
                playing = asyncio.ensure_future(JobPlayer(self.api, self.name).run())
                try:
                    yield
                finally:
                    playing.cancel()
                    await asyncio.wait((playing,))
        finally:
            for path in reversed(made):
                await self.api.delete(path)

    async def _knows_kueue(self) -> bool:
        try:
            await self.api.list_all(CLUSTER_QUEUE)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            return False
        return True

    async def _kueue_is_there(self) -> bool:
        path = CLUSTER_QUEUE.path(name=f"{self.name}-wide")
        for _ in range(KUEUE_SECONDS if NAMED else 1):
            if ((await self.api.get(path)).get("status") or {}).get("conditions"):
                return True
            await asyncio.sleep(1 if NAMED else 0)
        return False

    @asynccontextmanager
    async def gpol(self, dies: str = "") -> AsyncIterator[KueueDecisions]:
        """gpol at work; it may die `before` or `after` its first Ready is sent."""
        with LiveDecider.open(self.journal, lambda frozen: thaw(*frozen)) as decider:
            decider.activate(Policy.of(self.checked))
            api: Any = DyingApi(self.api, dies == "after") if dies else self.api
            decisions = KueueDecisions(api, decider, self.check)
            async with at_work(decisions.run(), may_die=bool(dies)):
                yield decisions

    async def submit(self, name: str, queue: str, gpus: int) -> None:
        """Create a job of one pod."""
        amounts = {"nvidia.com/gpu": str(gpus)}
        container = {"name": "main", "image": "registry.example/none", "resources": {"limits": amounts, "requests": amounts}}
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        labels = {QUEUE_LABEL: queue}
        spec = {"suspend": True, "parallelism": 1, "completions": 1, "backoffLimit": 0, "template": template}
        body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels}, "spec": spec}
        await self.api.create(JOB.path(self.name), body)

    @asynccontextmanager
    async def nodes(self, **racks: str) -> AsyncIterator[None]:
        """Nodes of 8 GPUs, by name in their racks; the hostname of each is another name."""
        made = {f"{self.name}-{name}": {"gpol-test": self.name, "rack": rack, HOSTNAME: f"host-{name}"} for name, rack in racks.items()}
        status = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"nvidia.com/gpu": "8", "pods": "110"}}
        try:
            for name, labels in made.items():
                await self.api.create(NODE.path(), {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
                await self.api.merge(NODE.path(name=name, part="status"), {"status": status})
            yield
        finally:
            left = [item["metadata"]["name"] for item in (await self.api.list_all(NODE)).items]
            for name in (name for name in made if name in left):
                await self.api.delete(NODE.path(name=name))

    async def workload(self, job: str) -> Json:
        """The Workload of a job; empty as long as there is none."""
        for item in (await self.api.list_all(WORKLOAD, self.name)).items:
            if any(owner["name"] == job for owner in item["metadata"].get("ownerReferences") or []):
                return item
        return {}

    def row(self, workload: Json) -> Json:
        """What gpol's check says of a Workload."""
        rows = (workload.get("status") or {}).get("admissionChecks") or []
        return next((row for row in rows if row["name"] == self.check), {})

    def waits(self, workload: Json) -> bool:
        """Whether a Workload has a reservation, and waits for gpol. Kueue says Pending before it has taken back an earlier reservation."""
        is_stopping = is_true(workload, "Evicted") or is_true(workload, "Admitted")
        return is_true(workload, "QuotaReserved") and not is_stopping and self.row(workload)["state"] == "Pending"

    async def until(self, job: str, condition: Callable[[Json], object]) -> Json:
        """Wait until something is the case for the Workload of a job, and return it."""
        found: Json = {}
        try:
            async with asyncio.timeout(SECONDS):
                while not (found := await self.workload(job)) or not condition(found):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"{job}: {found.get('status')}") from None
        return found

    async def until_job(self, job: str, runs: bool) -> None:
        """Wait until a job goes on, or is suspended."""
        async with asyncio.timeout(SECONDS):
            while (await self.api.get(JOB.path(self.name, job)))["spec"].get("suspend") is runs:
                await asyncio.sleep(0.1)


def is_admitted(workload: Json) -> bool:
    """Whether Kueue has admitted a Workload, and does not stop it."""
    return is_true(workload, "Admitted") and not is_true(workload, "Evicted")


@asynccontextmanager
async def at_work(work: Coroutine[Any, Any, None], may_die: bool) -> AsyncIterator[None]:
    """gpol works meanwhile; whatever ends it before is raised, but its death where it may die."""
    working = asyncio.ensure_future(work)
    try:
        yield
    finally:
        working.cancel()
        await asyncio.wait((working,))
        if not working.cancelled() and (error := working.exception()) is not None and not (may_die and _is_death(error)):
            raise error


def _is_death(error: BaseException) -> bool:
    return all(map(_is_death, error.exceptions)) if isinstance(error, BaseExceptionGroup) else isinstance(error, DiedError)

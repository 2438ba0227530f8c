"""PodGroups in a cluster where gpol decides for Volcano, and Volcano's own scheduler asks it.

`GPOL_TEST_KUBECONFIG` names the cluster, and `GPOL_TEST_EXTENDER` where its scheduler asks: `ADDRESS:PORT/PREFIX` of its
`extender.urlPrefix`, without a token; gpol answers there. All that is made has a name of its own, and is deleted at the end. A node offers
a resource of the tests' own meanwhile: one of the cluster, or, where there is none, a node without a kubelet, whose part is played.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from any_cluster import NAMED, DiedError, at_work
from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kubernetes.resource_kinds import NAMESPACE, NODE, POD
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.volcano.export.export_to_volcano import export_to_volcano
from gpol.adapters.volcano.extender.extender_handler import extender_handler
from gpol.adapters.volcano.live.volcano_decides import VolcanoDecisions
from gpol.adapters.volcano.live.volcano_resources import POD_GROUP, QUEUE
from gpol.dsl import compile_policy
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.sim.drive.policy import Policy

Json = dict[str, Any]
EXTENDER = os.environ.get("GPOL_TEST_EXTENDER", "")
SECONDS = 60
RESOURCE = "gpol.dev/test"
AMOUNT = 8
POLICY = f"""policy "any" {{ use gpol.fair }}
flavor any {{ gpu {AMOUNT} }}
queue NAME-wide {{ owns 4 gpu }}
queue NAME-other {{ owns 4 gpu }}
"""
DENIES = f'deny too-big {{ where workload.gpu > {AMOUNT} }} because "it never fits"\n'
"""What Volcano's Queues cannot say."""


class DyingDecisions(VolcanoDecisions):
    """A gpol that dies as soon as it has committed something."""

    def _tell(self, committed: Any) -> None:
        if committed:
            raise DiedError


class AnyVolcano:
    """The cluster, and gpol's journal. `name` is that of the namespace, and begins those of the Queues."""

    def __init__(self, api: Api, folder: Path) -> None:
        self.api, self.name = api, f"gpol-test-{uuid4().hex[:6]}"
        self.journal = str(folder / "journal.db")
        text = POLICY.replace("NAME", self.name)
        self.checked, self.quotas = check(text + DENIES, "any.gpol"), compile_policy(text, "any.gpol")
        self._is_kubelet = False

    # --- the cluster

    @asynccontextmanager
    async def ready(self) -> AsyncIterator[None]:
        """Queues and a node are there, and the scheduler is at work."""
        made = [NAMESPACE.path(name=self.name)]
        try:
            await self.api.create(NAMESPACE.path(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}})
            for item in export_to_volcano(self.quotas, RESOURCE).objects:
                path = QUEUE.path(name=item["metadata"]["name"])
                await self.api.apply(path, item, "gpol-tests")
                made.append(path)
                await self._opened(item["metadata"]["name"])
            async with self._node():
                yield
        finally:
            for pod in (await self.api.list_all(POD, self.name)).items:
                await self._end(pod)
            for item in (await self.api.list_all(POD_GROUP, self.name)).items:
                with suppress(ApiError):
                    await self.api.delete(POD_GROUP.path(self.name, item["metadata"]["name"]))
            for path in reversed(made):
                with suppress(ApiError):  # a Queue goes once its PodGroups are seen to be gone
                    await self.api.delete(path)

    async def _opened(self, queue: str) -> None:
        """Wait until Volcano's controllers have opened a Queue; where they do not run, their part is played."""
        for _ in range(5):
            if ((await self.api.get(QUEUE.path(name=queue))).get("status") or {}).get("state"):
                return
            await asyncio.sleep(1)
        await self.api.merge(QUEUE.path(name=queue, part="status"), {"status": {"state": "Open"}})

    @asynccontextmanager
    async def _node(self) -> AsyncIterator[None]:
        """A node offers the resource."""
        nodes = (await self.api.list_all(NODE)).items
        self._is_kubelet = not nodes
        node = nodes[0]["metadata"]["name"] if nodes else self.name
        if not nodes:
            metadata = {"name": node, "labels": {"kubernetes.io/hostname": node}}
            await self.api.create(NODE.path(), {"apiVersion": "v1", "kind": "Node", "metadata": metadata})
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            ready = {"type": "Ready", "status": "True", "reason": "Played", "lastHeartbeatTime": now, "lastTransitionTime": now}
            offers = {"cpu": "8", "memory": "8Gi", "pods": "100"}
            status = {"conditions": [ready], "capacity": offers, "allocatable": offers}
            await self.api.merge(NODE.path(name=node, part="status"), {"status": status})
            await self.api.merge(NODE.path(name=node), {"spec": {"taints": None}})
        offered = {"capacity": {RESOURCE: str(AMOUNT)}, "allocatable": {RESOURCE: str(AMOUNT)}}
        await self.api.merge(NODE.path(name=node, part="status"), {"status": offered})
        playing = asyncio.ensure_future(self._play_kubelet()) if self._is_kubelet else None
        try:
            yield
        finally:
            if playing is not None:
                playing.cancel()
                await asyncio.wait((playing,))
                await self.api.delete(NODE.path(name=node))
            else:
                taken = {part: {RESOURCE: None} for part in offered}
                await self.api.merge(NODE.path(name=node, part="status"), {"status": taken})

    async def _play_kubelet(self) -> None:
        """Pods that have a node run, and end when they are told to."""
        while True:
            for pod in (await self.api.list_all(POD, self.name)).items:
                if "deletionTimestamp" in pod["metadata"]:
                    await self._end(pod)
                elif pod["spec"].get("nodeName") and pod["status"].get("phase") == "Pending":
                    with suppress(ApiError):
                        await self.api.merge(POD.path(self.name, pod["metadata"]["name"], "status"), {"status": {"phase": "Running"}})
            await asyncio.sleep(0.2)

    async def _end(self, pod: Json) -> None:
        with suppress(ApiError):
            await self.api._send("DELETE", POD.path(self.name, pod["metadata"]["name"]), (("gracePeriodSeconds", "0"),))

    # --- users

    async def submit(self, name: str, queue: str, pods: int) -> None:
        """Create a PodGroup, and its pods."""
        spec = {"minMember": pods, "queue": f"{self.name}-{queue}", "minResources": {RESOURCE: str(pods)}}
        head = {"apiVersion": POD_GROUP.api_version, "kind": POD_GROUP.kind, "metadata": {"name": name}}
        await self.api.create(POD_GROUP.path(self.name), {**head, "spec": spec, "status": {"phase": "Pending"}})
        amounts = {RESOURCE: "1"}
        container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"limits": amounts, "requests": amounts}}
        for number in range(pods):
            metadata = {"name": f"{name}-{number}", "labels": {"of": name}, "annotations": {"scheduling.k8s.io/group-name": name}}
            body = {"schedulerName": "volcano", "containers": [container], "restartPolicy": "Never"}
            await self.api.create(POD.path(self.name), {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body})

    async def delete(self, name: str) -> None:
        """Delete a PodGroup, with its pods."""
        await self.api.delete(POD_GROUP.path(self.name, name))
        for pod in await self.api.labelled(POD, self.name, "of", name):
            await self._end(pod)

    async def phase(self, name: str) -> str:
        """Where a PodGroup is."""
        return str(((await self.api.get(POD_GROUP.path(self.name, name))).get("status") or {}).get("phase") or "Pending")

    async def bound(self, name: str) -> int:
        """How many pods of a PodGroup have a node, and are not told to end."""
        pods = await self.api.labelled(POD, self.name, "of", name)
        return sum(bool(pod["spec"].get("nodeName")) and "deletionTimestamp" not in pod["metadata"] for pod in pods)

    async def until_bound(self, name: str, fits: Callable[[int], bool]) -> None:
        """Wait until as many pods of a PodGroup have a node as are wanted."""
        number = -1
        try:
            async with asyncio.timeout(SECONDS):
                while not fits(number := await self.bound(name)):
                    await asyncio.sleep(0.2)
        except TimeoutError:
            group = await self.api.get(POD_GROUP.path(self.name, name))
            raise AssertionError(f"{name}: {number} pods have a node: {group.get('status')}") from None

    # --- gpol

    @asynccontextmanager
    async def gpol(self, kind: type[VolcanoDecisions] = VolcanoDecisions) -> AsyncIterator[VolcanoDecisions]:
        """gpol at work, which answers where the scheduler asks."""
        place, _, prefix = EXTENDER.partition("/")
        address, _, port = place.rpartition(":")
        with LiveDecider.open(self.journal, lambda frozen: thaw(*frozen)) as decider:
            decider.activate(Policy.of(self.checked))
            decisions = kind(self.api, decider, RESOURCE)
            runner = web.ServerRunner(web.Server(extender_handler(lambda: decisions.answers, f"/{prefix}"), access_log=None))
            await runner.setup()
            await web.TCPSite(runner, address, int(port), reuse_address=True).start()
            try:
                async with at_work(decisions.run(), may_die=kind is DyingDecisions):
                    yield decisions
            finally:
                await runner.cleanup()


def skip_reason() -> str:
    """Why there is no such cluster; empty where there is one."""
    if not NAMED:
        return "needs a cluster with Volcano's own scheduler: GPOL_TEST_KUBECONFIG names it"
    return "" if EXTENDER else "needs to know where the cluster's Volcano asks gpol: GPOL_TEST_EXTENDER=ADDRESS:PORT/PREFIX"


async def needs_volcano(api: Api) -> None:
    """Skip where the cluster does not know Volcano's objects."""
    try:
        await api.list_all(QUEUE)
    except ApiError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        pytest.skip("the cluster of GPOL_TEST_KUBECONFIG has no Volcano")

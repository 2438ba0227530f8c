"""Guarding quotas on the Kubernetes project's own API server, with the schemas and rules of Kueue's custom resources."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import go_apiserver
import pytest
from go_apiserver import GoApiServer
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.resource_kinds import Kind
from gpol.adapters.kueue.export.live.access_rights import LiveWay
from gpol.adapters.kueue.export.live.live_objects import LiveChoices, export_live
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED
from gpol.adapters.kueue.live.protocol import ADMISSION_CHECK, CLUSTER_QUEUE, LOCAL_QUEUE, PRIORITY_CLASS, RESOURCE_FLAVOR
from gpol.adapters.live.guard.object_writes import RepairPace
from gpol.adapters.live.guard.quota_guard import QuotaGuard
from guarded_policies import APART, PLAIN, STOPPED

pytestmark = pytest.mark.slow

Json = dict[str, Any]
SECONDS = 60
RBAC = "rbac.authorization.k8s.io"
KINDS = {
    "Namespace": Kind("", "v1", "Namespace", "namespaces", namespaced=False),
    "ServiceAccount": Kind("", "v1", "ServiceAccount", "serviceaccounts"),
    "ClusterRole": Kind(RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False),
    "ClusterRoleBinding": Kind(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    "Role": Kind(RBAC, "v1", "Role", "roles"),
    "RoleBinding": Kind(RBAC, "v1", "RoleBinding", "rolebindings"),
    **{kind.kind: kind for kind in (ADMISSION_CHECK, CLUSTER_QUEUE, LOCAL_QUEUE, PRIORITY_CLASS, RESOURCE_FLAVOR)},
}
QUEUE = CLUSTER_QUEUE.path(name="a")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoApiServer]:
    """One server for all tests."""
    if reason := go_apiserver.available():
        pytest.skip(reason)
    with GoApiServer(tmp_path_factory.mktemp("real")) as running:
        yield running


@asynccontextmanager
async def connected(server: GoApiServer) -> AsyncIterator[Api]:
    """A connection to a server; those with TLS take a moment to end after they were closed."""
    async with await Api.connect(Path(server.kubeconfig)) as api:
        yield api
    await asyncio.sleep(0.25)


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.02)


async def namespaces(api: Api) -> None:
    """The namespaces of the policies."""
    for name in ("team-a", "team-b"):
        await api.apply(KINDS["Namespace"].path(name=name), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, "tests")


@pytest.mark.parametrize("way", ["decide", "guard"])
def test_the_live_export_is_taken(server: GoApiServer, way: LiveWay) -> None:
    """Every object of it passes the schemas, and applied again and again it changes nothing."""

    async def scene() -> None:
        async with connected(server) as api:
            await namespaces(api)
            for item in export_live(STOPPED, LiveChoices(way=way, reviews=True, deletes=way == "guard")).objects:
                path = KINDS[item["kind"]].path(item["metadata"].get("namespace", ""), item["metadata"]["name"])
                await api.apply(path, item, "tests")
                first = await api.apply(path, item, "tests")  # a Namespace gets the label of its name into its managedFields by this
                second = await api.apply(path, item, "tests")
                assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
                if item["kind"] == "ClusterQueue":
                    assert second["spec"]["admissionChecksStrategy"] == {"admissionChecks": [{"name": "gpol"}]}
                    assert "cohortName" not in second["spec"]
                    await api.delete(path)

    asyncio.run(scene())


def test_a_life_with_edits(server: GoApiServer) -> None:
    """Objects are made, edits are repaired, other programs respected, policies replaced; whoever rests writes nothing."""

    async def scene() -> None:
        async with connected(server) as api:
            await namespaces(api)
            guard = QuotaGuard(api, KUEUE_GUARDED, PLAIN, pace=RepairPace(first_pause=0), deletes=True)
            working = asyncio.ensure_future(guard.run())
            await until(lambda: not guard.problem and not len(guard.looks))
            before = await api.get(QUEUE)

            for key in list(guard._wanted):
                guard.looks.add(key)
            await until(lambda: not len(guard.looks))
            wanted = guard._wanted["clusterqueues a"]
            await api.apply(wanted.path, wanted.body, "gpol.dev/policy", force=False)
            assert (await api.get(QUEUE))["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]

            repaired = guard.repaired
            threshold = {"borrowWithinCohort": {"maxPriorityThreshold": 3}}
            edit = {"queueingStrategy": "StrictFIFO", "cohortName": None, "stopPolicy": "Hold", "preemption": threshold}
            await api.merge(QUEUE, {"spec": edit})
            await until(lambda: guard.repaired > repaired and not guard.problem)
            after = await api.get(QUEUE)
            assert after["spec"] == {**before["spec"], "stopPolicy": "Hold"}

            body = {"apiVersion": CLUSTER_QUEUE.api_version, "kind": "ClusterQueue", "metadata": {"name": "a"}}
            await api.apply(QUEUE, {**body, "spec": {"queueingStrategy": "StrictFIFO"}}, "argocd")
            await until(lambda: [(each.field, each.by) for each in guard.drift] == [("spec.queueingStrategy", ("argocd",))])
            await api.apply(QUEUE, body, "argocd")
            await until(lambda: not guard.problem)

            server.kill()
            await until(lambda: "cannot follow" in guard.problem)
            guard.keep(STOPPED)
            server.restart()
            await until(lambda: not guard.problem)
            assert (await api.get(QUEUE))["spec"]["fairSharing"] == {"weight": "2"}

            guard.keep(APART)
            await until(lambda: not guard.problem and not guard.drift)
            spec = (await api.get(QUEUE))["spec"]
            assert "cohortName" not in spec
            assert guard.deleted == 3
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    asyncio.run(scene())

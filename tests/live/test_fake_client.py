"""The tests' own API server as clients of others see it: the official Python client, a process of its own, and TLS."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from fake_access import Access, Grant, User
from fake_apiserver import FakeApiServer
from fake_kinds import LEASE, WORKLOAD
from fake_scenes import NS, WORKLOADS, W, workload
from fake_serving import ServingThread, certified, write_kubeconfig
from fake_store import FakeStore
from kubernetes.aio import client, config, watch
from kubernetes.aio.client.exceptions import ApiException

PLACE: dict[str, Any] = {"group": "kueue.x-k8s.io", "version": "v1beta2", "namespace": "default", "plural": "workloads"}


def talked(folder: Path, talk: Callable[[FakeApiServer, Any], Awaitable[None]], **options: Any) -> None:
    """Lets the official client talk to a server for at most twenty seconds. It finds it by a kubeconfig file."""
    token, authority = options.pop("token", ""), options.pop("authority", None)

    async def play() -> None:
        async with FakeApiServer(FakeStore(), **options) as server, asyncio.timeout(20):
            path = write_kubeconfig(folder / "config", server.url, token=token, authority=authority)
            loaded = client.Configuration()
            await config.load_kube_config(str(path), client_configuration=loaded)
            async with client.ApiClient(loaded) as api:
                await talk(server, api)

    asyncio.run(play())


def test_a_controller_by_the_official_client(tmp_path: Path) -> None:
    """It lists, watches through a cut, applies to the status with the version it has seen, and gets 409 when it has seen an old one."""

    async def talk(server: FakeApiServer, api: Any) -> None:
        objects: Any = client.CustomObjectsApi(api)
        await objects.create_namespaced_custom_object(**PLACE, body=workload(spec={"podSets": [{"name": "main", "count": 1}]}))
        listed = await objects.list_namespaced_custom_object(**PLACE)
        assert [item["metadata"]["name"] for item in listed["items"]] == ["w"]
        version = listed["metadata"]["resourceVersion"]

        async def events(since: str, count: int) -> list[Any]:
            found: list[Any] = []
            async with watch.Watch() as stream:
                async for event in stream.stream(
                    objects.list_namespaced_custom_object, **PLACE, resource_version=since, timeout_seconds=60
                ):
                    found.append(event["object"])
                    if len(found) == count:
                        break
            return found

        async def answer(state: str, metadata: dict[str, Any]) -> Any:
            check = {"name": "gpol", "state": state, "message": "seq 1", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            body = workload(metadata=metadata, status={"admissionChecks": [check]})
            return await objects.patch_namespaced_custom_object_status(
                **PLACE, name="w", body=body, field_manager="gpol.dev/policy", force=True, _content_type="application/apply-patch+yaml"
            )

        watching = asyncio.ensure_future(events(version, 2))
        await server.until(lambda: server.faults.open_watches)
        server.faults.reset_watches()
        with pytest.raises(aiohttp.ClientError):
            await watching

        seen = {field: listed["items"][0]["metadata"][field] for field in ("uid", "resourceVersion")}
        applied = await answer("Ready", seen)
        assert (await events(version, 1))[0] == applied
        with pytest.raises(ApiException) as caught:
            await answer("Retry", seen)
        assert (caught.value.status, json.loads(caught.value.body or "")["reason"]) == (409, "Conflict")
        assert await answer("Ready", {}) == applied

        server.store.compact()
        with pytest.raises(ApiException, match="Expired: too old resource version"):
            await events("1", 1)

    talked(tmp_path, talk)


def test_a_lease_has_one_taker(tmp_path: Path) -> None:
    """Of two takers that saw the same lease one gets 200 and the other 409, with the client's own models."""

    async def talk(server: FakeApiServer, api: Any) -> None:
        leases: Any = client.CoordinationV1Api(api)
        spec = client.V1LeaseSpec(holder_identity="nobody", lease_duration_seconds=15)
        await leases.create_namespaced_lease("default", client.V1Lease(metadata=client.V1ObjectMeta(name="gpol"), spec=spec))
        one, other = [await leases.read_namespaced_lease("gpol", "default") for _ in range(2)]
        one.spec.holder_identity, other.spec.holder_identity = "one", "other"
        await leases.replace_namespaced_lease("gpol", "default", one)
        with pytest.raises(ApiException) as caught:
            await leases.replace_namespaced_lease("gpol", "default", other)
        assert caught.value.status == 409
        assert server.store.get(LEASE, "gpol", "default")["spec"]["holderIdentity"] == "one"

    talked(tmp_path, talk)


def test_tls_and_a_token_of_the_kubeconfig(tmp_path: Path) -> None:
    """The client trusts the server's certificate and sends its token, by what the kubeconfig file says; and may do what is granted."""
    tls, authority = certified(tmp_path)
    user = User("gpol", (Grant(("list",), ("workloads",), "kueue.x-k8s.io"),))

    async def talk(server: FakeApiServer, api: Any) -> None:
        objects: Any = client.CustomObjectsApi(api)
        assert server.url.startswith("https://")
        assert (await objects.list_namespaced_custom_object(**PLACE))["items"] == []
        with pytest.raises(ApiException) as caught:
            await objects.delete_namespaced_custom_object(**PLACE, name="w")
        assert caught.value.status == 403

    talked(tmp_path, talk, tls=tls, authority=authority, token="secret", access=Access({"secret": user}))


CONTROLLER = """
import json, sys, urllib.request

server, path = sys.argv[1:]
stream = urllib.request.urlopen(f"{server}{path}?watch=1", timeout=60)
name = json.loads(stream.readline())["object"]["metadata"]["name"]
body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name}, "status": {"seen": True}}
request = urllib.request.Request(f"{server}{path}/{name}/status?fieldManager=child", json.dumps(body).encode(), method="PATCH")
request.add_header("Content-Type", "application/apply-patch+yaml")
print(urllib.request.urlopen(request, timeout=60).status)
"""


def test_a_client_in_another_process() -> None:
    """The server runs in a thread. The test works on its store by `call`, and waits for what the other process does."""
    store = FakeStore()
    with ServingThread(store) as server:
        arguments = [sys.executable, "-c", CONTROLLER, server.url, WORKLOADS]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as child:
            server.wait_until(lambda: server.server.faults.open_watches == 1, timeout=60)
            server.call(store.create, WORKLOAD, workload("w"), **NS)
            server.wait_until(lambda: store.get(WORKLOAD, "w", "default").get("status") == {"seen": True}, timeout=60)
            assert child.communicate(timeout=60)[0] == "200\n"
    assert [seen.method for seen in server.server.seen] == ["WATCH", "PATCH"]
    assert server.server.seen[1].path == f"{W}/status"


def test_the_thread_passes_on_what_fails() -> None:
    """What a call raises is raised in the test, a wait that takes too long is a TimeoutError, and the server goes down in its thread."""
    store = FakeStore()
    with ServingThread(store) as server:
        with pytest.raises(Exception, match="not found"):
            server.call(store.get, WORKLOAD, "w", "default")
        with pytest.raises(TimeoutError):
            server.wait_until(lambda: store.version > 100, timeout=0.01)
        server.wait(server.server.go_down, timeout=10)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        ServingThread(store, colour="red")

"""Whatever goes wrong with a request is one kind of error, which says what is known."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from fake_access import Access, User
from fake_apiserver import FakeApiServer
from fake_kinds import WORKLOAD as STORED
from fake_scenes import workload
from fake_store import FakeStore
from following import connected
from gpol.adapters.kubernetes.access import missing_rights, rights, served_versions
from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kueue.live.protocol import CONTROLLER, WORKLOAD


def asked(tmp_path: Path, act: Callable[[Api, FakeApiServer], Awaitable[None]], access: Access | None = None, token: str = "") -> None:
    """Let something be asked of a server that has one Workload."""

    async def played() -> None:
        store = FakeStore()
        store.create(STORED, workload("w"), namespace="default")
        async with FakeApiServer(store, access=access) as server, connected(server, tmp_path, token) as api:
            await act(api, server)

    asyncio.run(played())


def test_a_list_is_asked_for_a_page_at_a_time(tmp_path: Path) -> None:
    """And is whole in the end."""

    async def act(api: Api, server: FakeApiServer) -> None:
        for number in range(7):
            server.store.create(STORED, workload(f"w{number}"), namespace="default")
        found = await api.list_all(WORKLOAD, page=3)
        assert len(found.items) == 8
        assert found.version == str(server.store.version)
        assert await api.version(WORKLOAD) == found.version

    asked(tmp_path, act)


@pytest.mark.parametrize(("status", "wait"), [(500, None), (429, 7), (403, None)])
def test_an_error_says_its_status_and_how_long_to_wait(tmp_path: Path, status: int, wait: int | None) -> None:
    """As the server says it."""

    async def act(api: Api, server: FakeApiServer) -> None:
        server.faults.answer(status, retry_after=wait, message="not now")
        with pytest.raises(ApiError, match="not now") as caught:
            await api.get(WORKLOAD.path("default", "w"))
        assert (caught.value.status, caught.value.retry_after) == (status, wait)

    asked(tmp_path, act)


def test_a_lost_answer_leaves_open_what_was_done(tmp_path: Path) -> None:
    """The status is 0: it is not known."""

    async def act(api: Api, server: FakeApiServer) -> None:
        body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": {"name": "w", "labels": {"tier": "x"}}}
        server.faults.lose_answer(method="PATCH")
        with pytest.raises(ApiError) as caught:
            await api.apply(WORKLOAD.path("default", "w"), body, CONTROLLER)
        assert caught.value.status == 0
        assert server.store.get(STORED, "w", "default")["metadata"]["labels"] == {"tier": "x"}

    asked(tmp_path, act)


def test_a_stale_version_is_a_conflict(tmp_path: Path) -> None:
    """Nothing is written then."""

    async def act(api: Api, server: FakeApiServer) -> None:
        metadata = {"name": "w", "resourceVersion": "1"}
        body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": metadata, "status": {"clusterName": "x"}}
        with pytest.raises(ApiError) as caught:
            await api.apply(WORKLOAD.path("default", "w", "status"), body, CONTROLLER)
        assert caught.value.status == 409
        assert "status" not in server.store.get(STORED, "w", "default")

    asked(tmp_path, act)


def test_a_server_that_is_down_is_no_traceback(tmp_path: Path) -> None:
    """It is an error like any other."""

    async def act(api: Api, server: FakeApiServer) -> None:
        await server.go_down()
        with pytest.raises(ApiError, match="no answer from the server"):
            await api.get("/version")

    asked(tmp_path, act)


def test_a_wrong_token_is_refused(tmp_path: Path) -> None:
    """As the server says it: 401."""

    async def act(api: Api, server: FakeApiServer) -> None:
        with pytest.raises(ApiError) as caught:
            await api.list_all(WORKLOAD)
        assert caught.value.status == 401

    asked(tmp_path, act, Access({"right": User("gpol")}), "wrong")


def test_rights_that_are_missing_are_named(tmp_path: Path) -> None:
    """One by one, as a role would say them."""

    async def act(api: Api, server: FakeApiServer) -> None:
        missing = await missing_rights(api, rights(("list", "patch"), WORKLOAD, "status"))
        assert [str(right) for right in missing] == [
            "list workloads/status of kueue.x-k8s.io",
            "patch workloads/status of kueue.x-k8s.io",
        ]
        assert await served_versions(api, "kueue.x-k8s.io") == ["v1beta2"]
        assert await served_versions(api, "nobody.example") == []

    asked(tmp_path, act, Access({"right": User("gpol", grants=())}), "right")

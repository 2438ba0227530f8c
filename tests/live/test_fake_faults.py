"""The tests' own API server over HTTP: watches, and what a test lets go wrong."""

import asyncio

import aiohttp
import pytest
from fake_kinds import WORKLOAD
from fake_scenes import WORKLOADS, Client, W, played, workload

LOST = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


# --- watches --------------------------------------------------------------------------------------------------------


def test_a_watch_streams_and_ends_when_its_time_is_over() -> None:
    """Events come as they happen, and after timeoutSeconds the stream ends without an error. Nobody waits: the clock is the test's."""
    over, asked = asyncio.Event(), []

    async def sleep(seconds: float) -> None:
        asked.append(seconds)
        await over.wait()

    async def scene(client: Client) -> None:
        async with client.watch(WORKLOADS, "&resourceVersion=1&timeoutSeconds=300") as event:
            await client.ask("POST", WORKLOADS, workload())
            await client.ask("DELETE", W)
            assert [(found or {}).get("type") for found in (await event(), await event())] == ["ADDED", "DELETED"]
            over.set()
            assert await event() is None

    server = played(scene, sleep=sleep)
    assert asked == [300]
    assert [(seen.method, seen.status) for seen in server.seen] == [("WATCH", 200), ("POST", 201), ("DELETE", 200)]


def test_a_forgotten_version_is_told_in_two_ways() -> None:
    """410 comes as an event of a stream with status 200, or as the status itself; an open watch that fell behind gets the event."""

    async def scene(client: Client) -> None:
        server = client.server
        server.faults.hold_watches()
        async with client.watch(WORKLOADS, f"&resourceVersion={server.store.version}") as behind:
            await client.ask("POST", WORKLOADS, workload())
            server.store.compact()
            server.faults.release_watches()
            assert ((await behind()) or {})["object"]["code"] == 410
            assert await behind() is None
        async with client.watch(WORKLOADS, "&resourceVersion=1") as event:
            found = await event() or {}
            assert (found["type"], found["object"]["reason"]) == ("ERROR", "Expired")
            assert await event() is None
        server.faults.expired_in_stream = False
        assert (await client.ask("GET", f"{WORKLOADS}?watch=1&resourceVersion=1"))[0] == 410

    played(scene)


def test_bookmarks_and_initial_events() -> None:
    """A bookmark comes on demand to a watch that takes them, and after the initial events that a watch asks for."""

    async def scene(client: Client) -> None:
        server = client.server
        await client.ask("POST", WORKLOADS, workload())
        initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        async with client.watch(WORKLOADS, initial) as event, client.watch(WORKLOADS) as plain:
            kinds = [((await event()) or {})["type"] for _ in range(2)]
            await plain()
            assert server.faults.bookmark_watches() == 2
            mark = await event() or {}
            server.faults.end_watches()
            assert await plain() is None
        assert kinds == ["ADDED", "BOOKMARK"]
        assert (mark["type"], mark["object"]["metadata"]["resourceVersion"]) == ("BOOKMARK", str(server.store.version))

    played(scene)


def test_watches_break_in_every_way() -> None:
    """A reset is an error for the client, an end is not, and an expired watch says 410 first; held events come when they are released."""

    async def scene(client: Client) -> None:
        server = client.server
        start = f"&resourceVersion={server.store.version}"
        async with client.watch(WORKLOADS, start) as event:
            assert server.faults.reset_watches() == 1
            with pytest.raises(aiohttp.ClientError):
                await event()
        async with client.watch(WORKLOADS, start) as event:
            server.faults.end_watches()
            assert await event() is None
        async with client.watch(WORKLOADS, start) as event:
            server.faults.expire_watches()
            assert ((await event()) or {})["object"]["code"] == 410
        server.faults.hold_watches()
        async with client.watch(WORKLOADS, start) as event:
            waiting = asyncio.ensure_future(event())
            await client.ask("POST", WORKLOADS, workload())
            await client.ask("GET", W)
            assert not waiting.done()
            server.faults.release_watches()
            assert ((await waiting) or {})["type"] == "ADDED"
        await server.until(lambda: server.faults.open_watches == 0)

    played(scene)


# --- other faults ---------------------------------------------------------------------------------------------------


def test_answers_that_fail() -> None:
    """The next requests that match fail with the status, in the order of the faults; nothing is written by them, and others pass."""

    async def scene(client: Client) -> None:
        faults = client.server.faults
        faults.answer(503, times=2, method="POST", path="*/workloads")
        faults.answer(429, method="POST", retry_after=7, message="slow down")
        faults.answer(500, method="WATCH")
        faults.answer(500, method="GET", path=W, skip=1)
        assert (await client.ask("GET", WORKLOADS))[0] == 200
        assert [(await client.ask("POST", WORKLOADS, workload()))[0] for _ in range(2)] == [503, 503]
        async with client.session.post(client.server.url + WORKLOADS, json=workload()) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "7")
            assert (await response.json())["details"] == {"retryAfterSeconds": 7}
        assert client.server.store.list(WORKLOAD)["items"] == []
        assert (await client.ask("POST", WORKLOADS, workload()))[0] == 201
        assert (await client.ask("GET", f"{WORKLOADS}?watch=1"))[1]["reason"] == "InternalError"
        assert [(await client.ask("GET", W))[0] for _ in range(3)] == [200, 500, 200]
        assert faults.unused() == []

    played(scene)


def test_lost_requests_and_lost_answers() -> None:
    """A lost request was never made, and one whose answer is lost was made; the client cannot tell which."""

    async def scene(client: Client) -> None:
        faults, store = client.server.faults, client.server.store
        faults.lose_request(method="POST")
        with pytest.raises(LOST):
            await client.ask("POST", WORKLOADS, workload())
        assert store.list(WORKLOAD)["items"] == []
        faults.lose_answer(path="*/workloads")
        with pytest.raises(LOST):
            await client.ask("POST", WORKLOADS, workload())
        assert len(store.list(WORKLOAD)["items"]) == 1
        assert [seen.status for seen in client.server.seen] == [0, 0]

    played(scene)


def test_faults_that_make_no_sense_are_refused() -> None:
    """An unknown method, and the answer of a watch."""

    async def scene(client: Client) -> None:
        with pytest.raises(ValueError, match="FETCH is no method; one of"):
            client.server.faults.answer(500, method="FETCH")
        with pytest.raises(ValueError, match="use reset_watches"):
            client.server.faults.lose_answer(method="WATCH")

    played(scene)


def test_down_and_up_again() -> None:
    """While the server is down connections are refused and watches are reset. It comes back at the same address with the same objects."""

    async def scene(client: Client) -> None:
        await client.ask("POST", WORKLOADS, workload())
        url = client.server.url
        async with client.watch(WORKLOADS, "&resourceVersion=3") as event:
            await client.server.go_down()
            with pytest.raises(aiohttp.ClientError):
                await event()
        with pytest.raises(aiohttp.ClientConnectorError):
            await client.ask("GET", W)
        await client.server.come_up()
        assert client.server.url == url
        assert (await client.ask("GET", W))[1]["metadata"]["resourceVersion"] == "3"

    played(scene)

"""The extender over HTTP: Volcano's requests, those that are refused, and credentials. Nothing is ever answered with 500."""

import asyncio
import base64
import gzip
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, NamedTuple

import aiohttp
import pytest
from aiohttp import web
from gpol.adapters.volcano.extender import extender_handler as served
from gpol.adapters.volcano.extender import refusals
from gpol.adapters.volcano.extender.extender_handler import extender_handler
from gpol.adapters.volcano.extender.tally import ExtenderTally
from gpol.adapters.volcano.extender.verbs import VERBS
from gpol.adapters.volcano.extender.verdicts import ExtenderVerdict, NotDeciding, Reason, VolcanoAnswers
from hypothesis import given
from hypothesis import strategies as st

from .decided_cluster import lab
from .scheduler_bodies import eviction_body, job_body, queue_body

GOOD = {
    "jobEnqueueable": (job_body("a", "owner", "uid-owner", pods=8), {"status": 1}),
    "queueOverused": (queue_body("nlp"), {"overused": False}),
    "reclaimable": (eviction_body("a/owner", "b/low"), {"status": -1, "victims": []}),
    "preemptable": (eviction_body("b/low", "b/low"), {"status": -1, "victims": []}),
}


class Said(NamedTuple):
    """A response."""

    status: int
    json: Any
    headers: Any


Send = Callable[..., Awaitable[Said]]


@asynccontextmanager
async def serving(
    answers: VolcanoAnswers | None = None, decides: bool = True, prefix: str = "/volcano", **options: Any
) -> AsyncIterator[Send]:
    """The extender at an address, and what sends it a body."""
    known = (answers or lab().answers) if decides else None
    runner = web.ServerRunner(web.Server(extender_handler(lambda: known, prefix, **options)), shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with aiohttp.ClientSession(skip_auto_headers=["Accept-Encoding"]) as client:

            async def send(path: str, body: Any = b"{}", method: str = "POST", **headers: str) -> Said:
                named = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
                async with client.request(method, url + path, data=body, headers=named) as response:
                    text = await response.text()
                    assert response.content_type == "application/json"
                    return Said(response.status, json.loads(text) if text else None, response.headers)

            yield send
    finally:
        await runner.cleanup()


def refused(said: Said, status: int, code: str) -> Any:
    """The error of a refusal, which has a place, a cause and a remedy."""
    assert (said.status, said.json["v"], said.json["error"]["code"]) == (status, 1, code)
    assert all(said.json["error"][name] for name in ("place", "message", "remedy"))
    return said.json["error"]


def test_what_volcano_asks() -> None:
    """Each verb is answered as its plugin reads it, and counted."""

    async def ask() -> None:
        tally = ExtenderTally()
        async with serving(tally=tally) as send:
            for verb, (body, answer) in GOOD.items():
                said = await send(f"/volcano/{verb}", body)
                assert (said.status, said.json) == (200, answer)
        assert tally.answers["jobEnqueueable", Reason.ADMITTED] == 1
        assert not tally.refusals

    asyncio.run(ask())


def test_while_gpol_does_not_decide() -> None:
    """It is said by a safe answer, which counts whatever `extender.ignorable` says."""

    async def ask() -> None:
        async with serving(decides=False) as send:
            assert (await send("/volcano/jobEnqueueable", GOOD["jobEnqueueable"][0])).json == {"status": -1}
            assert (await send("/volcano/queueOverused", GOOD["queueOverused"][0])).json == {"overused": True}
            assert (await send("/volcano/reclaimable", GOOD["reclaimable"][0])).json == {"status": -1, "victims": []}

    asyncio.run(ask())


def test_opening_a_session_is_refused_by_name() -> None:
    """It is told what to configure instead, with the status that lets Volcano go on asking the other verbs."""

    async def ask() -> None:
        tally = ExtenderTally()
        async with serving(tally=tally) as send:
            error = refused(await send("/volcano/onSessionOpen", b'{"Jobs":{}}'), 200, "VerbRefused")
            assert "extender.onSessionOpenVerb" in error["remedy"]
            assert "extender.jobEnqueueableVerb: jobEnqueueable" in error["remedy"]
        assert tally.refusals == {("onSessionOpen", "VerbRefused"): 1}

    asyncio.run(ask())


@pytest.mark.parametrize("verb", ["predicate", "jobReady", "onSessionClose", "JobEnqueueable", "jobEnqueueable%00", "%F0%9F%98%80"])
def test_unknown_verbs(verb: str) -> None:
    """A verb that gpol does not answer is refused by its name."""

    async def ask() -> None:
        async with serving() as send:
            assert "gpol answers" in refused(await send(f"/volcano/{verb}"), 404, "UnknownVerb")["remedy"]

    asyncio.run(ask())


@pytest.mark.parametrize("path", ["/", "/volcano", "/volcano/", "/jobEnqueueable", "/volcano/v1/jobEnqueueable", "/volcanos/x", "//"])
def test_unknown_paths(path: str) -> None:
    """Only verbs right below the prefix are served."""

    async def ask() -> None:
        async with serving() as send:
            refused(await send(path), 404, "UnknownPath")

    asyncio.run(ask())


def test_without_a_prefix() -> None:
    """The prefix may be empty, and end with a slash, which Volcano removes from its own."""

    async def ask() -> None:
        for prefix, path in (("", "/queueOverused"), ("/", "/queueOverused"), ("/a/b/", "/a/b/queueOverused")):
            async with serving(prefix=prefix) as send:
                assert (await send(path, GOOD["queueOverused"][0])).json == {"overused": False}

    asyncio.run(ask())


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods(method: str) -> None:
    """Volcano sends POST, and nothing else is answered."""

    async def ask() -> None:
        async with serving() as send:
            said = await send("/volcano/queueOverused", method=method)
            refused(said, 405, "MethodNotAllowed")
            assert said.headers["Allow"] == "POST"

    asyncio.run(ask())


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"queue":1}', b"[" * 10_000, b"1" * 10_000, b'{"queue":{"Name":"\x00"}}', b"\xff", b'{"queue":{"Name":null}}x']
)
def test_bodies_that_cannot_be_read(body: bytes) -> None:
    """They are refused with the place in the body."""

    async def ask() -> None:
        async with serving() as send:
            error = refused(await send("/volcano/queueOverused", body), 400, "BadBody")
            assert error["place"].startswith("queueOverused: ")

    asyncio.run(ask())


def test_long_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gang of hundreds of pods is answered; beyond the limit a body is refused, whether or not its length is said."""

    async def ask() -> None:
        async with serving() as send:
            body = job_body("a", "owner", "uid-owner", pods=300)
            assert len(body) > 10**6
            assert (await send("/volcano/jobEnqueueable", BytesIO(body))).json == {"status": 1}
            for module in (refusals, served):
                monkeypatch.setattr(module, "MOST_BODY", 10_000)
            refused(await send("/volcano/jobEnqueueable", b" " * 10_001), 413, "TooLong")
            refused(await send("/volcano/jobEnqueueable", in_parts(b" " * 6_000, 2)), 413, "TooLong")
            assert (await send("/volcano/queueOverused", in_parts(GOOD["queueOverused"][0], 1))).json == {"overused": False}

    asyncio.run(ask())


async def in_parts(part: bytes, times: int) -> AsyncIterator[bytes]:
    """A body whose length is not said."""
    for _ in range(times):
        yield part


def test_bodies_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies under way do not take more memory than there is for them, and give it back."""

    async def ask() -> None:
        started, release = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b"{"
            started.set()
            await release.wait()
            yield b"}"

        async with serving() as send:
            monkeypatch.setattr(served, "MOST_HELD", served.MOST_BODY)
            first = asyncio.ensure_future(send("/volcano/queueOverused", slow()))
            await started.wait()
            while (said := await send("/volcano/queueOverused")).status == 200:  # the first one may still be on its way
                await asyncio.sleep(0.01)
            refused(said, 503, "Busy")
            release.set()
            assert (await first).json == {"overused": True}
            assert (await send("/volcano/queueOverused")).json == {"overused": True}

    asyncio.run(ask())


def test_bodies_that_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that does not come is not waited for any longer than that."""

    async def ask() -> None:
        async def never() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.sleep(60)

        monkeypatch.setattr(served, "BODY_SECONDS", 0.05)
        async with serving() as send:
            refused(await send("/volcano/queueOverused", never()), 408, "TooSlow")

    asyncio.run(ask())


def test_compressed_bodies() -> None:
    """They are refused: Volcano sends none, and a few bytes could become very many."""

    async def ask() -> None:
        async with serving() as send:
            refused(await send("/volcano/queueOverused", gzip.compress(b" " * 10**6), Content_Encoding="gzip"), 415, "Compressed")

    asyncio.run(ask())


def basic(user: str, password: str) -> str:
    """The header that Go's client makes of `http://USER:PASSWORD@HOST`."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("header", "status"),
    [
        *(("Bearer right", 200), ("bearer right", 200), (basic("gpol", "right"), 200), (basic("", "right"), 200)),
        *(("", 401), ("Bearer", 401), ("Bearer wrong", 401), ("Bearer rightt", 401), ("right", 401), ("Digest right", 401)),
        *((basic("right", ""), 401), (basic("gpol", "wrong"), 401), ("Basic !", 401), ("Basic /w==", 401), ("Bearer r\u00efght", 401)),
    ],
)
def test_credentials(header: str, status: int) -> None:
    """With a token only who sends it is answered, whatever is asked: by the header, or as the password of the address."""

    async def ask() -> None:
        async with serving(is_right="right".__eq__) as send:
            headers = {"Authorization": header} if header else {}
            for path in ("/volcano/queueOverused", "/volcano/onSessionOpen"):
                said = await send(path, **headers)
                assert said.status == status
                if status == 401:
                    refused(said, 401, "Unauthorized")
                    assert said.headers["WWW-Authenticate"].startswith("Bearer")

    asyncio.run(ask())


class Broken(NotDeciding):
    """Answers that fail."""

    def overused(self, queue: str) -> ExtenderVerdict:
        """Fail."""
        raise RuntimeError("broken")


def test_a_mistake_of_gpol() -> None:
    """It is told in the log, and answered as an error that is no 500 and tells nothing of it."""

    async def ask() -> None:
        async with serving(Broken()) as send:
            assert "broken" not in str(refused(await send("/volcano/queueOverused", GOOD["queueOverused"][0]), 503, "Failed"))

    asyncio.run(ask())


def test_what_is_odd_is_told_ever_more_rarely(caplog: pytest.LogCaptureFixture) -> None:
    """The first time, and when the count has doubled; with the PodGroup, and in one line whatever a request says."""
    tally = ExtenderTally()
    with caplog.at_level(logging.WARNING, "gpol.volcano"):
        for _ in range(100):
            tally.answered("jobEnqueueable", {Reason.UNKNOWN_POD_GROUP: 1}, {Reason.UNKNOWN_POD_GROUP: "a/b\n\x1b[2J"})
            tally.answered("jobEnqueueable", {Reason.WAITING: 1}, {Reason.WAITING: "a/c"})
            tally.refused("other", "UnknownVerb", "x\ny")
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 14
    assert "a/b??[2J" in told[0]
    assert all("a/c" not in line and "\n" not in line for line in told)
    assert tally.answers == {("jobEnqueueable", Reason.UNKNOWN_POD_GROUP): 100, ("jobEnqueueable", Reason.WAITING): 100}


@given(verb=st.sampled_from([*VERBS, "onSessionOpen", "other"]), body=st.binary() | st.sampled_from([body for body, _ in GOOD.values()]))
def test_nothing_is_answered_with_500(verb: str, body: bytes) -> None:
    """Any bytes, for any verb: an answer or a refusal, both JSON."""

    async def ask() -> None:
        async with serving() as send:
            said = await send(f"/volcano/{verb}", body)
            assert said.status in (200, 400, 404)
            assert isinstance(said.json, dict)

    asyncio.run(ask())

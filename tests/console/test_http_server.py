"""What is served over HTTP: answers, errors and limits."""

import asyncio
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.live.settings.serve_settings import Http
from gpol.console import http_server
from gpol.console.http_server import serve_http
from gpol.console.listening import HttpSetupError
from gpol.console.routes import MOST_BODY, ROUTES
from gpol.journal.journal import Journal

GUARDED = [route for route in ROUTES if route.right is not None]
PATHS = {"{workload}": "held", "{namespace}": "team", "{name}": "guest"}


def path_of(route: Any) -> str:
    """A path of a route."""
    return "/" + "/".join(PATHS.get(step, step) for step in route.steps)


def test_everybody_may_ask_whether_it_works(serve: Any) -> None:
    """Health needs no credential: it is ready while no part has a problem, and tells of nothing but problems."""

    async def ask() -> None:
        async with serve() as client:
            assert (await client.get("/healthz", token="")).json == {"v": 1, "status": "ok"}
            assert (await client.get("/readyz", token="")).json == {"v": 1, "ready": True, "problems": {}}
            client.service.health.say("journal", "its disk is full")
            said = await client.get("/readyz", token="")
            assert (said.status, said.json) == (503, {"v": 1, "ready": False, "problems": {"journal": "its disk is full"}})
            assert (await client.get("/healthz", token="")).status == 200

    asyncio.run(ask())


def test_state(serve: Any, gpol: Any, place: Path) -> None:
    """The state has all that `gpol state --format json` prints, in the same fields."""

    async def ask() -> tuple[Any, Any]:
        async with serve() as client:
            return (await client.get("/v1/state")).json, (await client.get("/v1/state?workloads=true")).json

    bare, said = asyncio.run(ask())
    first, *rest = gpol("state", str(place), "--workloads", "--format", "json").records
    assert bare["workloads"] is None
    assert {**bare, "workloads": said["workloads"]} == said
    assert said["next"] is None
    assert {name: said[name] for name in ("v", "seq", "time", "policy", "machines", "in_no_queue")} == without_kind(first)
    assert same(said["capacity"], rest, "state_capacity")
    places = [{name: value for name, value in each.items() if name != "is_queue"} for each in said["places"]]
    assert same(places, rest, "state_cohort", "state_queue")
    assert [each["is_queue"] for each in said["places"]] == [each["kind"] == "state_queue" for each in rest if "depth" in each]
    assert same(said["workloads"], sorted(rest, key=lambda each: each["name"] if "since" in each else ""), "state_workload")


def test_nodes(serve: Any, gpol: Any, place: Path, tools: Any) -> None:
    """The nodes and who stands there are what `gpol state --nodes --format json` prints, in the same fields."""
    labels = {"pool": "h100", "rack": "r1"}
    nodes = [
        tools.fact(1, "NodeAdded", node="n1", labels=labels, capacity={"gpu": "8", "pods": 110}),
        tools.fact(1, "NodeAdded", node="n2", labels={**labels, "rack": "r2"}, capacity={"gpu": "8"}, cordoned=True),
    ]
    tools.append(place, nodes, tools.PLACED)
    tools.append(place, [tools.fact(2, **tools.submitted("team/placed", "owner", 2))])

    async def ask() -> tuple[Any, Any]:
        async with serve() as client:
            return (await client.get("/v1/state")).json, (await client.get("/v1/state?nodes=true")).json

    bare, said = asyncio.run(ask())
    assert bare["nodes"] is None
    assert {**bare, "nodes": said["nodes"]} == said
    assert same(said["nodes"], gpol("state", str(place), "--nodes", "--format", "json").records, "state_place")
    assert [(each["path"], each["exists"], each["cordoned"], each["pods"]) for each in said["nodes"]] == [
        (["r1", "n1"], {"gpu": 8000, "pods": 110}, False, [{"workload": "team/placed", "pods": 1}]),
        (["r2", "n2"], {"gpu": 8000}, True, []),
    ]


def test_no_nodes(serve: Any) -> None:
    """Where no flavor gives places there are none to tell of."""

    async def ask() -> Any:
        async with serve() as client:
            return (await client.get("/v1/state?nodes=true")).json["nodes"]

    assert asyncio.run(ask()) == []


def without_kind(record: Any) -> Any:
    """What a command has printed, without what sort of record it is."""
    return {name: value for name, value in record.items() if name != "kind"}


def same(data: Any, records: Any, *kinds: str) -> bool:
    """Whether data is what a command has printed as records of some kinds."""
    return [{"v": 1, **each} for each in data] == [without_kind(each) for each in records if each["kind"] in kinds]


def test_workloads_come_in_pages(serve: Any) -> None:
    """A page has no more workloads than asked for, and leads to the next one; together they are all, once each."""

    async def ask() -> list[list[str]]:
        pages, after = [], ""
        async with serve() as client:
            while after is not None:
                said = (await client.get(f"/v1/state?workloads=true&limit=2&after={after}")).json
                pages.append([each["name"] for each in said["workloads"]])
                after = said["next"]
        return pages

    assert asyncio.run(ask()) == [["held", "team/guest"], ["team/owner"]]


@pytest.mark.parametrize("workload", ["team/owner", "team/guest", "held"])
def test_explain(serve: Any, gpol: Any, place: Path, workload: str) -> None:
    """A workload is explained as `gpol explain --format json` does it, whether its slash is one of the path or not."""

    async def ask() -> list[Any]:
        async with serve() as client:
            return [(await client.get(f"/v1/explain/{name}")).json for name in {workload, workload.replace("/", "%2F")}]

    (told,) = gpol("explain", str(place), workload, "--format", "json").records
    for said in asyncio.run(ask()):
        assert said.pop("earlier") is False
        assert {**said, "kind": "explain", "asked": None} == told


def test_explain_tells_the_newest_events(serve: Any) -> None:
    """Of a history that is longer than asked for, the newest events are told, and that there are earlier ones."""

    async def ask() -> Any:
        async with serve() as client:
            return (await client.get("/v1/explain/team/guest?events=1")).json

    said = asyncio.run(ask())
    assert [each["event"]["kind"] for each in said["history"]] == ["WorkloadAdmitted"]
    assert said["earlier"] is True


def test_unknown_workload(serve: Any) -> None:
    """Of a workload that never was the answer is 404, and the name that may have been meant."""

    async def ask() -> Any:
        async with serve() as client:
            return await client.get("/v1/explain/team/guets")

    said = asyncio.run(ask())
    assert (said.status, said.code) == (404, "NoSuchWorkload")
    assert "team/guest" in said.json["error"]["remedy"]


def test_journal_head(serve: Any, place: Path, tools: Any) -> None:
    """The head is that of the journal, also after it has grown."""

    async def ask() -> None:
        async with serve() as client:
            for event in ("WorkloadFinished", None):
                said = (await client.get("/v1/journal/head")).json
                with Journal.open(place) as journal:
                    head = journal.head
                    assert (said["seq"], said["chain"]) == (head.seq, head.chain.hex())
                    assert said["journal"] == journal.at(1).chain.hex()[:32]
                    assert said["time"] == journal.at(head.seq).event.time
                assert said["policy"]["file"] == "lab.gpol"
                if event:
                    tools.append(place, [tools.fact(0, event, workload="team/guest")])

    asyncio.run(ask())


def test_metrics(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics are those of this process and the figures of all queues."""
    monkeypatch.setattr(http_server, "FIGURES_SECONDS", 300)

    async def ask() -> Any:
        async with serve() as client:
            await client.get("/v1/nothing")
            return await client.get("/metrics")

    said = asyncio.run(ask())
    assert said.headers["Content-Type"].startswith("text/plain")
    lines = said.body.decode().splitlines()
    assert 'gpol_queue_borrowed{flavor="a100",queue="guest",resource="gpu"} 8.0' in lines
    assert 'gpol_queue_workloads{queue="owner",state="waiting"} 1.0' in lines
    assert 'gpol_http_requests_total{method="GET",path="other",status="404"} 1.0' in lines


def test_metrics_wait_for_no_figures(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the figures of queues take too long the last ones are told, and all other metrics are those of now."""

    async def ask() -> tuple[Any, Any]:
        async with serve() as client:
            monkeypatch.setattr(http_server, "FIGURES_SECONDS", 300)
            first = await client.get("/metrics")
            monkeypatch.setattr(http_server, "FIGURES_SECONDS", 0)
            client.service.health.say("journal", "its disk is full")
            return first, await client.get("/metrics")

    first, later = asyncio.run(ask())
    assert (b"gpol_queue_borrowed{" in first.body, b"gpol_queue_borrowed{" in later.body) == (True, True)
    assert (b'gpol_problem{part="journal"}' in first.body, b'gpol_problem{part="journal"}' in later.body) == (False, True)


# --- who is refused -------------------------------------------------------------------------------------------------


WRONG = {
    "none": {},
    "wrong": {"Authorization": "Bearer 0123456789abcdef-wrong"},
    "another scheme": {"Authorization": "Basic MDEyMw=="},
    "no token": {"Authorization": "Bearer"},
    "two tokens": {"Authorization": "Bearer 0123456789abcdef-right 0123456789abcdef-right"},
    "no text": {"Authorization": "Bearer \x80\xff"},
    "too long": {"Authorization": "Bearer " + "a" * 8050},
}
"""Headers that give nobody the right to anything."""


def test_nothing_without_the_token(serve: Any) -> None:
    """Without the right token nothing is told, and the answer says so and how to ask; what was sent is not repeated."""

    async def ask() -> None:
        async with serve() as client:
            for route in GUARDED:
                for name, headers in WRONG.items():
                    said = await client.request(route.method, path_of(route), token="", headers=headers)
                    assert (said.status, said.code) == (401, "Unauthorized"), name
                    assert said.headers["WWW-Authenticate"].startswith("Bearer")
                    assert "01234" not in said.body.decode()

    asyncio.run(ask())
    assert len(GUARDED) == 6


def test_paths_without_anything_need_a_token(serve: Any) -> None:
    """Under /v1 it takes a token to learn that nothing is there; elsewhere it does not."""

    async def ask() -> list[int]:
        async with serve() as client:
            asked = [("/v1/secret", ""), ("/v1/secret", None), ("/other", ""), ("/metrics/x", "")]
            return [(await client.get(path, token=token)).status for path, token in asked]

    assert asyncio.run(ask()) == [401, 404, 404, 401]


def test_closed_to_everybody_without_credentials(serve: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Where no credential is configured nobody is let in, and the log says so at the start."""

    async def ask() -> Any:
        async with serve(token_file=None) as client:
            return await client.get("/v1/state")

    said = asyncio.run(ask())
    assert said.status == 401
    assert "no credential is configured" in said.json["error"]["message"]
    assert "closed to everybody" in caplog.text


def test_no_token_is_logged(serve: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is sent in place of a token, and also where the request is no HTTP, the log does not have it."""

    async def ask() -> None:
        async with serve() as client:
            await client.get("/v1/state", token="a-wrong-token-0123456789")
            await client.get("/v1/state")
            port = int(client.server.url.rpartition(":")[2])
            for line in (
                b"GET /v1/state HTTP/1.1\r\nAuthorization: Bearer a-wrong-token-0123456789\0\r\n\r\n",
                b"a-wrong-token-0123456789\r\n\r\n",
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(line)
                assert b" 400 " in await reader.readline()
                writer.close()

    caplog.set_level("DEBUG")
    asyncio.run(ask())
    assert "refused GET /v1/state" in caplog.text
    assert "a-wrong-token" not in caplog.text
    assert "0123456789abcdef-right" not in caplog.text


# --- what cannot be read --------------------------------------------------------------------------------------------


BODIES = (
    (b"", 400, "BadRequest"),
    (b"{", 400, "BadRequest"),
    (b"NaN", 400, "BadRequest"),
    (b'{"policy": NaN}', 400, "BadRequest"),
    (b'{"policy": "\xff"}', 400, "BadRequest"),
    (b'{"policy": "\\ud800"}', 400, "BadRequest"),
    (b'\xef\xbb\xbf{"policy": ""}', 400, "BadRequest"),
    (b'{"workload": ' + b"9" * 5000 + b"}", 400, "BadRequest"),
    (b"[" * 100_000, 400, "BadRequest"),
    (b'{"a":' * 100_000, 400, "BadRequest"),
    (b'{"policy": "x", "policy": "y"}', 400, "BadRequest"),
    (b"[]", 422, "InvalidBody"),
    (b"null", 422, "InvalidBody"),
    (b"{}", 422, "InvalidBody"),
    (b'{"polciy": "x"}', 422, "InvalidBody"),
    (b'{"policy": 1}', 422, "InvalidBody"),
    (b'{"workload": {"workload": "x"}}', 422, "InvalidBody"),
    (b'{"workload": {"workload": "x", "pod_sets": [{"requests": {"gpu": 1e999}}]}}', 422, "InvalidBody"),
    (b'{"workload": {"workload": "x", "pod_sets": [{"requests": {"gpu": 99999999999999999999999}}]}}', 422, "InvalidBody"),
    (b'{"workload": {"workload": "x", "time": 0, "pod_sets": [{"requests": {"gpu": 1}}]}}', 422, "InvalidBody"),
    (b'{"policy": "a\\u0000b"}', 422, "InvalidPolicy"),
    (b'{"policy": ""}', 422, "InvalidPolicy"),
    (json.dumps({"policy": "#" * (1024 * 1024 + 1)}).encode(), 422, "InvalidBody"),
    (b" " * (MOST_BODY + 1), 413, "TooLong"),
)
"""Bodies that are no requests, with what is answered."""


def test_bodies_that_cannot_be_used(serve: Any) -> None:
    """A body that is no such request is refused with the reason, whatever it is."""

    async def ask() -> None:
        async with serve() as client:
            for body, status, code in BODIES:
                said = await client.request("POST", "/v1/try", data=BytesIO(body), headers={"Content-Type": "application/json"})
                assert (said.status, said.code) == (status, code), body[:60]

    asyncio.run(ask())


def test_a_chunked_body_is_bounded(serve: Any) -> None:
    """A body whose length nobody has said is read only up to the limit."""

    async def parts() -> Any:
        for _ in range(MOST_BODY // 65536 + 2):
            yield b" " * 65536

    async def ask() -> Any:
        async with serve() as client:
            return await client.request("POST", "/v1/try", data=parts(), headers={"Content-Type": "application/json"})

    assert asyncio.run(ask()).code == "TooLong"


def test_only_plain_json(serve: Any) -> None:
    """A body of another type, charset or coding is refused, and not unpacked."""
    wrong = (
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    )

    async def ask() -> list[str]:
        async with serve() as client:
            return [(await client.request("POST", "/v1/try", data=b"{}", headers=headers)).code for headers in wrong]

    assert asyncio.run(ask()) == ["UnsupportedMediaType"] * 3


def test_a_slow_body_is_given_up(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that does not come in time is not waited for."""
    monkeypatch.setattr(http_server, "BODY_SECONDS", 0.1)

    async def parts() -> Any:
        yield b"{"
        await asyncio.sleep(1)
        yield b"}"

    async def ask() -> Any:
        async with serve() as client:
            return await client.request("POST", "/v1/try", data=parts(), headers={"Content-Type": "application/json"})

    assert asyncio.run(ask()).code == "TooSlow"


UNUSABLE = (
    "/v1/state?limit=5",
    "/v1/state?workloads=true&limit=0",
    "/v1/state?workloads=true&limit=1001",
    "/v1/state?workloads=true&limit=1e2",
    "/v1/state?workloads=yes",
    "/v1/state?workloads=true&workloads=true",
    "/v1/state?unknown=1",
    "/v1/state?workloads",
    "/v1/state?workloads=true&after=%ff",
    "/v1/state?workloads=true&after=%00",
    "/v1/state?" + "&".join(f"p{number}=1" for number in range(20)),
    "/v1/journal/head?x=1",
    "/v1/explain/%00",
    "/v1/explain/%ff%fe",
    "/v1/explain/x?events=-1",
    "/metrics?x=1",
    "/healthz?x=1",
)
"""Addresses with something wrong."""


def test_addresses_that_cannot_be_used(serve: Any) -> None:
    """A parameter that is unknown, given twice, or no such value is refused, and not passed over."""

    async def ask() -> None:
        async with serve() as client:
            for path in UNUSABLE:
                said = await client.get(path)
                assert (said.status, said.code) == (400, "BadRequest"), path

    asyncio.run(ask())


def test_paths_without_anything(serve: Any) -> None:
    """At another path nothing is served."""
    paths = (
        "/v1/explain/",
        "/v1/explain/a/b/c",
        "/v1/",
        "/",
        "//",
        "/V1/state",
        "/v1/state/",
        "/v1/explain/..%2F..",
        "/v1/explain/../state",
    )

    async def ask() -> dict[str, int]:
        async with serve() as client:
            return {path: (await client.get(path)).status for path in paths}

    assert asyncio.run(ask()) == dict.fromkeys(paths, 404)


def test_other_methods(serve: Any) -> None:
    """By another method nothing is served, and the answer says which one is right."""
    methods = ("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "POST")

    async def ask() -> dict[str, tuple[int, str]]:
        async with serve() as client:
            answers = {method: await client.request(method, "/v1/state") for method in methods}
            return {method: (said.status, said.headers["Allow"]) for method, said in answers.items()}

    assert asyncio.run(ask()) == dict.fromkeys(methods, (405, "GET"))


def test_long_headers_are_refused(serve: Any) -> None:
    """A header or a first line that is too long, or too many headers, is answered with an error as JSON."""

    async def ask() -> list[Any]:
        async with serve() as client:
            many = {f"x-{number}": "1" for number in range(100)}
            return [
                await client.get("/v1/state", headers={"x": "a" * 9000}),
                await client.get("/v1/state?after=" + "a" * 9000),
                await client.get("/v1/state", headers=many),
            ]

    assert [(said.status, said.code) for said in asyncio.run(ask())] == [(400, "BadRequest")] * 3


# --- load and failures ----------------------------------------------------------------------------------------------


def test_too_many_requests_at_once(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit a request is refused at once, and later ones are answered again."""
    monkeypatch.setattr(http_server, "MOST_REQUESTS", 1)

    async def ask() -> tuple[set[int], int]:
        async with serve() as client:
            at_once = await asyncio.gather(*(client.get("/v1/journal/head") for _ in range(8)))
            return {said.status for said in at_once}, (await client.get("/v1/journal/head")).status

    together, later = asyncio.run(ask())
    assert together == {200, 503}
    assert later == 200


def test_a_journal_that_is_not_there(serve: Any, tmp_path: Path) -> None:
    """Without a journal everything but the state is answered, and that says what is wrong."""

    async def ask() -> list[Any]:
        async with serve(journal=tmp_path / "none.db") as client:
            return [await client.get(path) for path in ("/v1/state", "/metrics", "/healthz", "/v1/openapi.json")]

    state, *others = asyncio.run(ask())
    assert (state.status, state.code) == (503, "JournalUnavailable")
    assert state.headers["Retry-After"]
    assert [each.status for each in others] == [200, 200, 200]


def test_a_port_that_is_taken(serve: Any, tools: Any, place: Path) -> None:
    """Where nothing can listen, the error says at which address and what to change."""

    async def ask() -> None:
        async with serve() as client:
            port = int(client.server.url.rpartition(":")[2])
            with pytest.raises(HttpSetupError, match=f"port {port}: .*change `http.port`"):
                async with serve_http(tools.service_of(place), Http(port=port)):
                    pass

    asyncio.run(ask())


def test_nothing_is_served_where_the_settings_say_so(tools: Any, place: Path) -> None:
    """With `enabled` off there is no server."""

    async def ask() -> Any:
        async with serve_http(tools.service_of(place), Http(enabled=False)) as server:
            return server

    assert asyncio.run(ask()) is None


def test_the_address_for_probes(serve: Any) -> None:
    """It serves health and nothing else, whatever the token."""

    async def ask() -> list[int]:
        async with serve(probe_address="127.0.0.1", probe_port=0) as client:
            client.server.url = client.server.probe_url
            return [(await client.get(path)).status for path in ("/healthz", "/readyz", "/v1/state", "/metrics", "/v1/openapi.json")]

    assert asyncio.run(ask()) == [200, 200, 404, 404, 404]

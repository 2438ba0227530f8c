"""Tokens of the cluster: whose they are, and what that user may do, as an API server says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.console.access.kubernetes_tokens import BoundedMemory, KubernetesTokens
from gpol.console.answers import UnansweredError

ALICE, BOB, OLD = "alices.token-0123", "bobs.token-0123", "an.old.token-0123"
USERS = {
    ALICE: {"username": "alice", "uid": "7", "groups": ["readers"], "extra": {"scopes": ["x"]}},
    BOB: {"username": "bob", "groups": ["system:authenticated"]},
}
RIGHTS = {("alice", "/v1/state", "get"), ("alice", "/v1/try", "post"), ("alice", "/metrics", "get")}


class Reviews:
    """Answers both reviews; `status` is what it answers instead, if it is not 201."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.status = 201
        self.audiences: list[str] = ["gpol"]

    def review(self, body: Any) -> Any:
        """The body with its status."""
        self.asked.append(body)
        spec = body["spec"]
        if body["kind"] == "TokenReview":
            assert body["apiVersion"] == "authentication.k8s.io/v1"
            user = USERS.get(spec["token"])
            found = {"authenticated": True, "user": user, "audiences": self.audiences} if user else {"error": "invalid bearer token"}
            return {**body, "status": found}
        assert (body["kind"], body["apiVersion"]) == ("SubjectAccessReview", "authorization.k8s.io/v1")
        asked = spec["nonResourceAttributes"]
        return {**body, "status": {"allowed": (spec["user"], asked["path"], asked["verb"]) in RIGHTS}}

    async def create(self, path: str, body: Any) -> Any:
        """As `Api.create`."""
        if self.status != 201:
            raise ApiError(self.status, "Failed", "it fails")
        return self.review(body)

    async def handle(self, request: web.Request) -> web.Response:
        """As an API server over HTTP."""
        body = await request.json()
        assert (
            request.path
            == {
                "TokenReview": "/apis/authentication.k8s.io/v1/tokenreviews",
                "SubjectAccessReview": "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            }[body["kind"]]
        )
        if self.status != 201:
            status = {"kind": "Status", "code": self.status, "reason": "Failed", "message": "it fails"}
            return web.json_response(status, status=self.status)
        return web.json_response(self.review(body), status=201)


@asynccontextmanager
async def api_server(reviews: Reviews, folder: Path) -> AsyncIterator[Api]:
    """A real connection to a server that answers reviews."""
    app = web.Application()
    app.router.add_post("/{path:.*}", reviews.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{runner.addresses[0][1]}"}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    config = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "users": [{"name": "u", "user": {}}], "contexts": [context]}
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump({**config, "current-context": "c"}))
    try:
        async with await Api.connect(path) as api:
            yield api
    finally:
        await runner.cleanup()


def test_users_and_rights_over_http(serve: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A user with the right is let in; one without is told so (403), and a token that the cluster does not know gets 401."""

    async def ask() -> list[Any]:
        reviews = Reviews()
        async with api_server(reviews, tmp_path) as api, serve(api=api, kubernetes_tokens=True, token_file=None) as client:
            asked = [("/v1/state", ALICE), ("/v1/state", BOB), ("/v1/state", OLD), ("/v1/explain/held", ALICE), ("/metrics", ALICE)]
            return [await client.get(path, token=token) for path, token in asked]

    caplog.set_level("DEBUG")
    answers = asyncio.run(ask())
    assert [said.status for said in answers] == [200, 403, 401, 403, 200]
    assert [answers[place].code for place in (1, 2, 3)] == ["Forbidden", "Unauthorized", "Forbidden"]
    assert 'nonResourceURLs ["/v1/explain"]' in answers[3].json["error"]["remedy"]
    assert answers[2].headers["WWW-Authenticate"]
    told = caplog.text + "".join(str(said.body) for said in answers)
    assert not any(token in told for token in (ALICE, BOB, OLD))


def test_an_unknown_path_takes_a_known_user_and_no_right(serve: Any) -> None:
    """To learn that nothing is served at a path takes a token that the cluster knows."""

    async def ask() -> list[int]:
        async with serve(api=Reviews(), kubernetes_tokens=True, token_file=None) as client:
            return [(await client.get("/v1/nothing", token=token)).status for token in (BOB, OLD)]

    assert asyncio.run(ask()) == [404, 401]


def test_both_kinds_of_tokens(serve: Any) -> None:
    """The token of the file is not shown to the API server; all others are."""

    async def ask() -> tuple[list[int], list[str]]:
        reviews = Reviews()
        async with serve(api=reviews, kubernetes_tokens=True) as client:
            answers = [(await client.get("/v1/state", token=token)).status for token in (None, ALICE)]
            return answers, [body["kind"] for body in reviews.asked]

    assert asyncio.run(ask()) == ([200, 200], ["TokenReview", "SubjectAccessReview"])


@pytest.mark.parametrize(("status", "told"), [(403, "system:auth-delegator"), (500, "try again"), (0, "try again")])
def test_an_api_server_that_does_not_answer(serve: Any, status: int, told: str) -> None:
    """Where nobody can say whose a token is nobody is let in, and the answer says what to do (503)."""

    async def ask() -> Any:
        reviews = Reviews()
        reviews.status = status
        async with serve(api=reviews, kubernetes_tokens=True, token_file=None) as client:
            return await client.get("/v1/state", token=ALICE)

    said = asyncio.run(ask())
    assert (said.status, said.code) == (503, "AccessUnknown")
    assert told in said.json["error"]["remedy"]


def test_answers_are_remembered_for_some_seconds() -> None:
    """The API server is asked once about a token and once about each right, and again when the time is over; no failure is remembered."""

    async def ask() -> None:
        now = [100.0]
        reviews = Reviews()
        tokens = KubernetesTokens(reviews, None, 10, clock=lambda: now[0])  # type: ignore[arg-type]
        for seconds, asked in ((0, 2), (9, 2), (2, 4)):
            now[0] += seconds
            user = await tokens.user_of(ALICE)
            assert await tokens.may(ALICE, user, "/v1/state", "get")
            assert len(reviews.asked) == asked
        assert not await tokens.may(ALICE, user, "/v1/state", "post")
        assert not (await tokens.user_of(OLD)).known
        reviews.status = 500
        with pytest.raises(UnansweredError):
            await tokens.user_of(BOB)
        reviews.status = 201
        assert (await tokens.user_of(BOB)).known

    asyncio.run(ask())


def test_a_review_says_all_of_a_user() -> None:
    """An access review has the name, groups and whatever else the token review told of the user."""

    async def ask() -> Any:
        reviews = Reviews()
        tokens = KubernetesTokens(reviews, None, 10)  # type: ignore[arg-type]
        await tokens.may(ALICE, await tokens.user_of(ALICE), "/metrics", "get")
        return [body["spec"] for body in reviews.asked]

    whose, may = asyncio.run(ask())
    assert whose == {"token": ALICE}
    user = {"user": "alice", "uid": "7", "groups": ["readers"], "extra": {"scopes": ["x"]}}
    assert may == {**user, "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}


@pytest.mark.parametrize(("audiences", "known"), [(["gpol"], True), (["other"], False), ([], False)])
def test_audiences(audiences: list[str], known: bool) -> None:
    """With an audience only a token counts of which the API server says that it is for that one."""

    async def ask() -> None:
        reviews = Reviews()
        reviews.audiences = audiences
        tokens = KubernetesTokens(reviews, "gpol", 10)  # type: ignore[arg-type]
        assert (await tokens.user_of(ALICE)).known is known
        assert reviews.asked[0]["spec"]["audiences"] == ["gpol"]

    asyncio.run(ask())


@pytest.mark.parametrize("status", [None, {}, [], {"authenticated": "true"}, {"authenticated": True}, {"authenticated": True, "user": {}}])
def test_answers_that_say_nothing(status: Any) -> None:
    """What is no clear yes is a no."""

    class Odd(Reviews):
        def review(self, body: Any) -> Any:
            return {"status": status}

    async def ask() -> None:
        tokens = KubernetesTokens(Odd(), None, 10)  # type: ignore[arg-type]
        user = await tokens.user_of(ALICE)
        assert not user.known
        assert not await tokens.may(ALICE, user, "/metrics", "get")

    asyncio.run(ask())


def test_memory_is_bounded() -> None:
    """Of more answers than it may remember it forgets the oldest, and none counts longer than it should."""
    now = [0.0]
    memory: BoundedMemory[int] = BoundedMemory(5, most=3, clock=lambda: now[0])
    for number in range(10):
        memory.put(number, number)
    assert [memory.get(number) for number in range(10)] == [None] * 7 + [7, 8, 9]
    assert len(memory) == 3
    now[0] = 5.0
    assert memory.get(9) is None

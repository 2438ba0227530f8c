"""The tests' own API server over HTTP: paths, answers, and users."""

from typing import Any

import pytest
from fake_access import Access, Grant, User
from fake_kinds import WORKLOAD, Json
from fake_scenes import APPLY, MERGE, WORKLOADS, Client, W, played, workload


def test_each_method_does_its_write() -> None:
    """POST, GET, PUT, PATCH in its two forms, and DELETE, with their statuses; the manager is the parameter, or else the user agent."""

    async def scene(client: Client) -> None:
        status, made = await client.ask("POST", WORKLOADS, workload(spec={"active": True}), headers={"User-Agent": "kueue/v0.20 (linux)"})
        assert (status, made["metadata"]["managedFields"][0]["manager"]) == (201, "kueue")
        assert await client.ask("GET", W) == (200, made)
        status, made = await client.ask("PUT", W, made | {"spec": {"active": False}})
        assert (status, made["metadata"]["generation"]) == (200, 2)
        status, made = await client.ask("PATCH", f"{W}/status?fieldManager=m", {"status": {"x": 1}}, headers=MERGE)
        assert (status, made["status"]) == (200, {"x": 1})
        status, found = await client.ask("PATCH", f"{W}/status?fieldManager=gpol&force=true", workload(status={"x": 2}), headers=APPLY)
        assert (status, found["status"]) == (200, {"x": 2})
        status, found = await client.ask("PATCH", f"{WORKLOADS}/v?fieldManager=gpol", workload("v"), headers=APPLY)
        assert status == 201
        assert [item["metadata"]["name"] for item in (await client.ask("GET", WORKLOADS))[1]["items"]] == ["v", "w"]
        status, gone = await client.ask("DELETE", W, {"preconditions": {"uid": made["metadata"]["uid"]}})
        assert (status, gone["status"]) == (200, "Success")
        assert (await client.ask("GET", W))[0] == 404

    played(scene)


def test_an_apply_is_yaml() -> None:
    """The body of an apply may be YAML, in which what looks like a time stays a text."""

    async def scene(client: Client) -> None:
        text = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w}\nspec: {at: 2026-01-01T00:00:00Z, count: 2}\n"
        status, made = await client.ask("PATCH", f"{W}?fieldManager=m", text, headers=APPLY)
        assert (status, made["spec"]) == (201, {"at": "2026-01-01T00:00:00Z", "count": 2})

    played(scene)


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "code", "text"),
    [
        ("GET", "/apis/nobody.example/v1/things", None, {}, 404, "404 page not found\n"),
        ("GET", "/apis/kueue.x-k8s.io/v1beta2/things", None, {}, 404, "404 page not found\n"),
        ("GET", "/apis/kueue.x-k8s.io/v1beta2/workloads/w", None, {}, 404, "404 page not found\n"),
        ("GET", "/api/v1/things", None, {}, 404, "the server could not find the requested resource"),
        (
            "GET",
            "/apis/coordination.k8s.io/v1/namespaces/default/leases/l/status",
            None,
            {},
            404,
            "the server could not find the requested resource",
        ),
        ("GET", W, None, {}, 404, 'workloads.kueue.x-k8s.io "w" not found'),
        ("PATCH", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/g/status", {}, MERGE, 404, '"g" not found'),
        ("POST", W, {}, {}, 405, "post is not supported on resources of kind"),
        ("DELETE", WORKLOADS, None, {}, 405, "delete is not supported"),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews", None, {}, 405, "list is not supported"),
        ("POST", WORKLOADS, "{", {}, 400, "not JSON"),
        ("POST", WORKLOADS, "[]", {}, 400, "not an object"),
        ("POST", WORKLOADS, "x", {"Content-Type": "application/vnd.kubernetes.protobuf"}, 415, "application/json"),
        (
            "PATCH",
            W,
            [],
            {"Content-Type": "application/json-patch+json"},
            415,
            "application/merge-patch+json, application/apply-patch+yaml",
        ),
        ("PATCH", W, {}, APPLY, 422, "fieldManager: Required value"),
        ("PATCH", f"{W}?fieldManager=m", "a: [", APPLY, 400, "error decoding patch"),
        ("PATCH", f"{W}?fieldManager=m", "[]", APPLY, 400, "an apply patch is an object"),
        ("GET", f"{WORKLOADS}?resourceversion=1", None, {}, 400, "the query parameter resourceversion is not known for list"),
        ("GET", f"{WORKLOADS}?limit=many", None, {}, 400, 'limit is a number, not "many"'),
        ("GET", f"{WORKLOADS}?watch=maybe", None, {}, 400, 'watch is true or false, not "maybe"'),
        ("GET", f"{WORKLOADS}?labelSelector=a%20b", None, {}, 400, "unable to parse requirement"),
        (
            "GET",
            f"{WORKLOADS}?resourceVersionMatch=Exact",
            None,
            {},
            422,
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        ("GET", f"{WORKLOADS}?watch=1&sendInitialEvents=true", None, {}, 422, "sendInitialEvents requires setting resourceVersionMatch"),
        ("GET", f"{WORKLOADS}?watch=1&resourceVersionMatch=NotOlderThan", None, {}, 422, "unless sendInitialEvents is provided"),
        ("GET", f"{WORKLOADS}?sendInitialEvents=true", None, {}, 422, "sendInitialEvents is forbidden for list"),
        ("GET", f"{WORKLOADS}?resourceVersion=1&resourceVersionMatch=Some", None, {}, 422, "Unsupported value"),
        ("POST", f"{WORKLOADS}?fieldValidation=some", {}, {}, 422, "fieldValidation"),
        ("POST", f"{WORKLOADS}?dryRun=some", {}, {}, 422, "dryRun"),
        ("DELETE", W, {"propagationPolicy": "Foreground"}, {}, 400, "no garbage collector"),
    ],
)
def test_what_cannot_be_asked(method: str, path: str, body: Any, headers: dict[str, str], code: int, text: str) -> None:
    """A request that makes no sense is refused with a Status that says why; a path that is not served has none, but for built-in groups."""

    async def scene(client: Client) -> None:
        status, answer = await client.ask(method, path, body, headers=headers)
        assert status == code
        if isinstance(answer, str):
            assert answer == text
        else:
            assert (answer["kind"], answer["status"], answer["code"]) == ("Status", "Failure", code)
            assert text in answer["message"]

    played(scene)


def test_discovery() -> None:
    """What is served is told in the form of the API: groups, versions, kinds, and which of them have a status."""

    async def scene(client: Client) -> None:
        assert (await client.ask("GET", "/version"))[1]["gitVersion"] == "v1.40.0"
        assert (await client.ask("GET", "/readyz")) == (200, "ok")
        assert (await client.ask("GET", "/api"))[1]["versions"] == ["v1"]
        groups = {group["name"]: group["preferredVersion"]["version"] for group in (await client.ask("GET", "/apis"))[1]["groups"]}
        assert groups["kueue.x-k8s.io"] == "v1beta2"
        assert (await client.ask("GET", "/apis/kueue.x-k8s.io"))[1]["versions"][0]["groupVersion"] == "kueue.x-k8s.io/v1beta2"
        names = [each["name"] for each in (await client.ask("GET", "/apis/scheduling.volcano.sh/v1beta1"))[1]["resources"]]
        assert names == ["queues", "queues/status", "podgroups"]
        assert "configmaps" in [each["name"] for each in (await client.ask("GET", "/api/v1"))[1]["resources"]]
        assert (await client.ask("GET", "/apis/kueue.x-k8s.io/v1beta1"))[0] == 404

    played(scene, version="v1.40.0")


def test_lists_over_http() -> None:
    """Selectors, pages and namespaces are parameters and paths."""

    async def scene(client: Client) -> None:
        await client.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
        for namespace, name in (("default", "a"), ("default", "b"), ("other", "c")):
            await client.ask("POST", WORKLOADS.replace("default", namespace), workload(name))
        everywhere = "/apis/kueue.x-k8s.io/v1beta2/workloads"
        _, page = await client.ask("GET", f"{everywhere}?limit=2")
        _, rest = await client.ask("GET", f"{everywhere}?limit=2&continue={page['metadata']['continue']}")
        assert [item["metadata"]["name"] for item in page["items"] + rest["items"]] == ["a", "b", "c"]
        _, found = await client.ask("GET", f"{WORKLOADS}?fieldSelector=metadata.name%3Db")
        assert [item["metadata"]["name"] for item in found["items"]] == ["b"]
        assert (await client.ask("GET", "/api/v1/namespaces/other"))[1]["status"] == {"phase": "Active"}

    played(scene)


# --- users ----------------------------------------------------------------------------------------------------------

READER = User("reader", (Grant(("get", "list", "watch"), ("*",), "*"),))
GPOL = User(
    "gpol", (Grant(("patch",), ("workloads/status",), "kueue.x-k8s.io", "default"), Grant(("create",), ("tokenreviews",), "*")), uid="7"
)


def test_tokens_and_grants() -> None:
    """Without a token of the table 401, and 403 for what is not granted: another verb, another namespace, or creating by an apply."""

    async def scene(client: Client) -> None:
        async def status(method: str, path: str, token: str, **more: Any) -> int:
            headers = {"Authorization": f"Bearer {token}"} | more.pop("headers", {})
            return (await client.ask(method, path, headers=headers, **more))[0]

        assert (await client.ask("GET", WORKLOADS))[1]["reason"] == "Unauthorized"
        assert await status("GET", WORKLOADS, "wrong") == 401
        assert (await client.ask("GET", "/version"))[0] == 200
        assert await status("GET", WORKLOADS, "r") == 200
        assert await status("GET", "/apis", "r") == 200
        for token, path in (("r", f"{W}/status"), ("g", W), ("g", f"{W}/status".replace("default", "other"))):
            assert await status("PATCH", path, token, body={}, headers=MERGE) == 403
        assert await status("PATCH", f"{W}/status", "g", body={}, headers=MERGE) == 404
        _, answer = await client.ask("GET", W, headers={"Authorization": "Bearer g"})
        who = 'User "gpol" cannot get resource "workloads" in API group "kueue.x-k8s.io" in the namespace "default"'
        assert answer["message"] == f'workloads.kueue.x-k8s.io "w" is forbidden: {who}'
        del client.server.access.tokens["r"]
        assert await status("GET", WORKLOADS, "r") == 401

        client.server.access.tokens["p"] = User("patcher", (Grant(("patch",), ("workloads",), "kueue.x-k8s.io"),))
        assert await status("PATCH", f"{W}?fieldManager=m", "p", body=workload(), headers=APPLY) == 403
        client.server.store.create(WORKLOAD, workload(), namespace="default")
        assert await status("PATCH", f"{W}?fieldManager=m", "p", body=workload(), headers=APPLY) == 200

    played(scene, access=Access({"r": READER, "g": GPOL}))


def test_reviews() -> None:
    """A token review says whose a token is; a self subject access review is answered from the same table."""

    async def scene(client: Client) -> None:
        async def review(kind: str, token: str, spec: Json) -> Any:
            path = {"TokenReview": "/apis/authentication.k8s.io/v1/tokenreviews"}.get(
                kind, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            )
            status, answer = await client.ask("POST", path, {"spec": spec}, headers={"Authorization": f"Bearer {token}"})
            assert (status, answer.get("kind")) == (201, kind) or status == 403
            return answer["status"]

        user = {"username": "gpol", "uid": "7", "groups": ["system:authenticated"]}
        assert await review("TokenReview", "g", {"token": "g"}) == {"authenticated": True, "user": user}
        assert await review("TokenReview", "g", {"token": "x"}) == {"user": {}, "error": "invalid bearer token"}
        assert await review("TokenReview", "r", {"token": "g"}) == "Failure"
        wanted = {"verb": "patch", "group": "kueue.x-k8s.io", "resource": "workloads", "subresource": "status", "namespace": "default"}
        assert await review("SelfSubjectAccessReview", "g", {"resourceAttributes": wanted}) == {"allowed": True}
        assert (await review("SelfSubjectAccessReview", "r", {"resourceAttributes": wanted}))["allowed"] is False

    played(scene, access=Access({"r": READER, "g": GPOL}))

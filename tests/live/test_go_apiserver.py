"""The API server that is built with Go is the real one: its schemas, conflicts, watches and rights, and it outlives a crash."""

import http.client
import itertools
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import go_apiserver
import pytest
from go_apiserver import VOLCANO_CRDS, GoApiServer

pytestmark = pytest.mark.live

Json = dict[str, Any]

KUEUE = "kueue.x-k8s.io/v1beta2"
VOLCANO = "scheduling.volcano.sh/v1beta1"
APPLY = "application/apply-patch+yaml"
SECONDS = 60  # how long an answer may take


class Client:
    """A user of the server, with plain HTTPS requests."""

    def __init__(self, server: GoApiServer, token: str) -> None:
        self._token = token
        self._server = server
        self._trust = ssl.create_default_context(cafile=str(server.certificates))
        self._trust.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on

    def call(self, method: str, path: str, body: Json | None = None, form: str = "application/json") -> tuple[int, Json]:
        """Asks once; gives the status code and the answer."""
        with closing(self._connect()) as connection:
            answer = self._ask(connection, method, path, body, form)
            text = answer.read()
            return answer.status, json.loads(text) if answer.getheader("Content-Type") == "application/json" else {"message": text.decode()}

    def create(self, path: str, body: Json) -> Json:
        """Creates an object; gives it as the server has it."""
        status, answer = self.call("POST", path, body)
        assert status == 201, answer
        return answer

    def apply(self, path: str, body: Json) -> Json:
        """Applies fields as the manager `test`; gives the whole object."""
        status, answer = self.call("PATCH", f"{path}?fieldManager=test&force=true", body, APPLY)
        assert status in (200, 201), answer
        return answer

    @contextmanager
    def watch(self, path: str, version: str) -> Iterator[Iterator[tuple[str, Json]]]:
        """Watches a list from a version on; gives the events as they come, each as its kind and an object."""
        with closing(self._connect()) as connection:
            answer = self._ask(connection, "GET", f"{path}?watch=true&resourceVersion={version}", None, "")
            assert answer.status == 200, answer.read()
            yield ((event["type"], event["object"]) for event in map(json.loads, answer))

    def _connect(self) -> http.client.HTTPSConnection:
        address = self._server.url.removeprefix("https://")
        return http.client.HTTPSConnection(address, context=self._trust, timeout=SECONDS)

    def _ask(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: Json | None, form: str
    ) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": form}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection.getresponse()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoApiServer]:
    """One server for all tests; its folder has a longer path than the name of a socket may have."""
    if reason := go_apiserver.available():
        pytest.skip(reason)
    with GoApiServer(tmp_path_factory.mktemp("data") / ("deep" * 20) / ("deep" * 20)) as running:
        yield running


@pytest.fixture
def admin(server: GoApiServer) -> Client:
    """The user who may do everything."""
    return Client(server, server.admin_token)


@pytest.fixture
def visitor(server: GoApiServer) -> Client:
    """The user who may do nothing."""
    return Client(server, server.visitor_token)


_numbers = itertools.count(1)


@pytest.fixture
def namespace(admin: Client) -> str:
    """A namespace of the test's own."""
    name = f"team-{next(_numbers)}"
    admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def workloads(namespace: str) -> str:
    """The path of the workloads of a namespace."""
    return f"/apis/{KUEUE}/namespaces/{namespace}/workloads"


def workload(name: str, **fields: Any) -> Json:
    """A workload of one pod."""
    container = {"name": "main", "image": "train", "resources": {"requests": {"nvidia.com/gpu": "8"}}}
    pods = {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    return _kueue("Workload", name, spec={"queueName": "main", "podSets": [pods]}, **fields)


def answer(name: str, state: str, **identity: str) -> Json:
    """What an admission check says of a workload."""
    check = {"name": "gpol", "state": state, "message": "said by a test", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    body = _kueue("Workload", name, status={"admissionChecks": [check]})
    body["metadata"] |= identity
    return body


def _kueue(kind: str, name: str, **fields: Any) -> Json:
    return {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, **fields}


# --- the real API ---------------------------------------------------------------------------------------------------


def test_workload_and_its_status_are_applied(admin: Client, namespace: str) -> None:
    """A workload is made by an apply, its status by another one, and the same apply again changes nothing."""
    path = f"{workloads(namespace)}/a"
    made = admin.apply(path, workload("a"))
    assert made["spec"]["active"] is True  # a default of Kueue's schema
    said = admin.apply(f"{path}/status", answer("a", "Ready"))
    assert [check["state"] for check in said["status"]["admissionChecks"]] == ["Ready"]
    assert int(said["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert admin.apply(f"{path}/status", answer("a", "Ready"))["metadata"]["resourceVersion"] == said["metadata"]["resourceVersion"]


def test_stale_status_is_refused(admin: Client, namespace: str) -> None:
    """A status for an earlier version of a workload gets 409, and so does one for a workload that had the same name before."""
    path = f"{workloads(namespace)}/a"
    before = admin.apply(path, workload("a"))["metadata"]
    admin.apply(f"{path}/status", answer("a", "Pending"))
    assert _refused(admin, path, resourceVersion=before["resourceVersion"]) == (409, "Conflict")
    now = admin.call("GET", path)[1]["metadata"]
    admin.call("DELETE", path)
    assert _refused(admin, path, resourceVersion=now["resourceVersion"], uid=now["uid"]) == (404, "NotFound")
    admin.apply(path, workload("a"))
    assert _refused(admin, path, resourceVersion=now["resourceVersion"], uid=now["uid"]) == (409, "Conflict")


def test_uid_alone_guards_no_status(admin: Client, namespace: str) -> None:
    """A uid of an earlier workload of the same name does not stop a status, so only the resourceVersion can be relied on.

    The API server takes all metadata of a status of a custom resource from the stored object, and does not compare the uid before.
    """
    path = f"{workloads(namespace)}/a"
    before = admin.apply(path, workload("a"))["metadata"]
    admin.call("DELETE", path)
    now = admin.apply(path, workload("a"))["metadata"]
    said = admin.apply(f"{path}/status", answer("a", "Ready", uid=before["uid"]))
    assert said["metadata"]["uid"] == now["uid"] != before["uid"]
    assert [check["state"] for check in said["status"]["admissionChecks"]] == ["Ready"]


def _refused(admin: Client, path: str, **identity: str) -> tuple[int, str]:
    """How a status for the workload with this identity is refused."""
    status, refusal = admin.call("PATCH", f"{path}/status?fieldManager=test&force=true", answer("a", "Ready", **identity), APPLY)
    return status, refusal["reason"]


def test_schema_of_kueue_holds(admin: Client, namespace: str) -> None:
    """A field that Kueue's schema forbids is refused with 422, and a version that would need conversion is not served."""
    status, refusal = admin.call("POST", workloads(namespace), workload("Not_A_Name"))
    assert (status, refusal["reason"]) == (422, "Invalid")
    wrong = workload("a") | {"spec": {"queueName": "main", "podSets": []}}
    status, refusal = admin.call("POST", workloads(namespace), wrong)
    assert status == 422
    assert "spec.podSets" in refusal["message"]
    assert admin.call("GET", "/apis/kueue.x-k8s.io/v1beta1/workloads")[0] == 404


def test_volcano_has_a_status_of_its_own_for_queues_only(admin: Client, namespace: str) -> None:
    """A queue has a status that is written by itself; the status of a PodGroup is part of it."""
    queue = {"apiVersion": VOLCANO, "kind": "Queue", "metadata": {"name": namespace}}
    path = f"/apis/{VOLCANO}/queues/{namespace}"
    both = queue | {"spec": {"deserved": {"nvidia.com/gpu": 8, "cpu": "500m"}}, "status": {"state": "Open"}}
    made = admin.apply(path, both)
    assert made["spec"]["weight"] == 1
    assert "status" not in made
    assert admin.apply(f"{path}/status", queue | {"status": {"state": "Open"}})["status"] == {"state": "Open"}

    group = {"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": {"name": "a"}}
    path = f"/apis/{VOLCANO}/namespaces/{namespace}/podgroups/a"
    assert admin.apply(path, group | {"spec": {"minMember": 2}, "status": {"phase": "Inqueue"}})["status"] == {"phase": "Inqueue"}
    assert admin.call("GET", f"{path}/status")[0] == 404


@pytest.mark.parametrize(
    ("group", "kinds"),
    [
        ("api/v1", ["Namespace", "Node", "Pod", "Event", "ConfigMap", "ServiceAccount", "Secret"]),
        ("apis/coordination.k8s.io/v1", ["Lease"]),
        ("apis/events.k8s.io/v1", ["Event"]),
        ("apis/authentication.k8s.io/v1", ["TokenReview"]),
        ("apis/authorization.k8s.io/v1", ["SelfSubjectAccessReview"]),
        ("apis/rbac.authorization.k8s.io/v1", ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]),
        ("apis/apiextensions.k8s.io/v1", ["CustomResourceDefinition"]),
        ("apis/scheduling.k8s.io/v1", ["PriorityClass"]),
        ("apis/admissionregistration.k8s.io/v1", ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]),
        ("apis/batch/v1", ["Job"]),
        (f"apis/{KUEUE}", ["Workload", "ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor", "AdmissionCheck", "Topology"]),
        (f"apis/{VOLCANO}", ["Queue", "PodGroup"]),
    ],
)
def test_kinds_are_served(admin: Client, group: str, kinds: list[str]) -> None:
    """Each kind that gpol or its tests use is served. A server lists custom resources one by one, a moment after they are there."""
    end = time.monotonic() + 60
    missing = set(kinds)
    while missing and time.monotonic() < end:
        status, found = admin.call("GET", f"/{group}")
        missing = set(kinds) - {resource["kind"] for resource in found["resources"]} if status == 200 else set(kinds)
        time.sleep(0.1 if missing else 0)
    assert not missing


def test_version_is_that_of_the_release(admin: Client) -> None:
    """The server names the release of Kubernetes that it is built from, as a released one does."""
    assert f"\tk8s.io/kubernetes {admin.call('GET', '/version')[1]['gitVersion']}\n" in (go_apiserver.SOURCES / "go.mod").read_text()


# --- rights ---------------------------------------------------------------------------------------------------------


def test_visitor_has_no_rights_until_a_role_is_bound(admin: Client, visitor: Client, namespace: str) -> None:
    """The second user gets 403, and what a role says once one is bound; a token that nobody has gets 401."""
    path = workloads(namespace)
    assert visitor.call("GET", path)[0] == 403
    rights = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    reads = {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list"]}
    admin.create(f"{rights}/roles", {"metadata": {"name": "reads"}, "rules": [reads]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reads"}
    admin.create(
        f"{rights}/rolebindings", {"metadata": {"name": "reads"}, "roleRef": role, "subjects": [{"kind": "User", "name": "visitor"}]}
    )
    until = time.monotonic() + SECONDS
    while visitor.call("GET", path)[0] == 403 and time.monotonic() < until:
        time.sleep(0.05)  # the server looks at roles through a cache
    assert visitor.call("GET", path)[0] == 200
    assert visitor.call("POST", path, workload("a"))[0] == 403


def test_tokens_are_checked(admin: Client, server: GoApiServer) -> None:
    """The server says whose token it is, and refuses one that it does not know."""
    for token, name in ((server.admin_token, "admin"), (server.visitor_token, "visitor")):
        review = admin.create("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token}})
        assert review["status"]["user"]["username"] == name
    assert Client(server, "nobody").call("GET", "/api/v1/namespaces")[0] == 401


# --- watches and crashes --------------------------------------------------------------------------------------------


def test_watch_tells_every_change(admin: Client, namespace: str) -> None:
    """A watch from the version of a list tells what came after it, in order."""
    path = workloads(namespace)
    version = admin.call("GET", path)[1]["metadata"]["resourceVersion"]
    with admin.watch(path, version) as events:
        admin.apply(f"{path}/a", workload("a"))
        admin.apply(f"{path}/a/status", answer("a", "Ready"))
        admin.call("DELETE", f"{path}/a")
        assert [kind for kind, _ in itertools.islice(events, 3)] == ["ADDED", "MODIFIED", "DELETED"]


def test_crash_loses_nothing(admin: Client, server: GoApiServer, namespace: str) -> None:
    """After SIGKILL and a restart, everything that was answered is there, for the same clients, and versions go on from where they were."""
    path = workloads(namespace)
    before = [admin.apply(f"{path}/w{number}", workload(f"w{number}")) for number in range(20)]
    before[-1] = admin.apply(f"{path}/w19/status", answer("w19", "Ready"))
    url, pid = server.url, server.pid
    server.kill()
    with pytest.raises(OSError, match="refused"):
        admin.call("GET", path)
    server.restart()
    assert (server.url, server.pid != pid) == (url, True)
    found = admin.call("GET", path)[1]["items"]
    assert sorted(found, key=_name) == sorted(before, key=_name)
    after = admin.apply(f"{path}/w0/status", answer("w0", "Ready"))
    assert int(after["metadata"]["resourceVersion"]) > int(before[-1]["metadata"]["resourceVersion"])


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])


def test_crash_ends_a_watch(admin: Client, server: GoApiServer, namespace: str) -> None:
    """A watch breaks with the server. Resumed after the restart, it is refused as expired, so a client has to list again."""
    path = workloads(namespace)
    admin.apply(f"{path}/a", workload("a"))
    version = admin.call("GET", path)[1]["metadata"]["resourceVersion"]
    with admin.watch(path, version) as events:
        admin.apply(f"{path}/b", workload("b"))
        assert _name(next(events)[1]) == "b"
        server.kill()
        with pytest.raises((StopIteration, OSError, http.client.HTTPException)):
            next(events)
    server.restart()
    with admin.watch(path, version) as events:
        kind, told = next(events)
    assert (kind, told["code"], told["reason"]) == ("ERROR", 410, "Expired")


# --- starting and ending --------------------------------------------------------------------------------------------


def test_open_watch_does_not_hold_up_the_end(admin: Client, server: GoApiServer, namespace: str) -> None:
    """A server with an open watch ends in order, and starts again."""
    with admin.watch(workloads(namespace), "0"):
        server.restart()
    assert admin.call("GET", "/api/v1/namespaces/default")[0] == 200


def test_server_ends_with_its_starter(tmp_path: Path, server: GoApiServer) -> None:
    """A server whose test process is killed ends by itself, and another one may take its folder."""
    program = f"""
import sys, time
sys.path.insert(0, {str(Path(go_apiserver.__file__).parent)!r})
from pathlib import Path
from go_apiserver import GoApiServer
server = GoApiServer(Path({str(tmp_path)!r}), crds=())
server.start()
print(server.pid, flush=True)
time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        starter.kill()
    until = time.monotonic() + SECONDS
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(pid)
    with GoApiServer(tmp_path, crds=()) as another:
        assert Client(another, another.admin_token).call("GET", "/api/v1/namespaces/default")[0] == 200


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_folder_in_use_is_refused(server: GoApiServer) -> None:
    """A second server on the same folder does not start, and says why."""
    with pytest.raises(RuntimeError, match="another server works in"):
        GoApiServer(server.data_dir, crds=()).start()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no \\*.yaml files"),
        ("kind: Queue\n", 'a document is of the kind "Queue": only CustomResourceDefinition is taken'),
        ("kind: CustomResourceDefinition\nmetadata: {name: x}\n", "no version of x has `storage: true`"),
    ],
)
def test_wrong_definitions_are_refused(tmp_path: Path, server: GoApiServer, text: str, message: str) -> None:
    """A folder without definitions, and a file that is none, are named before the server is ready."""
    crds = tmp_path / "crds"
    crds.mkdir()
    if text:
        (crds / "wrong.yaml").write_text(text)
    with pytest.raises(RuntimeError, match=message):
        GoApiServer(tmp_path / "data", crds=(VOLCANO_CRDS, crds)).start()


def test_missing_go_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Go on the path, the reason says what to install."""
    monkeypatch.setenv("PATH", os.devnull)
    assert go_apiserver.available().startswith("Go is not installed; the API server of the tests needs Go 1.")

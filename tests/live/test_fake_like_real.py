"""The tests' own API server answers as the Kubernetes project's own one does: the same requests are sent to both, and all answers compared.

Uids, versions and times differ, but have to be the same and to differ at the same places. Where only the words of an error differ, the
status and the reason are compared.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import go_apiserver
import pytest
from fake_apiserver import FakeApiServer
from fake_kinds import CLUSTER_QUEUE, POD_GROUP, VOLCANO_QUEUE, WORKLOAD, Json
from fake_scenes import APPLY, MERGE, WORKLOADS, W, made
from fake_store import FakeStore
from go_apiserver import GoApiServer

pytestmark = pytest.mark.live

NOBODY = "00000000-0000-4000-8000-00000000dead"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
VOLCANO = "/apis/scheduling.volcano.sh/v1beta1/queues"
MAPS = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
STATUS = f"{W}/status"

CONTAINER = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
PODS = {"name": "main", "count": 1, "template": {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}}
SPEC: Json = {"active": True, "podSets": [PODS], "queueName": "q", "priority": 0}
# What stands at its default is said, for the fake sets no defaults.
QUEUE: Json = {
    "queueingStrategy": "BestEffortFIFO",
    "stopPolicy": "None",
    "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
    "preemption": {"borrowWithinCohort": {"policy": "Never"}, "reclaimWithinCohort": "Never", "withinClusterQueue": "Never"},
}


def wl(name: str = "w", **parts: Any) -> Json:
    """A workload."""
    return made(WORKLOAD, name, **parts)


def checks(*names: str, state: str = "Ready", **metadata: Any) -> Json:
    """The workload with admission checks."""
    common = {"state": state, "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return wl(metadata=metadata, status={"admissionChecks": [{"name": name, **common} for name in names]})


def conditions(*types: str) -> Json:
    """A status with conditions."""
    common = {"status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {"status": {"conditions": [{"type": each, **common} for each in types]}}


def queue(quota: str, name: str = "a", **metadata: Any) -> Json:
    """A cluster queue with a quota."""
    flavor = {"name": "h100", "resources": [{"name": "gpu", "nominalQuota": quota}]}
    spec = QUEUE | {"resourceGroups": [{"coveredResources": ["gpu"], "flavors": [flavor]}]}
    return made(CLUSTER_QUEUE, name, metadata=metadata, spec=spec)


@dataclass
class Session:
    """One of the two servers, with what it said."""

    url: str
    http: aiohttp.ClientSession
    said: list[Any] = field(default_factory=list)
    names: dict[str, dict[str, str]] = field(default_factory=dict)

    async def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, whole: bool = True) -> Any:
        """Asks, and notes the answer: the whole of it, or only its status and its reason."""
        sent = {"User-Agent": "tester/1", **({"Content-Type": "application/json"} if body is not None else {}), **(headers or {})}
        data = json.dumps(body) if isinstance(body, dict) else body
        async with self.http.request(method, self.url + path, data=data, headers=sent) as response:
            text = await response.text()
            answer: Any = json.loads(text) if response.content_type == "application/json" else text
            noted: Any = self.plain(answer) if whole else answer.get("reason")
            self.said.append((f"{method} {path} {json.dumps(body)[:200]}", response.status, noted))
            return answer

    async def put(self, path: str, obj: Json, **metadata: Any) -> Any:
        """Puts an object with other metadata."""
        return await self.ask("PUT", path, obj | {"metadata": obj["metadata"] | metadata})

    async def apply(self, path: str, body: Json, manager: str = "gpol", force: bool = True, whole: bool = True) -> Any:
        """Applies."""
        return await self.ask("PATCH", f"{path}?fieldManager={manager}&force={str(force).lower()}", body, APPLY, whole)

    async def patch(self, path: str, body: Json, whole: bool = True) -> Any:
        """Sends a merge patch."""
        return await self.ask("PATCH", path, body, MERGE, whole)

    async def watch(self, query: str) -> None:
        """Notes all events of a watch of the workloads that ends after a second."""
        async with self.http.get(f"{self.url}{WORKLOADS}?watch=1&timeoutSeconds=1{query}") as response:
            events = [json.loads(line) for line in (await response.read()).splitlines()]
            self.said.append((f"watch {query}", response.status, self.plain(events)))

    def plain(self, value: Any, at: str = "") -> Any:
        """A value with names for what differs: the first uid is uid1 wherever it stands, and so on."""
        if isinstance(value, dict):
            plain = {name: self.plain(part, name) for name, part in value.items()}
            if "items" in value or value.get("type") == "BOOKMARK":
                # It says the version of the whole store, which other writes of the real server move.
                plain.get("object", plain)["metadata"]["resourceVersion"] = "the version of now"
            return plain
        if isinstance(value, list):
            return [self.plain(part, at) for part in value]
        if not isinstance(value, str):
            return value
        if at in ("time", "creationTimestamp", "deletionTimestamp"):
            return "some time"
        if at == "resourceVersion":
            return self._name("version", value)
        if at == "continue":
            return bool(value)
        value = re.sub(r"(ResourceVersion in record \(|current: )\d+", r"\1", value)
        return re.sub(r"\w{8}(-\w{4}){3}-\w{12}", lambda found: self._name("uid", found[0]), value)

    def _name(self, kind: str, value: str) -> str:
        known = self.names.setdefault(kind, {})
        return known.setdefault(value, f"{kind} {len(known) + 1}")


async def writes(s: Session) -> None:
    """Creating, updating, and what is refused."""
    await s.ask("GET", W)
    await s.ask("GET", WORKLOADS)
    first = await s.ask("POST", WORKLOADS, wl(spec=SPEC) | conditions("X"))
    await s.ask("POST", WORKLOADS, wl(spec=SPEC))
    await s.ask("POST", WORKLOADS.replace("default", "nowhere"), wl(spec=SPEC))
    await s.ask("POST", WORKLOADS, wl(metadata={"namespace": "x"}, spec=SPEC))
    await s.ask("POST", WORKLOADS, wl(spec=SPEC) | {"kind": "Job"})
    await s.ask("POST", WORKLOADS, {"apiVersion": WORKLOAD.api_version, "metadata": {"name": "w"}}, whole=False)
    await s.ask("POST", WORKLOADS, wl("Bad_Name", spec=SPEC))
    await s.ask("POST", WORKLOADS, wl("", spec=SPEC), whole=False)
    await s.ask("POST", WORKLOADS, wl("v", metadata={"resourceVersion": "5"}, spec=SPEC))
    for body in ("{", "[]"):
        await s.ask("POST", WORKLOADS, body, whole=False)
    await s.ask("POST", WORKLOADS, "x", {"Content-Type": "application/x-nope"}, whole=False)
    await s.ask("DELETE", STATUS)
    for path in ("/apis/nobody.example/v1/things", f"{QUEUES}x", "/api/v1/things", f"{W}/scale", f"{LEASES}/l/status"):
        await s.ask("GET", path)
    await s.put(W, first)
    await s.put(W, first, labels={"a": "b"})
    await s.put(W, first, labels={"a": "c"})
    now = await s.ask("GET", W)
    await s.ask("PUT", W, now | {"metadata": {"name": "w"}})
    await s.put(W, now, uid=NOBODY)
    await s.put(STATUS, now, uid=NOBODY)
    await s.ask("PUT", f"{W}2", now)
    await s.put(f"{W}2", now, name="w2", resourceVersion="1")
    await s.patch(W, {"metadata": {"uid": NOBODY}}, whole=False)
    await s.patch(STATUS, {"metadata": {"uid": NOBODY}} | conditions("Q"))
    await s.patch(W, {"metadata": {"resourceVersion": "1"}})
    await s.patch(STATUS, conditions("A", "A"))
    await s.patch(STATUS, {"spec": {"priority": 9}, "metadata": {"labels": {"n": "o"}}} | conditions("B"))
    await s.patch(W, {"spec": {"priority": 7}} | conditions("C"))
    await s.patch(W, {"metadata": {"labels": None}})
    await s.ask("PATCH", W, "x", {"Content-Type": "application/strategic-merge-patch+json"}, whole=False)


async def applies(s: Session) -> None:
    """Server-side apply to a status, and to an object."""
    await s.ask("POST", WORKLOADS, wl(spec=SPEC))
    await s.apply(STATUS, checks("gpol", uid=NOBODY))
    await s.apply(W, wl(metadata={"uid": NOBODY}), whole=False)
    await s.apply(STATUS, checks("gpol", resourceVersion="1"))
    for _ in range(2):
        await s.apply(STATUS, checks("gpol"))
    await s.apply(STATUS, checks("gpol"), "other", force=False)
    await s.apply(STATUS, checks("gpol", state="Retry"), "other", force=False)
    await s.apply(STATUS, checks("gpol", "two", state="Retry"), "other")
    await s.apply(STATUS, wl())
    await s.apply(STATUS, wl(status={}), "other", whole=False)
    await s.apply(STATUS, wl(), "other")
    await s.ask("PATCH", STATUS, wl(), APPLY)
    for items in ([{"name": "a"}, {"name": "a"}], [{"state": "Ready"}]):
        await s.apply(STATUS, wl(metadata={"namespace": "default"}, status={"admissionChecks": items}))
    entry = {"manager": "x", "operation": "Apply", "apiVersion": WORKLOAD.api_version, "fieldsType": "FieldsV1", "fieldsV1": {}}
    await s.apply(W, wl(metadata={"managedFields": [entry]}))
    await s.apply(W, wl() | {"kind": "Job"}, whole=False)
    await s.apply(W, wl("other"))
    await s.apply(W, {"apiVersion": WORKLOAD.api_version, "kind": "Workload", "metadata": {"labels": {"x": "y"}}})
    await s.apply(f"{WORKLOADS}/v/status", wl("v"))
    await s.apply(f"{WORKLOADS}/v", wl("v", metadata={"uid": NOBODY}, spec=SPEC))
    await s.apply(f"{WORKLOADS}/v", wl("v", metadata={"resourceVersion": "1"}, spec=SPEC) | conditions("A"))
    await s.apply(f"{WORKLOADS}/v", wl("v", spec=SPEC | {"priority": 5}) | conditions("A"))
    await s.ask("POST", QUEUES, queue("8"))
    await s.apply(f"{QUEUES}/a", queue("9"), force=False)
    for labels in ({"x": "1"}, {"x": "1"}, {}, {"y": "1"}):
        metadata: Json = {"labels": labels} if labels else {}
        await s.apply(f"{QUEUES}/a", queue("9", **metadata))
    await s.ask("POST", MAPS, {"metadata": {"name": "c"}})
    await s.ask("PUT", f"{MAPS}/c", {"metadata": {"name": "c"}, "data": {"a": "1"}})
    await s.apply(f"{MAPS}/c", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"b": "2"}})
    await s.ask("POST", GROUPS, made(POD_GROUP, "g", spec={"minMember": 1, "queue": "default"}, status={"phase": "Pending"}))
    await s.patch(f"{GROUPS}/g/status", {"status": {"phase": "Running"}})
    await s.patch(f"{GROUPS}/g", {"status": {"phase": "Running"}})
    await s.ask("POST", VOLCANO, made(VOLCANO_QUEUE, "q", spec={"weight": 1, "reclaimable": True, "dequeueStrategy": "traverse"}))
    await s.apply(f"{VOLCANO}/q", made(VOLCANO_QUEUE, "q", spec={"deserved": {"cpu": "4"}}))


async def deletions(s: Session) -> None:
    """Preconditions, finalizers, dry runs, and leases."""
    await s.ask("POST", WORKLOADS, wl(spec=SPEC))
    for preconditions in ({"uid": NOBODY}, {"resourceVersion": "1"}):
        await s.ask("DELETE", W, {"preconditions": preconditions})
    await s.patch(W, {"metadata": {"finalizers": ["x.y/a", "x.y/b"]}})
    for _ in range(2):
        await s.ask("DELETE", W)
    await s.ask("POST", WORKLOADS, wl(spec=SPEC))
    await s.patch(W, {"metadata": {"finalizers": ["x.y/a", "x.y/b", "x.y/c"]}}, whole=False)
    for left in (["x.y/b"], []):
        await s.patch(W, {"metadata": {"finalizers": left}})
    await s.ask("GET", W)
    await s.ask("POST", f"{QUEUES}?dryRun=All", queue("8"))
    await s.apply(f"{QUEUES}/a", queue("8"))
    await s.ask("PATCH", f"{QUEUES}/a?dryRun=All", {"metadata": {"labels": {"dry": "1"}}}, MERGE)
    for query in ("?dryRun=All", "", ""):
        await s.ask("DELETE", f"{QUEUES}/a{query}")
    await s.ask("POST", f"{QUEUES}?dryRun=some", queue("8"))
    await s.ask("POST", LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}, whole=False)
    await s.ask("PUT", f"{LEASES}/l", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "b"}})


async def lists_and_watches(s: Session) -> None:
    """Pages, selectors, versions that are not there, and the events of a watch."""
    start = (await s.ask("GET", WORKLOADS))["metadata"]["resourceVersion"]
    await s.ask("POST", WORKLOADS, wl(metadata={"labels": {"t": "1"}}, spec=SPEC))
    await s.apply(STATUS, checks("gpol"))
    for label in "21":
        await s.patch(W, {"metadata": {"labels": {"t": label}}})
    await s.patch(W, {"metadata": {"finalizers": ["x.y/a"]}})
    await s.ask("DELETE", W)
    await s.patch(W, {"metadata": {"finalizers": None}})
    for name in ("one", "two", "three"):
        await s.ask("POST", WORKLOADS, wl(name, spec=SPEC))
    await s.ask("DELETE", f"{WORKLOADS}/two")
    initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    selected = f"&labelSelector=t%3D1&resourceVersion={start}"
    for query in (f"&resourceVersion={start}", selected, "", "&resourceVersion=0", initial, f"{initial}&allowWatchBookmarks=true"):
        await s.watch(query)
    await s.watch("&resourceVersion=99999999")
    page = await s.ask("GET", f"{WORKLOADS}?limit=1")
    await s.ask("GET", f"{WORKLOADS}?limit=1&continue={page['metadata']['continue']}")
    await s.ask("GET", f"{WORKLOADS}?limit=1&resourceVersion=7&continue={page['metadata']['continue']}", whole=False)
    await s.ask("GET", f"{WORKLOADS}?resourceVersionMatch=Exact&resourceVersion={start}")
    for query in ("limit=1&labelSelector=!t", "fieldSelector=metadata.name%3Dthree", "labelSelector=t", "resourceVersion=99999999"):
        await s.ask("GET", f"{WORKLOADS}?{query}")
    await s.ask("GET", f"{WORKLOADS}/one?resourceVersion=99999999")
    for query in ("labelSelector=a%20b", "fieldSelector=spec.x%3Da", "continue=zzz", "limit=abc"):
        await s.ask("GET", f"{WORKLOADS}?{query}", whole=False)
    match = "resourceVersionMatch="
    for query in (f"{match}Exact", f"{match}Foo&resourceVersion=1", f"{match}Exact&resourceVersion=0", "resourceVersion=abc"):
        await s.ask("GET", f"{WORKLOADS}?{query}")
    for query in ("sendInitialEvents=true", "watch=1&sendInitialEvents=true", f"watch=1&{match}NotOlderThan&resourceVersion=5"):
        await s.ask("GET", f"{WORKLOADS}?{query}")


def differences(ours: Any, theirs: Any, place: str) -> Iterator[str]:
    """Where two values differ, one line for each place."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        for name in ours:
            yield from differences(ours[name], theirs[name], f"{place} .{name}")
    elif isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        for number, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{place}[{number}]")
    elif ours != theirs:
        yield f"{place}: the fake says {ours}, the real server {theirs}"


@pytest.mark.parametrize("scene", [writes, applies, deletions, lists_and_watches])
def test_the_same_requests_have_the_same_answers(scene: Callable[[Session], Any], tmp_path: Path) -> None:
    """Status, reason, object, owners of fields, events, and the words of most errors."""
    if reason := go_apiserver.available():
        pytest.skip(reason)

    async def real(server: GoApiServer) -> list[Any]:
        trust = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(server.certificates)))
        headers = {"Authorization": f"Bearer {server.admin_token.strip()}"}
        async with asyncio.timeout(300), aiohttp.ClientSession(connector=trust, headers=headers) as http:
            session = Session(server.url, http)
            while (await http.get(f"{server.url}/api/v1/namespaces/default")).status != 200:
                await asyncio.sleep(0.2)
            await scene(session)
        return session.said

    async def fake() -> list[Any]:
        async with asyncio.timeout(60), FakeApiServer(FakeStore()) as server, aiohttp.ClientSession() as http:
            session = Session(server.url, http)
            await scene(session)
        return session.said

    with GoApiServer(tmp_path / "data") as server:
        wanted = asyncio.run(real(server))
    found = asyncio.run(fake())
    assert len(found) == len(wanted)
    assert [line for pair in zip(found, wanted, strict=True) for line in differences(pair[0][1:], pair[1][1:], pair[0][0])] == []

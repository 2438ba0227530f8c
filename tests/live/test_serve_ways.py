"""`gpol serve` as a process that watches a Kueue that decides, or that answers Volcano's scheduler."""

import base64
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from fake_kinds import KINDS
from fake_serving import ServingThread
from fake_store import FakeStore
from gpol.adapters.kueue.cluster_setup import watch_rights
from gpol.journal.journal import Journal
from kueue_model import POD
from kueue_writer import KueueWriter, SetClock, kind_called, typed
from serve_scene import TOKEN, ServeScene, free_port
from volcano_player import SPACE, VolcanoPlayer

Json = dict[str, Any]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[ServeScene]:
    """An empty cluster, and a folder with all that gpol needs."""
    store = FakeStore((*KINDS, POD), namespaces=["default", SPACE])
    with ServingThread(store) as server:
        yield ServeScene(tmp_path, server, store)


# --- Kueue is watched -----------------------------------------------------------------------------------------------


def job(name: str, gpus: int) -> Json:
    """A Workload that asks for GPUs."""
    container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}
    pod_sets = [{"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = {"name": name, "namespace": "default", "creationTimestamp": now}
    return {"metadata": metadata, "spec": {"queueName": "jobs", "active": True, "podSets": pod_sets}}


def quotas(scene: ServeScene) -> KueueWriter:
    """Kueue's objects: one queue with 8 GPUs; and Kueue's hand."""
    quota = {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}
    groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [quota]}]
    for plural, name, spec in (
        ("resourceflavors", "h100", {}),
        ("clusterqueues", "wide", {"namespaceSelector": {}, "resourceGroups": groups}),
        ("localqueues", "jobs", {"clusterQueue": "wide"}),
    ):
        kind, namespace = kind_called(plural), "default" if plural == "localqueues" else ""
        scene.store.create(kind, typed(kind, {"metadata": {"name": name}, "spec": spec}), namespace=namespace)
    clock = SetClock()
    clock.now = datetime.now(UTC)
    return KueueWriter(scene.store, clock)


def test_what_kueue_does_is_explained_or_told(scene: ServeScene) -> None:
    """One admission that gpol makes too, and one beyond the quota: exactly that one is a difference, in file, metrics and journal."""
    file = scene.folder / "differences.jsonl"
    watch = f"{{differences: {file}, settle_seconds: 0.2, requeue_seconds: 0, config_map: ''}}"
    scene.settings(ways=f"kueue: {{way: watch, watch: {watch}}}", has_policy=False)
    kueue = scene.server.call(quotas, scene)
    flavors = {"main": {"nvidia.com/gpu": "h100"}}
    with scene.gpol():
        scene.until(lambda: not scene.problems())
        scene.server.call(kueue.submit, job("small", 4))
        scene.server.call(kueue.admit, "default/small", "wide", flavors)
        scene.until(lambda: "gpol_shadow_explained_total 1.0" in scene.metrics())
        assert not file.exists() or not file.read_text()
        scene.server.call(kueue.submit, job("large", 6))
        scene.server.call(kueue.admit, "default/large", "wide", flavors)
        scene.until(lambda: file.exists() and file.read_text())
        [line] = file.read_text().splitlines()
        found = json.loads(line)
        assert found["workload"] == "default/large"
        assert 'gpol_shadow_differences_total{kind="' in scene.metrics()
        assert scene.asked("/v1/explain/default/large")["standing"]["state"] == "running"
    versions = {item["metadata"]["name"]: item["metadata"]["managedFields"] for item in scene.store.list(kind_called("workloads"))["items"]}
    assert not any("gpol" in each["manager"] for fields in versions.values() for each in fields), "nothing is written"
    with Journal.open(scene.folder / "journal.db") as journal:
        notes = {(each.event.by, each.event.note) for each in journal.of_kinds(("PolicyActivated",))}  # type: ignore[union-attr]
    assert notes == {("gpol serve", "kueue.way watch")}, "its activations say where; nobody knows the uid of kube-system here"


def test_the_roles_to_watch_are_the_rights_that_are_asked_for(root: Path) -> None:
    """Beside those for the Lease, `deploy/access/watch.yaml` gives what `--check` asks for, and no more."""
    roles = [item for item in yaml.safe_load_all((root / "deploy/access/watch.yaml").read_text()) if item["kind"].endswith("Role")]
    given = {
        (group, resource, verb, role["metadata"].get("namespace", ""), name)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
        if resource != "leases"
    }
    wanted = watch_rights("kueue-system/kueue-manager-config")
    assert given == {(each.kind.group, each.kind.plural, each.verb, each.namespace, each.name) for each in wanted}


# --- Volcano asks ---------------------------------------------------------------------------------------------------


@pytest.fixture
def port(scene: ServeScene) -> int:
    """Where the extender is served, by settings that let gpol decide for Volcano."""
    found = free_port()
    extender = f"{{port: {found}, token_file: {scene.folder / 'token'}}}"
    scene.settings(ways=f"volcano: {{way: decide, extender: {extender}}}")
    return found


def asked(port: int, verb: str, body: Json, token: str = TOKEN) -> Json:
    """What the extender answers; the token is sent as a part of the address, as Volcano does it."""
    credential = base64.b64encode(f"gpol:{token}".encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {credential}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/volcano/{verb}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: Json = json.load(answer)
        return found


def test_volcano_asks_and_is_answered(scene: ServeScene, port: int) -> None:
    """A gang that gpol has admitted is enqueued and runs, one that it makes wait is not; after a restart it is the same."""
    volcano = VolcanoPlayer(scene.store, 8, lambda verb, body: asked(port, verb, body))

    def runs(name: str) -> bool:
        volcano.schedule(name)
        return volcano.phase(name) == "Running"

    for _ in range(2):
        with scene.gpol():
            scene.until(lambda: not scene.problems())
            if volcano.phase("first") == "":
                scene.server.call(volcano.submit, "first", 6, "wide")
                scene.server.call(volcano.submit, "second", 6, "wide")
            scene.until(lambda: runs("first"))
            scene.until(lambda: scene.asked(f"/v1/explain/{SPACE}/second")["standing"]["state"] == "pending")
            assert not scene.server.call(runs, "second")
            assert re.search(
                r'gpol_extender_answers_total{reason="Admitted",verb="jobEnqueueable"} [1-9]|reason="Waiting"', scene.metrics()
            )
            with pytest.raises(urllib.error.HTTPError, match="401"):
                asked(port, "jobEnqueueable", {}, token="wrong")


@pytest.mark.parametrize(
    ("ways", "has_policy", "told"),
    [
        ("volcano: {way: decide}", True, "volcano.extender.token_file is missing"),
        ("volcano: {way: decide}\nkueue: {way: decide}", True, "a journal is of one system"),
        ("kueue: {way: watch}", True, "policy is set"),
        ("kueue: {way: decide}", False, "policy is missing"),
        ("kueue: {guard: {mode: report, deletes: true}}", True, "kueue.guard: deletes is set, and with `mode: report` nothing is written"),
        ("kueue: {way: watch, watch: {settle_seconds: 20}}", False, "longest_seconds is below settle_seconds"),
    ],
)
def test_settings_of_ways_that_do_not_go_together(scene: ServeScene, ways: str, has_policy: bool, told: str) -> None:
    """They are refused, and nothing is started."""
    scene.settings(ways=ways, has_policy=has_policy)
    ended = scene.ended()
    assert ended.returncode == 3
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("ways", ["volcano", "watch"])
def test_check_of_a_way(scene: ServeScene, port: int, ways: str) -> None:
    """In a cluster where gpol may do everything nothing is missing."""
    if ways == "watch":
        scene.settings(ways="kueue: {way: watch}", has_policy=False)
    ended = scene.ended("--check")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "good" in ended.stdout

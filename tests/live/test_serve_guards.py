"""`gpol serve` as a process that only guards the quotas of Kueue: it needs no journal, and keeps what the policy says."""

import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environment import without_variables_of_tests
from fake_access import Access, Grant, User
from fake_kinds import CLUSTER_QUEUE, KINDS, RESOURCE_FLAVOR
from fake_serving import ServingThread, write_kubeconfig
from fake_store import FakeStore
from kueue_model import POD
from serve_scene import ServeScene

Json = dict[str, Any]
DENIES = 'deny large { where workload.gpu > 8 } because "no"\n'
REPAIR = "kueue: {guard: {mode: repair, deletes: true}}"


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[ServeScene]:
    """An empty cluster, and settings by which gpol keeps its quotas."""
    store = FakeStore((*KINDS, POD), namespaces=["default"])
    with ServingThread(store) as server:
        made = ServeScene(tmp_path, server, store)
        made.settings(ways=REPAIR, has_journal=False)
        yield made


def quota(scene: ServeScene, queue: str = "wide") -> int:
    """How many GPUs a queue has in the cluster, on all flavors; -1 where it is not there."""
    found = {item["metadata"]["name"]: item["spec"] for item in scene.store.list(CLUSTER_QUEUE)["items"]}
    if queue not in found:
        return -1
    flavors = [flavor for group in found[queue].get("resourceGroups") or [] for flavor in group["flavors"]]
    return sum(int(each["nominalQuota"]) for flavor in flavors for each in flavor["resources"])


def test_quotas_are_made_repaired_and_changed(scene: ServeScene) -> None:
    """What the policy says is there, comes back after an edit, and follows the policy; a policy that Kueue cannot say is refused."""
    with scene.gpol():
        scene.until(lambda: quota(scene) == 8 and not scene.problems())
        groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [_flavor(99)]}]
        scene.server.call(
            lambda: scene.store.merge_patch(CLUSTER_QUEUE, "wide", {"spec": {"resourceGroups": groups}}, manager="kubectl-edit")
        )
        scene.until(lambda: quota(scene) == 8)
        scene.policy(16, "flavor a100 { gpu 2 }\nqueue more { owns 2 gpu on a100 }\n")
        scene.until(lambda: quota(scene) == 16 and quota(scene, "more") == 2)
        scene.policy(16, DENIES)
        scene.until(lambda: "the changed policy is refused" in scene.problems().get("policy", ""))
        assert scene.server.call(quota, scene, "more") == 2
        scene.policy(4)
        scene.until(lambda: quota(scene) == 4 and quota(scene, "more") == -1)
        assert 'gpol_guard_writes_total{system="kueue",write="repaired"}' in scene.metrics()
        with pytest.raises(urllib.error.HTTPError, match="503") as refused:
            scene.asked("/v1/state")
        assert b"NoJournal" in refused.value.read()
    assert not (scene.folder / "journal.db").exists()


def _flavor(gpus: int) -> Json:
    return {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}


def test_reporting_writes_nothing(scene: ServeScene) -> None:
    """What differs is told as a problem and as a figure."""
    scene.settings(ways="kueue: {guard: {mode: report}}", has_journal=False)
    with scene.gpol():
        scene.until(lambda: "is not there" in scene.problems().get("kueue quotas", ""))
        assert 'gpol_drift_objects{kind="ClusterQueue",system="kueue"} 1.0' in scene.metrics()
    assert scene.server.call(scene.store.list, RESOURCE_FLAVOR)["items"] == []


@pytest.mark.parametrize(
    ("ways", "has_journal", "told"),
    [
        (REPAIR, True, "guards alone decide nothing"),
        ("kueue: {way: decide, guard: {mode: repair}}", True, "Kueue's quotas are wide"),
        ("kueue: {way: decide}", False, "journal is missing"),
        ('kueue: {way: "off"}', False, "let gpol do nothing"),
        ("kueue: {guard: {mode: repair, name: 'no name'}}", False, "kueue.guard.name"),
    ],
)
def test_settings_that_do_not_go_together(scene: ServeScene, ways: str, has_journal: bool, told: str) -> None:
    """They are refused, and nothing is started."""
    scene.settings(ways=ways, has_journal=has_journal)
    ended = scene.ended()
    assert ended.returncode == 3
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_policy_that_kueue_cannot_say(scene: ServeScene) -> None:
    """It is refused at the start."""
    scene.policy(8, DENIES)
    ended = scene.ended()
    assert ended.returncode == 3
    assert "the quotas of" in ended.stderr
    assert "large" in ended.stderr


def test_a_policy_with_an_error(scene: ServeScene) -> None:
    """Nothing is started with it."""
    scene.settings()
    scene.policy(8, "queue other {")
    ended = scene.ended()
    assert ended.returncode == 3
    assert "GP0" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_check_says_which_rights_are_missing(tmp_path: Path) -> None:
    """Who may only read may not keep anything; who only reports needs no more than that, and Events."""
    store = FakeStore((*KINDS, POD))
    reads, tells = Grant(("get", "list", "watch"), ("*",), "kueue.x-k8s.io"), Grant(("create",), ("events",), "events.k8s.io")
    lease = Grant(("get", "create", "patch"), ("leases",), "coordination.k8s.io")
    with ServingThread(store, access=Access({"reader": User("reader", (reads, tells, lease))})) as server:
        scene = ServeScene(tmp_path, server, store)
        for mode, code in (("repair", 2), ("report", 0)):
            scene.settings(ways=f"kueue: {{guard: {{mode: {mode}}}}}", has_journal=False)
            write_kubeconfig(tmp_path / "kubeconfig", server.url, token="reader")
            ended = scene.ended("--check")
            assert ended.returncode == code, ended.stdout + ended.stderr
            assert ("may not patch clusterqueues" in ended.stdout) == (mode == "repair")


def test_without_a_home_directory(scene: ServeScene) -> None:
    """The Kubernetes client looks for one when it is loaded: it is said what is missing."""
    environment = {name: value for name, value in without_variables_of_tests().items() if name != "HOME"}
    loaded = "import pathlib\ndef none(self): raise RuntimeError('Could not determine home directory.')\npathlib.Path.expanduser = none\n"
    program = loaded + "import sys\nfrom gpol.cli.main import main\nsys.exit(main())"
    command = [sys.executable, "-c", program, "serve", "--settings", str(scene.folder / "settings.yaml"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 1
    assert "Set HOME" in ended.stderr

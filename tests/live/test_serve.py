"""`gpol serve` as a process of its own, beside the tests' own API server."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_kinds import ADMISSION_CHECK, KINDS, checks_stay_as_they_were
from fake_kinds import EVENT as STORED_EVENT
from fake_serving import ServingThread
from fake_store import FakeStore
from gpol.journal.journal import Journal
from kueue_model import POD, WORKLOADS
from kueue_steps import is_true
from serve_scene import ServeScene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[ServeScene]:
    """A cluster with gpol's admission check."""
    store = FakeStore((*KINDS, POD))
    store.validate(WORKLOADS, checks_stay_as_they_were)
    body = {"apiVersion": ADMISSION_CHECK.api_version, "kind": ADMISSION_CHECK.name, "metadata": {"name": "gpol"}}
    store.create(ADMISSION_CHECK, {**body, "spec": {"controllerName": "gpol.dev/policy"}})
    with ServingThread(store) as server:
        yield ServeScene(tmp_path, server, store)


def test_workloads_run_and_yield_and_say_why(scene: ServeScene) -> None:
    """From the first to a graceful end: an eviction for a more important one, told in the workload, by an Event and over HTTP."""
    with scene.gpol() as process:
        scene.server.call(scene.kueue.submit, "small", 6, 1)
        scene.until(lambda: "small" in scene.kueue.running)
        scene.server.call(scene.kueue.submit, "important", 8, 2)
        scene.until(lambda: scene.kueue.running == {"important"})
        check = scene.server.call(scene.store.get, ADMISSION_CHECK, "gpol")
        assert is_true(check, "Active")
        told = scene.server.call(lambda: [item["note"] for item in scene.store.list(STORED_EVENT)["items"]])
        assert any("evicted for default/important" in note and "gpol/fair.gpol:28" in note for note in told), told
        explained = scene.asked("/v1/explain/default/small")
        assert explained["standing"]["state"] == "pending"
        assert scene.asked("/v1/journal/head")["seq"] > 4
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    with Journal.open(scene.folder / "journal.db") as journal:
        assert journal.snapshot_seqs() == [journal.head.seq], "it keeps the state at a good end"


def test_a_policy_that_changes_takes_over(scene: ServeScene) -> None:
    """One with an error does not: the earlier one goes on, and it is said why."""
    with scene.gpol():
        scene.server.call(scene.kueue.submit, "large", 16, 1)
        scene.until(lambda: "WorkloadSubmitted default/large" in scene.log())
        scene.policy(16, "queue other { owns 99 gpu on nothing }\n")
        scene.until(lambda: "the changed policy is refused" in scene.problems().get("policy", ""))
        assert scene.server.call(lambda: scene.kueue.running) == set()
        scene.policy(16)
        scene.until(lambda: "large" in scene.kueue.running)


@pytest.mark.parametrize("more", ["kueue: {way: decide, chek: x}\n", "nothing: 1\n", "[", "policy_seconds: often\n"])
def test_settings_that_are_wrong_are_named(scene: ServeScene, more: str) -> None:
    """Nothing is started then."""
    scene.settings(more)
    ended = scene.ended()
    assert ended.returncode == 3
    assert "settings.yaml" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_check_says_what_is_missing(scene: ServeScene) -> None:
    """Here no ClusterQueue needs the check. Nothing is written."""
    before = scene.server.call(lambda: scene.store.version)
    ended = scene.ended("--check")
    assert ended.returncode == 2, ended.stderr
    assert "no ClusterQueue needs AdmissionCheck `gpol`" in ended.stdout
    assert scene.server.call(lambda: scene.store.version) == before
    assert not (scene.folder / "journal.db").exists()


def test_log_lines_are_json_where_that_is_wanted(scene: ServeScene) -> None:
    """Each with its time, its level and what it says."""
    scene.settings("log: json\n")
    with scene.gpol() as process:
        scene.until(lambda: "serving at" in scene.log())
        process.terminate()
        process.wait(30)
    lines = [json.loads(line) for line in scene.log().splitlines() if line.startswith("{")]
    assert all(re.fullmatch(r"[-0-9T:.]+Z", line["time"]) and line["level"] and line["message"] for line in lines)
    assert lines

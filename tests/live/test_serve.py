"""`gpol serve` as a process of its own, beside the tests' own API server."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_kinds import ADMISSION_CHECK, KINDS, checks_stay_as_they_were
from fake_kinds import EVENT as STORED_EVENT
from fake_serving import ServingThread, write_kubeconfig
from fake_store import FakeStore
from gpol.journal.journal import Journal
from kueue_model import POD, WORKLOADS, KueueModel
from kueue_steps import is_true

Json = dict[str, Any]
GPOL = str(Path(sys.executable).with_name("gpol"))
POLICY = """policy "live" {{ use gpol.fair }}
flavor h100 {{
  gpu {gpus}
  label model = "h100"
}}
queue wide {{ owns {gpus} gpu on h100 }}
"""


class Scene:
    """A cluster in which a model of Kueue goes on whenever it is asked to, and a folder with all that gpol needs."""

    def __init__(self, folder: Path, server: ServingThread, store: FakeStore) -> None:
        self.folder, self.server, self.store = folder, server, store
        self.kueue = KueueModel(store)
        self.policy(8)
        (folder / "token").write_text("a-token-of-the-tests")
        (folder / "token").chmod(0o600)
        self.port = _free_port()
        self.settings()

    def policy(self, gpus: int, more: str = "") -> None:
        """Write the policy."""
        (self.folder / "policy.gpol").write_text(POLICY.format(gpus=gpus) + more)

    def settings(self, more: str = "") -> None:
        """Write the settings."""
        write_kubeconfig(self.folder / "kubeconfig", self.server.url)
        http = f"http: {{port: {self.port}, token_file: {self.folder / 'token'}}}\n"
        places = f"policy: {self.folder / 'policy.gpol'}\njournal: {self.folder / 'journal.db'}\n"
        kubernetes = f"kubernetes: {{kubeconfig: {self.folder / 'kubeconfig'}}}\n"
        text = places + kubernetes + http + f"kueue: {{way: decide}}\npolicy_seconds: 0.1\nlease: {{namespace: default}}\n{more}"
        (self.folder / "settings.yaml").write_text(text)

    @contextmanager
    def gpol(self, *options: str) -> "Iterator[subprocess.Popen[bytes]]":
        """The process."""
        command = [GPOL, "serve", "--settings", str(self.folder / "settings.yaml"), *options]
        environment = {**os.environ, "XDG_CACHE_HOME": os.devnull}
        with (
            (self.folder / "log").open("ab") as log,
            subprocess.Popen(command, stderr=log, env=environment) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def log(self) -> str:
        """What it said."""
        return (self.folder / "log").read_text()

    def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Let Kueue go on until something is the case."""
        end = time.monotonic() + seconds
        while not self.server.call(condition):
            assert time.monotonic() < end, self.log()
            self.server.call(self._go_on)
            time.sleep(0.05)

    def _go_on(self) -> None:
        for name in self.kueue.names():
            any(step(name) for step in self.kueue.steps())
            self.kueue.end_pods(name)

    def asked(self, path: str, token: str = "a-token-of-the-tests") -> Json:
        """What is answered over HTTP."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: Json = json.load(answer)
            return found

    def problems(self) -> dict[str, str]:
        """What keeps it from its work, by part."""
        try:
            found = self.asked("/readyz", "")
        except urllib.error.HTTPError as error:
            found = json.load(error)
        problems: dict[str, str] = found.get("problems") or {}
        return problems


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A cluster with gpol's admission check."""
    store = FakeStore((*KINDS, POD))
    store.validate(WORKLOADS, checks_stay_as_they_were)
    body = {"apiVersion": ADMISSION_CHECK.api_version, "kind": ADMISSION_CHECK.name, "metadata": {"name": "gpol"}}
    store.create(ADMISSION_CHECK, {**body, "spec": {"controllerName": "gpol.dev/policy"}})
    with ServingThread(store) as server:
        yield Scene(tmp_path, server, store)


def test_workloads_run_and_yield_and_say_why(scene: Scene) -> None:
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


def test_a_policy_that_changes_takes_over(scene: Scene) -> None:
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
def test_settings_that_are_wrong_are_named(scene: Scene, more: str) -> None:
    """Nothing is started then."""
    scene.settings(more)
    ended = subprocess.run([GPOL, "serve", "--settings", str(scene.folder / "settings.yaml")], capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert "settings.yaml" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_check_says_what_is_missing(scene: Scene) -> None:
    """Here no ClusterQueue needs the check. Nothing is written."""
    before = scene.server.call(lambda: scene.store.version)
    command = [GPOL, "serve", "--settings", str(scene.folder / "settings.yaml"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "no ClusterQueue needs AdmissionCheck `gpol`" in ended.stdout
    assert scene.server.call(lambda: scene.store.version) == before
    assert not (scene.folder / "journal.db").exists()


def test_log_lines_are_json_where_that_is_wanted(scene: Scene) -> None:
    """Each with its time, its level and what it says."""
    scene.settings("log: json\n")
    with scene.gpol() as process:
        scene.until(lambda: "serving at" in scene.log())
        process.terminate()
        process.wait(30)
    lines = [json.loads(line) for line in scene.log().splitlines() if line.startswith("{")]
    assert all(re.fullmatch(r"[-0-9T:.]+Z", line["time"]) and line["level"] and line["message"] for line in lines)
    assert lines

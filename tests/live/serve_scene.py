"""A folder with all that `gpol serve` needs, `gpol serve` as a process of its own, and a cluster in which a model of Kueue goes on."""

import json
import os
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

from environment import without_variables_of_tests
from fake_serving import ServingThread, write_kubeconfig
from fake_store import FakeStore
from kueue_model import KueueModel

Json = dict[str, Any]
GPOL = str(Path(sys.executable).with_name("gpol"))
TOKEN = "a-token-of-the-tests"
POLICY = """policy "live" {{ use gpol.fair }}
flavor h100 {{
  gpu {gpus}
  label model = "h100"
}}
queue wide {{ owns {gpus} gpu on h100 }}
"""


class ServeScene:
    """A cluster in which a model of Kueue goes on whenever it is asked to, and a folder with all that gpol needs."""

    def __init__(self, folder: Path, server: ServingThread, store: FakeStore) -> None:
        self.folder, self.server, self.store = folder, server, store
        self.kueue = KueueModel(store)
        self.policy(8)
        (folder / "token").write_text(TOKEN)
        (folder / "token").chmod(0o600)
        self.port = free_port()
        self.settings()

    def policy(self, gpus: int, more: str = "") -> None:
        """Write the policy."""
        (self.folder / "policy.gpol").write_text(POLICY.format(gpus=gpus) + more)

    def settings(self, more: str = "", ways: str = "kueue: {way: decide}", has_journal: bool = True, has_policy: bool = True) -> None:
        """Write the settings."""
        write_kubeconfig(self.folder / "kubeconfig", self.server.url)
        http = f"http: {{port: {self.port}, token_file: {self.folder / 'token'}}}\n"
        journal = f"journal: {self.folder / 'journal.db'}\n" if has_journal else ""
        policy = f"policy: {self.folder / 'policy.gpol'}\npolicy_seconds: 0.1\n" if has_policy else ""
        places = f"{policy}{journal}"
        kubernetes = f"kubernetes: {{kubeconfig: {self.folder / 'kubeconfig'}}}\n"
        text = places + kubernetes + http + f"{ways}\nlease: {{namespace: default}}\n{more}"
        (self.folder / "settings.yaml").write_text(text)

    @contextmanager
    def gpol(self, *options: str) -> "Iterator[subprocess.Popen[bytes]]":
        """The process."""
        command = [GPOL, "serve", "--settings", str(self.folder / "settings.yaml"), *options]
        environment = {**without_variables_of_tests(), "XDG_CACHE_HOME": os.devnull}
        with (
            (self.folder / "log").open("ab") as log,
            subprocess.Popen(command, stderr=log, env=environment) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def ended(self, *options: str) -> "subprocess.CompletedProcess[str]":
        """The process, once it has ended by itself."""
        command = [GPOL, "serve", "--settings", str(self.folder / "settings.yaml"), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=without_variables_of_tests())

    def metrics(self) -> str:
        """The metrics as text."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())

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

    def asked(self, path: str, token: str = TOKEN) -> Json:
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
        except urllib.error.URLError as error:
            return {"http": str(error)}
        problems: dict[str, str] = found.get("problems") or {}
        return problems


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port

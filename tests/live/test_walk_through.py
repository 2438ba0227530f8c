"""The walk-through of docs/live.md, on the Kubernetes project's own API server: each command is run as it is written there.

What plays Kueue's controllers and that of Jobs is `kueue/job_player.py`. What makes a cluster and installs Kueue is not run.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import go_apiserver
import pytest
from environment import without_variables_of_tests
from go_apiserver import GoApiServer
from gpol.adapters.kubernetes.api import Api
from job_player import JobPlayer

pytestmark = pytest.mark.live

NODE = "live-control-plane"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GoApiServer]:
    """An API server with Kueue's kinds, on a machine that has what the page uses."""
    missing = [program for program in ("kubectl", "curl", "openssl", "bash") if shutil.which(program) is None]
    if reason := go_apiserver.available() or (f"{', '.join(missing)} is not installed" if missing else ""):
        pytest.skip(reason)
    with GoApiServer(tmp_path / "cluster") as made:
        yield made


@contextmanager
def playing(server: GoApiServer) -> Iterator[None]:
    """Controllers at work, in a thread; what goes wrong there is raised at the end."""
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []
    ready, failed = threading.Event(), list[BaseException]()

    async def play() -> None:
        async with await Api.connect(server.kubeconfig) as api:
            working = asyncio.ensure_future(JobPlayer(api).run())
            started.append((asyncio.get_running_loop(), working))
            ready.set()
            await asyncio.wait((working,))
            if not working.cancelled() and (error := working.exception()) is not None:
                failed.append(error)
        await asyncio.sleep(0.25)  # connections with TLS take a moment to end after they were closed

    thread = threading.Thread(target=lambda: asyncio.run(play()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield
    finally:
        loop, working = started[0]
        loop.call_soon_threadsafe(working.cancel)
        thread.join()
    assert failed == []


def section(page: str, title: str) -> str:
    """A section of a page, without its title."""
    return re.split(r"^## ", page.partition(f"## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of all console blocks, each with what it is said to print."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:].strip(), ""))
            else:
                found[-1] = found[-1][0], found[-1][1] + line
    return found


def is_as_said(said: str, printed: str) -> bool:
    """Whether it was printed; `...` stands for any text, alone on a line for any lines."""
    lines = (
        r"(?:.*\n)*?" if line.strip() == "..." else r".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
        for line in said.splitlines()
    )
    return re.fullmatch("".join(lines), printed if printed.endswith("\n") or not printed else printed + "\n") is not None


def test_what_was_not_printed_is_seen() -> None:
    """Any lines may stand for `...`, and no other ones."""
    assert is_as_said("a\n...\nb ... c\n", "a\nx\ny\nb 1 c\n")
    assert not is_as_said("a\n...\nb\n", "a\nx\nc\n")


def run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What a command prints; it has to end well."""
    shell = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(
        shell, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout


def free_port() -> str:
    """A port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


@contextmanager
def serving(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """`gpol serve` beside the cluster, as the page starts it; it has to end in order."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(["gpol", "serve", "--settings", "settings.yaml"], cwd=folder, env=environment, stderr=log)
    try:
        end = time.monotonic() + 60
        while "serving at" not in (folder / "log").read_text():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.1)
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, (folder / "log").read_text()
    finally:
        process.kill()
        process.wait()


def test_the_walk_through_comes_to_what_it_shows(root: Path, tmp_path: Path, server: GoApiServer) -> None:
    """Every command of its console blocks ends well and prints what the page shows."""
    folder = tmp_path / "live"
    shutil.copytree(root / "examples" / "live", folder)
    port = free_port()
    environment = {
        **without_variables_of_tests(),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "KUBECONFIG": str(server.kubeconfig),
        "HOME": str(tmp_path),
        "COLUMNS": "160",
        "NO_COLOR": "1",
        "XDG_CACHE_HOME": os.devnull,
    }
    node = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    run(f"kubectl apply -f - <<< '{node}'", folder, environment)
    steps = commands(section((root / "docs" / "live.md").read_text(), "Walk-through"))
    before = next(number for number, (command, _) in enumerate(steps) if "--check" in command) + 1
    assert 0 < before < len(steps)
    told = []
    with playing(server):
        for command, said in steps[:before]:
            told.append((command, said, run(command, folder, environment)))
        with serving(folder, {**environment, "GPOL_HTTP__PORT": port}):
            for command, said in steps[before:]:
                told.append((command, said, run(command.replace("127.0.0.1:8080", f"127.0.0.1:{port}"), folder, environment)))
    for command, said, printed in told:
        assert is_as_said(said, printed), f"$ {command}\n{printed}"

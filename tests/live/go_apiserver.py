"""The Kubernetes project's own API server, built with Go and run as a child process: tests against real API machinery.

    with GoApiServer(tmp_path / "cluster") as server:
        ...               # server.url, server.kubeconfig
        server.kill()     # SIGKILL
        server.restart()  # on the same data and port: clients find everything as it was

What it has and lacks is said in `apiserver/main.go`: there are no controllers, so what a controller would do a test has to do itself.
Run as a program, it builds the server and prints where it is: the first build takes minutes, those that follow take seconds.
"""

import fcntl
import functools
import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

SOURCES = Path(__file__).resolve().parent / "apiserver"
BUILDS = Path(__file__).resolve().parents[2] / "build" / "live"
VOLCANO_CRDS = SOURCES / "crds"

_READY_SECONDS = 300  # a start takes five seconds; a machine that is busy with other tests takes longer
_END_SECONDS = 90  # more than the server gives itself
_TAIL_LINES = 40


# --- building -------------------------------------------------------------------------------------------------------


def available() -> str:
    """Why the server cannot be built on this machine; empty where it can be."""
    if sys.platform == "win32":
        return "the API server of the tests runs on Linux and macOS only"
    if shutil.which("go") is None:
        return f"Go is not installed; the API server of the tests needs Go {_go_needed()} or later (https://go.dev/dl)"
    found = _go(Path("/"), "env", "GOVERSION").strip()
    if _numbers(found) < _numbers(_go_needed()):
        return f"{found} is installed; the API server of the tests needs Go {_go_needed()} or later (https://go.dev/dl)"
    return ""


def build() -> Path:
    """Builds the server, unless that was done before from the same sources; gives the program."""
    arguments = ["build", "-trimpath", "-buildvcs=false", f"-ldflags=-s -w {_version_flags()}"]
    program = BUILDS / f"apiserver-{_digest(arguments)}"
    BUILDS.mkdir(parents=True, exist_ok=True)
    with (BUILDS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes that run at the same time: the first one builds, the others wait
        if not program.exists():
            unfinished = BUILDS / "unfinished"
            _go(SOURCES, *arguments, "-o", str(unfinished), ".")
            for old in BUILDS.glob("apiserver-*"):
                old.unlink()
            unfinished.rename(program)
    return program


@functools.cache
def kueue_crds() -> Path:
    """The folder with the definitions of Kueue's custom resources, in the release that `apiserver/kueue/go.mod` names."""
    module = json.loads(_go(SOURCES / "kueue", "mod", "download", "-json", "sigs.k8s.io/kueue"))
    return Path(module["Dir"]) / "config" / "components" / "crd" / "bases"


def _digest(arguments: Sequence[str]) -> str:
    """What the program depends on, as a few digits: the sources, the modules they use, and how they are built."""
    digest = hashlib.sha256(" ".join(arguments).encode())
    for file in sorted(path for path in SOURCES.iterdir() if path.suffix in (".go", ".mod", ".sum")):
        content = file.read_bytes()
        digest.update(f"\n{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def _version_flags() -> str:
    """What makes the server say which release it is; a release of Kubernetes is built this way, too."""
    major, minor, patch = _required(r"^\tk8s\.io/kubernetes v(\d+)\.(\d+)\.(\d+)$").groups()
    parts = {"gitVersion": f"v{major}.{minor}.{patch}", "gitMajor": major, "gitMinor": minor}
    return " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in parts.items())


def _go_needed() -> str:
    return _required(r"^go (\S+)$")[1]


def _required(pattern: str) -> re.Match[str]:
    found = re.search(pattern, (SOURCES / "go.mod").read_text(), flags=re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{SOURCES / 'go.mod'} has no line that matches {pattern}")
    return found


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _go(folder: Path, *arguments: str) -> str:
    """Runs the command `go` in a folder; gives what it printed."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    if environment.get("XDG_CACHE_HOME") == os.devnull:  # tests take the cache of compiled kernels away; Go needs its own one
        del environment["XDG_CACHE_HOME"]
    done = subprocess.run(["go", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).splitlines()[-_TAIL_LINES:])
        raise RuntimeError(f"`go {' '.join(arguments)}` in {folder} ended with {done.returncode}:\n{said}")
    return done.stdout


# --- running --------------------------------------------------------------------------------------------------------


class GoApiServer:
    """One API server with its data in a folder; it ends with the process that started it, however that ends.

    Two users are known: the admin, who may do everything, and `visitor`, who may do nothing until a test binds a role to that name.
    The admin may also act as any other user, by the header `Impersonate-User`.
    """

    def __init__(self, data_dir: Path, *, crds: Sequence[Path] | None = None, unsafe_no_fsync: bool = True) -> None:
        """Names what is started: a folder, made where it is absent, and folders with definitions of custom resources.

        Without `crds`, those of Kueue and Volcano are taken. Only their stored versions are served, as no webhook converts objects.
        `unsafe_no_fsync` does not wait for the disk: what was written outlives `kill`, but not a failure of the machine.
        """
        self.data_dir = data_dir.resolve()
        self.log = self.data_dir / "server.log"
        self._crds = crds
        self._unsafe_no_fsync = unsafe_no_fsync
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where the server is; it stays the same when the server is started again."""
        if not self._port:
            raise RuntimeError("the server has not been started yet")
        return f"https://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The process of the running server."""
        return self._running().pid

    @property
    def kubeconfig(self) -> Path:
        """The file with which clients are the admin."""
        return self.data_dir / "kubeconfig"

    @property
    def visitor_kubeconfig(self) -> Path:
        """The file with which clients are the user `visitor`."""
        return self.data_dir / "kubeconfig-visitor"

    @property
    def certificates(self) -> Path:
        """The file with the certificates that clients should trust."""
        return self.data_dir / "identity" / "server.crt"

    @property
    def admin_token(self) -> str:
        """The bearer token of the admin."""
        return (self.data_dir / "identity" / "admin.token").read_text()

    @property
    def visitor_token(self) -> str:
        """The bearer token of the user `visitor`."""
        return (self.data_dir / "identity" / "visitor.token").read_text()

    def start(self) -> None:
        """Starts the server and returns when it is ready; RuntimeError with the end of its log where it does not get ready."""
        if self._process is not None:
            raise RuntimeError("the server runs already")
        crds = (kueue_crds(), VOLCANO_CRDS) if self._crds is None else self._crds
        command = [str(build()), "--data-dir", str(self.data_dir), "--port", str(self._port)]
        command += [part for folder in crds for part in ("--crds", str(folder))]
        command += ["--unsafe-no-fsync"] if self._unsafe_no_fsync else []
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            # In a session of its own, so that a signal to all that run in the foreground leaves it alone, and it can end in order.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True)
        try:
            self._port = self._wait_until_ready(self._process)
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Ends the server by SIGKILL, as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends the server in order, by SIGTERM; RuntimeError with the end of its log where that fails."""
        code = self._end(signal.SIGTERM)
        if code != 0:
            raise RuntimeError(f"the API server did not end in order, but with {code}; its log ends so:\n{self.tail()}")

    def restart(self) -> None:
        """Starts the server again, on the same data and port; one that runs is ended in order before."""
        if self._process is not None:
            self.stop()
        self.start()

    def tail(self) -> str:
        """The last lines of the server's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process is not None:
            self.stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process

    def _end(self, how: signal.Signals) -> int:
        """Sends a signal and waits; gives the exit code. Whatever happens, the process is gone afterwards."""
        process = self._running()
        process.send_signal(how)
        try:
            process.communicate(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._process = None
        return process.returncode

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> int:
        """Reads the line that the server prints when it is ready; gives the port."""
        assert process.stdout is not None  # it is a pipe
        said = b""
        until = time.monotonic() + _READY_SECONDS
        while not said.endswith(b"\n"):
            if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                raise RuntimeError(f"the API server is not ready after {_READY_SECONDS} s; its log ends so:\n{self.tail()}")
            more = os.read(process.stdout.fileno(), 4096)
            if not more:
                raise RuntimeError(f"the API server ended with {process.wait()} before it was ready; its log ends so:\n{self.tail()}")
            said += more
        found = re.fullmatch(rb"ready https://127\.0\.0\.1:(\d+)\n", said)
        if found is None:
            raise RuntimeError(f"the API server said {said!r}, and not that it is ready; its log ends so:\n{self.tail()}")
        return int(found[1])


if __name__ == "__main__":
    reason = available()
    if reason:
        sys.exit(reason)
    print(build())

"""What the tests of the console share: a journal with a running and two waiting workloads, a service over it, a client, certificates."""

import ipaddress
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time_ns
from types import SimpleNamespace
from typing import Any, NamedTuple

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from gpol.adapters.live.settings.serve_settings import Http
from gpol.console.health import Health
from gpol.console.http_server import serve_http
from gpol.console.metrics import Metrics
from gpol.console.reading.reader import Reader
from gpol.dsl.analysis.checker import check
from gpol.engine.facts import FACT, Fact
from gpol.journal.journal import Journal
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }

cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}

protect warm-up { where victim.running < 10m }
"""

IN_CYCLES = """policy "lab" {
  use kueue.classical
}

flavor a100 { gpu as owned }

cohort all {
  queue owner { owns 8 gpu on a100 }
  queue guest { owns 0 gpu on a100 }
}
"""

PLACED = """policy "lab" {
  use gpol.fair
}

topology fabric {
  level rack from label "rack"
  level host from node
}

flavor a100 { gpu 8 }

flavor h100 {
  gpu from nodes where pool = "h100"
  placed in fabric
}

cohort all {
  queue owner {
    owns 8 gpu on a100
    owns 8 gpu on h100
  }
  queue guest { owns nothing }
}
"""

TOKEN = "0123456789abcdef-right"


def submitted(workload: str, queue: str, gpus: int, **more: Any) -> dict[str, Any]:
    """The fields of a submission, without a time."""
    return {"workload": workload, "queue": queue, "pod_sets": [{"requests": {"gpu": str(gpus)}}], **more}


def append(place: Path, facts: list[Fact], policy: str = "") -> None:
    """Append facts, and what follows from them, to a journal that is there; or to a new one, which begins with a policy."""
    from gpol.journal.read.as_of import resume

    with Journal.open(place, readonly=False) if place.exists() else Journal.create(place) as journal:
        player = Player(resume(journal), journal)
        if policy:
            active = Policy.of(check(policy, "lab.gpol"))
            list(player.play(active.activation(facts[0].time), active.graph))
        for fact in facts:
            list(player.play(fact))
        player.flush()


def fact(seconds: float, kind: str = "WorkloadSubmitted", **fields: Any) -> Fact:
    """A fact of so many seconds from now."""
    return FACT.validate_python({"kind": kind, "time": time_ns() // 1000 + int(seconds * 1_000_000), **fields})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A journal: `team/guest` runs on what `owner` owns, `team/owner` waits until it may be evicted, `held` is held by its owner."""
    path = tmp_path / "lab.db"
    facts = [
        fact(-60, **submitted("team/guest", "guest", 8)),
        fact(-30, **submitted("team/owner", "owner", 8)),
        fact(-20, **submitted("held", "guest", 1, hold=True)),
    ]
    append(path, facts, POLICY)
    return path


class Answer(NamedTuple):
    """What a server has answered."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        """The body, as versioned JSON."""
        said = json.loads(self.body)
        assert said["v"] == 1
        return said

    @property
    def code(self) -> str:
        """The code of an error, which tells what is wrong and what to do."""
        error = self.json["error"]
        assert set(error) == {"code", "message", "remedy"}
        assert all(error.values())
        return str(error["code"])


@dataclass
class Client:
    """Asks a server; with the right token, unless it is told another one, or none by an empty text."""

    session: aiohttp.ClientSession
    server: Any
    service: Any
    token: str = TOKEN

    async def get(self, path: str, **options: Any) -> Answer:
        """GET."""
        return await self.request("GET", path, **options)

    async def attempt(self, body: Any) -> Answer:
        """POST /v1/try."""
        return await self.request("POST", "/v1/try", json=body)

    async def request(
        self, method: str, path: str, token: str | None = None, headers: dict[str, str] | None = None, **options: Any
    ) -> Answer:
        """Any request; the path is sent as it is."""
        from yarl import URL

        sent = self.token if token is None else token
        headers = {**({"Authorization": f"Bearer {sent}"} if sent else {}), **(headers or {})}
        async with self.session.request(method, URL(self.server.url + path, encoded=True), headers=headers, **options) as response:
            return Answer(response.status, response.headers, await response.read())


@dataclass
class NoApi:
    """An API server that nobody may ask."""

    asked: list[Any] = field(default_factory=list)

    async def create(self, path: str, body: Any) -> Any:
        """Fail."""
        raise AssertionError(f"{path} was asked")


def service_of(place: Path | str, api: Any = None, seconds: float = 300) -> Any:
    """A service whose journal is at a place; questions are answered within so many seconds."""
    health = Health()
    health.say("service", "")
    return SimpleNamespace(
        settings=SimpleNamespace(journal=str(place)),
        api=api or NoApi(),
        reader=Reader(str(place), seconds),
        health=health,
        metrics=Metrics(health.problems),
    )


Serve = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    """A file with the right token."""
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def serve(place: Path, token_file: Path) -> Serve:
    """Serves the journal at a port of this machine: `async with serve() as client`; options are settings."""

    @asynccontextmanager
    async def serving(api: Any = None, journal: Path | str = place, **options: Any) -> AsyncIterator[Client]:
        settings = Http(**{"port": 0, "token_file": token_file, "answer_seconds": 300, **options})
        service = service_of(journal, api, settings.answer_seconds)
        connector = aiohttp.TCPConnector(ssl=False)
        async with service.reader, serve_http(service, settings) as server, aiohttp.ClientSession(connector=connector) as session:
            yield Client(session, server, service)

    return serving


class Certified(NamedTuple):
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


@pytest.fixture
def certify(tmp_path: Path) -> Callable[..., Certified]:
    """Makes certificates for 127.0.0.1: `certify("name", days=(-1, 1))` is valid from yesterday until tomorrow."""

    def make(name: str = "server", days: tuple[float, float] = (-1, 1), password: bytes = b"") -> Certified:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        begin, end = (datetime.now(UTC) + timedelta(days=each) for each in days)
        made = (
            x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), begin, end)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256())
        )
        hiding = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        files = Certified(tmp_path / f"{name}.crt", tmp_path / f"{name}.key")
        files.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        files.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hiding))
        files.key.chmod(0o600)
        return files

    return make


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    """Functions that several test modules use: none of them can import another one."""
    return SimpleNamespace(
        append=append,
        fact=fact,
        submitted=submitted,
        service_of=service_of,
        POLICY=POLICY,
        IN_CYCLES=IN_CYCLES,
        PLACED=PLACED,
        TOKEN=TOKEN,
    )

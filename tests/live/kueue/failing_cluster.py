"""`gpol serve` beside the tests' own API server and a model of Kueue, all in one event loop, for tests of what fails.

Kueue goes on whenever a test waits for something, unless it is down. Whatever happens, at the end the journal replays, and each admission
that Kueue has carried out is a decision of the journal about that very workload, carried out once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from fake_apiserver import FakeApiServer
from fake_kinds import ADMISSION_CHECK, KINDS, NODE, checks_stay_as_they_were
from fake_serving import write_kubeconfig
from fake_store import FakeStore
from gpol.adapters.kubernetes import lease
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.reflector import Reflector
from gpol.adapters.kueue.live import carrying_out, check_status, followed
from gpol.adapters.kueue.live.protocol import Mark
from gpol.adapters.live import followed_objects
from gpol.adapters.live.settings.serve_settings import ServeSettings
from gpol.console import service as service_module
from gpol.console.policy_file import read_policy
from gpol.console.service import Service
from gpol.engine.default_core import thaw
from gpol.engine.events import AnyEvent, WorkloadAdmitted
from gpol.journal.audit.replay import replay
from gpol.journal.journal import Journal
from kueue_model import POD, WORKLOADS
from kueue_steps import Json
from sliced_kueue import SlicedKueue

POLICY = """policy "live" { use gpol.fair }
flavor h100 {
  gpu 8
  label model = "h100"
}
queue wide { owns 8 gpu on h100 }
"""


class FailingCluster:
    """A cluster, and a folder with all that gpol needs. `kueue_is_down` lets nothing of Kueue go on; with `pods_stay` no pod ends."""

    def __init__(self, folder: Path, policy: str = POLICY) -> None:
        self.store = FakeStore((*KINDS, POD))
        self.store.validate(WORKLOADS, checks_stay_as_they_were)
        body = {"apiVersion": ADMISSION_CHECK.api_version, "kind": ADMISSION_CHECK.name, "metadata": {"name": "gpol"}}
        self.store.create(ADMISSION_CHECK, {**body, "spec": {"controllerName": "gpol.dev/policy"}})
        self.kueue = SlicedKueue(self.store)
        self.server = FakeApiServer(self.store)
        self.faults = self.server.faults
        self.folder, self.journal = folder, folder / "journal.db"
        self.kueue_is_down = self.pods_stay = False
        self.at_work: list[Service] = []
        self.write_policy(policy)

    def write_policy(self, text: str) -> None:
        """Write the policy."""
        (self.folder / "policy.gpol").write_text(text)

    @asynccontextmanager
    async def gpol(self, holder: str = "one", with_lease: bool = False) -> AsyncIterator[Service]:
        """gpol at work."""
        settings = ServeSettings.model_validate(
            {
                "policy": self.folder / "policy.gpol",
                "journal": str(self.journal),
                "kueue": {"way": "decide"},
                "policy_seconds": 0.05,
                "lease": {"enabled": with_lease, "namespace": "default", "holder": holder},
            }
        )
        kubeconfig = write_kubeconfig(self.folder / "kubeconfig", self.server.url)
        policy = await asyncio.to_thread(read_policy, self.folder / "policy.gpol")
        async with await Api.connect(kubeconfig) as api:
            service = Service(settings, policy, api, lambda frozen: thaw(*frozen))
            running = asyncio.ensure_future(service.run())
            self.at_work.append(service)
            try:
                yield service
                assert not running.done(), running
            finally:
                self.at_work.remove(service)
                running.cancel()
                await asyncio.wait((running,))

    async def until(self, condition: Callable[[], object], seconds: float = 15) -> None:
        """Let Kueue go on until something is the case."""
        end = monotonic() + seconds
        while not condition():
            problems = [service.health.problems() for service in self.at_work]
            assert monotonic() < end, f"it is not so: running {self.kueue.running}, problems {problems}"
            self._go_on()
            await asyncio.sleep(0.01)

    async def settle(self) -> None:
        """Let everybody go on until the cluster has not changed for a while."""
        quiet, before = 0, -1
        while quiet < 20:
            self._go_on()
            await asyncio.sleep(0.01)
            quiet, before = (quiet + 1 if self.store.version == before else 0), self.store.version

    def _go_on(self) -> None:
        if self.kueue_is_down:
            return
        for name in self.kueue.names():
            any(step(name) for step in self.kueue.steps())
        for name in set() if self.pods_stay else {pod["metadata"]["labels"]["workload"] for pod in self.kueue.pods()}:
            self.kueue.end_pods(name)

    # --- what there is ----------------------------------------------------------------------------------------------

    def events(self, *kinds: type[AnyEvent]) -> list[Any]:
        """The events of some kinds in the journal; all if none are named. None while there is no journal yet."""
        if not self.journal.exists():
            return []
        with Journal.open(self.journal) as journal:
            return [each.event for each in journal.events() if not kinds or isinstance(each.event, kinds)]

    def check(self, name: str) -> Json:
        """What the check of a workload says."""
        workload = self.kueue.workload(name)
        rows = (workload or {}).get("status", {}).get("admissionChecks", [])
        return next((row for row in rows if row["name"] == "gpol"), {})

    def is_waiting(self, name: str) -> bool:
        """Whether gpol has taken a workload in, and Kueue has not let it run."""
        return name not in self.kueue.running and any(getattr(event, "workload", "") == f"default/{name}" for event in self.events())

    def verify(self) -> None:
        """No admission without its decision, none twice, and the journal replays."""
        with Journal.open(self.journal) as journal:
            identity = journal.at(1).chain.hex()[:32]
            marks = [(name, Mark.read(reason)) for name, reason in self.kueue.admitted]
            seqs = [mark.seq for _, mark in marks if mark is not None and mark.journal == identity]
            assert len(set(seqs)) == len(seqs) == len(marks), "a decision was carried out twice, or there was none"
            for (name, _), seq in zip(marks, seqs, strict=True):
                event = journal.at(seq).event
                assert isinstance(event, WorkloadAdmitted)
                assert event.workload == f"default/{name}"
            assert replay(journal).same

    # --- nodes ------------------------------------------------------------------------------------------------------

    def add_node(self, name: str, gpus: int, **labels: str) -> None:
        """A node comes."""
        ready = {"type": "Ready", "status": "True"}
        self.store.create(NODE, {"metadata": {"name": name, "labels": labels}})
        status = {"conditions": [ready], "allocatable": {"nvidia.com/gpu": str(gpus)}}
        self.store.merge_patch(NODE, name, {"status": status}, subresource="status")

    # --- somebody's hand --------------------------------------------------------------------------------------------

    def write_check(self, name: str, state: str, **more: Any) -> None:
        """Somebody writes gpol's check by hand."""
        workload = self.kueue.workload(name)
        assert workload is not None
        rows = [{**row, "state": state, **more} if row["name"] == "gpol" else row for row in workload["status"]["admissionChecks"]]
        self.write_status(name, {"admissionChecks": rows})

    def write_status(self, name: str, status: Json) -> None:
        """Somebody changes the status of a workload by hand."""
        self.store.merge_patch(WORKLOADS, name, {"status": status}, namespace="default", subresource="status", manager="somebody")


def play(monkeypatch: pytest.MonkeyPatch, folder: Path, act: Callable[[FailingCluster], Awaitable[None]], policy: str = POLICY) -> None:
    """Let a scene be acted beside a cluster, with short pauses, and verify the journal at its end."""
    quick = partial(Reflector, look_seconds=0.1, shortest_pause=0.01, longest_pause=0.1)
    for module in (followed, followed_objects, check_status):
        monkeypatch.setattr(module, "Reflector", quick)
    monkeypatch.setattr(carrying_out, "POD_SECONDS", 0.05)
    for name, seconds in (("FIRST_PAUSE", 0.05), ("LONGEST_PAUSE", 0.1)):
        monkeypatch.setattr(service_module, name, seconds)
    for name, seconds in (("HELD_SECONDS", 1), ("RENEW_SECONDS", 0.5), ("TRY_SECONDS", 0.05)):
        monkeypatch.setattr(lease, name, seconds)

    async def played() -> None:
        cluster = FailingCluster(folder, policy)
        async with cluster.server, asyncio.timeout(60):
            await act(cluster)
        cluster.verify()

    asyncio.run(played())

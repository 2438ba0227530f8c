"""gpol's part in a cluster: the steps from a reservation to an eviction, a stale answer, and a gpol that dies around a write.

GPOL_TEST_KUBECONFIG=~/.kube/config make test-live      the same on a cluster with Kueue's own controllers
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import go_apiserver
import pytest
from any_cluster import NAMED, AnyCluster, is_admitted
from go_apiserver import GoApiServer
from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kueue.live.protocol import CONTROLLER, DECIDED, WORKLOAD, Mark
from gpol.engine.events import WorkloadAdmitted
from gpol.journal.journal import Journal

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cluster that is named, or the tests' own API server."""
    if NAMED:
        yield Path(NAMED)
        return
    if reason := go_apiserver.available():
        pytest.skip(reason)
    with GoApiServer(tmp_path_factory.mktemp("any")) as running:
        yield Path(running.kubeconfig)


def run(kubeconfig: Path, folder: Path, test: Callable[[AnyCluster], Awaitable[None]]) -> None:
    """Run a test on the cluster."""

    async def connected() -> None:
        async with await Api.connect(kubeconfig) as api:
            cluster = AnyCluster(api, folder)
            async with cluster.ready():
                await test(cluster)
        await asyncio.sleep(0.25)  # connections with TLS take a moment to end after they were closed

    asyncio.run(connected())


def mark_of(workload: dict[str, object]) -> Mark | None:
    """The mark of the decision that a Workload shows."""
    conditions = workload["status"]["conditions"]  # type: ignore[index]
    return next((Mark.read(row["reason"]) for row in conditions if row["type"] == DECIDED), None)


def admissions(journal: str, job: str) -> list[int]:
    """The committed admissions of the Workload of a job."""
    with Journal.open(journal) as read:
        events = [(each.seq, each.event) for each in read.of_kinds([WorkloadAdmitted.__name__])]
    return [seq for seq, event in events if isinstance(event, WorkloadAdmitted) and f"-{job}-" in event.workload]


def test_the_steps(kubeconfig: Path, tmp_path: Path) -> None:
    """A job is admitted; it is evicted for the owner, whose Ready comes once it has stopped; it waits again; one too big is rejected."""

    async def steps(cluster: AnyCluster) -> None:
        async with cluster.gpol() as gpol:
            await cluster.submit("guest", "wide", 8)
            guest = await cluster.until("guest", is_admitted)
            assert cluster.row(guest)["podSetUpdates"][0]["nodeSelector"] == {"gpol-test": "h100"}
            await cluster.until_job("guest", runs=True)
            await cluster.submit("owner", "other", 4)
            await cluster.until("owner", is_admitted)
            await cluster.until_job("guest", runs=False)
            await cluster.until("guest", cluster.waits)
            await cluster.submit("big", "wide", 9)
            await cluster.until("big", lambda found: found["spec"]["active"] is False)
            assert gpol.problems == {}

    run(kubeconfig, tmp_path, steps)


def test_a_stale_ready_is_refused(kubeconfig: Path, tmp_path: Path) -> None:
    """A Ready that comes late, for a Workload as it was before its eviction, does not let it run again."""

    async def stale(cluster: AnyCluster) -> None:
        async with cluster.gpol():
            await cluster.submit("guest", "wide", 8)
            found = await cluster.until("guest", is_admitted)
            await cluster.submit("owner", "other", 4)
            await cluster.until("guest", cluster.waits)
        row = {**cluster.row(found), "lastTransitionTime": "2026-01-01T00:00:00Z"}
        head = {key: found["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": head, "status": {"admissionChecks": [row]}}
        with pytest.raises(ApiError, check=lambda error: error.status == 409):
            await cluster.api.apply(WORKLOAD.path(cluster.name, head["name"], "status"), body, CONTROLLER)
        assert cluster.waits(await cluster.workload("guest"))

    run(kubeconfig, tmp_path, stale)


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_gpol_that_dies_around_a_write(kubeconfig: Path, tmp_path: Path, dies: str) -> None:
    """Between commit and write, or between write and answer: the next one carries out the committed decision, and decides no other."""

    async def die(cluster: AnyCluster) -> None:
        async with cluster.gpol(dies):
            await cluster.submit("job", "wide", 1)
            async with asyncio.timeout(60):
                while not admissions(cluster.journal, "job"):
                    await asyncio.sleep(0.1)
            if dies == "after":
                await cluster.until("job", lambda found: cluster.row(found)["state"] == "Ready")
            else:
                await asyncio.sleep(0.5)
                assert cluster.row(await cluster.workload("job")).get("state", "Pending") == "Pending"
        async with cluster.gpol():
            found = await cluster.until("job", is_admitted)
        [seq] = admissions(cluster.journal, "job")
        mark = mark_of(found)
        assert mark is not None
        assert mark.seq == seq

    run(kubeconfig, tmp_path, die)

"""gpol's part in a cluster: the steps from a reservation to an eviction, a stale answer, and a gpol that dies around a write.

GPOL_TEST_KUBECONFIG=~/.kube/config make test-live      the same on a cluster with Kueue's own controllers
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import go_apiserver
import pytest
from any_cluster import NAMED, POLICY, AnyCluster, is_admitted
from go_apiserver import GoApiServer
from gpol.adapters.kubernetes.api import Api, ApiError
from gpol.adapters.kubernetes.nodes import HOSTNAME
from gpol.adapters.kubernetes.resource_kinds import NODE
from gpol.adapters.kueue.live.protocol import CONTROLLER, DECIDED, WORKLOAD, Mark
from gpol.engine.events import WorkloadAdmitted
from gpol.journal.journal import Journal

pytestmark = pytest.mark.live

PLACED = """policy "any" {
  use gpol.fair
  ignore cpu, memory
  when a node is lost evict
}
topology fabric {
  level rack from label "rack"
  level host from node
}
flavor h100 {
  gpu from nodes where gpol-test = "NAME"
  placed in fabric
}
queue NAME-wide {
  owns 16 gpu
  local queue "NAME/wide"
}
"""


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


def run(kubeconfig: Path, folder: Path, test: Callable[[AnyCluster], Awaitable[None]], policy: str = POLICY) -> None:
    """Run a test on the cluster."""

    async def connected() -> None:
        async with await Api.connect(kubeconfig) as api:
            cluster = AnyCluster(api, folder, policy)
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


@pytest.mark.skipif(bool(NAMED), reason="it makes nodes, and a cluster's own controllers look after those")
def test_places(kubeconfig: Path, tmp_path: Path) -> None:
    """A job is sent to the hostname of a node; the node goes, and the job is evicted, and sent to the other one."""

    async def placed(cluster: AnyCluster) -> None:
        async with cluster.nodes(a="r1", b="r2"), cluster.gpol() as gpol:
            await cluster.submit("first", "wide", 8)
            first = await cluster.until("first", is_admitted)
            [update] = cluster.row(first)["podSetUpdates"]
            assert update["nodeSelector"] == {"gpol-test": cluster.name, HOSTNAME: "host-a"}
            assert update["annotations"]["gpol.dev/place"] == f'["{cluster.name}-a"]'
            await cluster.until_job("first", runs=True)
            await cluster.api.delete(NODE.path(name=f"{cluster.name}-a"))
            on_the_other = {"gpol-test": cluster.name, HOSTNAME: "host-b"}

            def is_moved(found: dict[str, object]) -> bool:
                updates = cluster.row(found).get("podSetUpdates") or [{}]
                return is_admitted(found) and updates[0].get("nodeSelector") == on_the_other

            await cluster.until("first", is_moved)
            await cluster.submit("second", "wide", 8)
            await cluster.until("second", cluster.waits)
            assert not [name for name in gpol.problems if cluster.name in name]  # what other tests have left is named as well

    run(kubeconfig, tmp_path, placed, PLACED)

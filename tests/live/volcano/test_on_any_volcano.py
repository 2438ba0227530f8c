"""gpol's part beside Volcano's own scheduler: a gang runs, goes for an owner, one too big never starts; gpol dies; a name comes again.

GPOL_TEST_KUBECONFIG=~/.kube/config GPOL_TEST_EXTENDER=10.0.0.7:8082/volcano make test-live
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from any_cluster import NAMED
from any_volcano import AnyVolcano, DyingDecisions, needs_volcano, skip_reason
from gpol.adapters.kubernetes.api import Api
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.journal import Journal

pytestmark = [pytest.mark.live, pytest.mark.skipif(bool(skip_reason()), reason=skip_reason())]


def run(folder: Path, test: Callable[[AnyVolcano], Awaitable[None]]) -> None:
    """Run a test on the cluster."""

    async def connected() -> None:
        async with await Api.connect(Path(NAMED)) as api:
            await needs_volcano(api)
            cluster = AnyVolcano(api, folder)
            async with cluster.ready():
                await test(cluster)
        await asyncio.sleep(0.25)  # connections with TLS take a moment to end after they were closed

    asyncio.run(connected())


def events(cluster: AnyVolcano, kind: type, name: str) -> list[int]:
    """The events of a kind about a PodGroup."""
    with Journal.open(cluster.journal) as journal:
        found = [(each.seq, each.event) for each in journal.of_kinds([kind.__name__])]
    return [seq for seq, event in found if getattr(event, "workload", "") == f"{cluster.name}/{name}"]


def test_the_steps(tmp_path: Path) -> None:
    """A gang gets all its pods; it gives room to an owner, by pods that the scheduler evicts; one too big never gets any."""

    async def steps(cluster: AnyVolcano) -> None:
        async with cluster.gpol() as gpol:
            await cluster.submit("guest", "wide", 8)
            await cluster.until_bound("guest", lambda pods: pods == 8)
            await cluster.submit("owner", "other", 4)
            await cluster.until_bound("owner", lambda pods: pods == 4)
            assert await cluster.bound("guest") <= 4
            assert (len(events(cluster, WorkloadEvicted, "guest")), len(events(cluster, WorkloadAdmitted, "owner"))) == (1, 1)
            await cluster.submit("big", "wide", 9)
            await asyncio.sleep(5)
            assert (await cluster.phase("big"), await cluster.bound("big")) == ("Pending", 0)
            assert events(cluster, WorkloadRejected, "big")
            assert gpol.problems == {}

    run(tmp_path, steps)


def test_a_gpol_that_dies_after_its_commit(tmp_path: Path) -> None:
    """Nothing starts while it is gone; the next one answers by the committed decision, and makes no other."""

    async def die(cluster: AnyVolcano) -> None:
        async with cluster.gpol(DyingDecisions):
            await cluster.submit("gang", "wide", 2)
            async with asyncio.timeout(30):
                while not events(cluster, WorkloadAdmitted, "gang"):
                    await asyncio.sleep(0.1)
        await asyncio.sleep(3)
        assert await cluster.bound("gang") == 0
        async with cluster.gpol():
            await cluster.until_bound("gang", lambda pods: pods == 2)
        assert len(events(cluster, WorkloadAdmitted, "gang")) == 1

    run(tmp_path, die)


def test_a_name_that_comes_again(tmp_path: Path) -> None:
    """A PodGroup that was made anew while gpol was down is decided anew: the decision about the earlier one does not count for it."""

    async def again(cluster: AnyVolcano) -> None:
        async with cluster.gpol():
            await cluster.submit("gang", "wide", 2)
            await cluster.until_bound("gang", lambda pods: pods == 2)
        await cluster.delete("gang")
        await cluster.submit("gang", "other", 3)
        await asyncio.sleep(3)
        assert await cluster.bound("gang") == 0
        async with cluster.gpol():
            await cluster.until_bound("gang", lambda pods: pods == 3)
        assert (len(events(cluster, WorkloadSubmitted, "gang")), len(events(cluster, WorkloadAdmitted, "gang"))) == (2, 2)

    run(tmp_path, again)

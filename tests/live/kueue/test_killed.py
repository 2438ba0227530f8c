"""On the Kubernetes project's own API server: whatever is killed at whatever instant, the cluster comes to be what the journal says.

`make test-live` plays a small cluster. With GPOL_LIVE=all it is one of 2,000 workloads in 40 queues, in which gpol is killed 200 times and
the API server 20 times; that takes half an hour.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import go_apiserver
import pytest
from go_apiserver import GoApiServer
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at
from killed_cluster import Gpol, Plan, check_admissions, play

pytestmark = pytest.mark.live

SMALL = Plan(workloads=60, queues=8, kills=6, server_kills=1, most_seconds=600)
LARGE = Plan(workloads=2_000, queues=40, kills=200, server_kills=20, most_seconds=3 * 3_600)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GoApiServer]:
    """An API server with Kueue's kinds."""
    if reason := go_apiserver.available():
        pytest.skip(reason)
    with GoApiServer(tmp_path / "cluster") as made:
        yield made


def test_the_cluster_is_what_the_journal_says(tmp_path: Path, server: GoApiServer) -> None:
    """No workload was admitted without a committed decision, none has two, none is forgotten, and the journal replays."""
    plan = LARGE if os.environ.get("GPOL_LIVE") == "all" else SMALL
    queues = [f"queue-{number}" for number in range(plan.queues)]
    gpol = Gpol(tmp_path, server.kubeconfig, queues)
    outcome = asyncio.run(play(plan, server, gpol, queues))
    assert gpol.stop() == 0, gpol.tail()
    assert (outcome.finished, outcome.kills, outcome.server_kills) == (plan.workloads, plan.kills, plan.server_kills)
    check_admissions(outcome, gpol.journal)
    with Journal.open(gpol.journal) as journal:
        assert core_at(journal).view.names() == []
    for command in ("verify", "replay"):
        subprocess.run([str(Path(sys.executable).with_name("gpol")), command, gpol.journal], check=True, stdout=subprocess.DEVNULL)

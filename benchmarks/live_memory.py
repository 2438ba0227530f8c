"""Memory while a cluster of a steady size goes on for long: Workloads are looked at, decided and committed as `gpol serve` does it.

There is no API server: what Kueue would write is made here, and what gpol would write is counted as written.
"""

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.reflector import ObjectChange, Seen
from gpol.adapters.kueue.live.decides import KueueDecisions
from gpol.adapters.kueue.live.observed import observe
from gpol.adapters.live.decider import LiveDecider
from gpol.compiled.fast_core import fast_core
from gpol.sim.drive.policy import Policy

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "live" / "kueue"))

from kueue_steps import KueueSteps

AT_ONCE = 20
"""How many workloads come, and how many end, between two looks."""

Json = dict[str, Any]


class Cluster:
    """Workloads that come and end, as they would be followed."""

    def __init__(self, policy: Policy, decider: LiveDecider) -> None:
        unreachable: Any = None
        api: Api = unreachable
        decider.activate(policy)
        self.kueue, self.decider = KueueDecisions(api, decider, "gpol"), decider
        self.kueue.cluster.namespaces.known["default"] = Seen("uid-default", "1", {})
        self.steps, self.rng, self.number = KueueSteps("2026-01-01T00:00:00Z"), random.Random(5), 0

    def come(self) -> None:
        """A workload comes, and Kueue reserves quota for it."""
        name, self.number = f"w{self.number}", self.number + 1
        container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(self.rng.choice([1, 1, 2, 4]))}}}
        pod_sets = [{"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}]
        metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": "1"}
        spec = {"queueName": f"q{self.rng.randrange(100)}", "priority": self.rng.randint(0, 3), "active": True, "podSets": pod_sets}
        workload: Json = {"metadata": {**metadata, "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": spec, "status": {}}
        workload["status"] = self.steps.reserve(workload)
        self._tell(f"default/{name}", Seen(metadata["uid"], "1", observe(workload, "gpol")))

    def end(self) -> None:
        """A workload is deleted."""
        known = self.kueue.cluster.workloads.known
        if known:
            self._tell(self.rng.choice(list(known)), None)

    def _tell(self, key: str, new: Any) -> None:
        known = self.kueue.cluster.workloads.known
        old = known.get(key)
        if new is None:
            del known[key]
        else:
            known[key] = new
        self.kueue.cluster.workloads.tell([ObjectChange(key, old, new)])

    async def look(self) -> None:
        """Let gpol look at what has changed. What is to be written counts as written."""
        self.kueue.take_a_look()
        while len(self.kueue.carrying_out.writes) or len(self.kueue.carrying_out.stops):
            await asyncio.sleep(0)

    async def write(self) -> None:
        """Count everything as written, until cancelled."""

        async def written(name: str) -> float | None:
            return None

        carrying_out = self.kueue.carrying_out
        await asyncio.gather(carrying_out.writes.work(written), carrying_out.stops.work(written))


async def memory(policy: Policy, events: int, live: int) -> AsyncIterator[tuple[int, int]]:
    """How many events there were, and the resident memory then (bytes), ten times until there were so many."""
    with (
        tempfile.TemporaryDirectory() as folder,
        LiveDecider.open(str(Path(folder) / "journal.db"), lambda frozen: fast_core(print, is_long=True, frozen=frozen)) as decider,
    ):
        cluster = Cluster(policy, decider)
        writing = asyncio.ensure_future(cluster.write())
        for _ in range(live):
            cluster.come()
        for due in range(events // 10, events + 1, events // 10):
            while decider.core.seq < due:
                for _ in range(AT_ONCE):
                    cluster.come()
                    cluster.end()
                await cluster.look()
            yield decider.core.seq, _resident()
        writing.cancel()


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")

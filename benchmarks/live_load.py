"""Jobs and Kueue for `live.py`, as a process of its own: it reads commands from its input, a JSON object a line, and answers so.

    {"fill": 10000}                  creates so many Workloads as fast as the server takes them, and waits until all have a reservation
    {"rate": 10, "seconds": 60}      creates Workloads at this rate, and ends as many; answers with how long each that is admitted waited
                                     for that (seconds)
    {"rest": true}                   waits until Kueue has nothing to write
    {"limit": 10}                    applies the status of Workloads as fast as the server takes it, for so many seconds

What Kueue would write is written by the player of the tests.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kubernetes.reflector import ObjectChange
from gpol.adapters.kueue.live.protocol import WORKLOAD

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "live"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "live" / "kueue"))

from kueue_player import KueuePlayer

NEVER = 1e9
"""After how many seconds a Workload ends by itself."""

AT_ONCE = 16
"""Requests that are under way at once where the server's own limit is measured, or Workloads are created as fast as can be."""


class TimedPlayer(KueuePlayer):
    """A player of Kueue that notes when each Workload was seen with a reservation, and when gpol's answer was seen."""

    def watch(self) -> None:
        """Begin to note."""
        self.reserved: dict[str, float] = {}
        self.answered: dict[str, float] = {}
        self.ended: set[str] = set()

    def end_one(self) -> None:
        """Let a Workload end that runs."""
        if running := [key for key in self.answered if key not in self.ended]:
            key = self.rng.choice(running)
            self.ended.add(key)
            self._finish_soon(key)

    def _see(self, changes: Sequence[ObjectChange[dict[str, Any]]]) -> None:
        now = time.monotonic()
        for change in changes:
            rows = ((change.new.value.get("status") or {}).get("admissionChecks") or []) if change.new is not None else []
            for row in rows:
                self.reserved.setdefault(change.key, now)
                if row["state"] != "Pending":
                    self.answered.setdefault(change.key, now)
        super()._see(changes)


class Load:
    """What the commands do. Workloads are called `w0`, `w1` and so on."""

    def __init__(self, api: Api, queues: int) -> None:
        self.rng = random.Random(7)
        self.player = TimedPlayer(api, self.rng, run_seconds=NEVER)
        self.player.watch()
        self.api, self.queues, self.number = api, queues, 0

    async def submit(self) -> str:
        """Create a Workload, and return its name."""
        name, self.number = f"w{self.number}", self.number + 1
        await self.player.submit(name, f"q{self.rng.randrange(self.queues)}", self.rng.choice([1, 1, 2, 4]), self.rng.randint(0, 3))
        return f"default/{name}"

    async def fill(self, number: int) -> dict[str, Any]:
        """See the module."""
        begun = time.monotonic()
        for _ in range(0, number, AT_ONCE):
            await asyncio.gather(*(self.submit() for _ in range(AT_ONCE)))
        while len(self.player.reserved) < self.number:
            await asyncio.sleep(0.2)
        return {"seconds": time.monotonic() - begun}

    async def rest(self) -> dict[str, Any]:
        """See the module."""
        quiet = 0
        while quiet < 5:
            await asyncio.sleep(1)
            quiet = 0 if len(self.player.writes) else quiet + 1
        return {}

    async def submit_at(self, rate: float, seconds: float) -> dict[str, Any]:
        """See the module. Those without a word are waited for, as long again as they were created: some may wait for quota."""
        names: list[str] = []
        begun = time.monotonic()
        while (due := begun + len(names) / rate) < begun + seconds:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            names.append(await self.submit())
            self.player.end_one()
        took = time.monotonic() - begun
        while time.monotonic() < begun + 2 * seconds and any(name not in self.player.answered for name in names):
            await asyncio.sleep(0.1)
        waits = [self.player.answered[name] - self.player.reserved[name] for name in names if name in self.player.answered]
        return {"rate": len(names) / took, "waits": waits, "unanswered": [name for name in names if name not in self.player.answered]}

    async def limit(self, seconds: float) -> dict[str, Any]:
        """See the module. A field of the status that nobody reads is applied."""
        names, end, done = list(self.player.workloads.known), time.monotonic() + seconds, 0

        async def apply_on(names: list[str]) -> None:
            nonlocal done
            while time.monotonic() < end:
                name = self.rng.choice(names)
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                row = {"type": "Measured", "status": "True", "reason": f"R{done}", "message": "", "lastTransitionTime": now}
                body = {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "status": {"conditions": [row]}}
                body["metadata"] = {"name": name.partition("/")[2], "namespace": "default"}
                await self.api.apply(WORKLOAD.path("default", name.partition("/")[2], "status"), body, "measured")
                done += 1

        await asyncio.gather(*(apply_on(names[place::AT_ONCE]) for place in range(AT_ONCE)))
        return {"per_second": done / seconds}


async def main(kubeconfig: str, queues: int) -> None:
    """Obey the commands until there are no more."""
    async with await Api.connect(Path(kubeconfig)) as api:
        load = Load(api, queues)
        playing = asyncio.ensure_future(load.player.run())
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            if "fill" in asked:
                told = await load.fill(asked["fill"])
            elif "rest" in asked:
                told = await load.rest()
            elif "limit" in asked:
                told = await load.limit(asked["limit"])
            else:
                told = await load.submit_at(asked["rate"], asked["seconds"])
            print(json.dumps(told), flush=True)
        playing.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

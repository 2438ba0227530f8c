"""How fast gpol decides for a live cluster, on the Kubernetes project's own API server; Kueue is played by the tests' player.

    python benchmarks/live.py [--queues 1000] [--live 10000] [--rate 10] [--seconds 60] [--rates 20 40 80 160] [--events 100000]

In one run: the cluster is filled with Workloads, of which most run; then others come at a steady rate, as many as end, and it is measured
how long gpol decides, commits and writes, and how long each that is admitted waits between its reservation and gpol's word, as another
client sees both. Then they come faster and faster, until that wait grows from one third of the time to the last. Beside it, in the same
run, stands how many statuses the server itself takes a second from one client. Needs Go, which builds the server once. The disk is waited
for by the journal (SQLite, `synchronous=FULL`), and not by etcd.

Memory: the resident memory of this process while 100,000 events of a cluster of a steady size go through decision and journal.
"""

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kueue.live.protocol import ADMISSION_CHECK, CONTROLLER
from gpol.adapters.live.settings.serve_settings import Http, Kueue, Lease, ServeSettings
from gpol.compiled.fast_core import fast_core
from gpol.console.service import Service
from gpol.dsl.analysis.checker import check
from gpol.sim.drive.policy import Policy
from live_memory import memory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "live"))

from go_apiserver import GoApiServer, available

GPUS = 22
"""What a queue owns: a tenth more than ten Workloads ask for on average."""


class MeasuredService(Service):
    """A service that keeps how long everything took, in seconds."""

    decides: list[float]
    commits: list[float]
    effects: list[float]

    def clear(self) -> None:
        """Forget what was measured so far."""
        self.decides, self.commits, self.effects = [], [], []

    def observe_decide(self, seconds: float) -> None:
        """Keep it."""
        self.decides.append(seconds)

    def observe_commit(self, seconds: float) -> None:
        """Keep it."""
        self.commits.append(seconds)

    def observe_effect(self, seconds: float) -> None:
        """Keep it."""
        self.effects.append(seconds)


def policy(queues: int) -> Policy:
    """Queues that own as many GPUs each, and borrow from one another."""
    flavor = f'flavor h100 {{\n  gpu {GPUS * queues}\n  label model = "h100"\n}}\n'
    owners = "".join(f"queue q{number} {{ owns {GPUS} gpu on h100 }}\n" for number in range(queues))
    return Policy.of(check(f'policy "live" {{ use gpol.fair }}\n{flavor}{owners}', "live.gpol"))


def told(name: str, seconds: Sequence[float]) -> str:
    """A line with the median and the 99th percentile, in milliseconds."""
    if not seconds:
        return f"  {name:<44} nothing was measured"
    ordered = sorted(seconds)
    return (
        f"  {name:<44} {statistics.median(ordered) * 1000:8.1f} {ordered[int(len(ordered) * 0.99)] * 1000:8.1f} {ordered[-1] * 1000:8.1f}"
        f"   of {len(ordered)}"
    )


async def ask(load: Process, **command: Any) -> dict[str, Any]:
    """Let the load do something, and return its answer."""
    assert load.stdin is not None
    assert load.stdout is not None
    load.stdin.write(json.dumps(command).encode() + b"\n")
    await load.stdin.drain()
    answer: dict[str, Any] = json.loads(await load.stdout.readline())
    return answer


async def measure(options: argparse.Namespace, server: GoApiServer, folder: Path) -> None:
    """Everything that needs a server."""
    made = policy(options.queues)
    settings = ServeSettings(
        policy=folder / "live.gpol",
        journal=str(folder / "journal.db"),
        policy_seconds=0,
        lease=Lease(enabled=False),
        http=Http(enabled=False),
        kueue=Kueue(way="decide"),
    )
    async with await Api.connect(server.kubeconfig) as api:
        body = {"apiVersion": ADMISSION_CHECK.api_version, "kind": ADMISSION_CHECK.kind, "metadata": {"name": "gpol"}}
        await api.create(ADMISSION_CHECK.path(), {**body, "spec": {"controllerName": CONTROLLER}})
        service = MeasuredService(settings, made, api, lambda frozen: fast_core(lambda line: None, is_long=True, frozen=frozen))
        service.clear()
        arguments = (str(Path(__file__).with_name("live_load.py")), str(server.kubeconfig), str(options.queues))
        load = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=PIPE, stdout=PIPE, limit=2**26)
        working = asyncio.ensure_future(service.run())
        try:
            for line in await _figures(options, service, load):
                print(line, flush=True)
        finally:
            working.cancel()
            load.kill()
            await asyncio.gather(working, load.wait(), return_exceptions=True)


async def _figures(options: argparse.Namespace, service: MeasuredService, load: Process) -> list[str]:
    lines = []
    filled = await ask(load, fill=options.live)
    print(f"{options.live:,} workloads of {options.queues:,} queues were created and reserved in {filled['seconds']:.0f} s", flush=True)
    while service.metrics.decider is None or len(service.metrics.decider.core.view.names()) < options.live * 0.9:
        await asyncio.sleep(1)
    await ask(load, rest=True)
    await _rest(service)
    view = service.metrics.decider.core.view
    running = sum(workload.admitted is not None for workload in view.workloads())
    lines.append(f"{len(view.names()):,} live, of which {running:,} run")
    lines.append(f"\n{options.rate:g} workloads a second for {options.seconds:g} s (ms)             median      p99     most")
    service.clear()
    steady = await ask(load, rate=options.rate, seconds=options.seconds)
    lines += [
        told("decide, from the first fact to the last decision", service.decides),
        told("commit", service.commits),
        told("effect: a write and its answer", service.effects),
        told("from the reservation to gpol's word, seen from outside", steady["waits"]),
    ]
    limit = await ask(load, limit=10)
    lines.append(f"\nthe server takes {limit['per_second']:.0f} status applies a second from one client with 16 requests at once")
    lines.append("workloads a second      came      wait in the first third, in the last (median, ms)")
    for rate in options.rates:
        found = await ask(load, rate=rate, seconds=options.seconds / 2)
        third = max(1, len(found["waits"]) // 3)
        first, last = (statistics.median(part) for part in (found["waits"][:third], found["waits"][-third:]))
        grows = last > 2 * first + 0.5 or any(view.workload(name) is None for name in found["unanswered"])
        lines.append(
            f"  {rate:>8g} {found['rate']:>17.1f} {first * 1000:>14.0f} {last * 1000:>9.0f}   {'the lag grows' if grows else 'it holds'}"
        )
        if grows:
            break
    return lines


async def _rest(service: MeasuredService) -> None:
    """Wait until gpol has written what it has to write, but for what came just now."""
    quiet = 0
    while quiet < 5:
        await asyncio.sleep(1)
        metrics = [metric for work in service.metrics.works for metric in work.metrics() if metric.name == "gpol_effects_pending"]
        quiet = quiet + 1 if metrics and all(metric.samples[0].value < 5 for metric in metrics) else 0


async def measure_memory(events: int) -> None:
    """The resident memory as events go by."""
    print(f"memory while {events:,} events are decided and committed (MiB)")
    async for seq, resident in memory(policy(100), events, 1_000):
        print(f"  after {seq:>9,} events {resident / 2**20:8.1f}", flush=True)
    print(f"  the most this process ever had {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.1f}\n")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queues", type=int, default=1_000)
    parser.add_argument("--live", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rates", type=float, nargs="*", default=[20, 40, 80, 160])
    parser.add_argument("--events", type=int, default=100_000)
    options = parser.parse_args()
    if options.events:
        asyncio.run(measure_memory(options.events))
    if reason := available():
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as folder, GoApiServer(Path(folder) / "cluster") as server:
        asyncio.run(measure(options, server, Path(folder)))


if __name__ == "__main__":
    main()

"""How long deciding takes after one fact in a large cluster: microseconds of processor time in the compiled kernel `settle`, with its call.

    python benchmarks/one_decision.py [--queues N ...] [--admitted N] [--refused N ...] [--facts N] [--profile NAME] [--cache FOLDER]

Queues stand in cohorts of ten and own what runs in them. Each who waits asks for a number of GPUs of its own, so that no two are of one
shape. Three kinds of facts are measured:

    submit  a workload comes that fits, while as many as `--refused` wait for more than is idle, spread over all queues
    finish  one ends, and what becomes idle helps nobody
    contest one ends in a full cluster, and every queue proposes a workload for its place
"""

import argparse
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpol.compiled.compile import compiled_kernels
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import Fact, WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.policy import Policy

EACH = 8
"""GPUs of each workload that runs."""


class Cluster:
    """A core with so many queues whose calls of `settle` are timed, in nanoseconds."""

    def __init__(self, kernels: KernelSet, profile: str, queues: int, admitted: int, idle: int) -> None:
        self.settle, self.spent = kernels.settle, 0
        self.now, self.names, self.queues, self.running = 0, 0, queues, list[str]()
        self.core = ArrayCore(kernels=replace(kernels, settle=self._timed))
        owned = EACH * (admitted // queues)
        lines = [f'policy "large" {{ use {profile} }}', f"flavor pool {{ gpu {owned * queues + idle} }}"]
        for first in range(0, queues, 10):
            inside = [f"  queue q{number} {{ owns {owned} gpu }}" for number in range(first, min(first + 10, queues))]
            lines += [f"cohort c{first} {{", *inside, "}"]
        policy = Policy.of(check("\n".join(lines), "large.gpol"))
        self.core.step(policy.activation(0), policy.graph)
        for number in range(admitted):
            self.running.append(self.submit(EACH, number % queues))

    def _timed(self, *arguments: Any) -> Any:
        begin = time.thread_time_ns()
        found = self.settle(*arguments)
        self.spent += time.thread_time_ns() - begin
        return found

    def _submission(self, gpus: int, queue: int) -> WorkloadSubmitted:
        self.names, self.now = self.names + 1, self.now + 1
        pods = PodSet(requests={"gpu": gpus * 1000})
        return WorkloadSubmitted(time=self.now, workload=f"w{self.names}", queue=f"q{queue}", pod_sets=(pods,))

    def wait(self, gpus: int, queue: int) -> None:
        """Let a workload come without deciding anything."""
        self.core.apply(self._submission(gpus, queue))

    def submit(self, gpus: int, queue: int) -> str:
        """Let a workload come; return its name."""
        fact = self._submission(gpus, queue)
        self.step(fact)
        return fact.workload

    def finish(self, name: str) -> int:
        """Let a workload end; return how many decisions follow."""
        self.now += 1
        return self.step(WorkloadFinished(time=self.now, workload=name))

    def step(self, fact: Fact) -> int:
        """Take in a fact; `spent` is then the time in `settle`."""
        self.spent = 0
        return len(self.core.step(fact))


def figures(times: list[int]) -> str:
    """Median and 99th percentile, in microseconds."""
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2] / 1000:>10.1f} {ordered[len(ordered) * 99 // 100] / 1000:>10.1f}"


def plain(cluster: Cluster, facts: int, draw: random.Random) -> tuple[list[int], list[int]]:
    """Times of submissions that fit, and of ends that help nobody, in turn."""
    submits, finishes = list[int](), list[int]()
    for _ in range(facts):
        cluster.running.append(cluster.submit(EACH, draw.randrange(cluster.queues)))
        submits.append(cluster.spent)
        last = draw.randrange(len(cluster.running))
        cluster.running[last], cluster.running[-1] = cluster.running[-1], cluster.running[last]
        assert cluster.finish(cluster.running.pop()) == 0
        finishes.append(cluster.spent)
    return submits, finishes


def contest(cluster: Cluster, facts: int, draw: random.Random) -> list[int]:
    """Times of ends for whose place every queue proposes a workload."""
    for queue in range(cluster.queues):
        for _ in range(1 + facts // cluster.queues):
            cluster.wait(EACH, queue)
    times = list[int]()
    for _ in range(facts):
        last = draw.randrange(len(cluster.running))
        cluster.running[last], cluster.running[-1] = cluster.running[-1], cluster.running[last]
        cluster.finish(cluster.running.pop())
        times.append(cluster.spent)
    return times[1:]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queues", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--admitted", type=int, default=10_000)
    parser.add_argument("--refused", type=int, nargs="+", default=[0, 1000])
    parser.add_argument("--facts", type=int, default=300)
    parser.add_argument("--profile", default="gpol.fair")
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    asked = parser.parse_args()
    kernels = compiled_kernels(asked.cache)
    print(f"{'queues':>8} {'admitted':>9} {'refused':>8} {'fact':>8} {'median us':>10} {'p99 us':>10}")
    for queues in asked.queues:
        for refused in asked.refused:
            draw, cluster = random.Random(1), Cluster(kernels, asked.profile, queues, asked.admitted, 10 * EACH)
            for number in range(refused):
                cluster.wait(20 * EACH + number, number % queues)
            for kind, times in zip(("submit", "finish"), plain(cluster, asked.facts, draw), strict=True):
                print(f"{queues:>8} {asked.admitted:>9} {refused:>8} {kind:>8} {figures(times[1:])}", flush=True)
        draw, cluster = random.Random(1), Cluster(kernels, asked.profile, queues, asked.admitted, 0)
        print(f"{queues:>8} {asked.admitted:>9} {0:>8} {'contest':>8} {figures(contest(cluster, asked.facts, draw))}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

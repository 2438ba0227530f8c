"""How long one decision takes where pods get places: microseconds in the compiled kernels, and how much longer the definition takes.

    python benchmarks/places.py [--nodes N ...] [--queues N] [--facts N] [--way WAY] [--cache FOLDER]

Nodes of 8 GPUs stand in racks of 20 and blocks of 20 racks; each queue owns as much as each other one. Seven tenths are in use by workloads
of up to 16 pods. What is measured, for a gang of 64 pods of 1 GPU after the other, each of which is gone before the next one comes:

    anywhere, near block, within block   it fits
    slices                               it fits within a block, in slices of 16 within a rack
    full: the same                       half of the queues use nearly all, and a queue that uses little wants its own back: some have to go
"""

import argparse
import random
import time
from pathlib import Path
from statistics import median
from typing import Any

from definition_time import deciding_timed
from gpol.compiled.compile import compiled_kernels
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.event_parts import PodSet
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import NodeAdded, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.policy import Policy

GPUS, RACK, BLOCK = 8, 20, 400
"""GPUs of a node; nodes of a rack and of a block."""

USED = 0.7
"""The part of all GPUs that is in use before the first fact that is measured."""

GANG = 64
MILLI = 1000
"""Amounts of GPUs are in thousandths."""

WISHES: dict[str, dict[str, Any]] = {
    "anywhere": {},
    "near block": {"near": "block"},
    "within block": {"within": "block"},
    "slices": {"within": "block", "slices": [{"level": "rack", "size": 16}]},
}
"""What gangs ask for of places."""


class Racks:
    """A cluster whose decisions are timed: `spent` is nanoseconds in kernels since it was last set to 0."""

    def __init__(self, kernels: KernelSet, nodes: int, queues: int, way: str) -> None:
        self.run, self.spent, self.nodes, self.queues, self.names = kernels.run, 0, nodes, queues, 0
        self.core = ArrayCore(kernels=KernelSet(self._timed))
        owned = nodes * GPUS // queues
        lines = [f'policy "racks" {{\n  use gpol.fair\n  place pods {way}\n}}', "topology fabric {"]
        lines += [*(f'  level {level} from label "{level}"' for level in ("block", "rack")), "  level host from node", "}"]
        lines += [
            'flavor pool {\n  gpu from nodes where pool = "x"\n  placed in fabric\n}',
            "priority high 1",
            "priority low 0",
            "cohort all {",
        ]
        lines += [f"  queue q{queue} {{ owns {owned} gpu }}" for queue in range(queues)]
        policy = Policy.of(check("\n".join([*lines, "}"]), "racks.gpol"))
        self.core.step(policy.activation(0), policy.graph)
        for number in range(nodes):
            labels = {"pool": "x", "block": f"b{number // BLOCK}", "rack": f"r{number // RACK}"}
            self.core.step(NodeAdded(time=0, node=f"n{number:06}", labels=labels, capacity={"gpu": GPUS * MILLI}))
        self.core.step(TimeAdvanced(time=0))

    def _timed(self, *said: Any) -> int:
        began = time.perf_counter_ns()
        found = self.run(*said)
        self.spent += time.perf_counter_ns() - began
        return found

    def submit(self, queue: int, pods: int, gpus: int, priority: str, **wish: Any) -> tuple[WorkloadSubmitted, list[Any]]:
        """Submit a workload; return the fact and what was decided."""
        self.names += 1
        pod_set = PodSet(name="main", count=pods, requests={"gpu": gpus * MILLI}, **wish)
        fact = WorkloadSubmitted(time=self.core.time, workload=f"w{self.names}", queue=f"q{queue}", priority=priority, pod_sets=(pod_set,))
        self.spent = 0
        return fact, self.core.step(fact)

    def leave(self, name: str, decisions: list[Any]) -> None:
        """Let the workload be over that was submitted last."""
        runs = any(isinstance(each, WorkloadAdmitted) and each.workload == name for each in decisions)
        kind = WorkloadFinished if runs else WorkloadCancelled
        self.core.step(kind(time=self.core.time + 1, workload=name))

    def use_some(self, draw: random.Random) -> None:
        """Let so much be in use."""
        left = int(self.nodes * GPUS * USED)
        while left > 0:
            pods, gpus = draw.choice([1, 2, 4, 8, 16]), draw.choice([1, 2, 4, 8])
            self.submit(draw.randrange(self.queues), pods, gpus, "low")
            left -= pods * gpus

    def use_all(self) -> None:
        """Let the first half of the queues use what is left, node by node, one after the other."""
        for queue in range(self.queues // 2):
            for _ in range(2 * self.nodes // self.queues + 1):
                fact, decided = self.submit(queue, 1, GPUS, "low")
                if not any(isinstance(each, WorkloadAdmitted) for each in decided):
                    self.leave(fact.workload, decided)
                    break

    def gangs(self, wish: dict[str, Any], facts: int, first: int) -> tuple[list[int], int, int]:
        """Times of decisions on gangs of queues from a first one on, how many were admitted, and how many had to go."""
        times, admitted, evicted = list[int](), 0, 0
        for number in range(facts):
            fact, decided = self.submit(first + number % (self.queues - first), GANG, 1, "high", **wish)
            times.append(self.spent)
            admitted += any(isinstance(each, WorkloadAdmitted) and each.workload == fact.workload for each in decided)
            evicted += sum(isinstance(each, WorkloadEvicted) for each in decided)
            self.leave(fact.workload, decided)
        return times, admitted, evicted

    def by_definition(self, wish: dict[str, Any], queue: int) -> int:
        """Nanoseconds in which the definition decides on one gang, from the same state."""
        core = DefinitionCore(self.core.state())
        pod_set = PodSet(name="main", count=GANG, requests={"gpu": MILLI}, **wish)
        with deciding_timed() as spent:
            core.step(WorkloadSubmitted(time=core.time, workload="one", queue=f"q{queue}", priority="high", pod_sets=(pod_set,)))
        return sum(spent)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--queues", type=int, default=100)
    parser.add_argument("--facts", type=int, default=40)
    parser.add_argument("--way", default="packed")
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    asked = parser.parse_args()
    kernels = compiled_kernels(asked.cache)
    print(f"{'nodes':>6} {'gang':<20} {'median us':>10} {'most us':>9} {'admitted':>9} {'evicted':>8} {'definition':>11}")
    for nodes in asked.nodes:
        racks = Racks(kernels, nodes, asked.queues, asked.way)
        racks.use_some(random.Random(1))
        for full in (False, True):
            if full:
                racks.use_all()
            first = asked.queues // 2 if full else 0
            for name, wish in WISHES.items():
                slower = racks.by_definition(wish, first)
                times, admitted, evicted = racks.gangs(wish, asked.facts, first)
                told = f"{median(times) / 1000:>10,.0f} {max(times) / 1000:>9,.0f} {admitted:>9} {evicted:>8}"
                print(
                    f"{nodes:>6} {'full: ' if full else ''}{name:<{14 if full else 20}} {told} {slower / median(times):>5,.0f} times",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

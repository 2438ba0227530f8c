"""One cycle of the shape of Kueue's own BenchmarkSchedulerTAS (pkg/scheduler/scheduler_tas_bench_test.go), decided by gpol's profile.

1,000 nodes of 30 resources in blocks of 31 are full of workloads of rising priority, in one queue. One more wants 200 pods of half a node
each on an eighth of the nodes, wherever they are there; so some have to go, of its own queue and of lower priority.
"""

from math import isqrt
from time import thread_time_ns
from typing import Any

from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.event_parts import PlacedPods, Placement, PodSet
from gpol.engine.events import WorkloadDeferred, WorkloadEvicted
from gpol.engine.facts import NodeAdded, TimeAdvanced, WorkloadAdopted, WorkloadSubmitted
from gpol.sim.drive.policy import Policy

NODES, GROUPS, PODS = 1_000, 8, 200
CPU, MEMORY, POD_SLOTS = 10, 100, 110
"""CPUs, GiB and pods of a node; it has as much of each other resource as CPUs."""

OTHERS = [f"example.com/res{number}" for number in range(2, 30)]
GIB, MILLI = 2**30, 1000


class KueuePlaces:
    """The cluster, full. `spent` is nanoseconds in kernels since it was last set to 0."""

    def __init__(self, kernels: KernelSet) -> None:
        self.run, self.spent, self.names = kernels.run, 0, 0
        self.core = ArrayCore(kernels=KernelSet(self._timed))
        said = ["cpu", "memory", *(f'"{each}"' for each in OTHERS)]
        owned = [f"  owns {'1000000Gi' if each == 'memory' else 100_000} {each}" for each in said]
        lines = ['policy "places" { use kueue.classical }', *(f"resource {each}" for each in said[2:])]
        lines += ["topology fabric {", '  level block from label "block"', "  level host from node", "}"]
        lines += [f"flavor pool {{\n  {', '.join(said)} as owned\n  placed in fabric\n}}"]
        lines += ["queue main {", *owned, "  evicts its own of lower priority", "}"]
        policy = Policy.of(check("\n".join(lines) + "\n", "places.gpol"))
        self.core.step(policy.activation(0), policy.graph)
        self.nodes = list[str]()
        for number in range(1, NODES + 1):
            block, place = divmod(number, isqrt(NODES))
            self.nodes.append(f"node-{block}-{place}")
            labels = {"block": f"b-{block}", "node-group": f"group-{block % GROUPS + 1}"}
            capacity = {**amounts(CPU, MEMORY), "pods": POD_SLOTS}
            self.core.step(NodeAdded(time=0, node=self.nodes[-1], labels=labels, capacity=capacity))
        self.fill()

    def _timed(self, *said: Any) -> int:
        began = thread_time_ns()
        found = self.run(*said)
        self.spent += thread_time_ns() - began
        return found

    def fill(self) -> None:
        """Let workloads run, each on the first nodes with room, until one finds no room."""
        left = [[CPU, MEMORY] for _ in self.nodes]
        while True:
            number = self.names + 1
            cpu, memory, pods = number % 10 + 1, number % 100 + 1, number * 10 % isqrt(NODES) + 1
            given, missing = list[PlacedPods](), pods
            for name, free in zip(self.nodes, left, strict=True):
                here = min(missing, free[0] // cpu, free[1] // memory)
                if here:
                    given.append(PlacedPods(domain=(name,), pods=here))
                    missing -= here
            if missing:
                return
            taken = {each.domain[0]: each.pods for each in given}
            for name, free in zip(self.nodes, left, strict=True):
                free[0] -= taken.get(name, 0) * cpu
                free[1] -= taken.get(name, 0) * memory
            asked = amounts(cpu, memory)
            workload = self.submit(PodSet(count=pods, requests=asked, anywhere=True))
            usage = {resource: pods * asked[resource] for resource in asked}
            flavors = dict.fromkeys(asked, "pool")
            places = tuple(sorted(given, key=lambda each: each.domain))
            placement = Placement(pod_set="main", count=pods, flavors=flavors, usage=usage, places=places)
            self.core.step(WorkloadAdopted(time=0, workload=workload, queue="main", since=0, placements=(placement,)))

    def submit(self, pod_set: PodSet) -> str:
        """A workload comes, of a priority above all before."""
        self.names += 1
        name = f"wl-{self.names}"
        self.core.step(WorkloadSubmitted(time=self.core.time, workload=name, queue="main", priority=self.names, pod_sets=(pod_set,)))
        return name

    def cycle(self) -> tuple[int, int, int]:
        """Nanoseconds of the cycle in which others are told to go for a workload that has come, from the fact to the decisions that are
        told; how many of them were spent in kernels; and how many workloads have to go."""
        half = amounts(CPU // 2, MEMORY // 2)
        name = self.submit(PodSet(count=PODS, requests=half, anywhere=True, node_selector={"node-group": "group-1"}))
        fact, self.spent = TimeAdvanced(time=self.core.time), 0
        began = thread_time_ns()
        decisions = self.core.step(fact)
        whole = thread_time_ns() - began
        gone = [each for each in decisions if isinstance(each, WorkloadEvicted)]
        assert gone
        assert any(isinstance(each, WorkloadDeferred) and each.workload == name for each in decisions)
        return whole, self.spent, len(gone)


def amounts(cpu: int, memory: int) -> dict[str, int]:
    """What a pod asks for, or a node has: as much of each other resource as CPUs."""
    return {"cpu": cpu * MILLI, "memory": memory * GIB, **dict.fromkeys(OTHERS, cpu)}

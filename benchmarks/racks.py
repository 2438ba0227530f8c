"""A cluster in which pods get places, for measuring: nodes of 8 GPUs in racks of 20 and blocks of 20 racks; queues that own as much each.

Seven tenths are in use by workloads of up to 16 pods. What is measured is decided for a gang of 64 pods of 1 GPU after the other, each of
which is gone before the next one comes. It fits; or half of the queues use all that is left, and a queue that uses little wants its own
back, so that some have to go.
"""

import random
from statistics import median
from time import thread_time_ns
from typing import Any

from definition_time import deciding_timed
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.event_parts import PodSet
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import NodeAdded, NodeChanged, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.policy import Policy

GPUS, RACK, BLOCK = 8, 20, 400
"""GPUs of a node; nodes of a rack and of a block."""

USED = 0.7
"""The part of all GPUs that is in use before the first fact that is measured."""

GANG = 64
MILLI = 1000
"""Amounts of GPUs are in thousandths."""

WAYS = {"packed": "packed", "spread": "spread", "keeping room": "keeping room for 8 gpu, 4 gpu"}
"""How pods are placed, and how a policy says so."""

WISHES: dict[str, dict[str, Any]] = {
    "": {},
    ", within a block, in slices of 16 within a rack": {"within": "block", "slices": [{"level": "rack", "size": 16}]},
}
"""What gangs ask for of places."""


class Racks:
    """A cluster whose decisions can be timed: `spent` is nanoseconds in kernels. To read the clock may take longer than to decide."""

    def __init__(self, kernels: KernelSet, nodes: int, queues: int, way: str) -> None:
        self.run, self.nodes, self.queues, self.names = kernels.run, nodes, queues, 0
        self.is_timed, self.spent = False, 0
        self.core = ArrayCore(kernels=KernelSet(self._timed))
        owned = nodes * GPUS // queues
        lines = [f'policy "racks" {{\n  use gpol.fair\n  place pods {WAYS[way]}\n}}', "topology fabric {"]
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
            self.core.step(NodeAdded(time=0, **node(number)))
        self.core.step(TimeAdvanced(time=0))

    def _timed(self, *said: Any) -> int:
        if not self.is_timed:
            return self.run(*said)
        began = thread_time_ns()
        found = self.run(*said)
        self.spent += thread_time_ns() - began
        return found

    def submit(self, queue: int, pods: int, gpus: int, priority: str, **wish: Any) -> tuple[WorkloadSubmitted, list[Any]]:
        """Submit a workload; return the fact and what was decided."""
        self.names += 1
        pod_set = PodSet(name="main", count=pods, requests={"gpu": gpus * MILLI}, **wish)
        fact = WorkloadSubmitted(time=self.core.time, workload=f"w{self.names}", queue=f"q{queue}", priority=priority, pod_sets=(pod_set,))
        return fact, self.core.step(fact)

    def leave(self, name: str, decisions: list[Any]) -> None:
        """Let the workload be over that was submitted last."""
        kind = WorkloadFinished if admits(name, decisions) else WorkloadCancelled
        self.core.step(kind(time=self.core.time + 1, workload=name))

    def use_some(self, draw: random.Random, waiting: bool = False) -> None:
        """Let so much be in use; or let so much be asked for, and whoever finds no room wait."""
        left = int(self.nodes * GPUS * USED)
        while left > 0:
            pods, gpus = draw.choice([1, 2, 4, 8, 16]), draw.choice([1, 2, 4, 8])
            fact, decided = self.submit(draw.randrange(self.queues), pods, gpus, "low")
            if waiting or admits(fact.workload, decided):
                left -= pods * gpus
            else:
                self.leave(fact.workload, decided)

    def use_all(self, pods: int, gpus: int) -> None:
        """Let the first half of the queues use what is left, one after the other, as far as workloads of so many pods and GPUs fit."""
        for queue in range(self.queues // 2):
            for _ in range(2 * self.nodes // self.queues + 1):
                fact, decided = self.submit(queue, pods, gpus, "low")
                if not admits(fact.workload, decided):
                    self.leave(fact.workload, decided)
                    break

    def waiting(self) -> int:
        """How many workloads wait."""
        return sum(workload.admitted is None for workload in self.core.state().in_order())

    def gangs(self, wish: dict[str, Any], facts: int, first: int, evicting: bool | None) -> list[int]:
        """Nanoseconds of decisions that admit gangs of queues from a first one on.

        `evicting`: only of those for which others have to go, or nobody has to; None: of all. Those who had to go on once the gang is gone.
        """
        times = list[int]()
        for number in range(facts):
            self.is_timed, self.spent = True, 0
            fact, decided = self.submit(first + number % (self.queues - first), GANG, 1, "high", **wish)
            self.is_timed = False
            evicts = any(isinstance(each, WorkloadEvicted) for each in decided)
            if admits(fact.workload, decided) and evicting in (None, evicts):
                times.append(self.spent)
            self.leave(fact.workload, decided)
        return times

    def by_definition(self, wish: dict[str, Any], queue: int) -> int:
        """Nanoseconds in which the definition decides on one gang, from the same state."""
        core = DefinitionCore(self.core.state())
        pod_set = PodSet(name="main", count=GANG, requests={"gpu": MILLI}, **wish)
        with deciding_timed() as spent:
            core.step(WorkloadSubmitted(time=core.time, workload="one", queue=f"q{queue}", priority="high", pod_sets=(pod_set,)))
        return sum(spent)

    def node_facts(self, facts: int, core: ArrayCore | DefinitionCore | None = None) -> tuple[float, int]:
        """Median nanoseconds of facts about nodes, one after the other, but for the first; and those of the next other fact."""
        asked, times = self.core if core is None else core, list[int]()
        for number in range(facts + 1):
            fact = NodeChanged(time=asked.time, cordoned=number % 2 == 0, **node(number))
            began = thread_time_ns()
            asked.step(fact)
            times.append(thread_time_ns() - began)
        began = thread_time_ns()
        asked.step(TimeAdvanced(time=asked.time))
        return median(times[1:]), thread_time_ns() - began


def node(number: int) -> dict[str, Any]:
    """What facts say of a node."""
    labels = {"pool": "x", "block": f"b{number // BLOCK:03}", "rack": f"r{number // RACK:04}"}
    return {"node": f"n{number:06}", "labels": labels, "capacity": {"gpu": GPUS * MILLI}}


def admits(name: str, decisions: list[Any]) -> bool:
    """Whether one of the decisions admits a workload."""
    return any(isinstance(each, WorkloadAdmitted) and each.workload == name for each in decisions)

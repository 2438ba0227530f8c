"""How long deciding takes after one fact in a large cluster: microseconds of processor time in the compiled kernels, with their calls.

    python benchmarks/one_decision.py [--size QUEUES ADMITTED ...] [--profile NAME ...] [--refused N ...] [--facts N] [--cache FOLDER]

Queues stand in cohorts of ten, below one cohort, and own gpu, cpu and memory in bytes. Each who is refused asks for a number of GPUs of its
own, so that no two are of one shape. What is measured, under profiles that decide in cycles in the first cycle after the fact:

    submit  a workload comes that fits, while as many as `--refused` wait for more than is idle, spread over all queues
    again   another one comes right after it
    finish  one ends, and what becomes idle helps nobody; in cycles every head is decided on, so then `each` is the time for one decision
    limited a workload comes that fits, and one ends, while in nine of ten queues one waits for the borrowing limit of its own queue: by
            shares, a neighbor would give
    victims a workload comes for what its queue owns, and eight that borrow it have to go
    contest one ends in a full cluster, and every queue proposes a workload for its place
"""

import argparse
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from definition_time import deciding_timed
from gpol.compiled.compile import compiled_kernels
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import Fact, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.engine.intake.jobs import Jobs
from gpol.sim.drive.policy import Policy

EACH = 1
"""GPUs of each workload that runs; with it come 8 cpu and 8 GiB."""

VICTIMS = 8
"""How many of a queue's places others borrow."""

LIMIT, BEYOND = 2, 5
"""How much a queue may borrow where its limit holds those who wait, and how much more these ask for: some ends in a queue do not help."""

CHUNK = 2_000
"""How many events are played in one go until all run, as a simulation does it."""

FAR = 10**15
"""Microseconds for which workloads run."""

PROFILES = ("gpol.fair", "kueue.classical", "kueue.fair")
_TIMED = (c.SETTLE, c.RUN_CYCLE, c.NEXT_CYCLE, c.BEGIN_CYCLE)


class Cluster:
    """A core with so many queues whose decisions are timed: `spent` is nanoseconds since it was last set to 0."""

    def __init__(self, kernels: KernelSet, profile: str, queues: int, admitted: int, idle: int, lent: int = 0, limit: int = 0) -> None:
        self.run, self.spent, self.queues, self.names = kernels.run, 0, queues, 0
        self.core = ArrayCore(kernels=KernelSet(self._timed), tell_beyond=_refuse)
        places = admitted // queues
        body = owns(EACH * places) + ("" if profile == "gpol.fair" else "\n   reclaims from anyone")
        lines = [f'policy "large" {{ use {profile} }}', "flavor pool {\n  gpu, cpu, memory as owned\n}", "cohort all {", owns(idle)]
        for first in range(0, queues, 10):
            bodies = [body + borrows(limit) if limit and not is_borrower(number) else body for number in range(first, first + 10)]
            inside = [f"  queue q{number} {{\n{each} }}" for number, each in enumerate(bodies[: queues - first], first)]
            lines += [f" cohort c{first} {{", *inside, " }"]
        policy = Policy.of(check("\n".join([*lines, "}"]), "large.gpol"))
        self.core.step(policy.activation(0), policy.graph)
        numbered = ((place, number) for place in range(places) for number in range(queues))
        borrowers = (number + 1 if place < lent and number % 10 == 0 else number for place, number in numbered)
        jobs = Jobs.of(self.submission(EACH, borrower, 0) for borrower in borrowers)
        loop = self.core.closed_loop(jobs, [FAR] * len(jobs), False)
        assert loop is not None
        self.running = list(jobs.names)
        while (left := len(jobs) - int(self.state[c.ADMISSIONS])) > 0:
            loop.play(min(left, CHUNK))
        assert self.core.time < FAR

    @property
    def state(self) -> Any:
        """The row of what there is only once."""
        return self.core._tables.tables.state

    def _timed(self, tables: Any, which: int, number: int) -> Any:
        begin = time.thread_time_ns()
        found = self.run(tables, which, number)
        if which in _TIMED:
            self.spent += time.thread_time_ns() - begin
        return found

    def submission(self, gpus: int, queue: int, moment: int) -> WorkloadSubmitted:
        """A workload comes."""
        self.names += 1
        pods = PodSet(requests={"gpu": gpus * 1000, "cpu": 8 * gpus * 1000, "memory": gpus << 33})
        return WorkloadSubmitted(time=moment, workload=f"w{self.names}", queue=f"q{queue}", pod_sets=(pods,))

    def wait(self, gpus: int, queue: int) -> None:
        """Let a workload come without deciding anything."""
        self.core.apply(self.submission(gpus, queue, self.core.time + 1))

    def submit(self, gpus: int, queue: int) -> tuple[str, int]:
        """Let a workload come; return its name, and how many decisions follow."""
        fact = self.submission(gpus, queue, self.core.time + 1)
        return fact.workload, self.step(fact)

    def finish(self, name: str) -> int:
        """Let a workload end; return how many decisions follow."""
        return self.step(WorkloadFinished(time=self.core.time + 1, workload=name))

    def step(self, fact: Fact) -> int:
        """Take in a fact, and decide; `spent` is then the time for that."""
        self.spent = 0
        found = len(self.core.step(fact))
        if self.core.decides_in_cycles and self.core.next_wake() is not None:
            found = len(self.core.step(TimeAdvanced(time=self.core.time)))
        return found

    def rest(self) -> None:
        """Play cycles until nothing is left to decide."""
        while self.core.decides_in_cycles and (wake := self.core.next_wake()) is not None:
            self.core.step(TimeAdvanced(time=wake))

    def next_end(self, draw: random.Random) -> WorkloadFinished:
        """The end of some workload, which counts as running no more."""
        last = draw.randrange(len(self.running))
        self.running[last], self.running[-1] = self.running[-1], self.running[last]
        return WorkloadFinished(time=self.core.time + 1, workload=self.running.pop())

    def end_one(self, draw: random.Random) -> int:
        """Let some workload end; return how many decisions follow."""
        return self.step(self.next_end(draw))


def is_borrower(number: int) -> bool:
    """Whether a queue has what its neighbor lends, where that is so."""
    return number % 10 == 1


def _refuse(reason: str) -> None:
    """What is measured is the core over arrays and nothing else."""
    raise AssertionError(f"the definition would decide: {reason}")


def owns(gpus: int) -> str:
    """That so many GPUs are owned, with what cpu and memory comes with them."""
    return f"   owns {gpus} gpu\n   owns {8 * gpus} cpu\n   owns {8 * gpus}Gi memory"


def borrows(gpus: int) -> str:
    """That no more than so many GPUs may be borrowed, with what cpu and memory comes with them."""
    return f"\n   borrows up to {gpus} gpu\n   borrows up to {8 * gpus} cpu\n   borrows up to {8 * gpus}Gi memory"


def limited(kernels: KernelSet, profile: str, queues: int, admitted: int) -> Cluster:
    """A cluster in which one waits in each queue that does not borrow, for more than that queue may borrow."""
    cluster = Cluster(kernels, profile, queues, admitted, 10 * EACH, VICTIMS, LIMIT)
    for number in range(queues):
        if not is_borrower(number):
            cluster.wait((VICTIMS if is_borrower(number + 1) else 0) + LIMIT + BEYOND, number)
    cluster.rest()
    return cluster


def figures(times: list[int]) -> str:
    """Median and 99th percentile, in microseconds."""
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2] / 1000:>10.1f} {ordered[len(ordered) * 99 // 100] / 1000:>10.1f}"


@dataclass(slots=True)
class Plain:
    """Nanoseconds for each submission that fits, for another one right after it, for each end that helps nobody, and for each of that
    end's decisions, where there are any."""

    submit: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    finish: list[int] = field(default_factory=list)
    each: list[int] = field(default_factory=list)


def plain(cluster: Cluster, facts: int, draw: random.Random) -> Plain:
    """Two workloads come that fit, one after the other, and two end, in turn."""
    found = Plain()
    for _ in range(facts):
        for times in (found.submit, found.again):
            name, _ = cluster.submit(EACH, draw.randrange(cluster.queues))
            cluster.running.append(name)
            times.append(cluster.spent)
            cluster.rest()
        for _ in range(2):
            decisions = cluster.end_one(draw)
            found.finish.append(cluster.spent)
            if decisions:
                found.each.append(cluster.spent // decisions)
            cluster.rest()
    return found


def victims(cluster: Cluster, facts: int, draw: random.Random) -> list[int]:
    """Times of submissions for which eight have to go; they come back once it ends."""
    times = list[int]()
    for _ in range(facts):
        name, decisions = cluster.submit(EACH * VICTIMS, 10 * draw.randrange(cluster.queues // 10))
        assert decisions >= VICTIMS + 1, decisions
        times.append(cluster.spent)
        cluster.rest()
        cluster.finish(name)
        cluster.rest()
        assert not cluster.state[c.WAITING]
    return times


def by_definition(cluster: Cluster, *facts: Fact) -> list[int]:
    """Nanoseconds in which the definition decides after each of these facts, one after the other, from the state of a cluster."""
    core, times = DefinitionCore(cluster.core.state()), list[int]()
    with deciding_timed() as spent:
        for fact in facts:
            spent.clear()
            core.step(fact)
            if core.decides_in_cycles and core.next_wake() is not None:
                core.step(TimeAdvanced(time=core.time))
            times.append(sum(spent))
    return times


def crowded(kernels: KernelSet, profile: str, queues: int, admitted: int, facts: int) -> Cluster:
    """A full cluster in each of whose queues at least two wait, so that all propose somebody also where one of them got its place."""
    cluster = Cluster(kernels, profile, queues, admitted, 0)
    for queue in range(queues):
        for _ in range(2 + facts // queues):
            cluster.wait(EACH, queue)
    cluster.rest()
    return cluster


def contest(cluster: Cluster, facts: int, draw: random.Random) -> list[int]:
    """Times of ends in such a cluster, for whose place every queue proposes a workload."""
    times = list[int]()
    for _ in range(facts):
        assert cluster.end_one(draw) > 0
        times.append(cluster.spent)
        cluster.rest()
    return times[1:]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, nargs=2, action="append", metavar=("QUEUES", "ADMITTED"))
    parser.add_argument("--refused", type=int, nargs="+", default=[0, 10_000])
    parser.add_argument("--facts", type=int, default=300)
    parser.add_argument("--profile", nargs="+", default=PROFILES)
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    asked = parser.parse_args()
    kernels = compiled_kernels(asked.cache)
    print(f"{'':<16} {'queues':>8} {'admitted':>9} {'refused':>8} {'fact':>8} {'median us':>10} {'p99 us':>10}")
    for profile in asked.profile:
        for queues, admitted in asked.size or [(1000, 50_000), (10_000, 200_000)]:
            draw = random.Random(1)

            def tell(refused: int, kind: str, times: list[int]) -> None:
                print(f"{profile:<16} {queues:>8} {admitted:>9} {refused:>8} {kind:>8} {figures(times)}", flush=True)  # noqa: B023

            for refused in asked.refused:
                cluster = Cluster(kernels, profile, queues, admitted, 10 * EACH)
                for number in range(refused):
                    cluster.wait(20 * EACH + number, number % queues)
                cluster.rest()
                found = plain(cluster, asked.facts, draw)
                for kind in ("submit", "again", "finish", "each"):
                    times = getattr(found, kind)
                    if len(times) > 1:
                        tell(refused, kind, times[1:])
            found = plain(limited(kernels, profile, queues, admitted), asked.facts, draw)
            for times in (found.submit, found.finish):
                tell(queues * 9 // 10, "limited", times[1:])
            tell(0, "victims", victims(Cluster(kernels, profile, queues, admitted, 0, VICTIMS), asked.facts, draw)[1:])
            tell(0, "contest", contest(crowded(kernels, profile, queues, admitted, asked.facts), asked.facts, draw))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

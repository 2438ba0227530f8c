"""How fast Kueue's performance scenarios are decided in virtual time, and how long one cycle over many heads takes; deciding alone.

    python benchmarks/kueue_load.py [--profile NAME ...] [--load NAME ...] [--cache FOLDER] [--no-cycles]

The loads are those of Kueue's test/performance/scheduler: in each queue small, medium and large workloads come at fixed intervals, run for
less than a second or two each, and wait most of the time. Each is played as a closed loop; what is counted is processor seconds in the
kernel, and admissions and evictions for each of them. The definition plays a tenth of the baseline beside it, and must decide the same.

Cycles over 1,000 heads in 10 cohorts are timed one by one, with the call: in `fit` each queue's head is admitted, in `refused` each is
looked at and none is; nobody has to go.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from definition_time import deciding_timed
from gpol.compiled.compile import compiled_kernels
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.cores import Core, PlayedChunk
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation

MILLISECOND = 1_000
WORKLOADS = (("small", 7, 100, 1, 50, 200), ("medium", 2, 500, 5, 100, 500), ("large", 1, 1200, 20, 200, 1000))
"""Of each class its name, its part of ten, the interval at which workloads come (ms), cpus, priority, and how long one runs (ms)."""

LOADS = {"tenth": (5, 6, 50), "baseline": (5, 6, 500), "large": (10, 100, 50)}
"""Cohorts, queues in each, workloads in each queue."""


class Timed:
    """Kernels whose calls are timed: `spent` is nanoseconds of this thread, by kernel."""

    def __init__(self, kernels: KernelSet) -> None:
        self._run, self.spent = kernels.run, dict.fromkeys(range(16), 0)
        self.kernels = KernelSet(self._timed)

    def _timed(self, tables: Any, which: int, number: int) -> int:
        begin = time.thread_time_ns()
        found = self._run(tables, which, number)
        self.spent[which] += time.thread_time_ns() - begin
        return found


def policy(profile: str, cohorts: int, queues: int, own_victims: bool = True) -> Policy:
    """Queues that own 20 cpus each and borrow up to 100."""
    body = "owns 20 cpu\n borrows up to 100 cpu\n" + (" reclaims from anyone\n evicts its own of lower priority\n" if own_victims else "")
    lines = [f'policy "load" {{ use {profile} }}', "flavor pool { cpu as owned }"]
    for cohort in range(cohorts):
        inside = [f"  queue c{cohort}q{queue} {{\n {body} }}" for queue in range(queues)]
        lines += [f"cohort c{cohort} {{", *inside, "}"]
    return Policy.of(check("\n".join(lines) + "\n", "load.gpol"))


def jobs(cohorts: int, queues: int, workloads: int) -> list[Job]:
    """The workloads of a load, in the order in which they come."""
    found = []
    for name, part, interval, cpus, priority, length in WORKLOADS:
        for number in range(workloads * part // 10):
            for cohort in range(cohorts):
                for queue in range(queues):
                    known, moment = f"{name}-{cohort}-{queue}-{number}", number * interval * MILLISECOND
                    found.append(Job(submission(known, f"c{cohort}q{queue}", moment, cpus, priority), length * MILLISECOND))
    return sorted(found, key=lambda job: job.fact.time)


def submission(name: str, queue: str, moment: int, cpus: int, priority: int) -> WorkloadSubmitted:
    """A workload comes."""
    pods = PodSet(requests={"cpu": cpus * 1000})
    return WorkloadSubmitted(time=moment, workload=name, queue=queue, priority=priority, pod_sets=(pods,))


def play(kernels: KernelSet, plan: Policy, load: list[Job]) -> tuple[float, list[PlayedChunk]]:
    """Processor seconds in the kernel for a closed loop, and what was played."""
    timed = Timed(kernels)
    core = ArrayCore(kernels=timed.kernels)
    core.step(plan.activation(0), plan.graph)
    loop = core.closed_loop([job.fact for job in load], [job.duration for job in load], False)
    assert loop is not None
    chunks: list[PlayedChunk] = []
    while not chunks or chunks[-1].goes_on:
        chunks.append(loop.play(20_000))
    return timed.spent[c.PLAY] / 1e9, chunks


def count(chunks: list[PlayedChunk], *kinds: int) -> int:
    """How many events of some kinds were played."""
    return sum(int((chunk.events[:, c.E_KIND] == kind).sum()) for chunk in chunks for kind in kinds)


def decided(chunks: list[PlayedChunk]) -> Iterator[bytes]:
    """All decisions of a closed loop, as bytes."""
    for chunk in chunks:
        for _, decisions in chunk.batches():
            yield from (decision.payload() for decision in decisions)


def tell_load(kernels: KernelSet, profile: str, name: str) -> None:
    """Play a load and print how fast it was."""
    cohorts, queues, workloads = LOADS[name]
    plan, load = policy(profile, cohorts, queues), jobs(cohorts, queues, workloads)
    seconds, chunks = play(kernels, plan, load)
    turns = count(chunks, c.ADMITTING, c.EVICTING_ONE)
    said = f"{count(chunks, c.ADMITTING):>8,} {count(chunks, c.EVICTING_ONE):>8,} {count(chunks, c.ADVANCING):>8,}"
    print(f"{profile:<16} {name:<9} {said} {seconds:>8.2f} s {turns / seconds:>10,.0f}/s", flush=True)
    if name != "tenth":
        return
    seconds = play_by_definition(plan, load, chunks)
    print(f"{'':<26} {'the same by the definition':>26} {seconds:>8.2f} s {turns / seconds:>10,.0f}/s", flush=True)


def play_by_definition(plan: Policy, load: list[Job], chunks: list[PlayedChunk]) -> float:
    """Processor seconds in which the definition decides a closed loop: the same as was played in the kernels."""
    with deciding_timed() as spent:
        steps = Simulation(plan, load, Player(DefinitionCore())).run()
        wanted = [decision.payload() for _, decisions in steps for decision in decisions]
    assert wanted == list(decided(chunks)), "the definition decides differently"
    return sum(spent) / 1e9


def cycle_times(kernels: KernelSet | None, profile: str, in_each: int = 100, cycles: int = 40) -> dict[str, list[int]]:
    """Nanoseconds of cycles over ten cohorts with so many heads in each: in the kernels, or by the definition."""
    timed = Timed(kernels) if kernels is not None else None
    core: Core = ArrayCore(kernels=timed.kernels) if timed is not None else DefinitionCore()
    plan = policy(profile, 10, in_each, own_victims=False)
    core.step(plan.activation(0), plan.graph)
    queues = [(cohort, queue) for cohort in range(10) for queue in range(in_each)]
    times: dict[str, list[int]] = {"fit": [], "refused": []}
    moment = 0

    def cycle(kind: str) -> int:
        if timed is not None:
            timed.spent[c.RUN_CYCLE] = 0
        with deciding_timed() as spent:
            found = len(core.step(TimeAdvanced(time=moment)))
        times[kind].append(timed.spent[c.RUN_CYCLE] if timed is not None else sum(spent))
        return found

    for turn in range(cycles):
        moment += 1
        names = [f"f{turn}-{cohort}-{queue}" for cohort, queue in queues]
        for name, (cohort, queue) in zip(names, queues, strict=True):
            core.apply(submission(name, f"c{cohort}q{queue}", moment, 1, 50))
        assert cycle("fit") == len(queues)
        for name in names:
            core.apply(WorkloadFinished(time=moment, workload=name))
    for cohort, queue in queues:
        core.apply(submission(f"full-{cohort}-{queue}", f"c{cohort}q{queue}", moment, 20, 50))
    cycle("fit")
    times["fit"].pop()
    for cohort, queue in queues:
        core.apply(submission(f"head-{cohort}-{queue}", f"c{cohort}q{queue}", moment, 21, 50))
    cycle("refused")
    for turn in range(4 * cycles):
        moment += 1
        for cohort in range(10):
            core.apply(submission(f"passing-{turn}-{cohort}", f"c{cohort}q0", moment, 1, 1))
            core.apply(WorkloadFinished(time=moment, workload=f"full-{cohort}-{turn % in_each}"))
            core.apply(submission(f"full-{cohort}-{turn % in_each}", f"c{cohort}q{turn % in_each}", moment, 20, 100))
        cycle("refused")
    return {kind: found[1:] for kind, found in times.items()}


def tell_cycles(kernels: KernelSet, profile: str) -> None:
    """Time cycles over 1,000 heads."""
    for kind, found in cycle_times(kernels, profile).items():
        ordered = sorted(found)
        middle, most = ordered[len(ordered) // 2] / 1000, ordered[len(ordered) * 99 // 100] / 1000
        print(f"{profile:<16} cycles of 1,000 heads, {kind:<8} {len(ordered):>5} {middle:>10.1f} us {most:>10.1f} us", flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", nargs="+", default=["kueue.classical", "kueue.fair"])
    parser.add_argument("--load", nargs="*", default=list(LOADS), choices=list(LOADS))
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    parser.add_argument("--no-cycles", action="store_true")
    asked = parser.parse_args()
    kernels = compiled_kernels(asked.cache)
    print(f"{'':<26} {'admitted':>8} {'evicted':>8} {'cycles':>8}")
    for profile in asked.profile:
        for name in asked.load:
            tell_load(kernels, profile, name)
        if not asked.no_cycles:
            tell_cycles(kernels, profile)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""How long it takes to find victims among ten thousand, and to look ahead; milliseconds of processor time in the kernels that decide.

    python benchmarks/victims.py [--candidates N] [--profile NAME ...] [--victims N ...] [--runs N] [--cache FOLDER]

A hundred queues that own nothing have borrowed all that another one owns, a GPU for each workload. Then a workload comes for that other
queue, for which 8 have to go, or 1,000, or all. The definition is measured beside it, among a hundredth of the candidates.

Ahead: a thousand workloads of a queue started in different seconds, and each is protected for a day. Whoever comes would have to wait for a
protection to end; but at no moment enough of them may go, because their queue borrows a single GPU. So each moment is looked at.
"""

import argparse
import time
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
from gpol.engine.facts import TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.policy import Policy

FAR = 10**15
QUEUES = 100
SECOND = 1_000_000


class Timed:
    """Kernels, and the nanoseconds of this thread in those that decide since `spent` was last set to 0."""

    def __init__(self, kernels: KernelSet) -> None:
        self._run, self.spent = kernels.run, 0
        self.kernels = KernelSet(self._timed)

    def _timed(self, tables: Any, which: int, number: int) -> int:
        begin = time.thread_time_ns()
        found = self._run(tables, which, number)
        if which in (c.SETTLE, c.RUN_CYCLE):
            self.spent += time.thread_time_ns() - begin
        return found


def submission(name: str, queue: str, gpus: int, moment: int, priority: int | str | None = None) -> WorkloadSubmitted:
    """A workload comes."""
    pods = PodSet(requests={"gpu": gpus * 1000})
    return WorkloadSubmitted(time=moment, workload=name, queue=queue, priority=priority, pod_sets=(pods,))


def borrowed(profile: str, candidates: int) -> tuple[Policy, list[WorkloadSubmitted]]:
    """A policy, and those who borrow all there is under it."""
    reclaims = "" if profile == "gpol.fair" else "\n reclaims from anyone"
    lines = [f'policy "victims" {{ use {profile} }}', "flavor pool { gpu as owned }", "cohort all {"]
    lines += [
        f" queue owner {{\n owns {candidates} gpu{reclaims}\n }}",
        *(f" queue q{number} {{\n owns 0 gpu\n }}" for number in range(QUEUES)),
        "}",
    ]
    policy = Policy.of(check("\n".join(lines), "victims.gpol"))
    return policy, [submission(f"b{number}", f"q{number % QUEUES}", 1, 0) for number in range(candidates)]


def loaded(kernels: KernelSet, policy: Policy, facts: list[WorkloadSubmitted]) -> ArrayCore:
    """A core in which all of these run."""
    core = ArrayCore(kernels=kernels)
    core.step(policy.activation(0), policy.graph)
    loop = core.closed_loop(facts, [FAR] * len(facts), False)
    assert loop is not None
    while (left := len(facts) - int(core._tables.tables.state[c.ADMISSIONS])) > 0:
        loop.play(left)
    return core


def evict(core: ArrayCore | DefinitionCore, name: str, gpus: int) -> None:
    """Let a workload come for so many GPUs that others use, and decide once."""
    found = core.step(submission(name, "owner", gpus, core.time + 1))
    if core.graph is not None and core.graph.settings.cycles is not None:
        found = core.step(TimeAdvanced(time=core.time))
    assert sum(decision.kind == "WorkloadEvicted" for decision in found) == gpus


def rest(core: ArrayCore) -> None:
    """Play cycles until nothing is left to decide."""
    while core.decides_in_cycles and (wake := core.next_wake()) is not None:
        core.step(TimeAdvanced(time=wake))


def victim_times(kernels: KernelSet, profile: str, candidates: int, victims: int, runs: int) -> list[int]:
    """Nanoseconds that it takes to evict so many, run by run."""
    timed, times = Timed(kernels), list[int]()
    policy, facts = borrowed(profile, candidates)
    core = loaded(timed.kernels, policy, facts)
    for turn in range(runs):
        if turn and victims > 8:
            core = loaded(timed.kernels, policy, facts)
        timed.spent = 0
        evict(core, f"w{turn}", victims)
        times.append(timed.spent)
        if victims <= 8:
            rest(core)
            core.step(WorkloadFinished(time=core.time + 1, workload=f"w{turn}"))
            rest(core)
    return times


def by_definition(kernels: KernelSet, profile: str, candidates: int, victims: int) -> float:
    """Seconds in which the definition decides to evict so many; the compiled kernels only play what comes before."""
    policy, facts = borrowed(profile, candidates)
    plain = DefinitionCore(loaded(kernels, policy, facts).state())
    with deciding_timed() as spent:
        evict(plain, "w", victims)
    return sum(spent) / 1e9


def protected(kernels: KernelSet, moments: int) -> ArrayCore:
    """A core in which so many protections end at different moments, and at none of them one that comes would fit."""
    text = f"""policy "ahead" {{ use gpol.fair }}
flavor pool {{ gpu as owned }}
priority vital 1000 {{ never evicted }}
protect young {{ where victim.running < 1d }}
queue owner {{ owns 2 gpu }}
queue others {{ owns {moments - 1} gpu }}
queue vital {{ owns 0 gpu }}
"""
    policy = Policy.of(check(text, "ahead.gpol"))
    facts = [submission("v", "vital", 1, 0, "vital")]
    facts += [submission(f"o{number}", "others", 1, number * SECOND) for number in range(moments)]
    return loaded(kernels, policy, facts)


def look_ahead(core: ArrayCore | DefinitionCore) -> None:
    """Let one come who does not fit at any of these moments."""
    assert core.step(submission("w", "owner", 2, core.time + 1)) == []


def ahead_time(kernels: KernelSet, moments: int) -> int:
    """Nanoseconds that it takes to look at so many moments."""
    timed = Timed(kernels)
    core = protected(timed.kernels, moments)
    timed.spent = 0
    look_ahead(core)
    return timed.spent


def tell_victims(kernels: KernelSet, profile: str, candidates: int, victims: int, runs: int) -> None:
    """Measure and print how long it takes to evict so many."""
    times = victim_times(kernels, profile, candidates, victims, runs)
    few, ready = max(QUEUES, candidates // 100), max(1, victims // 100)
    seconds = by_definition(kernels, profile, few, ready)
    print(
        f"{profile:<16} {victims:>6} of {candidates:,} {sorted(times)[len(times) // 2] / 1e6:>10.3f} ms"
        f"   definition: {ready} of {few:,} {seconds * 1000:>8.1f} ms",
        flush=True,
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--profile", nargs="*", default=["gpol.fair", "kueue.classical", "kueue.fair"])
    parser.add_argument("--victims", type=int, nargs="+", default=[8, 1000, 10_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--moments", type=int, default=1000)
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    asked = parser.parse_args()
    kernels = compiled_kernels(asked.cache)
    for profile in asked.profile:
        for victims in asked.victims:
            tell_victims(kernels, profile, asked.candidates, victims, asked.runs)
    spent = ahead_time(kernels, asked.moments)
    print(f"{'gpol.fair':<16} {asked.moments:,} moments ahead {spent / 1e6:>10.3f} ms", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

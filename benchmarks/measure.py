"""How long the figures of a closed loop take: from columns, compiled, and from the same events as objects.

    python benchmarks/measure.py [JOBS.csv] [--policy FILE ...] [--cache FOLDER] [--chunk N]

Jobs are those of examples/campus, or of a file in the form of the Philly trace; of that the policies are those of examples/philly. Prints
processor seconds of one process; reading the jobs is not counted, nor is making objects of the events. Compiled kernels come from the cache
folder, or are compiled first, and the time for that is said. All figures must be equal; nothing else is asserted.
"""

import argparse
import sys
import time
from pathlib import Path

from gpol.adapters.traces import read_jobs
from gpol.compiled.compile import compiled_kernels
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.cores import PlayedBatch, PlayedChunk
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.columns.column_measure import ColumnMeasure
from gpol.sim.measure.columns.compiled_count import compiled_count
from gpol.sim.measure.columns.table_count import CountKernel
from gpol.sim.measure.measure import Measure

EXAMPLES = Path(__file__).parents[1] / "examples"


def activated(policy: Policy, start: int) -> Measure:
    """A measure that has counted the activation of a policy."""
    measure = Measure()
    measure.take(policy.activation(start), [], policy.graph)
    return measure


def compare(policy: Policy, jobs: list[Job], kernels: KernelSet, count: CountKernel, size: int) -> bool:
    """Play jobs, measure them twice and print how long each took; say whether the figures are equal."""
    facts, core = [job.fact for job in jobs], ArrayCore(kernels=kernels)
    begin = time.process_time()
    core.step(policy.activation(facts[0].time), policy.graph)
    loop = core.closed_loop(facts, [job.duration for job in jobs], False)
    assert loop is not None
    ready, chunks = time.process_time(), list[PlayedChunk]()
    while not chunks or chunks[-1].goes_on:
        chunks.append(loop.play(size))
    played = time.process_time()
    columns = ColumnMeasure(activated(policy, facts[0].time), policy.graph, facts, count)
    set_up = time.process_time()
    for chunk in chunks:
        columns.take(chunk)
    found = columns.measure()
    counted = time.process_time()
    wanted, taken, events = activated(policy, facts[0].time), 0.0, 0
    for chunk in chunks:
        batches: list[PlayedBatch] = list(chunk.batches())
        before = time.process_time()
        for fact, decisions in batches:
            wanted.take(fact, decisions, policy.graph)
        taken += time.process_time() - before
        events += len(chunk.events)
    ratio = taken / (counted - played)
    print(f"{policy.file}: {events:,} events in {len(chunks)} chunks, played in {ready - begin:.2f} + {played - ready:.2f} s")
    print(f"  by columns {set_up - played:.3f} + {counted - set_up:.3f} s, from objects {taken:.2f} s, {ratio:.0f} times")
    return found == wanted


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLES / "campus" / "workloads.csv")
    parser.add_argument("--policy", type=Path, action="append")
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    parser.add_argument("--chunk", type=int, default=2_000, help="after how many events a chunk ends")
    asked = parser.parse_args()
    philly = "philly" in asked.file.name
    own = [EXAMPLES / "philly" / "full.gpol", EXAMPLES / "philly" / "quarter.gpol"] if philly else [EXAMPLES / "campus" / "campus.gpol"]
    jobs = read_jobs(asked.file, "philly" if philly else None)
    begin = time.process_time()
    kernels = compiled_kernels(asked.cache)
    print(f"kernels of the core compiled or loaded in {time.process_time() - begin:.1f} s")
    begin = time.process_time()
    count = compiled_count(asked.cache)
    print(f"kernels that count compiled or loaded in {time.process_time() - begin:.1f} s")
    for path in asked.policy or own:
        if not compare(Policy.of(check(path.read_text(), path.name)), jobs, kernels, count, asked.chunk):
            print("the figures differ", file=sys.stderr)
            return 1
    print("all figures are equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())

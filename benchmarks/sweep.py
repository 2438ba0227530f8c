"""How long a sweep takes: many variants of a policy over one recorded history, and what the definition says of some of them.

    python benchmarks/sweep.py [JOBS.csv] [--policy FILE] [--variants N] [--check N] [--backend local|dask] [--jobs N]

Jobs are those of examples/campus, or of a file in the form of the Philly trace; of that the policy is examples/philly/full.gpol. They are
simulated into a journal first, which is not counted. The variants let several queues own other amounts than in the policy. Prints wall
time and processor seconds of all processes, the parts of one variant in one process, and how many variants have decisions that differ from
the record, and outcomes that differ from one another. `--check` variants, spread over all, are also played by the definition, one by one:
each outcome must be equal in every field. Compiled kernels come from the user's cache; where they are missing the script says so and ends.
"""

import argparse
import resource
import sys
import tempfile
import time
from contextlib import closing
from itertools import islice, product
from pathlib import Path

from gpol.adapters.traces import read_jobs
from gpol.dsl import check
from gpol.dsl.settable import parse_path, settables, with_values
from gpol.journal.journal import Journal
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact.columns.played_columns import Tools, begun, fast_tools
from gpol.sim.impact.columns.record import Record, compare, read_record
from gpol.sim.impact.sweep import Backend, PolicyVariant, VariantFailure, VariantOutcome, play_variant, sweep
from joblib.externals.loky import get_reusable_executor

EXAMPLES = Path(__file__).parents[1] / "examples"
PHILLY = ["queue.b436b2.owns.pool.gpu", "queue.ee9e8c.owns.pool.gpu", 'queue."6214e9".owns.pool.gpu', 'queue."2869ce".owns.pool.gpu']
CAMPUS = ["queue.vision.owns.a100.gpu", "queue.nlp.owns.a100.gpu", "queue.nlp.owns.h100.gpu"]


def variants_of(policy: Policy, paths: list[str], count: int) -> list[PolicyVariant]:
    """So many variants, in which queues own less than in the policy, each in steps of an eighth."""
    numbers = {each.path: policy.text[each.span.start : each.span.end] for each in settables(policy.text, policy.file)}
    owned = {path: int(numbers[parse_path(path)]) for path in paths}
    steps = [[f"{owned[path] * eighths // 8}" for eighths in range(8, 0, -1)] for path in paths]
    found = []
    for values in islice(product(*steps), 1, None, max(1, (8 ** len(paths) - 1) // count)):
        chosen = dict(zip(paths, values, strict=True))
        found.append(PolicyVariant(policy.file, with_values(policy.text, policy.file, chosen), tuple(chosen.items())))
    return found[:count]


def record(place: str, policy: Policy, jobs: list[Job], tools: Tools) -> int:
    """Simulate jobs into a new journal; how many events that makes."""
    with Journal.create(place) as journal:
        for _ in Simulation(policy, jobs, Player(tools.core(), journal)).chunks():
            pass
        return journal.head.seq


def play_all(
    place: str, tried: list[PolicyVariant], tools: Tools, backend: Backend, jobs: int = -1
) -> tuple[list[VariantOutcome | VariantFailure], float, float]:
    """What comes of all variants; the seconds on the clock and those of processors, workers included from their start to their end."""
    begin, used = time.perf_counter(), cpu()
    with closing(sweep(place, tried, "restart", backend, jobs, tools=tools)) as found:
        outcomes = list(found)
    get_reusable_executor().shutdown(wait=True)
    return outcomes, time.perf_counter() - begin, cpu() - used


def cpu() -> float:
    """Processor seconds of this process and of those that have ended."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def parts(record: Record, tools: Tools, tried: list[PolicyVariant]) -> None:
    """Print the parts of some variants, one process."""
    sums = dict.fromkeys(("check", "rows of jobs", "play", "all of comparing"), 0.0)
    for variant in tried:
        times = [time.process_time()]
        policy = Policy.of(check(variant.text, variant.file))
        times.append(time.process_time())
        loop = begun(tools.core(), record.todo.under(policy.activation(record.activation.time)), policy.graph)
        assert loop is not None
        times.append(time.process_time())
        while loop.play(50_000).goes_on:
            pass
        times.append(time.process_time())
        compare(record, policy, tools)
        times.append(time.process_time())
        for name, begin, end in zip(sums, times[:-1], times[1:], strict=True):
            sums[name] += end - begin
    told = ", ".join(f"{name} {taken / len(tried):.3f} s" for name, taken in sums.items())
    print(f"a variant, in one process: {told}, which has the rows and the play in it")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLES / "campus" / "workloads.csv")
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--variants", type=int, default=200)
    parser.add_argument("--check", type=int, default=10, help="so many are played by the definition too, which takes long")
    parser.add_argument("--backend", choices=["local", "dask"], default="local")
    parser.add_argument("--jobs", type=int, default=-1)
    asked = parser.parse_args()
    philly = "philly" in asked.file.name
    path = asked.policy or EXAMPLES / ("philly/full.gpol" if philly else "campus/campus.gpol")
    jobs = read_jobs(asked.file, "philly" if philly else None)
    tools, why = fast_tools(2 * len(jobs))
    if tools is None:
        print(why or "too few jobs for compiled kernels", file=sys.stderr)
        return 1
    policy = Policy.of(check(path.read_text(), path.name))
    tried = variants_of(policy, PHILLY if philly else CAMPUS, asked.variants)
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "history.db")
        events = record(place, policy, jobs, tools)
        outcomes, wall, taken = play_all(place, tried, tools, asked.backend, asked.jobs)
        made = [outcome for outcome in outcomes if isinstance(outcome, VariantOutcome)]
        print(f"{events:,} events, {len(tried)} variants, {len(tried) - len(made)} failed, backend {asked.backend}")
        print(f"  wall {wall:.1f} s, processor {taken:.1f} s, {taken / len(tried):.2f} s a variant")
        otherwise, apart = sum(each.changed > 0 for each in made), len({repr(each) for each in made})
        print(f"  {otherwise} decide otherwise than recorded; {apart} different outcomes")
        with Journal.open(place) as journal:
            begin = time.process_time()
            found = read_record(journal, "restart", events, tools)
            print(f"reading, playing and comparing the record: {time.process_time() - begin:.2f} s")
        assert found is not None
        parts(found, tools, tried[:: max(1, len(tried) // 10)])
        different = 0
        for number in range(0, len(tried), max(1, len(tried) // asked.check) if asked.check else len(tried) + 1)[: asked.check]:
            begin = time.process_time()
            alone = play_variant(place, tried[number], "restart", events)
            same = alone == outcomes[number]
            different += not same
            print(
                f"  variant {number} by the definition: {time.process_time() - begin:.1f} s, {'equal' if same else 'DIFFERENT'}", flush=True
            )
    if asked.check:
        print(f"{different} of those that were played by the definition are different")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())

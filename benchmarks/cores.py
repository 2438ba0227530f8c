"""How long the cores take for the same facts: the definition, the core over arrays as it stands, and compiled.

    python benchmarks/cores.py [JOBS.csv] [--jobs N] [--policy FILE] [--cache FOLDER]

Jobs are those of examples/campus, or of a file in the form of the Philly trace. Prints processor seconds of one process, and the ratio to
the definition; the compiled kernels come from the cache folder, or are compiled first, and the time for that is said. All cores must decide
the same; nothing else is asserted.
"""

import argparse
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from gpol.adapters.traces import read_jobs
from gpol.compiled.compile import compiled_kernels
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation

EXAMPLES = Path(__file__).parents[1] / "examples"


def played(policy: Policy, jobs: list[Job], core: Core) -> tuple[float, int, str]:
    """Processor seconds for all facts of a simulation, how many they are, and a digest of the decisions."""
    digest, facts, begin = sha256(), 0, time.process_time()
    for _, decisions in Simulation(policy, jobs, Player(core)).run():
        facts += 1
        for decision in decisions:
            digest.update(decision.payload())
    return time.process_time() - begin, facts, digest.hexdigest()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLES / "campus" / "workloads.csv")
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--policy", type=Path, default=EXAMPLES / "campus" / "campus.gpol")
    parser.add_argument("--cache", type=Path, default=Path("build/kernels"))
    asked = parser.parse_args()
    policy = Policy.of(check(asked.policy.read_text(), asked.policy.name))
    jobs = list(read_jobs(asked.file, "philly" if "philly" in asked.file.name else None))[: asked.jobs]
    begin = time.process_time()
    kernels = compiled_kernels(asked.cache)
    print(f"kernels compiled or loaded in {time.process_time() - begin:.1f} s")
    cores: dict[str, Callable[[], Core]] = {
        "definition": DefinitionCore,
        "over arrays, as it stands": ArrayCore,
        "over arrays, compiled": lambda: ArrayCore(kernels=kernels),
    }
    first: tuple[float, str] | None = None
    for name, new in cores.items():
        seconds, facts, digest = played(policy, jobs, new())
        first = first or (seconds, digest)
        print(f"{name:<28} {facts:>9,} facts {seconds:>8.2f} s {facts / seconds:>10,.0f} facts/s {first[0] / seconds:>6.1f} times")
        if digest != first[1]:
            print(f"{name} decides differently", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

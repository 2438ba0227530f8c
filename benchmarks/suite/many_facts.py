"""Facts of a file, played by `gpol run` with a journal: the history of the example campus, again and again."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from gpol.adapters.traces import read_jobs
from gpol.cli.run.fact_lines import Facts, open_facts, play
from gpol.cli.speed.garbage import seldom_collecting
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.facts import WorkloadFinished, WorkloadSubmitted
from gpol.engine.units import MINUTE
from gpol.journal.journal import Journal
from gpol.journal.read.snapshots import Snapshotter
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.measure.columns.compiled_count import count_at_hand
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.never_ran import NeverRan

from .figure import Figure, cpu_seconds
from .start import children_seconds

FOLDER = Path(__file__).parents[2] / "examples" / "campus"
FACTS, FEW = 300_000, 6_000


def many_facts(runs: int) -> Iterator[Figure]:
    """The whole command for many facts; the definition plays a few in the same way."""
    file = FOLDER / "campus.gpol"
    policy = Policy.of(check(file.read_text(encoding="utf-8"), file.name))
    with tempfile.TemporaryDirectory() as folder:
        many, few = Path(folder) / "many.jsonl", Path(folder) / "few.jsonl"
        write_facts(policy, many, FACTS)
        with many.open("rb") as facts:
            few.write_bytes(b"".join(islice(facts, FEW)))
        definition = cpu_seconds(lambda: play_file(policy, few, DefinitionCore()))
        gpol, values = str(Path(sys.executable).with_name("gpol")), list[float]()
        for turn in range(runs):
            values.append(children_seconds([gpol, "run", str(file), str(many), "--journal", f"{folder}/{turn}.db"]))
        told = f"gpol run --journal of {FACTS:,} facts, the whole command"
        yield Figure("given facts", told, "s", tuple(values), FACTS, 30.0, definition, FEW)


def write_facts(policy: Policy, file: Path, count: int) -> None:
    """Write so many facts: submissions and ends, each time of the same jobs by other names, later."""
    played = [
        fact
        for fact, _ in Simulation(policy, read_jobs(FOLDER / "workloads.csv", None), Player(ArrayCore())).run()
        if isinstance(fact, WorkloadSubmitted | WorkloadFinished)
    ]
    lasts = played[-1].time - played[0].time + 60 * MINUTE
    with file.open("wb") as out:
        for number in range(count):
            turn, fact = number // len(played), played[number % len(played)]
            again = {"time": fact.time + turn * lasts, "workload": f"{fact.workload}-{turn}"}
            out.write(fact.model_copy(update=again).payload() + b"\n")


def play_file(policy: Policy, file: Path, core: Core) -> int:
    """Play facts as `gpol run` does with a journal, in this process; how many events that makes."""
    figures, never_ran = HistoryMeasure(None, count_at_hand), NeverRan()
    with tempfile.TemporaryDirectory() as folder, seldom_collecting(), ExitStack() as stack:
        journal = stack.enter_context(Journal.create(Path(folder) / "journal.db"))
        player = Player(core, stack.enter_context(Snapshotter(journal, core)))
        lines = Facts(str(file), open_facts(str(file), stack), False)
        for played in play(policy, lines, player):
            figures.take(played, policy.graph)
            never_ran.take(played)
        figures.measure()
        player.flush()
        return journal.head.seq

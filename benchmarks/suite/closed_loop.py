"""Jobs in virtual time: reading them, playing them with and without a journal, and the whole command."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from gpol.adapters.traces import read_jobs
from gpol.cli.speed.garbage import seldom_collecting
from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.journal.journal import Journal
from gpol.journal.read.snapshots import Snapshotter
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.measure.columns.compiled_count import compiled_count
from gpol.sim.measure.columns.history_measure import HistoryMeasure

from .figure import Figure, cpu_seconds
from .start import CAMPUS, PHILLY, ROOT, children_seconds

FEW_JOBS = 2_000
"""How many jobs the definition plays."""


def closed_loop(runs: int) -> Iterator[Figure]:
    """The Philly trace where it is at hand, else the jobs of the example campus."""
    philly = PHILLY.exists()
    path, form = (PHILLY, "philly") if philly else (CAMPUS, None)
    jobs = read_jobs(path, form)
    yield Figure("closed loop", f"read {path.name}", "s", tuple(cpu_seconds(lambda: read_jobs(path, form)) for _ in range(runs)), len(jobs))
    policies = [("philly/full.gpol", 1.0, 4.0), ("philly/quarter.gpol", 3.0, 8.0)] if philly else [("campus/campus.gpol", None, None)]
    for name, alone, kept in policies:
        file = ROOT / "examples" / name
        policy = Policy.of(check(file.read_text(encoding="utf-8"), file.name))
        for told, journal, goal in (("no journal", False, alone), ("a journal on SQLite", True, kept)):
            definition = _seconds(policy, jobs[:FEW_JOBS], DefinitionCore(), journal)
            values = tuple(_seconds(policy, jobs, ArrayCore(kernels=compiled_kernels(kernel_folder())), journal) for _ in range(runs))
            yield Figure("closed loop", f"{name}, {told}", "s", values, len(jobs), goal, definition, FEW_JOBS)
        values = tuple(_command(file, path, form) for _ in range(runs))
        yield Figure("closed loop", f"gpol simulate {name} --journal, the whole command", "s", values, len(jobs))


def _seconds(policy: Policy, jobs: list[Job], core: Core, journal: bool) -> float:
    return cpu_seconds(lambda: played(policy, jobs, core, journal))


def played(policy: Policy, jobs: list[Job], core: Core, journal: bool) -> int:
    """Play as `gpol simulate` does, from jobs in memory to figures; how many events that makes."""
    player = Player(core)
    with tempfile.TemporaryDirectory() as folder, seldom_collecting(), ExitStack() as stack:
        if journal:
            kept = stack.enter_context(Journal.create(Path(folder) / "journal.db"))
            player.sink = stack.enter_context(Snapshotter(kept, core))
        _measure(policy, jobs, player)
        return core.seq


def _measure(policy: Policy, jobs: list[Job], player: Player) -> None:
    figures = HistoryMeasure(None, lambda: compiled_count(kernel_folder()))
    for played in Simulation(policy, jobs, player).chunks():
        figures.take(played, policy.graph)
    figures.measure().check_accounts()


def _command(policy: Path, jobs: Path, form: str | None) -> float:
    gpol = str(Path(sys.executable).with_name("gpol"))
    with tempfile.TemporaryDirectory() as folder:
        trace = ["--trace", form] if form is not None else []
        return children_seconds([gpol, "simulate", str(policy), str(jobs), "--journal", f"{folder}/journal.db", *trace])

"""The Philly trace under the shipped policies: everything is accounted for, and owners wait no longer than protections allow.

The trace stays outside the project; without it these tests are skipped.
"""

import csv
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from gpol.adapters.traces import read_jobs
from gpol.compiled.fast_core import fast_core
from gpol.dsl.analysis.checker import check
from gpol.engine.cores import Core
from gpol.journal.journal import Journal
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact.closed_impact import closed_impact
from gpol.sim.measure.figures import History
from gpol.sim.measure.measure import Measure

MINUTE = 60_000_000
TEN_MINUTES = 10 * MINUTE

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]


@pytest.fixture(scope="module")
def trace(shared: Path) -> Path:
    """The trace's file."""
    return shared / "traces" / "philly_sia" / "philly.csv"


@pytest.fixture(scope="module")
def jobs(trace: Path) -> list[Job]:
    """All jobs of the trace."""
    return read_jobs(trace, "philly")


def fast() -> Core:
    """A core that decides a long history in little time."""
    return fast_core(lambda _: None, is_long=True)


def play(root: Path, policy: str, jobs: list[Job], fraction: int = 1, protected: str | None = None) -> Measure:
    """Play jobs under a policy of examples/philly, on a fraction of its nodes; the measure stops at a contradiction.

    `protected` is for how long whoever was admitted is protected, instead of what the policy says.
    """
    path = root / "examples" / "philly" / policy
    text = path.read_text(encoding="utf-8")
    smaller = re.sub(r"(owns|gpu) (\d+)", lambda found: f"{found[1]} {int(found[2]) // fraction}", text)
    if protected is not None:
        smaller = re.sub(r"running < \w+", f"running < {protected}", smaller)
    checked = check(smaller, path.name)
    player, measure = Player(fast()), Measure()
    for fact, decisions in Simulation(Policy.of(checked), jobs, player).run():
        measure.take(fact, decisions, player.core.graph)
    measure.check_accounts()
    return measure


def test_the_whole_trace(root: Path, trace: Path, jobs: list[Job]) -> None:
    """All 82,247 jobs end under `full.gpol`, and the GPU-hours of each virtual cluster are those of the trace, to the GPU-second."""
    measure = play(root, "full.gpol", jobs)

    expected: Counter[str] = Counter()
    with trace.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            expected[row["cluster"]] += int(Fraction(row["duration"]) * int(row["num_gpus"]))
    assert sum(figures.finished for figures in measure.queues.values()) == len(jobs) == 82_247
    assert {name: figures.used_area // (1000 * 1_000_000) for name, figures in measure.queues.items()} == dict(expected)
    assert not measure.decisions - 82_247, "nothing was evicted: the cluster is never full"


def test_owners_wait_no_longer_than_protections_allow(root: Path, jobs: list[Job]) -> None:
    """On a seventh of the nodes, with a hundred evictions, no job that fits what its queue owns waits beyond ten minutes."""
    measure = play(root, "full.gpol", jobs[:1_400], fraction=7)

    assert sum(figures.evicted for figures in measure.queues.values()) > 100
    assert all(figures.owner_wait(measure.end) <= TEN_MINUTES for figures in measure.queues.values())


def test_owners_do_wait_for_protections_to_end(root: Path, jobs: list[Job]) -> None:
    """With an hour of protection some owners do wait for GPUs they own, since nobody younger may be evicted; none beyond the hour."""
    measure = play(root, "quarter.gpol", jobs[:2_000], fraction=2, protected="1h")

    waits = [figures.owner_wait(measure.end) for figures in measure.queues.values()]
    assert MINUTE < max(waits) <= 60 * MINUTE


def test_impact_makes_what_simulate_makes(root: Path, tmp_path: Path, jobs: list[Job]) -> None:
    """With what one virtual cluster owns halved, impact on the journal of 2,000 jobs has every figure of a simulation under that policy."""
    text = (root / "examples" / "philly" / "quarter.gpol").read_text(encoding="utf-8")
    text = re.sub(r"(owns|gpu) (\d+)", lambda found: f"{found[1]} {int(found[2]) // 4}", text)
    halved = text.replace("queue b436b2 { owns 32 gpu }", "queue b436b2 { owns 16 gpu }")
    assert halved != text
    old, new = (Policy.of(check(each, "quarter.gpol")) for each in (text, halved))
    with Journal.create(tmp_path / "philly.db") as journal:
        for _ in Simulation(old, jobs[:2_000], Player(fast(), journal)).run():
            pass
        found = closed_impact(journal, new, explain=False)
    player, measure = Player(fast()), Measure()
    for fact, decisions in Simulation(new, jobs[:2_000], player).run():
        measure.take(fact, decisions, player.core.graph)

    assert found.after == History.of(measure)
    assert found.changed > 100
    assert found.compared == 2_000

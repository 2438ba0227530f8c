"""Sweeps: which variants there are, and that every backend gives the same outcomes in the same order."""

import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from gpol.dsl.settable import SettingError
from gpol.engine.cores import PlayedBatch
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.journal import Journal
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.run_lengths import Submission, recorded_lengths
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact.columns.record import Record
from gpol.sim.impact.sweep import MissingExtraError, PolicyVariant, VariantFailure, VariantOutcome, play_variant, sweep, values_of, variants

TEXT = """policy "p" { use gpol.fair }
flavor a100 { gpu 8 }
cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}
protect warm-up { where victim.running < 10m }
"""


@pytest.fixture
def place(tmp_path: Path, policy: Callable[..., Policy], job: Callable[..., Job]) -> str:
    """A journal in which a guest yields to an owner after ten minutes."""
    path = tmp_path / "j.db"
    jobs = [job("g", "guest", "0s", "2h"), job("o", "owner", "1m", "1h")]
    with Journal.create(path) as journal:
        batches: list[PlayedBatch] = list(Simulation(policy(TEXT), jobs, Player(sink=journal)).run())
    assert batches
    return str(path)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("32..96:16", ("32", "48", "64", "80", "96")),
        ("1..2:5", ("1",)),
        ("5m..15m:5m", ("5m", "10m", "15m")),
        ("500..1000:250m", ("500m", "750m", "1000m")),
        ("8", ("8",)),
        ("80Gi,1,2.5", ("80Gi", "1", "2.5")),
    ],
)
def test_values_are_a_range_or_a_list(text: str, values: tuple[str, ...]) -> None:
    """A range has its ends, as far as steps reach; its unit may be said once."""
    assert values_of(text) == values


@pytest.mark.parametrize("text", ["1..5", "5..1:1", "1..5:0", "1m..5h:1m", "1..5:1:1", "a..b:c", "0..100000:1", f"0..{'9' * 5000}:1"])
def test_what_is_no_range_is_refused(text: str) -> None:
    """Without a step, downwards, in two units, or longer than a sweep may be."""
    with pytest.raises(SettingError):
        values_of(text)


def test_settings_multiply_in_order() -> None:
    """Each policy with each combination, the last path's values changing fastest; the name says what was set."""
    made = variants([PolicyVariant("p.gpol", TEXT)], {"queue.owner.owns.a100": ("4", "8"), "protect.warm-up.victim.running": ("5m", "1h")})

    assert [each.name for each in made] == [
        f"p.gpol queue.owner.owns.a100={owned} protect.warm-up.victim.running={minutes}" for owned in ("4", "8") for minutes in ("5m", "1h")
    ]
    assert "owns 4 gpu" in made[0].text
    assert "running < 1h" in made[1].text


def test_a_sweep_is_bounded() -> None:
    """The message says how many policies that would have been."""
    with pytest.raises(SettingError, match="makes 1,024 policies; a sweep plays at most 200"):
        variants([PolicyVariant("p.gpol", TEXT)], {"queue.owner.owns.a100": ("4",) * 32, "protect.warm-up.victim.running": ("5m",) * 32})


TRIED = variants([PolicyVariant("p.gpol", TEXT)], {"protect.warm-up.victim.running": ("30m", "10m", "0s")})


def _told(found: list[VariantOutcome | VariantFailure]) -> list[tuple[int, int, str | None]]:
    assert all(isinstance(each, VariantOutcome) for each in found)
    return [(each.changed, each.after.total.evicted, each.worst_queue) for each in found if isinstance(each, VariantOutcome)]


EXPECTED = [
    (6, 1, "owner"),  # an eviction and an admission gone and new, and the guest's second admission
    (0, 1, None),
    (6, 1, None),  # the owner goes first, at once
]


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_of_this_machine_give_outcomes_in_order(place: str, jobs: int) -> None:
    """In this process or in others; the order is that of the variants."""
    with closing(sweep(place, TRIED, "restart", "local", jobs)) as found:
        assert _told(list(found)) == EXPECTED


def test_workers_find_the_journal_wherever_they_were_started(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be those of an earlier sweep, or of a cluster, with another working folder."""
    with closing(sweep(place, TRIED, "restart", "local", 2)) as found:
        wanted = list(found)
    monkeypatch.chdir(tmp_path)
    for relative in ("j.db", "sqlite:///j.db"):
        with closing(sweep(relative, TRIED, "restart", "local", 2)) as found:
            assert list(found) == wanted


def test_a_dask_cluster_gives_the_same(place: str) -> None:
    """Two workers of a cluster that is there already, found by its address."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address="localhost:0") as cluster,
        closing(sweep(place, TRIED, "restart", "dask", 2, cluster.scheduler_address)) as found,
    ):
        assert _told(list(found)) == EXPECTED


@pytest.mark.parametrize(("backend", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_a_backend_that_is_not_installed_names_its_extra(place: str, monkeypatch: pytest.MonkeyPatch, backend: str, library: str) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(MissingExtraError, match=rf"install gpol\[{backend}\]"):
        list(sweep(place, TRIED, "restart", backend))  # type: ignore[arg-type]


def test_a_failure_is_data(place: str, tmp_path: Path) -> None:
    """A worker that cannot open the journal, or whose variant is no policy, tells so and takes no other with it."""
    missing = play_variant(str(tmp_path / "none.db"), TRIED[0], "restart")
    broken = play_variant(place, PolicyVariant("p.gpol", "nothing at all"), "restart")

    assert isinstance(missing, VariantFailure)
    assert (missing.kind, "none.db" in missing.message) == ("journal", True)
    assert isinstance(broken, VariantFailure)
    assert broken.kind == "defect"


def test_a_worker_that_is_killed_takes_no_other_outcome_with_it(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel kills one that takes too much memory: outcomes that are there stay, the others are lost by name."""

    def killed(
        place: str, variant: PolicyVariant, on_evict: OnEvict, upto: int | None = None, record: Record | None = None
    ) -> VariantOutcome | VariantFailure:
        if variant is not TRIED[0]:
            raise BrokenProcessPool("killed")
        return play_variant(place, variant, on_evict, upto, record)

    monkeypatch.setattr("gpol.sim.impact.sweep.play_variant", killed)
    found = list(sweep(place, TRIED, "restart", "local", 1))
    assert isinstance(found[0], VariantOutcome)
    assert [each.kind for each in found[1:] if isinstance(each, VariantFailure)] == ["lost", "lost"]


def test_what_is_appended_meanwhile_is_no_part_of_it(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that grows while it is played again is played as far as it went when that began; so every variant plays the same."""
    [variant] = variants([PolicyVariant("p.gpol", TEXT)], {"protect.warm-up.victim.running": ("30m",)})
    alone = play_variant(place, variant, "restart")
    with Journal.open(place) as journal:
        head = journal.head.seq

    def late(*arguments: Any) -> dict[Submission, int]:
        lengths = recorded_lengths(*arguments)
        with Journal.open(place, readonly=False) as writer:
            time = writer.at(writer.head.seq).event.time + 1
            pods = (PodSet(requests={"gpu": 1000}),)
            writer.append([[WorkloadSubmitted(time=time, workload=f"late-{time}", queue="guest", pod_sets=pods)]])
        return lengths

    monkeypatch.setattr("gpol.sim.impact.closed_impact.recorded_lengths", late)
    assert play_variant(place, variant, "restart") == alone
    assert play_variant(place, variant, "restart", head) == alone

"""How long recorded workloads run, as read from a journal."""

from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.engine.cores import PlayedBatch
from gpol.engine.event_parts import PodSet
from gpol.engine.events import AnyEvent, WorkloadAdmitted
from gpol.engine.facts import WorkloadFinished, WorkloadSubmitted
from gpol.engine.outcome.grounds import Why
from gpol.engine.units import HOUR, MINUTE
from gpol.journal.errors import DamagedError
from gpol.journal.journal import Journal
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.run_lengths import recorded_lengths


def _kept(place: Path, batches: list[list[AnyEvent]]) -> Journal:
    with Journal.create(place) as journal:
        journal.append(batches)
    return Journal.open(place)


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_lengths_are_the_durations_of_the_jobs(
    tmp_path: Path, policy: Callable[..., Policy], job: Callable[..., Job], simulated: Callable[..., list[PlayedBatch]], on_evict: OnEvict
) -> None:
    """What a simulation was told comes out again, for jobs that were evicted, too; under `resume` runs are added up."""
    jobs = [job("g", "guest", "0s", "1h40m"), job("never", "owner", "0s", "1h", "9"), job("o", "owner", "40m", "20m")]
    batches = [[fact, *decisions] for fact, decisions in simulated(policy(), jobs, on_evict)]
    with _kept(tmp_path / "j.db", batches) as journal:
        assert recorded_lengths(journal, on_evict) == {("g", 1): HOUR + 40 * MINUTE, ("o", 1): 20 * MINUTE}


def _submitted(time: int, name: str) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue="q", pod_sets=(PodSet(requests={"gpu": "1"}),))


def _admitted(time: int, name: str, cause: int) -> WorkloadAdmitted:
    return WorkloadAdmitted(
        time=time, cause=cause, workload=name, queue="q", priority=0, reason="FitsOwned", assignments=(), usage=(), borrowed=(), why=Why()
    )


def test_submissions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """The second workload under a name has a length of its own."""
    batches: list[list[AnyEvent]] = [
        [_submitted(0, "a"), _admitted(0, "a", 1)],
        [WorkloadFinished(time=5, workload="a")],
        [_submitted(10, "a"), _admitted(10, "a", 4)],
        [WorkloadFinished(time=12, workload="a")],
    ]
    with _kept(tmp_path / "j.db", batches) as journal:
        assert recorded_lengths(journal, "restart") == {("a", 1): 5, ("a", 2): 2}


@pytest.mark.parametrize("before", [[], [[_submitted(0, "a")]]])
def test_an_end_that_cannot_be_is_damage(tmp_path: Path, before: list[list[AnyEvent]]) -> None:
    """An end of a workload that is not live, or does not run, is named by its seq."""
    with _kept(tmp_path / "j.db", [*before, [WorkloadFinished(time=5, workload="a")]]) as journal:
        with pytest.raises(DamagedError, match="cannot have happened then") as damaged:
            recorded_lengths(journal, "restart")
        assert damaged.value.seq == len(before) + 1

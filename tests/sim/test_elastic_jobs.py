"""Elastic jobs: how long they run with more and fewer pods, what they hold, and what an eviction costs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.engine.cores import PlayedBatch
from gpol.engine.events import WorkloadEvicted, WorkloadResized
from gpol.engine.facts import WorkloadFinished
from gpol.engine.units import HOUR
from gpol.journal.journal import Journal
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.run_lengths import recorded_lengths
from gpol.sim.impact.closed_impact import closed_impact
from gpol.sim.measure.measure import Measure

Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]

PODS = [{"count": 8, "minimum": 2, "requests": {"gpu": "1"}}]


def ends(batches: list[PlayedBatch]) -> dict[str, int]:
    """When each job ended, in microseconds."""
    return {fact.workload: fact.time for fact, _ in batches if isinstance(fact, WorkloadFinished)}


def measured(policy: Policy, batches: list[PlayedBatch]) -> Measure:
    """The figures of a run."""
    measure = Measure()
    for fact, decisions in batches:
        measure.take(fact, decisions, policy.graph)
    measure.check_accounts()
    return measure


@pytest.fixture
def beside(job: MakeJob) -> list[Job]:
    """An elastic job of 8 pods and 4 hours, at first beside one of 4 GPUs for an hour."""
    return [job("s", "owner", "0s", "1h", "4"), job("e", "owner", "0s", "4h", pod_sets=PODS)]


def test_work_is_pods_times_time(policy: Make, simulated: Run, beside: list[Job]) -> None:
    """An hour with half of its pods is half an hour of its work; then it has all of them."""
    made = policy()
    batches = simulated(made, beside)
    assert ends(batches) == {"s": HOUR, "e": HOUR + 7 * HOUR // 2}
    assert [decision.changes[0].added for _, decisions in batches for decision in decisions if isinstance(decision, WorkloadResized)] == [4]
    figures = measured(made, batches).queues["owner"]
    assert (figures.finished, figures.used_area) == (2, 1000 * (4 + 32) * HOUR), "GPU-hours go by what it holds at each moment"


def test_an_end_is_at_the_next_whole_microsecond(policy: Make, job: MakeJob, simulated: Run) -> None:
    """With 3 of 8 pods a job of one microsecond takes three of them."""
    e = job("e", "owner", "0s", "1s", pod_sets=PODS)
    jobs = [job("s", "owner", "0s", "1h", "5"), Job(e.fact, 1)]
    assert ends(simulated(policy(), jobs))["e"] == 3


@pytest.mark.parametrize(("on_evict", "end"), [("restart", 3 * HOUR), ("resume", 5 * HOUR // 2)])
def test_what_an_eviction_costs(policy: Make, job: MakeJob, simulated: Run, on_evict: OnEvict, end: int) -> None:
    """A job that is evicted begins again, or goes on with the work that is left, whatever pods it did it with."""
    small = job("s", "owner", "0s", "30m", "4")
    jobs = [small, job("e", "guest", "0s", "1h", pod_sets=PODS), job("o", "owner", "45m", "75m", "8")]
    batches = simulated(policy(), jobs, on_evict)
    assert sum(isinstance(decision, WorkloadEvicted) for _, decisions in batches for decision in decisions) == 1
    assert ends(batches) == {"s": HOUR // 2, "o": 2 * HOUR, "e": end}, "half of its work was done in half an hour and a quarter"


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_the_same_policy_gives_the_same_history(
    tmp_path: Path, policy: Make, job: MakeJob, simulated: Run, beside: list[Job], on_evict: OnEvict
) -> None:
    """The recorded work comes out again, and impact under the same policy finds no difference."""
    made, jobs = policy(), [*beside, job("g", "guest", "1h", "1h", pod_sets=PODS), job("t", "owner", "90m", "7m", "3")]
    jobs = sorted(jobs, key=lambda each: each.fact.time)
    batches = simulated(made, jobs, on_evict)
    with Journal.create(tmp_path / "j.db") as journal:
        journal.append([[fact, *decisions] for fact, decisions in batches])
    with Journal.open(tmp_path / "j.db") as journal:
        lengths = recorded_lengths(journal, on_evict)
        assert lengths[("e", 1)] == 8 * 4 * HOUR
        found: Any = closed_impact(journal, made, on_evict)
        assert found.nothing_changes

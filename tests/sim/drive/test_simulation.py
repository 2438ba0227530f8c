"""Virtual time: what comes first at one moment, what an eviction costs, and that every simulation ends."""

from collections.abc import Callable

import pytest
from gpol.engine.cores import PlayedBatch
from gpol.engine.units import HOUR, MINUTE
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import EndlessError
from gpol.sim.drive.policy import Policy
from policy_texts import PROTECTED

Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]


def _told(batches: list[PlayedBatch]) -> list[tuple[int, str, str]]:
    """(time, kind without `Workload`, workload) of all events but the activation."""
    events = [event for fact, decisions in batches[1:] for event in (fact, *decisions)]
    return [(event.time, event.kind.removeprefix("Workload"), getattr(event, "workload", "")) for event in events]


def _ends(batches: list[PlayedBatch]) -> dict[str, int]:
    return {fact.workload: fact.time for fact, _ in batches if fact.kind == "WorkloadFinished"}


def test_a_job_ends_its_duration_after_its_admission(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A job that waits for another ends its own duration after it is admitted, not after it is submitted."""
    batches = simulated(policy(), [job("a", "owner", "0s", "1h"), job("b", "owner", "10m", "30m")])

    assert _ends(batches) == {"a": HOUR, "b": HOUR + 30 * MINUTE}


def test_what_would_only_wait_comes_before_ends(policy: Make, job: MakeJob, simulated: Run) -> None:
    """At one moment a job that could not be admitted before a running one ends is submitted first: the end lets it run at once."""
    batches = simulated(policy(), [job("a", "owner", "0s", "1h"), job("b", "owner", "1h", "1h")])

    assert _told(batches)[2:5] == [(HOUR, "Submitted", "b"), (HOUR, "Finished", "a"), (HOUR, "Admitted", "b")]


def test_ends_come_before_submissions(policy: Make, job: MakeJob, simulated: Run) -> None:
    """At one moment a running job ends before one is submitted that needs no such end, because it fits or evicts."""
    evicting = simulated(policy(), [job("a", "guest", "0s", "1h"), job("b", "owner", "1h", "1h")])
    fitting = simulated(policy(), [job("a", "owner", "0s", "1h", "1"), job("b", "owner", "1h", "1h", "1")])

    for batches in (evicting, fitting):
        assert _told(batches)[2:5] == [(HOUR, "Finished", "a"), (HOUR, "Submitted", "b"), (HOUR, "Admitted", "b")]


def test_ends_come_in_the_order_of_admissions(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Jobs that end at one moment end in the order in which they were admitted, whatever their names and durations."""
    jobs = [job("z", "owner", "0s", "1h", "1"), job("m", "owner", "10m", "50m", "1"), job("a", "owner", "20m", "40m", "1")]

    assert list(_ends(simulated(policy(), jobs))) == ["z", "m", "a"]


def test_ends_come_before_what_time_alone_decides(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A guest that ends at the very moment at which its protection does is not evicted first."""
    batches = simulated(policy(PROTECTED), [job("g", "guest", "0s", "10m"), job("o", "owner", "1m", "1h")])

    assert _told(batches)[3:5] == [(10 * MINUTE, "Finished", "g"), (10 * MINUTE, "Admitted", "o")]
    assert "Evicted" not in {kind for _, kind, _ in _told(batches)}


def test_what_time_alone_decides_comes_before_submissions(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A protection's end is played before a submission at the same moment."""
    jobs = [job("g", "guest", "0s", "1h"), job("o", "owner", "1m", "1h"), job("late", "owner", "10m", "1h")]
    at_ten = [(kind, name) for time, kind, name in _told(simulated(policy(PROTECTED), jobs)) if time == 10 * MINUTE]

    assert at_ten == [("TimeAdvanced", ""), ("Evicted", "g"), ("Admitted", "o"), ("Submitted", "late")]


def test_submissions_at_one_moment_keep_their_order(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Jobs submitted at one moment are submitted in the order of the input."""
    batches = simulated(policy(), [job(name, "owner", "0s", "1h", "1") for name in ("c", "a", "b")])

    assert [name for _, kind, name in _told(batches) if kind == "Submitted"] == ["c", "a", "b"]


@pytest.mark.parametrize(("on_evict", "end"), [("restart", 2 * HOUR + 40 * MINUTE), ("resume", 2 * HOUR)])
def test_an_evicted_job_runs_again(policy: Make, job: MakeJob, simulated: Run, on_evict: str, end: int) -> None:
    """The guest runs 40 of its 100 minutes, waits an hour for the owner, and then runs all 100 again, or the 60 that are left."""
    jobs = [job("g", "guest", "0s", "1h40m"), job("o", "owner", "40m", "20m")]

    ends = _ends(simulated(policy(), jobs, on_evict))

    assert ends == {"o": HOUR, "g": end}


def test_resuming_twice_keeps_what_was_done_both_times(policy: Make, job: MakeJob, simulated: Run) -> None:
    """After 10 and 20 minutes of an hour, half an hour is left."""
    jobs = [job("g", "guest", "0s", "1h"), job("o1", "owner", "10m", "10m"), job("o2", "owner", "40m", "10m")]

    assert _ends(simulated(policy(), jobs, "resume"))["g"] == 50 * MINUTE + 30 * MINUTE


def test_a_rejected_job_never_ends(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A job of no queue is rejected, and neither runs nor finishes."""
    batches = simulated(policy(), [job("a", "nowhere", "0s", "1h")])

    assert _told(batches) == [(0, "Submitted", "a"), (0, "Rejected", "a")]


def test_a_job_that_can_never_run_does_not_keep_the_simulation_going(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A job larger than the cluster waits when all others have ended, and the simulation ends."""
    batches = simulated(policy(), [job("big", "owner", "0s", "1h", "9"), job("a", "owner", "0s", "1h")])

    assert _ends(batches) == {"a": HOUR}


def test_no_jobs_activate_the_policy_alone(policy: Make, simulated: Run) -> None:
    """Without jobs there is one fact, the policy's activation at time 0."""
    [(fact, decisions)] = simulated(policy(), [])

    assert (fact.kind, fact.time, decisions) == ("PolicyActivated", 0, [])


def test_a_job_that_would_run_beyond_the_calendar_is_told(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Two jobs that end in time each, but not one after the other: the second one is named."""
    jobs = [job(name, "owner", "0s", "2000000d") for name in ("a", "b")]

    with pytest.raises(EndlessError, match="`b` would not end before the year 10000"):
        simulated(policy(), jobs)


def test_an_often_evicted_job_is_not_endless(policy: Make, job: MakeJob, simulated: Run) -> None:
    """However often owners take their GPUs back, each submission is one: a guest that yields 1,200 times ends at last."""
    owners = [job(f"o{number}", "owner", f"{2 * number + 1}m", "1m") for number in range(1_200)]

    assert _ends(simulated(policy(), [job("g", "guest", "0s", "10h"), *owners]))["g"] == (2_400 + 600) * MINUTE

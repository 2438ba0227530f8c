"""Submissions as columns are the submissions that went in."""

from draws import Dice
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.intake.jobs import KIND, RANK, Jobs
from job_draws import policy_and_jobs


def _drawn(number: int) -> list[WorkloadSubmitted]:
    _, jobs, _ = policy_and_jobs(f"jobs/{number}", False, 30, replacing=True)
    return [job.fact for job in jobs]


def test_what_goes_in_comes_out() -> None:
    """Equal, and with the same bytes; also one by one, from behind, and some of them."""
    for number in range(10):
        facts = _drawn(number)
        jobs = Jobs.of(facts)
        assert list(jobs) == facts
        assert [fact.payload() for fact in jobs] == [fact.payload() for fact in facts]
        assert (jobs[3], jobs[-1], jobs[2:7:2]) == (facts[3], facts[-1], facts[2:7:2])
        assert [jobs.name(job) for job in range(len(jobs))] == [fact.workload for fact in facts]


def test_kinds_and_ranks() -> None:
    """Jobs of one kind differ in name, time and identity alone; ranks are places by name, and of one name by submission."""
    draw, facts = Dice("kinds"), _drawn(1)
    alike = [fact.model_copy(update={"workload": f"z{draw.number(0, 99)}", "time": fact.time + 5, "uid": "u"}) for fact in facts]
    jobs = Jobs.of([*facts, *alike])
    assert jobs.columns[: len(facts), KIND].tolist() == jobs.columns[len(facts) :, KIND].tolist()
    names = [fact.workload for fact in (*facts, *alike)]
    assert jobs.columns[:, RANK].argsort().tolist() == sorted(range(len(names)), key=lambda job: (names[job], job))


def test_no_jobs() -> None:
    """There may be none."""
    assert list(Jobs.of([])) == []

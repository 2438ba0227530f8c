"""impact compares like with like: under the settings that the journal records, with figures that are those of simulate."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

POLICY = """policy "lab" {
  use gpol.fair
}

flavor a100 { gpu 8 }

cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}

protect warm-up { where victim.running < 10m }

deny too-big for guest { where workload.gpu > 8 } because "too big"
"""

JOBS = """workload,submitted,duration,queue,gpu
g,2026-03-02T08:00:00Z,2h,guest,8
big,2026-03-02T08:00:00Z,1h,guest,9
lost,2026-03-02T08:01:00Z,1h,nowhere,1
nobody,2026-03-02T08:02:00Z,1h,,1
o,2026-03-02T08:05:00Z,1h,owner,8
"""


@pytest.fixture
def lab(gpol: Gpol, tmp_path: Path) -> Path:
    """A policy, jobs of which three are rejected and one is evicted, and a second policy that protects for longer."""
    (tmp_path / "lab.gpol").write_text(POLICY)
    (tmp_path / "long.gpol").write_text(POLICY.replace("10m", "20m"))
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def _numbers(value: Any) -> Iterator[tuple[str, Any]]:
    """All values of JSON by their keys, however deep."""
    for key, each in value.items() if isinstance(value, dict) else ():
        yield key, each
        yield from _numbers(each)
    for each in value if isinstance(value, list) else ():
        yield from _numbers(each)


def test_impact_follows_what_a_simulation_was_told(gpol: Gpol, lab: Path) -> None:
    """Without options impact plays evicted jobs as the simulation did: the same policy changes nothing, another one what it changes."""
    gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", "resume", "--journal", "lab.db")
    gpol("simulate", "long.gpol", "jobs.csv", "--on-evict", "resume", "--journal", "long.db")

    assert gpol("impact", "lab.db", "lab.gpol").code == 0
    gpol("impact", "lab.db", "long.gpol", "--journal", "other.db")
    assert gpol("verify", "other.db").out == gpol("verify", "long.db").out


def test_another_setting_is_refused(gpol: Gpol, lab: Path) -> None:
    """An option that contradicts the journal is refused, with the event that records it and the remedy."""
    gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", "resume", "--journal", "lab.db")
    done = gpol("impact", "lab.db", "long.gpol", "--on-evict", "restart")

    assert (done.code, done.out) == (3, "")
    assert "on_evict resume (event 2), not restart; leave --on-evict out" in done.err


def test_rejected_jobs_count_as_in_simulate(gpol: Gpol, lab: Path) -> None:
    """Queue by queue, impact tells of the recorded history what simulate told of it, rejected jobs and those of no queue included."""
    simulated = gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "lab.db", "--format", "json").records
    told = gpol("impact", "lab.db", "long.gpol", "--format", "json").records

    queues = {each["queue"]: each for each in simulated if each["kind"] == "queue"}
    before = {each["queue"]: each["before"] for each in told if each["kind"] == "impact-queue"}
    assert before.keys() == queues.keys()
    for name, figures in before.items():
        assert figures == {key: queues[name].get(key) for key in figures}
    [total] = [each["before"] for each in told if each["kind"] == "impact-total"]
    assert (total["submitted"], total["ended"], total["rejected"]) == (5, 5, 3)


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "lab.gpol", "jobs.csv"),
        ("run", "lab.gpol", "facts.jsonl", "--as-recorded"),
        ("impact", "lab.db", "long.gpol"),
        ("impact", "lab.db", "long.gpol", "lab.gpol", "--jobs", "1"),
    ],
)
def test_figures_are_numbers(gpol: Gpol, lab: Path, command: tuple[str, ...]) -> None:
    """In JSON, hours, shares, counts and times are numbers and never text, so that programs can add them up."""
    gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "lab.db")
    gpol("export", "facts", "lab.db", "-o", "facts.jsonl")
    done = gpol(*command, "--format", "json")

    assert done.code in (0, 2)
    figures = [(key, each) for record in done.records for key, each in _numbers(record) if "hours" in key or key.endswith(("_us", "_s"))]
    assert len(figures) > 10
    assert [pair for pair in figures if isinstance(pair[1], str)] == []


def test_hours_are_not_rounded_to_a_digit(gpol: Gpol, lab: Path) -> None:
    """A job of a minute has its 1/60 of a GPU-hour, and many queues add up to their total."""
    rows = "".join(f"j{number},0s,1m,{'owner' if number else 'guest'},1\n" for number in range(3))
    (lab / "short.csv").write_text("workload,submitted,duration,queue,gpu\n" + rows)
    records = gpol("simulate", "lab.gpol", "short.csv", "--format", "json").records

    hours = {each["queue"]: each["gpu_hours"] for each in records if each["kind"] == "queue"}
    assert json.dumps(hours) == '{"guest": 0.016667, "owner": 0.033333}'

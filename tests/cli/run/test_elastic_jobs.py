"""simulate with elastic jobs: the column `minimum`, the GPU-hours that they hold, and where they are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

POLICY = 'policy "p" { use gpol.fair }\nflavor f { gpu 8 }\nqueue a { owns 4 gpu }\nqueue b { owns 4 gpu }\n'
CYCLES = 'policy "c" { use kueue.fair }\nflavor f { gpu as owned }\nqueue a { owns 8 gpu on f }\nqueue b { owns 4 gpu on f }\n'
JOBS = "workload,submitted,duration,queue,pods,minimum,gpu\ns,0s,1h,b,1,,4\ne,0s,4h,a,8,2,1\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two policies and jobs."""
    for name, text in (("p.gpol", POLICY), ("c.gpol", CYCLES), ("jobs.csv", JOBS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_an_elastic_job_holds_what_there_is(gpol: Gpol, place: Path) -> None:
    """An hour with 4 GPUs, then 8 until its work is done: as many GPU-hours as with all pods from the start."""
    done = gpol("simulate", str(place / "p.gpol"), str(place / "jobs.csv"), "--format", "json")
    hours = {each["queue"]: each["gpu_hours"] for each in done.records if each.get("queue") in ("a", "b")}
    assert (done.code, hours) == (0, {"a": 32.0, "b": 4.0})


def test_cycles_refuse_elastic_jobs_by_name(gpol: Gpol, place: Path) -> None:
    """Before anything is played."""
    done = gpol("simulate", str(place / "c.gpol"), str(place / "jobs.csv"))
    assert done.code != 0
    assert "workload `e` has pods beyond its minimum, and the policy decides in cycles" in done.err


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("e,0s,4h,a,8,9,1", "column `minimum`: at least 9 of 8 pods; write at most 8"),
        ("e,0s,4h,a,8,0,1", "column `minimum`: `0` is no number of pods"),
    ],
)
def test_a_minimum_that_is_none_is_refused(gpol: Gpol, place: Path, row: str, problem: str) -> None:
    """With the line and what to write."""
    (place / "jobs.csv").write_text(JOBS.splitlines()[0] + "\n" + row + "\n")
    done = gpol("simulate", str(place / "p.gpol"), str(place / "jobs.csv"))
    assert (done.code != 0, problem in done.err) == (True, True)

"""A journal of jobs that all ask for something else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Gpol = Callable[..., Any]


def test_it_replays(gpol: Gpol) -> None:
    """A hundred different requests in one page of events: `replay` used to end in an internal error."""
    Path("p.gpol").write_text('policy "p" { }\nflavor a100 { gpu 8 }\nqueue q { owns 8 gpu }\n')
    rows = "".join(f"j{number},{number}m,9m,q,{number % 8 + 1}.{number:03}\n" for number in range(100))
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\n" + rows)
    assert gpol("simulate", "p.gpol", "jobs.csv", "--journal", "j.db").code == 0

    for core in ("arrays", "definition"):
        done = gpol("replay", "j.db", "--by", core)
        assert (done.code, done.err) == (0, "")

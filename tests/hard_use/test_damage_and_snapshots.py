"""A journal with a bad row, and a snapshot behind it: what is told of one workload does not depend on where it is asked."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]


@pytest.fixture
def damaged(gpol: Gpol) -> str:
    """A journal with a snapshot at its end, whose fourth event, the submission of the second workload, cannot be read."""
    Path("p.gpol").write_text('policy "p" { }\nflavor a100 { gpu 8 }\nqueue q { owns 8 gpu }\n')
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,9h,q,4\nb,1h,9h,q,4\n")
    assert gpol("simulate", "p.gpol", "jobs.csv", "--journal", "d.db").code == 0
    with sqlite3.connect("d.db") as connection:
        connection.execute("DROP TRIGGER events_no_update")
        connection.execute("UPDATE events SET payload = 'text' WHERE seq = 5")
    connection.close()
    return "d.db"


def test_explain_serves_what_is_whole(gpol: Gpol, damaged: str) -> None:
    """Of a workload whose own event is bad explain used to say nothing but to restore the journal, because of the snapshot behind it."""
    told = gpol("explain", damaged, "a")
    bad = gpol("explain", damaged, "b")
    without = gpol("explain", damaged, "b", "--no-snapshot")

    assert (told.code, told.out.splitlines()[0]) == (0, "a is over at 1970-01-01T10:00:00Z (event 8)")
    assert (bad.code, bad.err) == (without.code, without.err)
    assert "no workload `b` was submitted up to event 4" in bad.err

"""impact: what another policy would have made of a journal, as the command tells it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]


@pytest.fixture
def eager(lab: Path) -> str:
    """The lab's policy without its protection: the owner takes its GPUs back at once, not after ten minutes."""
    text = (lab / "lab.gpol").read_text()
    kept = text[: text.index("protect warm-up")], text[text.index("deny too-big") : text.index("test ")]
    (lab / "eager.gpol").write_text("".join(kept))
    return "eager.gpol"


def test_the_same_policy_changes_nothing(gpol: Gpol, journal: str) -> None:
    """Closed or open, exit code 0 and one line that says so."""
    closed, opened = gpol("impact", journal, "lab.gpol"), gpol("impact", journal, "lab.gpol", "--open-loop")

    assert (closed.code, opened.code) == (0, 0)
    assert closed.out == "closed-loop impact of lab.gpol on lab.db\nnothing changes: all 5 decisions are the same\n"
    assert opened.out == "open-loop impact of lab.gpol on lab.db\nnothing changes: 7 moments decided again, all alike\n"


def test_what_changes_is_told(gpol: Gpol, journal: str, eager: str) -> None:
    """Exit code 2; where the histories part, both queues' figures, and both explanations of who is affected."""
    done = gpol("impact", journal, eager, "--format", "plain")
    lines = done.out.splitlines()

    assert done.code == 2
    assert lines[:4] == [
        "closed-loop impact of eager.gpol on lab.db",
        "the histories part at 2026-03-02T08:05:00Z (event 6)",
        "   recorded: nothing",
        "   eager.gpol: g evicted for o (reclaim) by reclaim-owned (gpol/fair.gpol:14)",
    ]
    # The guest begins anew after 9:05 instead of 9:15, for two hours; of its 8 GPUs it loses five minutes instead of ten.
    assert "guest\t0\t17.3 -> 16.7\t-0.7\t30m\t1h\t1h\t1\t0" in lines
    assert "owner\t8\t8.0\t0.0\t5m -> 0s\t5m -> 0s\t5m -> 0s\t0\t0" in lines
    assert "1. o of owner waits 5m less" in lines
    assert "   recorded: waited 5m from 2026-03-02T08:05:00Z: WaitingForProtectedWorkloads by warm-up (lab.gpol:12)" in lines
    assert "2. g of guest loses 0.7 GPU-hours less to evictions" in lines


def test_json_has_everything(gpol: Gpol, journal: str, eager: str) -> None:
    """One object a line: the outcome, the parting, changes, queues, totals and workloads with both histories."""
    done = gpol("impact", journal, eager, "--format", "json")
    records = {record["kind"]: record for record in done.records}

    assert done.code == 2
    assert records["impact"]["loop"] == "closed-loop"
    assert (records["impact"]["nothing_changes"], records["impact"]["compared"]) == (False, 3)
    assert (records["impact-parting"]["seq"], records["impact-parting"]["played"][0]["workload"]) == (6, "g")
    assert records["impact-queue"]["queue"] == "owner"
    assert records["impact-queue"]["after"]["mean_wait_us"] == 0
    assert records["impact-total"]["before"]["gpu_hours"] == 25.333333
    assert {record["workload"] for record in done.records if record["kind"] == "impact-workload"} == {"o", "g"}
    assert records["impact-workload"]["before"]["told"]


def test_an_open_loop_decides_each_moment(gpol: Gpol, journal: str, eager: str) -> None:
    """Without the protection the owner is admitted five minutes earlier; what follows is as recorded."""
    done = gpol("impact", journal, eager, "--open-loop", "--format", "plain")

    assert done.code == 2
    assert "7 moments decided again; 2 differences" in done.out
    assert "first at 2026-03-02T08:05:00Z (event 6): g of guest is newly evicted" in done.out
    assert "newly admitted\towner\t1" in done.out.splitlines()
    records = gpol("impact", journal, eager, "--open-loop", "--format", "json").records
    assert [record["category"] for record in records if record["kind"] == "impact-decision"] == ["newly evicted", "newly admitted"]


def test_the_other_history_can_be_kept(gpol: Gpol, journal: str, eager: str) -> None:
    """It is a journal like any other: it replays, and explains."""
    assert gpol("impact", journal, eager, "--journal", "other.db").code == 2

    assert gpol("replay", "other.db").code == 0
    assert "evicted for o" in gpol("explain", "other.db", "g").out


def test_a_report_is_written(gpol: Gpol, lab: Path, journal: str, eager: str) -> None:
    """A page with both histories, named at the end; the exit code is that of the impact."""
    done = gpol("impact", journal, eager, "--report", "page.html")

    assert done.code == 2
    assert done.out.endswith("report page.html\n")
    assert "What eager.gpol would have made of it" in (lab / "page.html").read_text()


def test_a_run_that_goes_on_needs_less(gpol: Gpol, lab: Path, eager: str) -> None:
    """With `resume` the guest's two hours are two hours, however often it is evicted."""
    assert gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", "resume", "--journal", "resumed.db").code == 0
    done = gpol("impact", "resumed.db", eager, "--on-evict", "resume", "--format", "plain")

    assert "guest\t0\t16.0\t0.0\t30m\t1h\t1h\t1\t0" in done.out.splitlines()
    assert "an evicted run goes on where it stopped" in done.out


def test_facts_that_cannot_happen_are_listed(gpol: Gpol, lab: Path, facts: Callable[..., str]) -> None:
    """A flavor that the new policy lacks: its capacity cannot change, and the message says so with the event."""
    text = (lab / "lab.gpol").read_text()
    (lab / "two.gpol").write_text(
        text.replace("flavor a100 { gpu 8 }", "flavor a100 { gpu 8 }\nflavor old { gpu 1 }").replace("owns 8 gpu", "owns 8 gpu on a100")
    )
    file = facts({"kind": "CapacityChanged", "time": 1, "flavor": "old", "capacity": {"gpu": "2"}})
    assert gpol("run", "two.gpol", file, "--journal", "two.db").code == 0
    done = gpol("impact", "two.db", "lab.gpol", "--format", "plain")

    assert done.code == 2
    assert "1 recorded event cannot happen under lab.gpol" in done.out
    assert "event 2, 1970-01-01T00:00:00.000001Z, CapacityChanged of old: the policy has no flavor `old`" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("lab.db", "lab.gpol", "--on-evict", "never"), 3, "--on-evict is restart or resume, not `never`"),
        (("lab.db", "none.gpol"), 3, "`none.gpol` cannot be read"),
        (("none.db", "lab.gpol"), 3, "none.db"),
        (("lab.db", "broken.gpol"), 3, "has 1 error"),
        (("lab.db", "lab.gpol", "--open-loop", "--journal", "x.db"), 3, "an open loop makes no other history"),
        (("lab.db", "lab.gpol", "--open-loop", "--report", "x.html"), 3, "an open loop makes no other history that could be drawn"),
        (("lab.db", "lab.gpol", "--report", "lab.db"), 3, "which the same command needs"),
        (("sqlite:///lab.db", "lab.gpol", "--report", "lab.db"), 3, "which the same command needs"),
        (("lab.db", "lab.gpol", "--report", "link.db"), 3, "which the same command needs"),
        (("lab.db", "lab.gpol", "--report", "lab.db-wal"), 3, "which the same command needs"),
        (("lab.db", "lab.gpol", "--report", "none/x.html"), 3, "the folder of `none/x.html` does not exist"),
        (("lab.db", "lab.gpol", "--journal", "lab.db"), 3, "choose another name"),
        (
            ("lab.db", "cycles.gpol", "--open-loop"),
            3,
            "decides in cycles, and the policy recorded at event 1 at once; leave --open-loop out",
        ),
        (("lab.db", "lab.gpol", "--open-loop", "--on-evict", "resume"), 3, "an open loop plays no runs"),
        (("lab.db", "-", "-"), 3, "only one policy can be read from standard input"),
        (("empty.db", "lab.gpol"), 3, "the journal is empty"),
    ],
)
def test_what_cannot_be_is_refused(gpol: Gpol, lab: Path, journal: str, arguments: tuple[str, ...], code: int, said: str) -> None:
    """Each mistake has its message and the exit code of invalid input."""
    from gpol.journal.journal import Journal

    Journal.create(lab / "empty.db").close()
    (lab / "link.db").hardlink_to(lab / "lab.db")
    (lab / "broken.gpol").write_text('policy "x" { use gpol.fair }\nqueue q { owns 1 gpu on nowhere }\n')
    (lab / "cycles.gpol").write_text('policy "c" { use kueue.classical }\nflavor a100 { gpu as owned }\nqueue owner { owns 8 gpu }\n')
    done = gpol("impact", *arguments)

    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_damage_is_told_as_such(gpol: Gpol, lab: Path, journal: str) -> None:
    """A journal whose decisions contradict each other ends in exit code 4."""
    import sqlite3

    connection = sqlite3.connect(journal, isolation_level=None)
    connection.execute("DROP TRIGGER events_no_update")
    [payload] = connection.execute("SELECT payload FROM events WHERE seq = 9").fetchone()
    connection.execute("UPDATE events SET payload = ? WHERE seq = 9", (payload.replace(b'"workload":"o"', b'"workload":"x"'),))
    connection.close()
    done = gpol("impact", journal, "lab.gpol")

    assert done.code == 4
    assert "event 9 cannot have happened then" in done.err

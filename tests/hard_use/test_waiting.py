"""`waiting` is how long a workload has been in its queue: since it last entered it, and 0 while it runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

HOUR = 3_600_000_000
DAY = 24 * HOUR

POLICY = """policy "patience" {
  use gpol.fair
  preempt by starved, reclaim-owned, fair-share, make-room
}

flavor a100 { gpu 8 }

cohort all {
  queue one { owns nothing }
  queue two { owns nothing }
}

preempt starved {
  evict from any queue
  where workload.waiting >= 1d and victim.running >= 2h
}
"""


def job(name: str, time: int, queue: str = "one", **more: Any) -> dict[str, Any]:
    """A submission that takes the whole cluster."""
    pods = [{"requests": {"gpu": "8"}}]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "pod_sets": pods, **more}


def at(time: int) -> dict[str, Any]:
    """Time passes up to a moment."""
    return {"kind": "TimeAdvanced", "time": time}


def decided(gpol: Gpol, *facts: dict[str, Any], policy: str = POLICY, end: int = 3 * DAY) -> list[tuple[float, str, str]]:
    """Hours, kinds and workloads of what was decided up to an end."""
    Path("p.gpol").write_text(policy)
    Path("facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in (*facts, at(end))))
    played = gpol("run", "p.gpol", "facts.jsonl", "--journal", "j.db")
    assert played.code == 0, played.err
    return changes(gpol)


def changes(gpol: Gpol) -> list[tuple[float, str, str]]:
    """Hours, kinds and workloads of all admissions and evictions of the journal."""
    events = [record["event"] for record in gpol("log", "j.db", "--format", "json").records]
    kinds = {"WorkloadAdmitted": "runs", "WorkloadEvicted": "evicted"}
    return [(each["time"] / HOUR, kinds[each["kind"]], each["workload"]) for each in events if each["kind"] in kinds]


def test_a_rule_against_starvation_lets_each_run_for_a_day(gpol: Gpol) -> None:
    """Whoever was evicted waits a day before it evicts in turn: two that never end share the machines by days, and not by two hours."""
    assert decided(gpol, job("a", 0), job("b", 0, "two")) == [
        (0, "runs", "a"),
        (24, "evicted", "a"),
        (24, "runs", "b"),
        (48, "evicted", "b"),
        (48, "runs", "a"),
        (72, "evicted", "a"),
        (72, "runs", "b"),
    ]


def test_a_simulation_of_it_ends(gpol: Gpol) -> None:
    """Three jobs of 20 hours under that rule all end: the two that have waited a day do not take turns by two hours."""
    Path("p.gpol").write_text(POLICY)
    rows = "".join(f"j{number},0s,20h,{'one' if number % 2 else 'two'},8\n" for number in range(3))
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\n" + rows)
    done = gpol("simulate", "p.gpol", "jobs.csv", "--format", "json")

    assert done.code == 0, done.err
    assert sum(record.get("finished", 0) for record in done.records if record["kind"] == "queue") == 3


def test_an_eviction_begins_a_new_wait(gpol: Gpol) -> None:
    """One that ran for a day and is evicted by its operator has not waited a day: it evicts nobody when it is let go."""
    evict = {"kind": "OperatorAction", "time": 25 * HOUR, "action": "evict", "workload": "a", "by": "ada"}
    release = {"kind": "OperatorAction", "time": 30 * HOUR, "action": "release", "workload": "a", "by": "ada"}
    found = decided(gpol, job("a", 0), job("b", 20 * HOUR, "two"), evict, release, end=50 * HOUR)
    assert found == [(0, "runs", "a"), (25, "evicted", "a"), (25, "runs", "b")]


@pytest.mark.parametrize("by_owner", [True, False])
def test_time_on_hold_does_not_count(gpol: Gpol, by_owner: bool) -> None:
    """A job that is submitted on hold and let go later has waited since it was let go."""
    hold = job("b", 0, "two", hold=True) if by_owner else job("b", 0, "two")
    stop = {"kind": "OperatorAction", "time": 0, "action": "hold", "workload": "b", "by": "ada"}
    let_go = {"kind": "OperatorAction", "time": 30 * HOUR, "action": "release", "workload": "b", "by": "ada"}
    if by_owner:
        let_go = {"kind": "WorkloadUpdated", "time": 30 * HOUR, "workload": "b", "hold": False}
    found = decided(gpol, job("a", 0), hold, *([] if by_owner else [stop]), let_go)
    assert found == [(0, "runs", "a"), (54, "evicted", "a"), (54, "runs", "b")]


def test_the_wait_before_the_submission_counts(gpol: Gpol) -> None:
    """Where an outside system says when it was created, it has waited since then, as long as it was never admitted."""
    found = decided(gpol, job("a", 0), job("b", 20 * HOUR, "two", created=10 * HOUR))
    assert found[:3] == [(0, "runs", "a"), (34, "evicted", "a"), (34, "runs", "b")]


def test_an_outside_system_may_say_since_when(gpol: Gpol) -> None:
    """`requeued` is the moment from which a workload counts as waiting."""
    said = {"kind": "WorkloadUpdated", "time": 20 * HOUR, "workload": "b", "requeued": 15 * HOUR}
    assert decided(gpol, job("a", 0), job("b", 0, "two"), said)[:2] == [(0, "runs", "a"), (39, "evicted", "a")]


def test_a_change_of_priority_keeps_the_wait(gpol: Gpol) -> None:
    """An update that moves it in its line begins no new wait."""
    said = {"kind": "WorkloadUpdated", "time": 20 * HOUR, "workload": "b", "priority": 7}
    assert decided(gpol, job("a", 0), job("b", 0, "two"), said)[:2] == [(0, "runs", "a"), (24, "evicted", "a")]


def test_a_journal_of_it_replays(gpol: Gpol) -> None:
    """The same facts give the same decisions again, and the state after them is the same from a snapshot and from all events."""
    decided(gpol, job("a", 0), job("b", 0, "two"), end=50 * HOUR)
    assert gpol("snapshot", "j.db").code == 0
    assert gpol("replay", "j.db").code == 0
    assert gpol("fsck", "j.db").code == 0

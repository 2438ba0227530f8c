"""A policy played for a comparison: its figures, worked out by hand, and what ends it early."""

from collections.abc import Callable

import pytest
from gpol.engine.events import WorkloadEvicted
from gpol.engine.facts import TimeAdvanced, WorkloadSubmitted
from gpol.engine.units import SECOND
from gpol.sim.compare import played_policy
from gpol.sim.compare.played_policy import FailedPolicy, PlayedPolicy
from gpol.sim.compare.policy_record import EvictionPath, JobOutcome
from gpol.sim.drive import player
from gpol.sim.drive.job import Job
from gpol.sim.measure.measure import HOUR_US
from policy_texts import PROTECTED, TURNS, TWO_QUEUES

MINUTE = 60 * SECOND
GPU_HOUR = 1000 * HOUR_US

Play = Callable[..., PlayedPolicy | FailedPolicy]
MakeJob = Callable[..., Job]

DENIED = TWO_QUEUES + 'deny too-big for guest { where workload.gpu > 8 } because "too big"\n'


def whole(played: PlayedPolicy | FailedPolicy) -> PlayedPolicy:
    """One that gpol could play."""
    assert isinstance(played, PlayedPolicy)
    return played


def test_figures_by_hand(play: Play, job: MakeJob) -> None:
    """The guest runs 5 of its 60 minutes on 8 GPUs and yields to the owner for an hour; a job of 9 GPUs waits for ever."""
    jobs = [job("g", "guest", "0s", "1h"), job("o", "owner", "5m", "1h"), job("big", "owner", "10m", "1h", "9")]
    found = whole(play("p", TWO_QUEUES, jobs))

    assert found.early is None
    assert found.jobs == {
        "o": JobOutcome("owner", "finished", 0, 0, 0),
        "g": JobOutcome("guest", "finished", 60 * MINUTE, 1, GPU_HOUR * 8 * 5 // 60),
        "big": JobOutcome("owner", "waiting", 115 * MINUTE, 0, 0),
    }
    total = found.total
    assert (total.ran, total.evicted, total.most_evictions, total.in_turns, total.never, total.lined_up) == (2, 1, 1, 0, 1, 3)
    assert total.mean_wait == (60 + 115) * MINUTE / 3
    assert total.lost == GPU_HOUR * 8 * 5 // 60
    assert (found.queues["owner"].never, found.queues["guest"].never) == (1, 0)
    assert (found.used, found.existed, found.exists) == (GPU_HOUR * 8 * 125 // 60, GPU_HOUR * 8 * 125 // 60, 8000)
    assert found.evictions == {EvictionPath("guest", "owner", "reclaim", "reclaim-owned"): 1}


def test_nothing_is_lost_where_runs_go_on(play: Play, job: MakeJob) -> None:
    """With `resume` the guest's five minutes count, and its hour ends five minutes earlier."""
    found = whole(play("p", TWO_QUEUES, [job("g", "guest", "0s", "1h"), job("o", "owner", "5m", "1h")], "resume"))

    assert (found.total.lost, found.history.end) == (0, 120 * MINUTE)


def test_rejected_workloads_are_in_no_line(play: Play, job: MakeJob) -> None:
    """A workload that a rule denies is counted as rejected in the queue that it was for, and not in the average of waits."""
    found = whole(play("p", DENIED, [job("b", "guest", "0s", "1h", "9"), job("g", "guest", "0s", "1h", "1")]))

    assert found.jobs["b"] == JobOutcome("guest", "rejected", 0, 0, 0)
    assert (found.total.ran, found.total.lined_up, found.history.of_queue("guest").rejected) == (1, 1, 1)


def test_a_policy_without_rest_is_named(play: Play, job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workloads that evict each other every minute: who takes turns, of which queues, by which line, since when and up to when.

    Each eviction of one of them by time alone, but the first, is one in turns.
    """
    monkeypatch.setattr(player, "MOST_TURNS", 20)
    found = whole(play("p", TURNS, [job("a", "owner", "0s", "10h"), job("b", "owner", "10s", "10h")]))
    early = found.early

    assert early is not None
    assert (early.kind, early.since) == ("loop", 10 * SECOND)
    line = next(number for number, text in enumerate(TURNS.splitlines(), start=1) if text.startswith("preempt turn"))
    turns = {(each.workload, each.queue, each.beneficiary, each.beneficiary_queue) for each in early.turns}
    assert turns == {("a", "owner", "b", "owner"), ("b", "owner", "a", "owner")}
    assert {(each.rule.name, each.rule.line) for each in early.turns if each.rule is not None} == {("turn", line)}
    by_time = [
        decision.workload
        for batch in found.journal.batches()
        for decision in (each.event for each in batch.decisions)
        if isinstance(decision, WorkloadEvicted) and isinstance(batch.fact.event, TimeAdvanced)
    ]
    assert max(by_time.count("a"), by_time.count("b")) == 21 == max(each.times for each in early.turns)
    assert found.total.in_turns == len(by_time) - 2
    assert early.time == found.history.end == found.journal.at(found.journal.head.seq).event.time
    assert early.remedy
    assert early.remedy in early.message


def test_a_new_fact_ends_the_turns(play: Play, job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns that a submission interrupts are no loop, and count all the same; the count for each workload begins anew."""
    monkeypatch.setattr(player, "MOST_TURNS", 20)
    jobs = [job("a", "owner", "0s", "15m"), job("b", "owner", "10s", "15m")]
    jobs += [job(f"c{number}", "owner", f"{number}m30s", "1s", "1") for number in range(4, 24, 4)]
    found = whole(play("p", TURNS, jobs, "resume"))

    evictions: list[str] = []
    again = 0
    for batch in found.journal.batches():
        by_time = [each.event.workload for each in batch.decisions if isinstance(each.event, WorkloadEvicted)]
        if not isinstance(batch.fact.event, TimeAdvanced):
            evictions.clear()
            continue
        again += sum(workload in evictions for workload in by_time)
        evictions += by_time
    assert found.early is None
    assert 0 < found.total.in_turns == again


def test_a_job_beyond_the_calendar(play: Play, job: MakeJob) -> None:
    """A history that no calendar holds ends, and it is no loop."""
    found = whole(play("p", TWO_QUEUES, [job(name, "owner", "0s", "2000000d") for name in ("a", "b")]))

    assert found.early is not None
    assert (found.early.kind, found.early.turns) == ("calendar", ())
    assert "`b` would not end before the year 10000" in found.early.message


def test_a_job_that_is_impossible_under_a_policy(play: Play, job: MakeJob) -> None:
    """What was played before it counts, and the message says what is wrong with it."""
    text = TWO_QUEUES.replace("queue guest { owns nothing }", 'queue guest {\n    owns nothing\n    local queue "n/l"\n  }')
    good = job("o", "owner", "0s", "1h")
    bad = WorkloadSubmitted.model_validate({**good.fact.model_dump(), "workload": "x", "time": 5, "local_queue": "n/l"})
    found = whole(play("p", text, [good, Job(bad, SECOND)]))

    assert found.early is not None
    assert (found.early.kind, found.early.time) == ("impossible", 0)
    assert "names queue `owner`" in found.early.message
    assert list(found.jobs) == ["o"]


def test_a_defect_is_told_and_no_figures(play: Play, job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where gpol itself fails under one policy, others can be played all the same."""

    def fails(*_: object) -> None:
        raise AssertionError("accounts differ")

    monkeypatch.setattr(played_policy, "never_admitted", fails)
    found = play("p", PROTECTED, [job("o", "owner", "0s", "1h")])

    assert isinstance(found, FailedPolicy)
    assert found.message == "AssertionError: accounts differ"

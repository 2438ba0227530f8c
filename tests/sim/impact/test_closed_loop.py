"""Closed loop: the recorded history as it is until the policies differ, and a history of its own from there on."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from gpol.adapters.traces import read_jobs
from gpol.compiled.fast_core import fast_core
from gpol.dsl.analysis.checker import check
from gpol.engine.cores import PlayedBatch
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.events import AnyEvent
from gpol.engine.facts import (
    CapacityChanged,
    Fact,
    OperatorAction,
    TimeAdvanced,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from gpol.engine.units import HOUR, MINUTE
from gpol.journal.journal import Journal
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.impact.closed_impact import ClosedImpact, closed_impact
from gpol.sim.measure.figures import History
from gpol.sim.measure.measure import Measure
from policy_texts import PROTECTED, TWO_QUEUES

Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]

NOBODY_GOES = TWO_QUEUES.replace("{ use gpol.fair }", "{\n  use gpol.fair\n  preempt by nothing\n}")

SHORTER = PROTECTED.replace("10m", "5m")

CYCLES = """
policy "c" { use kueue.classical }
flavor a100 { gpu as owned }
cohort all {
  queue owner {
    owns 8 gpu
    reclaims from anyone
  }
  queue guest { owns nothing }
}
"""


def _kept(place: Path, batches: Sequence[PlayedBatch | Sequence[AnyEvent]]) -> Journal:
    """A journal of batches, open to read."""
    with Journal.create(place) as journal:
        journal.append([[batch[0], *batch[1]] if isinstance(batch, tuple) else batch for batch in batches])
    return Journal.open(place)


def _impact(place: Path, batches: Sequence[PlayedBatch], policy: Policy, on_evict: OnEvict = "restart") -> ClosedImpact:
    with _kept(place, batches) as journal:
        return closed_impact(journal, policy, on_evict)


def _figures(batches: Sequence[PlayedBatch], policy: Policy) -> History:
    measure = Measure()
    for fact, decisions in batches:
        measure.take(fact, decisions, policy.graph)
    return History.of(measure)


def _stepped(policy: Policy, facts: Sequence[Fact]) -> list[PlayedBatch]:
    """A history of nothing but these facts, after the policy's activation."""
    core = new_core()
    start = policy.activation(facts[0].time)
    return [(start, core.step(start, policy.graph)), *((fact, core.step(fact)) for fact in facts)]


def _submitted(time: int, name: str, queue: str) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": "8"}),))


@pytest.mark.parametrize(("old", "new"), [(PROTECTED, TWO_QUEUES), (TWO_QUEUES, PROTECTED), (PROTECTED, SHORTER), (SHORTER, PROTECTED)])
@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_a_simulated_history_becomes_what_simulate_makes(
    tmp_path: Path, policy: Make, job: MakeJob, simulated: Run, old: str, new: str, on_evict: OnEvict
) -> None:
    """The figures are those of a simulation of the same jobs under the new policy, whichever of the two protects for longer."""
    jobs = [job("g", "guest", "0s", "2h"), job("o", "owner", "1m", "1h"), job("h", "guest", "30m", "1h"), job("p", "owner", "2h", "1h")]
    found = _impact(tmp_path / "j.db", simulated(policy(old), jobs, on_evict), policy(new), on_evict)

    assert found.before == _figures(simulated(policy(old), jobs, on_evict), policy(old))
    assert found.after == _figures(simulated(policy(new), jobs, on_evict), policy(new))
    assert not found.nothing_changes


def test_a_simulation_in_cycles_becomes_what_simulate_makes(tmp_path: Path, policy: Make, job: MakeJob, simulated: Run) -> None:
    """The same where decisions fall in cycles, and from deciding at once to cycles and back."""
    jobs = [job("g", "guest", "0s", "2h"), job("o", "owner", "1m", "1h"), job("h", "guest", "1m", "1h")]
    texts = (CYCLES, CYCLES.replace("reclaims from anyone", ""), TWO_QUEUES)
    for old in texts:
        for new in texts:
            batches = simulated(policy(old), jobs)
            found = _impact(tmp_path / f"{texts.index(old)}{texts.index(new)}.db", batches, policy(new))

            assert found.after == _figures(simulated(policy(new), jobs), policy(new))
            assert found.nothing_changes == (old == new)


def test_the_same_policy_changes_nothing_however_late_its_driver_was(tmp_path: Path, policy: Make) -> None:
    """A protection ended at minute 11, but time advanced only a minute later: under the same policy that stays so, and is no difference."""
    facts = [_submitted(0, "g", "guest"), _submitted(MINUTE, "o", "owner"), TimeAdvanced(time=12 * MINUTE)]
    found = _impact(tmp_path / "j.db", _stepped(policy(PROTECTED), facts), policy(PROTECTED.replace('"p"', '"renamed"')))

    assert found.nothing_changes
    assert found.after.decisions == 3


def test_histories_part_where_time_decides_earlier(tmp_path: Path, policy: Make) -> None:
    """Under a protection of five minutes the guest goes after five, at a moment that the recorded history does not have."""
    facts = [_submitted(0, "g", "guest"), _submitted(MINUTE, "o", "owner"), TimeAdvanced(time=10 * MINUTE)]
    found = _impact(tmp_path / "j.db", _stepped(policy(PROTECTED), facts), policy(SHORTER))

    assert found.parting is not None
    assert (found.parting.time, found.parting_seq) == (5 * MINUTE, 4)
    assert [(each.kind, each.workload) for each in found.parting.played] == [("WorkloadEvicted", "g"), ("WorkloadAdmitted", "o")]
    assert found.parting.recorded == ()


def test_a_workload_without_an_end_runs_on(tmp_path: Path, policy: Make) -> None:
    """Nobody knows when `g` ends: once it is admitted it keeps the GPUs, and the history ends where the recorded one does."""
    facts: list[Fact] = [
        _submitted(0, "g", "guest"),
        _submitted(MINUTE, "o", "owner"),
        WorkloadFinished(time=HOUR, workload="o"),
        TimeAdvanced(time=2 * HOUR),
    ]
    old = _stepped(policy(TWO_QUEUES), facts)
    found = _impact(tmp_path / "j.db", old, policy(PROTECTED.replace("10m", "3h")))

    assert found.endless == 1
    assert found.after.of_queue("guest").used_area > found.before.of_queue("guest").used_area
    assert found.after.end == 3 * HOUR + HOUR - MINUTE, "o begins after three hours, and runs for its 59 minutes"


def test_only_what_is_live_to_the_end_runs_on(tmp_path: Path, policy: Make) -> None:
    """A workload that was rejected has no end: where it is rejected again nothing runs on, and where it no longer is it does."""
    denying = PROTECTED + 'deny guests for guest { where workload.gpu > 4 } because "too big"\n'
    facts: list[Fact] = [_submitted(0, "g", "guest"), _submitted(MINUTE, "o", "owner"), WorkloadFinished(time=HOUR, workload="o")]
    old = _stepped(policy(denying), facts)

    assert _impact(tmp_path / "same.db", old, policy(denying)).endless == 0
    assert _impact(tmp_path / "other.db", old, policy(PROTECTED)).endless == 1


def test_what_becomes_impossible_is_told_by_name(tmp_path: Path, policy: Make) -> None:
    """A capacity of a flavor that is gone, an eviction of one that waits, a hold of one that runs: each is listed with its reason."""
    text = TWO_QUEUES.replace("flavor a100 { gpu 8 }", "flavor a100 { gpu 8 }\nflavor old { gpu 8 }").replace(
        "8 gpu }\n  q", "8 gpu on a100 }\n  q"
    )
    facts: list[Fact] = [
        CapacityChanged(time=0, flavor="old", capacity={"gpu": 0}),
        _submitted(0, "g", "guest"),
        _submitted(MINUTE, "o", "owner"),
        OperatorAction(time=2 * MINUTE, by="ada", action="evict", workload="o"),
        WorkloadFinished(time=HOUR, workload="g"),
        WorkloadUpdated(time=HOUR, workload="o", hold=True),
        WorkloadCancelled(time=2 * HOUR, workload="o"),
    ]
    found = _impact(tmp_path / "j.db", _stepped(policy(text), facts), policy(NOBODY_GOES))

    assert [(each.kind, each.about) for each in found.impossible] == [
        ("CapacityChanged", "old"),
        ("OperatorAction", "o"),
        ("WorkloadUpdated", "o"),
    ]
    reasons = ("no flavor `old`", "does not run, so it cannot be evicted", "runs, so it cannot be held")
    assert all(reason in each.reason for each, reason in zip(found.impossible, reasons, strict=True))


def test_a_name_that_is_used_again_is_another_workload(tmp_path: Path, policy: Make) -> None:
    """Where `o` runs longer than recorded, the next `o` cannot be submitted, and its cancellation does not end the first one."""
    facts: list[Fact] = [
        _submitted(0, "g", "guest"),
        _submitted(MINUTE, "o", "owner"),
        WorkloadFinished(time=2 * HOUR, workload="o"),
        _submitted(2 * HOUR, "o", "owner"),
        WorkloadCancelled(time=2 * HOUR + 10 * MINUTE, workload="o"),
        WorkloadFinished(time=3 * HOUR + 10 * MINUTE, workload="g"),
    ]
    found = _impact(tmp_path / "j.db", _stepped(policy(TWO_QUEUES), facts), policy(NOBODY_GOES))

    assert [(each.kind, each.time) for each in found.impossible] == [
        ("WorkloadSubmitted", 2 * HOUR),
        ("WorkloadCancelled", 2 * HOUR + 10 * MINUTE),
    ]
    assert "still an earlier workload of that name" in found.impossible[1].reason


def test_a_policy_that_was_changed_is_replaced_throughout(tmp_path: Path, policy: Make, job: MakeJob) -> None:
    """A history under one policy and then another becomes that under the second one from the beginning, and says how many there were."""
    first, second = policy(PROTECTED), policy(TWO_QUEUES)
    core = new_core()
    facts: list[tuple[Fact, Policy | None]] = [
        (first.activation(0), first),
        (_submitted(0, "g", "guest"), None),
        (_submitted(MINUTE, "o", "owner"), None),
        (second.activation(2 * MINUTE), second),
        (WorkloadFinished(time=HOUR, workload="o"), None),
        (WorkloadFinished(time=2 * HOUR, workload="g"), None),
    ]
    batches = [(fact, core.step(fact, used.graph if used is not None else None)) for fact, used in facts]
    found = _impact(tmp_path / "j.db", batches, second)

    jobs = [job("g", "guest", "0s", "1h"), job("o", "owner", "1m", "58m")]
    expected = list(Simulation(second, jobs, Player()).run())
    assert found.activations == 2
    assert found.after.total == _figures(expected, second).total


@pytest.mark.parametrize("halved", ['queue vision {\n    for namespace "vision"\n    owns 16 gpu'])
@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_campus_becomes_what_simulate_makes(root: Path, tmp_path: Path, halved: str) -> None:
    """Four days of a campus with one queue's ownership halved: every figure is that of `simulate` under that policy."""
    fast = lambda: fast_core(lambda _: None, is_long=True)  # noqa: E731
    folder = root / "examples" / "campus"
    text = (folder / "campus.gpol").read_text()
    assert halved in text
    old, new = (Policy.of(check(each, "campus.gpol")) for each in (text, text.replace(halved, halved.replace("16", "8"))))
    jobs = read_jobs(folder / "workloads.csv", None)[:1_200]
    with Journal.create(tmp_path / "j.db") as journal:
        for _ in Simulation(old, jobs, Player(fast(), journal)).run():
            pass
        found = closed_impact(journal, new)

    assert found.after == _figures(list(Simulation(new, jobs, Player(fast())).run()), new)
    assert len(found.affected) == 10
    assert found.changed > 400
    assert all(each.after.fate.submission == each.before.fate.submission for each in found.affected)

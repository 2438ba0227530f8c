"""Policies that decide in cycles, played: facts of one moment, rest, turns for ever, tests, simulations, journals."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from gpol.cli.main import run_command
from gpol.dsl.analysis.checker import check
from gpol.engine.cores import PlayedBatch
from gpol.engine.errors import FactError
from gpol.engine.events import WorkloadAdmitted
from gpol.engine.facts import TimeAdvanced, WorkloadCancelled, WorkloadFinished
from gpol.engine.units import SECOND
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import MOST_TURNS_IN_CYCLES, EndlessError, OvertakenError, Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.policy_tests import UnmetExpectation, run_test

POLICY = """policy "lab" { use kueue.classical }
flavor a100 { gpu as owned }
cohort all {
  queue owner {
    owns 8 gpu
    reclaims from anyone
  }
  queue guest { owns nothing }
}
"""

TURNS = """policy "turns" { use kueue.classical }
flavor a { gpu as owned }
flavor b { gpu as owned }
cohort all {
  queue lender {
    owns 6 gpu on a
    owns 6 gpu on b
    lends up to 1 gpu on b
  }
  cohort near {
    queue victim {
      owns 1 gpu on b
      lends nothing on b
    }
    queue evictor {
      owns 5 gpu on a
      owns 2 gpu on b
      reclaims from anyone
      borrows by evicting lower priority
    }
  }
}
"""
"""With a full, three more on b serve either the victim, which keeps one of its own, or the evictor, which borrows farther up."""


def started(policy: Policy) -> Player:
    """A player under a policy, at time 0."""
    player = Player()
    player.step(policy.activation(0), policy.graph)
    return player


def words(batches: Sequence[PlayedBatch]) -> list[tuple[str, int, list[str]]]:
    """Each batch as the kind and second of its fact, and what was decided."""
    return [(fact.kind, fact.time // SECOND, [f"{each.kind[8:]} {each.workload}" for each in decisions]) for fact, decisions in batches]


def test_facts_of_one_moment_come_before_its_cycle(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Two submissions at one moment are taken in together, though the first alone would have been due for a cycle."""
    player = started(policy(POLICY))
    played = [*player.play(job("g", "guest", "1s", "1h").fact), *player.play(job("o", "owner", "1s", "1h").fact)]
    played += player.come_to_rest()

    assert words(played) == [
        ("WorkloadSubmitted", 1, []),
        ("WorkloadSubmitted", 1, []),
        ("TimeAdvanced", 1, ["Admitted o", "Deferred g"]),
        ("TimeAdvanced", 2, ["Deferred g"]),
    ]


def test_cycles_before_a_fact_come_first(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """The owner evicts at once and is admitted a second later, and the guest parked after one more; then comes the fact."""
    player = started(policy(POLICY))
    list(player.play(job("g", "guest", "0s", "1h").fact))
    list(player.play(job("o", "owner", "5s", "1h").fact))
    played = list(player.play(WorkloadFinished(time=9 * SECOND, workload="o")))

    assert words(played) == [
        ("TimeAdvanced", 5, ["Deferred o", "Evicted g"]),
        ("TimeAdvanced", 6, ["Admitted o", "Deferred g"]),
        ("TimeAdvanced", 7, ["Deferred g"]),
        ("WorkloadFinished", 9, []),
    ]
    assert words(list(player.come_to_rest())) == [("TimeAdvanced", 9, ["Admitted g"])]


def test_what_time_makes_possible_or_overtakes(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Whether a workload runs when a fact comes is tried out aside; one that was evicted on the way is told as such."""
    player = started(policy(POLICY))
    list(player.play(job("g", "guest", "0s", "1h").fact))
    with pytest.raises(FactError, match="does not run"):
        list(player.play(WorkloadFinished(time=0, workload="g")))
    assert [fact.kind for fact, _ in player.play(job("o", "owner", "5s", "1h").fact)] == ["TimeAdvanced", "WorkloadSubmitted"]
    with pytest.raises(OvertakenError, match="`g` does not run"):
        list(player.play(WorkloadFinished(time=9 * SECOND, workload="g")))


def test_rest_before_a_time(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Only cycles before the given time run; the others stay due."""
    player = started(policy(POLICY))
    list(player.play(job("g", "guest", "0s", "1h").fact))
    list(player.play(job("o", "owner", "5s", "1h").fact))

    assert [fact.time // SECOND for fact, _ in player.come_to_rest(6 * SECOND)] == [5]
    assert player.next_wake() == 6 * SECOND


def turns(policy: Policy, job: Callable[..., Job]) -> Player:
    """Two workloads that take turns on b, while a is full."""
    player = started(policy)
    for name, queue, at, gpus, said in (
        ("full", "evictor", "0s", "9", {}),
        ("v", "victim", "1s", "3", {}),
        ("w", "evictor", "3s", "3", {"priority": 2}),
    ):
        fact = job(name, queue, at, "1h", gpus, **said).fact
        flavors = {"full": ("a",), "w": ("b",)}.get(name, ())
        pods = fact.pod_sets[0].model_copy(update={"flavors": flavors})
        list(player.play(fact.model_copy(update={"pod_sets": (pods,)})))
    return player


def test_turns_for_ever_are_named(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """The victim is evicted and admitted again as often as the bound allows; then both are named, with the line that lets them."""
    player = turns(policy(TURNS), job)
    with pytest.raises(EndlessError) as raised:
        list(player.come_to_rest())
    line = next(number for number, text in enumerate(TURNS.splitlines(), start=1) if "borrows by evicting" in text)

    assert f"`v` more than {MOST_TURNS_IN_CYCLES} times, now for `w` by evictor (two.gpol:{line})" in str(raised.value)
    [eviction] = raised.value.evictions
    assert (eviction.workload, eviction.beneficiary) == ("v", "w")
    assert player.core.view.workload("v").evictions == MOST_TURNS_IN_CYCLES + 1


def test_the_turns_end_with_a_fact(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Once the one that evicts is withdrawn the other runs, and nothing is endless any more."""
    player = turns(policy(TURNS), job)
    with pytest.raises(EndlessError):
        list(player.come_to_rest())
    player.step(WorkloadCancelled(time=player.core.time, workload="w"))
    list(player.come_to_rest())

    assert player.core.view.workload("v").admitted is not None


def test_the_default_profile_settles_the_same(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """By `gpol.fair`, with as much as is owned, the same three workloads come to rest at once."""
    text = TURNS.replace("kueue.classical", "gpol.fair").replace("flavor a { gpu as owned }", "flavor a { gpu 11 }")
    text = text.replace("flavor b { gpu as owned }", "flavor b { gpu 9 }").replace("      reclaims from anyone\n", "")
    player = turns(policy(text.replace("      borrows by evicting lower priority\n", "")), job)

    assert player.next_wake() is None
    assert sum(workload.evictions for workload in player.core.view.workloads()) <= 1


TESTED = """test "an owner gets its own back" {
  at 0s submit g by guest { 8 gpu }
  at 1m submit o by owner { 8 gpu }
  expect g evicted by owner
  expect o admitted
  expect g pending because WaitingForQuota
  at 2m finish o
  expect g admitted borrowing
}
test "no" {
  at 0s submit g by guest { 8 gpu }
  at 1s submit o by owner { 8 gpu }
  at 1s
  expect o admitted
}
"""


def test_policies_are_tested_in_cycles() -> None:
    """An expectation sees the cluster at rest, as far as time goes until the next step; what evicts at 1m is admitted a second later."""
    checked = check(POLICY + TESTED, "t.gpol")
    assert checked.errors == ()
    first, second = (run_test(Policy.of(checked), test) for test in checked.tests)

    assert first.failures == ()
    assert second.failures == ()


def test_a_test_without_rest_fails() -> None:
    """Workloads that take turns for ever fail the test at the expectation that waits for them to come to rest."""
    text = TURNS + 'test "turns" {\n  at 0s submit full by evictor { 9 gpu on a }\n  at 1s submit v by victim { 3 gpu }\n'
    text += "  at 3s submit w by evictor { 3 gpu on b, priority 2 }\n  expect w admitted\n}\n"
    checked = check(text, "t.gpol")
    assert checked.errors == ()
    [failure] = run_test(Policy.of(checked), checked.tests[0]).failures

    assert isinstance(failure, UnmetExpectation)
    assert failure.line == text.splitlines().index("  expect w admitted") + 1
    assert "time alone evicted `v`" in failure.found


def test_a_simulation_in_cycles(
    policy: Callable[..., Policy], job: Callable[..., Job], simulated: Callable[..., list[PlayedBatch]]
) -> None:
    """The guest runs from 0 to 5 s, the owner from 6 s, as a cycle follows the eviction, for 10 s; then the guest for its whole 20 s."""
    batches = simulated(policy(POLICY), [job("g", "guest", "0s", "20s"), job("o", "owner", "5s", "10s")])
    admitted = [
        (each.workload, each.time // SECOND) for _, decisions in batches for each in decisions if isinstance(each, WorkloadAdmitted)
    ]
    finished = [(fact.workload, fact.time // SECOND) for fact, _ in batches if isinstance(fact, WorkloadFinished)]

    assert admitted == [("g", 0), ("o", 6), ("g", 16)]
    assert finished == [("o", 16), ("g", 36)]
    assert all(not decisions for fact, decisions in batches if not isinstance(fact, TimeAdvanced))


def test_a_journal_of_cycles_replays_and_explains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`gpol run --journal`, `gpol replay` and `gpol explain`: the same decisions, and who was looked at for the one that waits."""
    (tmp_path / "lab.gpol").write_text(POLICY.replace("reclaims from anyone", "reclaims from lower priority"))
    pods = [{"requests": {"gpu": "8"}}]
    facts = [
        {"kind": "WorkloadSubmitted", "time": 0, "workload": "g", "queue": "guest", "priority": 5, "pod_sets": pods},
        {"kind": "WorkloadSubmitted", "time": 5 * SECOND, "workload": "o", "queue": "owner", "pod_sets": pods},
        {"kind": "WorkloadUpdated", "time": 60 * SECOND, "workload": "o", "hold": False},
    ]
    (tmp_path / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    journal = str(tmp_path / "j.db")

    assert run_command(["run", str(tmp_path / "lab.gpol"), str(tmp_path / "facts.jsonl"), "--journal", journal]) == 0
    assert run_command(["replay", journal]) == 0
    capsys.readouterr()
    assert run_command(["explain", journal, "o", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[0])

    assert '"not allowed"' in json.dumps(told)
    assert '"WaitingForQuota"' in json.dumps(told)

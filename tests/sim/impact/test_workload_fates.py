"""What becomes of workloads in two histories: waits, what evictions cost, and who is affected most."""

from collections.abc import Callable, Sequence

import pytest
from gpol.engine.cores import PlayedBatch
from gpol.engine.units import HOUR, MINUTE
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from gpol.sim.impact.workload_fates import MOST_AFFECTED, Affected, Fate, FateComparison, Fates

Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]

GPU = 1000


def _told(batches: Sequence[PlayedBatch], on_evict: OnEvict = "restart") -> Fates:
    """The fates of a history in which no name is used twice."""
    fates, seq = Fates(on_evict), 0
    for fact, decisions in batches:
        seq += 1 + len(decisions)
        fates.take(fact, decisions, seq, 1)
    return fates


@pytest.mark.parametrize(("on_evict", "lost"), [("restart", 8 * GPU * 40 * MINUTE), ("resume", 0)])
def test_an_eviction_costs_a_wait_and_what_was_done(policy: Make, job: MakeJob, simulated: Run, on_evict: OnEvict, lost: int) -> None:
    """A guest of 8 GPUs that has to go after 40 minutes waits for 20, and loses its run where it begins anew."""
    batches = simulated(policy(), [job("g", "guest", "0s", "2h"), job("o", "owner", "40m", "20m")], on_evict)
    fate = _told(batches, on_evict).over["g", 1]

    assert (fate.queue, fate.gpus, fate.state, fate.evictions) == ("guest", 8 * GPU, "finished", 1)
    assert (fate.wait, fate.longest, fate.lost) == (20 * MINUTE, 20 * MINUTE, lost)
    assert fate.eviction is not None
    assert fate.eviction.beneficiary == "o"
    assert fate.admission is not None
    assert fate.admission.time == HOUR


def test_the_longest_wait_is_found_by_the_event_it_began_with(policy: Make, job: MakeJob, simulated: Run) -> None:
    """`waits` are numbered by the last event of the batch after which the workload was in line: here the eviction's, 6 events in."""
    batches = simulated(policy(), [job("g", "guest", "0s", "2h"), job("o", "owner", "40m", "20m")])
    fate = _told(batches).over["g", 1]

    # Activated 1; g submitted 2, admitted 3; o submitted 4, g evicted 5, o admitted 6.
    assert fate.longest_from == 6


def test_who_never_runs_waits_until_the_end(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A job that is larger than the cluster waits as long as there is a history."""
    fates = _told(simulated(policy(), [job("big", "owner", "0s", "1h", "9"), job("a", "owner", "1h", "1h")]))
    fates.rest()

    assert (fates.over["big", 1].wait, fates.over["big", 1].longest, fates.over["big", 1].admission) == (2 * HOUR, 2 * HOUR, None)


def _fate(name: str, wait: int = 0, lost: int = 0, gpus: int = GPU, submission: int = 1, state: str = "finished") -> Fate:
    return Fate((name, submission), "q", gpus, 0, state=state, wait=wait, lost=lost)


def test_the_order_of_the_affected_is_total() -> None:
    """Most GPU-time first, gained or lost; then most change of wait; then name, then submission."""
    pairs = [
        Affected(_fate("lost"), _fate("lost", lost=10 * GPU)),
        Affected(_fate("gained", wait=9), _fate("gained")),
        Affected(_fate("b"), _fate("b", wait=5)),
        Affected(_fate("a", submission=2), _fate("a", submission=2, wait=5)),
        Affected(_fate("a"), _fate("a", wait=5)),
        Affected(_fate("cpu-long", gpus=0), _fate("cpu-long", gpus=0, wait=9)),
        Affected(_fate("cpu", gpus=0), _fate("cpu", gpus=0, wait=8)),
    ]
    expected = [("lost", 1), ("gained", 1), ("a", 1), ("a", 2), ("b", 1), ("cpu-long", 1), ("cpu", 1)]

    for some in (pairs, list(reversed(pairs))):
        assert [each.after.submission for each in sorted(some, key=lambda each: each.rank)] == expected


@pytest.mark.parametrize("reverse", [False, True])
def test_the_most_affected_are_kept_in_whatever_order_they_end(reverse: bool) -> None:
    """Of forty workloads the ten whose wait changed most are told, most first; those that fare the same are not."""
    comparison = FateComparison(Fates("restart"), Fates("restart"))
    names = [f"w{number:02}" for number in range(40)]
    for number, name in sorted(enumerate(names), reverse=reverse):
        comparison.before.over[name, 1] = _fate(name)
        comparison.after.over[name, 1] = _fate(name, wait=number)
        comparison.collect()
    affected = comparison.finish()

    assert [each.after.submission[0] for each in affected] == names[::-1][:MOST_AFFECTED]
    assert (comparison.compared, comparison.worse, comparison.better) == (40, 39, 0)


def test_who_is_in_one_history_only_is_not_compared() -> None:
    """A workload that could not be submitted in the other history is left out."""
    comparison = FateComparison(Fates("restart"), Fates("restart"))
    comparison.before.over["a", 1] = _fate("a", wait=5)

    assert comparison.finish() == ()
    assert comparison.compared == 0


def test_another_end_counts_though_nothing_was_lost() -> None:
    """Rejected in one history and finished at once in the other: it is told of, and fares worse."""
    comparison = FateComparison(Fates("restart"), Fates("restart"))
    comparison.before.over["a", 1] = _fate("a")
    comparison.after.over["a", 1] = _fate("a", state="rejected")

    assert [each.after.state for each in comparison.finish()] == ["rejected"]
    assert (comparison.worse, comparison.better) == (1, 0)


def test_who_is_rejected_is_no_better_off_for_a_shorter_wait() -> None:
    """It loses what it got, 5, and not the 9 that it waited for; the other way round it fares better, by nobody knows how much."""
    ran = Fate(("a", 1), "q", GPU, 0, state="finished", wait=9, got=5 * GPU)
    refused, accepted = Affected(ran, _fate("a", state="rejected")), Affected(_fate("a", state="rejected"), ran)

    assert (refused.cost, refused.extra_wait) == (5 * GPU, -9)
    assert refused.harm > 0
    assert accepted.cost == 0
    assert accepted.harm < 0


def test_who_waits_in_both_histories_waits_as_long(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Two jobs go side by side, or one after the other: that the history takes an hour longer then is no wait of who never runs."""
    never = job("big", "owner", "0s", "1h", "16")
    comparison = FateComparison(
        _told(simulated(policy(), [never, job("a", "owner", "0s", "1h", "4"), job("b", "owner", "0s", "1h", "4")])),
        _told(simulated(policy(), [never, job("a", "owner", "0s", "1h", "8"), job("b", "owner", "0s", "1h", "8")])),
    )
    affected = comparison.finish()

    assert (comparison.before.now, comparison.after.now) == (HOUR, 2 * HOUR)
    assert [(each.after.submission[0], each.extra_wait) for each in affected] == [("b", HOUR)]
    assert (comparison.worse, comparison.better) == (1, 0)


def test_who_waits_at_an_earlier_end_waits_to_the_later_one(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Not admitted in a history of one hour, and after two hours in one of three: it waits an hour less."""
    end = Fate(("a", 1), "q", GPU, 0, state="waiting", wait=0)
    comparison = FateComparison(Fates("restart", live={"a": end}, now=HOUR), Fates("restart", now=3 * HOUR))
    comparison.after.over["a", 1] = _fate("a", wait=2 * HOUR)

    assert [(each.extra_wait, each.before.wait) for each in comparison.finish()] == [(-HOUR, HOUR)]


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_what_a_workload_got_is_what_was_not_in_vain(policy: Make, job: MakeJob, simulated: Run, on_evict: OnEvict) -> None:
    """A guest of 8 GPUs gets its two hours, begun anew after an eviction or gone on with; right after it what it keeps of 40 minutes."""
    batches = simulated(policy(), [job("g", "guest", "0s", "2h"), job("o", "owner", "40m", "20m")], on_evict)
    whole, cut = _told(batches, on_evict), _told(batches[:3], on_evict)
    cut.rest()

    assert whole.over["g", 1].got == 8 * GPU * 2 * HOUR
    assert (cut.over["g", 1].state, cut.over["g", 1].got) == ("waiting", 0 if on_evict == "restart" else 8 * GPU * 40 * MINUTE)
    assert cut.over["o", 1].got == 0

"""Playing facts: moments at which time alone decides come in between, and every batch reaches the sink."""

from collections.abc import Callable

import pytest
from gpol.engine.errors import FactError
from gpol.engine.events import AnyEvent
from gpol.engine.facts import TimeAdvanced, WorkloadFinished
from gpol.engine.units import MINUTE
from gpol.sim.drive import player as player_module
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import MOST_TURNS, EndlessError, OvertakenError, Player
from gpol.sim.drive.policy import Policy
from policy_texts import PROTECTED


class Kept:
    """A sink that remembers what it was given, call by call."""

    def __init__(self) -> None:
        self.calls: list[list[list[AnyEvent]]] = []

    def append(self, batches: list[list[AnyEvent]]) -> None:
        """Remember a call."""
        self.calls.append(batches)


def _started(policy: Policy, sink: Kept | None = None, group: int = 500) -> Player:
    player = Player(sink=sink, group=group)
    player.step(policy.activation(0), policy.graph)
    return player


def test_a_fact_comes_after_the_moments_before_it(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """When the guest's ten minutes end before the next fact, that very moment is played first, and decides."""
    player = _started(policy(PROTECTED))
    list(player.play(job("g", "guest", "0s", "1h").fact))
    list(player.play(job("o", "owner", "1m", "1h").fact))

    first, second = player.play(WorkloadFinished(time=20 * MINUTE, workload="o"))

    assert first[0] == TimeAdvanced(time=10 * MINUTE)
    assert [(each.kind, each.workload) for each in first[1]] == [("WorkloadEvicted", "g"), ("WorkloadAdmitted", "o")]
    assert second[0].kind == "WorkloadFinished"


def test_advance_includes_its_own_time_and_no_more(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """A moment is played when time reaches it, not before, and once."""
    player = _started(policy(PROTECTED))
    list(player.play(job("g", "guest", "0s", "1h").fact))
    list(player.play(job("o", "owner", "1m", "1h").fact))

    assert list(player.advance(10 * MINUTE - 1)) == []
    assert [fact.time for fact, _ in player.advance(10 * MINUTE)] == [10 * MINUTE]
    assert list(player.advance(10 * MINUTE)) == []


def test_batches_reach_the_sink_in_groups(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Batches are handed on when a group is full, the rest by flush; flushing twice hands nothing on twice."""
    kept = Kept()
    player = _started(policy(), kept, group=2)
    assert kept.calls == []
    player.step(job("a", "owner", "0s", "1h", "1").fact)
    player.step(job("b", "owner", "0s", "1h", "1").fact)
    player.flush()
    player.flush()

    kinds = [[[event.kind for event in batch] for batch in call] for call in kept.calls]
    submitted = ["WorkloadSubmitted", "WorkloadAdmitted"]
    assert kinds == [[["PolicyActivated"], submitted], [submitted]]


def test_a_refused_fact_leaves_nothing_behind(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """The end of a workload that nobody submitted is refused before the moments on the way to it are played: no eviction, no time."""
    kept = Kept()
    player = _started(policy(PROTECTED), kept, group=1)
    list(player.play(job("g", "guest", "0s", "1h").fact))
    list(player.play(job("o", "owner", "1m", "1h").fact))
    before = len(kept.calls)

    with pytest.raises(FactError, match="`zed`"):
        list(player.play(WorkloadFinished(time=20 * MINUTE, workload="zed")))

    assert (player.core.time, player.core.next_wake(), len(kept.calls)) == (MINUTE, 10 * MINUTE, before)


def test_a_fact_that_time_does_not_make_possible_leaves_nothing_behind(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Whether a waiting workload runs by then is tried out aside: `p` does not, so its end is refused with nothing played."""
    kept = Kept()
    player = _started(policy(PROTECTED), kept, group=1)
    for name, queue, at in (("g", "guest", "0s"), ("o", "owner", "1m"), ("p", "owner", "2m")):
        list(player.play(job(name, queue, at, "1h").fact))
    before = len(kept.calls)

    with pytest.raises(FactError, match="`p` does not run"):
        list(player.play(WorkloadFinished(time=20 * MINUTE, workload="p")))

    assert (player.core.time, player.core.next_wake(), len(kept.calls)) == (2 * MINUTE, 10 * MINUTE, before)
    assert [fact.time for fact, _ in player.play(WorkloadFinished(time=20 * MINUTE, workload="o"))] == [10 * MINUTE, 20 * MINUTE]


def test_a_fact_that_time_overtakes_says_so(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """The guest runs when its end is read, and is evicted on the way to it: that eviction stands, and the error is of its own kind."""
    player = _started(policy(PROTECTED))
    list(player.play(job("g", "guest", "0s", "1h").fact))
    list(player.play(job("o", "owner", "1m", "1h").fact))

    with pytest.raises(OvertakenError, match="`g` does not run"):
        list(player.play(WorkloadFinished(time=20 * MINUTE, workload="g")))

    assert player.core.time == 10 * MINUTE


TAKE_TURNS = """
policy "turns" { preempt by turn, reclaim-owned, fair-share, make-room }
flavor a100 { gpu 8 }
queue q { owns 8 gpu }
preempt turn {
  evict from the same queue
  where victim.running >= 1m
}
"""


@pytest.mark.slow
def test_workloads_that_take_turns_for_ever_are_told(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """Three workloads, room for two, and a guard that each fulfils after a minute: the rule and its line are named."""
    player = _started(policy(TAKE_TURNS))
    for name, at in (("a", "0s"), ("b", "30s"), ("c", "31s")):
        list(player.play(job(name, "q", at, "1h", "4").fact))
    with pytest.raises(EndlessError, match=rf"more than {MOST_TURNS:,} times, now for `.` by turn \(two.gpol:5\)"):
        list(player.advance(2**62))
    with pytest.raises(EndlessError):
        list(player.advance(2**62))

    assert player.core.time < 2 * MOST_TURNS * MINUTE


def test_any_fact_between_the_turns_is_a_new_beginning(
    policy: Callable[..., Policy], job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns are counted between facts: as many as are allowed, twice over, with one submission in between."""
    player = _started(policy(TAKE_TURNS))
    for name, at in (("a", "0s"), ("b", "30s"), ("c", "31s")):
        list(player.play(job(name, "q", at, "1h", "4").fact))
    monkeypatch.setattr(player_module, "MOST_TURNS", 50)
    half = 50 * MINUTE
    list(player.advance(half))
    list(player.play(job("d", "nowhere", "0s", "1h").fact.model_copy(update={"time": half})))

    list(player.advance(2 * half))

    assert player.core.time > 2 * half - MINUTE


def test_a_moment_that_64_bits_do_not_hold_never_comes(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """A protection that ends beyond the last moment there is never ends."""
    player = _started(policy(PROTECTED))
    for name, queue in (("g", "guest"), ("o", "owner")):
        list(player.play(job(name, queue, "0s", "1h").fact.model_copy(update={"time": 2**63 - 1})))

    assert player.core.next_wake() is not None
    assert list(player.advance(2**63 - 1)) == []

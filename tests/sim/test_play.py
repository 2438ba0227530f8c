"""Playing facts: moments at which time alone decides come in between, and every batch reaches the sink."""

from collections.abc import Callable

import pytest
from gpol.engine.errors import FactError
from gpol.engine.events import AnyEvent, TimeAdvanced, WorkloadFinished
from gpol.engine.units import MINUTE
from gpol.sim.play import Player, play_all
from gpol.sim.policy import Policy
from gpol.sim.workload import Job

PROTECTED = """
policy "p" { use gpol.fair }
flavor a100 { gpu 8 }
cohort all {
  queue owner { owns 8 gpu }
  queue guest { owns nothing }
}
protect warm-up { where victim.running < 10m }
"""


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


def test_what_was_decided_before_an_error_is_kept(policy: Callable[..., Policy], job: Callable[..., Job]) -> None:
    """play_all raises the error of an impossible fact, after handing on all batches before it and nothing of it."""
    kept = Kept()
    player = Player(sink=kept)
    used = policy()
    facts = [(used.activation(0), used.graph), (job("a", "owner", "0s", "1h").fact, None), (WorkloadFinished(time=0, workload="b"), None)]

    with pytest.raises(FactError, match="`b`"):
        list(play_all(player, facts))

    assert [batch[0].kind for call in kept.calls for batch in call] == ["PolicyActivated", "WorkloadSubmitted"]

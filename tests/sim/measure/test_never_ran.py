"""Who never ran: alike workloads together, whichever core has played them."""

from collections.abc import Callable

import pytest
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.measure.never_ran import NeverRan, never_admitted


@pytest.mark.parametrize("make", [new_core, ArrayCore])
def test_both_cores_tell_the_same(policy: Callable[..., Policy], job: Callable[..., Job], make: Callable[[], Core]) -> None:
    """Rejections are counted from batches and from chunks that a core has played by itself; who can never run comes first."""
    jobs = [job("a", "owner", "0s", "1h"), *(job(f"lost-{number}", "nowhere", "1m", "1h") for number in range(7))]
    jobs += [job(f"huge-{number}", "owner", "2m", "1h", "900") for number in range(2)]
    player, seen = Player(make()), NeverRan()
    for played in Simulation(policy(), jobs, player).chunks():
        seen.take(played)

    [lost] = seen.rejected()
    assert (lost.reason, lost.count, lost.workloads) == ("NoMatchingQueue", 7, [f"lost-{number}" for number in range(5)])
    [huge] = never_admitted(player.core)
    assert (huge.queue, huge.count, huge.workloads) == ("owner", 2, ["huge-0", "huge-1"])
    assert [each.kind for each in huge.never] == ["exceeds"]


def test_nothing_was_played() -> None:
    """Without a policy nobody waits."""
    assert never_admitted(new_core()) == []

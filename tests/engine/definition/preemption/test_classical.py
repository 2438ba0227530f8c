"""Classical victims: who may go, in which order, and who is spared."""

from collections.abc import Callable
from typing import Any

import pytest


def policy(says: str = "", owned: int = 4, other: int = 4) -> str:
    """A cohort of `q`, which says something about evicting, and two others; `x` and `y` share what is left."""
    return f"""flavor a {{ gpu as owned }}
cohort all {{
  queue q {{
    owns {owned} gpu
    {says}
  }}
  queue x {{ owns {other} gpu }}
  queue y {{ owns 0 gpu }}
}}
"""


@pytest.mark.parametrize(
    ("says", "priority", "decided"),
    [
        ("", 9, ["park w"]),
        ("evicts its own of lower priority", 0, ["park w"]),
        ("evicts its own of lower priority", 1, ["preempt w", "evict v2 for w"]),
        ("evicts its own of lower priority or newer", 0, ["park w"]),
        ("evicts its own of lower priority or newer", 1, ["preempt w", "evict v2 for w"]),
    ],
)
def test_its_own(cycles: Callable[[str], Any], says: str, priority: int, decided: list[str]) -> None:
    """Among its own only lower priority goes, the latest admitted first; nobody is newer than one that came last."""
    c = cycles(policy(says, other=0))
    c.submit("v1", "q", "2")
    c.submit("v2", "q", "2")
    c.rest()
    c.at("5s")
    c.submit("w", "q", "2", priority=priority)

    assert c.cycle() == decided


def test_newer_ones_go(cycles: Callable[[str], Any]) -> None:
    """An older workload, evicted and waiting again, may evict one of the same priority that was created later."""
    c = cycles(policy("evicts its own of lower priority or newer", other=0))
    c.at("1s")
    c.submit("new", "q", "4")
    c.rest()
    c.submit("old", "q", "4", created=0)

    assert c.cycle() == ["preempt old", "evict new for old"]


@pytest.mark.parametrize(
    ("says", "priority", "decided"),
    [
        ("", 5, ["park w"]),
        ("reclaims from lower priority", 1, ["park w"]),
        ("reclaims from lower priority", 2, ["preempt w", "evict v for w"]),
        ("reclaims from anyone", 0, ["preempt w", "evict v for w"]),
    ],
)
def test_reclaiming(cycles: Callable[[str], Any], says: str, priority: int, decided: list[str]) -> None:
    """Within what it owns a queue takes back from a borrower, of lower priority or any, as it says."""
    c = cycles(policy(says, other=0))
    c.submit("v", "y", "4", priority=1)
    c.rest()
    c.submit("w", "q", "4", priority=priority)

    assert c.cycle() == decided


def test_nobody_reclaims_from_a_queue_within_what_it_owns(cycles: Callable[[str], Any]) -> None:
    """A queue that does not borrow keeps its workloads, however unimportant."""
    c = cycles(policy("reclaims from anyone\n    borrows by evicting lower priority"))
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w", "q", "5", priority=9)

    assert c.cycle() == ["park w"]


@pytest.mark.parametrize(
    ("limit", "decided"),
    [("", ["preempt w", "evict v for w"]), (" up to 1", ["preempt w", "evict v for w"]), (" up to 0", ["park w"])],
)
def test_while_borrowing(cycles: Callable[[str], Any], limit: str, decided: list[str]) -> None:
    """A workload that borrows itself evicts a borrower of lower priority, up to the priority that the queue says."""
    c = cycles(policy(f"reclaims from anyone\n    borrows by evicting lower priority{limit}", owned=1, other=7))
    c.submit("v", "y", "8", priority=1)
    c.rest()
    c.submit("w", "q", "2", priority=2)

    assert c.cycle() == decided
    assert [event.preemption for event in c.decided[1:]] == ["reclaim-while-borrowing"] * (len(decided) - 1)


def test_who_goes_only_without_borrowing(cycles: Callable[[str], Any]) -> None:
    """Without leave to evict while borrowing: the queue owns two and uses one, so with two more it borrows, and nobody goes for it."""
    c = cycles(policy("reclaims from anyone", owned=2, other=6))
    c.submit("own", "q", "1")
    c.submit("v", "y", "7")
    c.rest()
    c.submit("w", "q", "2", priority=2)

    assert c.cycle() == ["park w"]
    assert c.why("w") == "WaitingForQuota"
    outcomes = {candidate.workload: candidate.outcome for candidate in c.standing("w").candidates}
    assert outcomes == {"own": "not allowed", "v": "only without borrowing"}


def test_whoever_is_not_needed_is_spared(cycles: Callable[[str], Any]) -> None:
    """The small ones of low priority are taken first; once the big one had to go as well, they are not needed."""
    c = cycles(policy("reclaims from anyone", owned=6, other=0))
    c.submit("small", "y", "2", priority=0)
    c.submit("big", "y", "4", priority=1)
    c.rest()
    c.submit("w", "q", "4")

    assert c.cycle() == ["preempt w", "evict big for w"]
    assert c.running() == ["small"]


def test_nobody_goes_where_all_are_not_enough(cycles: Callable[[str], Any]) -> None:
    """Four GPUs are asked for and two could be had: nobody is evicted."""
    c = cycles(policy("reclaims from lower priority", owned=4, other=0))
    c.submit("low", "y", "2", priority=0)
    c.submit("high", "y", "2", priority=5)
    c.rest()
    c.submit("w", "q", "4", priority=3)

    assert c.cycle() == ["park w"]
    assert c.running() == ["low", "high"]


def test_nearer_quota_is_used_first(cycles: Callable[[str], Any]) -> None:
    """The queue owns nothing and its cohort enough: who came into the cohort from beyond goes before who borrows within it."""
    c = cycles(
        """flavor a { gpu as owned }
cohort all {
  cohort near {
    owns 4 gpu
    queue q {
      owns nothing
      reclaims from anyone
    }
    queue n { owns nothing }
  }
  queue far { owns nothing }
}
"""
    )
    c.submit("n", "n", "2")
    c.submit("far", "far", "2")
    c.rest()
    c.submit("w", "q", "2")

    assert c.cycle() == ["preempt w", "evict far for w"]

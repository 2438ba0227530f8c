"""Nominating: victims for all of it together, fewer pods where they will do."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.definition.admission.nominate import fewest_missing


@pytest.mark.parametrize(
    ("most", "least", "room", "found"),
    [
        pytest.param([10], [2], 7, [7], id="the most that fit"),
        pytest.param([10], [2], 99, [10], id="all of them"),
        pytest.param([10], [2], 1, None, id="fewer than the least"),
        pytest.param([4, 4], [4, 2], 7, [4, 3], id="only the one that may do with fewer gives up"),
        pytest.param([6, 3], [0, 0], 6, [4, 2], id="in proportion: of nine two parts to one"),
        pytest.param([3], [3], 2, None, id="nothing to give up"),
    ],
)
def test_the_fewest_pods_are_given_up(most: list[int], least: list[int], room: int, found: list[int] | None) -> None:
    """As many pods as there is room for, each pod set giving up its part, rounded down."""
    assert fewest_missing(most, least, lambda counts: counts if sum(counts) <= room else None) == found


def test_the_search_is_by_halves() -> None:
    """A hundred pods are searched in at most eight attempts."""
    asked: list[int] = []

    def attempt(counts: list[int]) -> int | None:
        asked.append(counts[0])
        return counts[0] if counts[0] <= 37 else None

    assert fewest_missing([100], [0], attempt) == 37
    assert len(asked) <= 8


POLICY = """flavor a { gpu as owned }
cohort all {
  queue q {
    owns 6 gpu
    reclaims from anyone
  }
  queue x { owns nothing }
}
"""


def pods(count: int, fewest: int) -> list[dict[str, object]]:
    """One pod set of pods with one GPU each."""
    return [{"count": count, "min_count": fewest, "requests": {"gpu": "1"}}]


def test_partly_admitted(cycles: Callable[[str], Any]) -> None:
    """Of eight pods that may be four, six are admitted and charged."""
    c = cycles(POLICY)
    c.submit("w", "q", sets=pods(8, 4))

    assert c.cycle() == ["run w"]
    [assignment] = c.decided[0].assignments
    assert (assignment.count, c.decided[0].usage[0].amount) == (6, 6000)


def test_more_pods_by_evictions(cycles: Callable[[str], Any]) -> None:
    """Four run for a borrower: all six that could be had are worth evicting it."""
    c = cycles(POLICY)
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w", "q", sets=pods(8, 4))

    assert c.rest()[:3] == ["preempt w", "evict v for w", "run w"]
    assert c.workload("w").assignments[0].count == 6


def test_fewer_than_the_least_are_none(cycles: Callable[[str], Any]) -> None:
    """Seven at least are more than there ever are."""
    c = cycles(POLICY)
    c.submit("w", "q", sets=pods(8, 7))

    assert c.rest() == ["park w"]


def test_pods_that_are_done_are_not_asked_for(cycles: Callable[[str], Any]) -> None:
    """Of eight pods two are done before it was ever admitted: it asks for six."""
    c = cycles(POLICY)
    c.submit("w", "q", sets=[{"count": 8, "requests": {"gpu": "1"}}])
    assert c.rest() == ["park w"]
    c.update("w", reclaimable={"main": 2})

    assert c.rest() == ["run w"]
    assert c.workload("w").assignments[0].count == 6

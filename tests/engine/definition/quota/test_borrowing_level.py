"""How far up the tree quota has to come from."""

from collections.abc import Callable
from typing import Any

import pytest

TREE = """flavor a { gpu as owned }
cohort all {
  cohort inner {
    queue q {
      owns 4 gpu
      lends up to 3 gpu
    }
    queue r { owns 4 gpu }
  }
  queue s { owns 4 gpu }
}
queue alone { owns 4 gpu }
"""


def test_heights(cycles: Callable[[str], Any]) -> None:
    """A queue has height 0, a cohort one more than the highest below it."""
    c = cycles(TREE)
    height = c.state.active.tree.height

    assert [height[c.node(name)] for name in ("q", "s", "inner", "all", "alone")] == [0, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("amount", "level"),
    [
        pytest.param(4, (0, True), id="what it owns"),
        pytest.param(8, (1, True), id="what inner owns, of which q keeps one: 4 + 4 are owned there"),
        pytest.param(9, (2, False), id="one more than inner owns"),
        pytest.param(99, (2, False), id="more than there is: the whole tree's height"),
    ],
)
def test_the_level_is_the_height_of_what_owns_enough(cycles: Callable[[str], Any], amount: int, level: tuple[int, bool]) -> None:
    """The lowest node on the path whose subtree owns enough counts; nothing above the top could lend more."""
    c = cycles(TREE)

    assert c.state.active.tree.level_that_fits(c.node("q"), 0, amount * 1000) == level


def test_a_queue_without_a_cohort_has_level_0(cycles: Callable[[str], Any]) -> None:
    """Nothing is above it, whatever it asks for."""
    c = cycles(TREE)

    assert c.state.active.tree.level_that_fits(c.node("alone"), 0, 99_000) == (0, False)


def test_use_counts(cycles: Callable[[str], Any]) -> None:
    """With 3 of 4 used one more is within what is owned and two are not."""
    c = cycles(TREE)
    c.submit("w", "q", "3")
    c.rest()
    tree, q = c.state.active.tree, c.node("q")

    assert not tree.exceeds_owned(q, 0, 1000)
    assert tree.exceeds_owned(q, 0, 2000)
    assert not tree.borrows(q, [0])

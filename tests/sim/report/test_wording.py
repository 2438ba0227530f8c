"""Figures in words: durations and changes as people read them."""

import pytest
from gpol.engine.event_parts import Assignment, PlacedPods
from gpol.sim.report.wording import MOST_PLACES, hours, places_told, short, signed

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0s"), (59, "59s"), (-61, "-1m1s"), (3_725, "1h2m"), (-90_061, "-1d1h"), (-0.4, "0s"), (0.9, "0s")]
)
def test_durations(seconds: float, told: str) -> None:
    """A duration is told in whole seconds and at most two units; one that comes to nothing has no sign."""
    assert short(int(seconds * SECOND)) == told


def test_changes_have_signs() -> None:
    """More has a plus, less a minus, and nothing none."""
    assert [signed(short(change * SECOND)) for change in (90, -90, 0)] == ["+1m30s", "-1m30s", "0s"]
    assert signed(short(-1)) == "0s"
    assert signed(hours(-1)) == "0.0"


def test_places_of_pods() -> None:
    """A line for each pod set that has places, with how many more there are."""
    places = tuple(PlacedPods(domain=(f"n{number:02}",), pods=1 + number % 2) for number in range(MOST_PLACES + 2))
    given = [Assignment(pod_set="main", count=20, flavors={}, places=places), Assignment(pod_set="rest", count=1, flavors={})]
    [line] = places_told(given)
    assert line.startswith("places of main: n00, n01 (2), n02, ")
    assert line.endswith(" and 2 more")

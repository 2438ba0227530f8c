"""Kueue may learn of a change late; how late, says when a decision without it is a difference."""

from pathlib import Path

import pytest
from gpol.adapters.kueue.live.shadow.course.course import MOST_LAG
from gpol.engine.units import SECOND
from recorded_kueue import own_history
from shadow_bench import ShadowBench, job

FLAVORS = {"main": {"nvidia.com/gpu": "a100"}}
START = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(MOST_LAG // SECOND - 1, []), (MOST_LAG // SECOND + 2, ["ns/low"])],
    ids=["as late as may be", "later"],
)
def test_a_change_that_kueue_learns_of_late(seconds: int, told: list[str], tmp_path: Path) -> None:
    """It admits the first of two, for which it has no room any more once it knows of the second, which comes before it."""
    scenario = own_history()["in"]
    scenario["clusterQueues"][1]["spec"]["preemption"] = {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}
    bench = ShadowBench(tmp_path, scenario)
    clock, kueue = bench.clock, bench.kueue
    clock.at(START)
    kueue.set_up(scenario)
    bench.look()
    kueue.submit(job("low", 0, START, 8))
    kueue.submit(job("high", 10, "2026-01-01T00:00:01Z", 8))
    clock.at(clock.micros + (1 + seconds) * SECOND)
    kueue.admit("ns/low", "speech", FLAVORS)
    found = bench.look()
    bench.close()
    assert [difference.workload for difference in found] == told

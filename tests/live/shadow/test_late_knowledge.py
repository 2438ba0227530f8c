"""Kueue may learn of a change late; how late, says when a decision without it is a difference."""

from pathlib import Path

import pytest
from gpol.adapters.kueue.live.shadow.course.course import MOST_LAG
from gpol.engine.units import SECOND
from kueue_writer import Json
from recorded_kueue import own_history
from shadow_bench import ShadowBench

FLAVORS = {"main": {"nvidia.com/gpu": "a100"}}
START = "2026-01-01T00:00:00Z"


def job(name: str, priority: int, created: str) -> Json:
    """A workload that takes all GPUs of one flavor."""
    container = {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    pod_set = {"name": "main", "count": 8, "template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}
    metadata = {"name": name, "namespace": "ns", "uid": name, "creationTimestamp": created}
    return {"metadata": metadata, "spec": {"queueName": "speech", "priority": priority, "active": True, "podSets": [pod_set]}}


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
    kueue.submit(job("low", 0, START))
    kueue.submit(job("high", 10, "2026-01-01T00:00:01Z"))
    clock.at(clock.micros + (1 + seconds) * SECOND)
    kueue.admit("ns/low", "speech", FLAVORS)
    found = bench.look()
    bench.close()
    assert [difference.workload for difference in found] == told

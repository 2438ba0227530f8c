"""Where no correction leads on, what Kueue did is taken unchecked: a search for an explanation always ends."""

from pathlib import Path

from gpol.engine.units import SECOND
from recorded_kueue import own_history
from shadow_bench import ShadowBench, job

FLAVORS = {"main": {"nvidia.com/gpu": "a100"}}
START = "2026-01-01T00:00:00Z"


def test_the_victim_that_gpol_would_take_ends(tmp_path: Path) -> None:
    """Kueue evicts another victim than gpol would, and gpol's ends by itself before it is looked at."""
    scene = own_history()["in"]
    scene["clusterQueues"][1]["spec"].pop("cohortName")
    scene["clusterQueues"][1]["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Never"}
    bench = ShadowBench(tmp_path, scene)
    kueue, clock = bench.kueue, bench.clock
    clock.at(START)
    kueue.set_up(scene)
    bench.look()
    begun = clock.micros
    for name, seconds in (("w", 1), ("v", 11)):
        kueue.submit(job(name, 0, f"2026-01-01T00:00:{seconds - 1:02}Z", 2))
        clock.at(begun + seconds * SECOND)
        kueue.admit(f"ns/{name}", "speech", FLAVORS)
        assert bench.look() == ()
    kueue.submit(job("s", 10, "2026-01-01T00:00:20Z", 2))
    clock.at(begun + 21 * SECOND)
    kueue.preempt("ns/w", "InClusterQueue", "ns/s")
    kueue.stop("ns/w")
    clock.at(begun + 22 * SECOND)
    kueue.admit("ns/s", "speech", FLAVORS)
    clock.at(begun + 23 * SECOND)
    kueue.delete("ns/v")
    clock.at(begun + 24 * SECOND)
    kueue.admit("ns/w", "speech", FLAVORS)
    assert len(bench.look()) <= 1
    running = {each.name for each in bench.shadow.decider.core.view.workloads() if each.admitted is not None}
    assert running == {"ns/s", "ns/w"}
    bench.close()

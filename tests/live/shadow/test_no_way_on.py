"""Where no correction leads on, or not soon, what Kueue did is taken unchecked: a search for an explanation always ends."""

import asyncio
import threading
import time
from pathlib import Path

import pytest
from following import until
from gpol.adapters.kueue.live.shadow import kueue_shadow
from gpol.adapters.kueue.live.shadow.course.explaining import FoundCourse
from gpol.adapters.kueue.live.shadow.watch.script import Script
from gpol.engine.units import SECOND
from modelled_kueue import ModelledKueue
from planted_faults import Planted, PlantedFault, faults_of
from recorded_kueue import own_history
from served_shadow import ServedShadow
from shadow_bench import HistoryPlayer, HistoryWriter, ShadowBench, job

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


OWN_FAULTS = faults_of(own_history()["in"], "own", most=1000)


@pytest.mark.parametrize("fault", OWN_FAULTS[::3], ids=lambda fault: f"{fault.kind}-{fault.cycle}-{fault.workload}-{fault.victim}")
def test_a_search_that_takes_too_long_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: PlantedFault) -> None:
    """What could not be explained in time is taken as it is, and counted; what comes later is compared as ever."""
    monkeypatch.setattr(kueue_shadow, "MOST_SECONDS", -1.0)
    case = own_history()
    bench, planted = ShadowBench(tmp_path, case["in"]), Planted(fault)
    model = ModelledKueue(case["in"], planted)
    assert HistoryPlayer(bench, model).play(case["in"]["steps"]) == []
    assert planted.happened
    assert bench.shadow.unchecked > 0
    assert {each.name for each in bench.shadow.decider.core.view.workloads() if each.admitted is not None} == {
        each.name for each in model.workloads() if each.admitted is not None
    }
    bench.close()


def test_a_long_search_keeps_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile the cluster is watched. A stop ends the search; the next start takes everything as it is then, and goes on."""
    scenario = own_history()["in"]
    started = threading.Event()

    async def played() -> None:
        served = ServedShadow(tmp_path, scenario)
        history = HistoryWriter(served.kueue, ModelledKueue(scenario))
        async with served.server:
            async with served.running() as shadow:
                await served.in_step(shadow)
                explained = shadow._explained

                def long(script: Script) -> FoundCourse:
                    started.set()
                    while not shadow._is_over:
                        time.sleep(0.01)
                    return explained(script)

                monkeypatch.setattr(shadow, "_explained", long)
                history.write(scenario["steps"][0])
                await until(started.is_set)
                history.write(scenario["steps"][1])
                await until(lambda: served.knows_all(shadow))
                assert shadow._comparing.locked()
            async with served.running() as shadow:
                await served.in_step(shadow)
                before = shadow.explained
                history.write(scenario["steps"][2])
                await served.in_step(shadow)
                assert (shadow.explained > before, list(shadow.differences)) == (True, [])

    asyncio.run(played())

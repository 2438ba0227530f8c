"""When there is room again, Kueue looks at those whom it has refused a second later, so who comes meanwhile goes before them."""

from pathlib import Path

import pytest
from gpol.engine.units import SECOND
from recorded_kueue import own_history
from shadow_bench import ShadowBench, job

FLAVORS = {"main": {"nvidia.com/gpu": "a100"}}
START = "2026-01-01T00:00:00Z"


class Scene:
    """A cohort with eight GPUs, which `holder` has, and `refused`, for which there was no room in the tenth second."""

    def __init__(self, folder: Path, requeue_seconds: float, refused: int = 6) -> None:
        scenario = own_history()["in"]
        for queue in scenario["clusterQueues"]:
            reclaims = "Any" if queue["metadata"]["name"] == "vision" else "Never"
            queue["spec"]["preemption"] = {"withinClusterQueue": "Never", "reclaimWithinCohort": reclaims}
        self.bench = ShadowBench(folder, scenario, requeue_seconds)
        self.kueue, self.clock = self.bench.kueue, self.bench.clock
        self.clock.at(START)
        self.begun = self.clock.micros
        self.kueue.set_up(scenario)
        self.bench.look()
        self.submit("holder", 0, 8)
        self.at(1)
        self.kueue.admit("ns/holder", "speech", FLAVORS)
        assert self.bench.look() == ()
        self.submit("refused", 9, refused, priority=10)
        self.at(10)
        self.kueue.wait("ns/refused", "insufficient quota")
        assert self.bench.look() == ()

    def at(self, seconds: int) -> None:
        """It is so many seconds later than at the start."""
        self.clock.at(self.begun + seconds * SECOND)

    def submit(self, name: str, second: int, gpus: int, queue: str = "speech", priority: int = 0) -> None:
        """A job comes."""
        made = job(name, priority, f"2026-01-01T00:00:{second:02}Z", gpus)
        self.kueue.submit({**made, "spec": {**made["spec"], "queueName": queue}})

    def told(self) -> list[tuple[str, str]]:
        """The differences, by kind and workload."""
        return [(each.kind, each.workload) for each in self.bench.look()]


@pytest.mark.parametrize(("requeue_seconds", "told"), [(1, []), (0, [("admitted", "ns/fresh")])])
def test_one_that_comes_before_the_refused(tmp_path: Path, requeue_seconds: float, told: list[tuple[str, str]]) -> None:
    """Room comes, and within a second a new workload takes it. It is a difference only for a Kueue that looks at everybody at once."""
    scene = Scene(tmp_path, requeue_seconds)
    scene.at(40)
    scene.kueue.delete("ns/holder")
    scene.submit("fresh", 40, 4)
    scene.at(41)
    scene.kueue.admit("ns/fresh", "speech", FLAVORS)
    assert scene.told() == told
    scene.bench.close()


def test_one_that_comes_later(tmp_path: Path) -> None:
    """By then Kueue should have looked at the one that it had refused."""
    scene = Scene(tmp_path, requeue_seconds=1)
    scene.at(30)
    scene.kueue.delete("ns/holder")
    scene.bench.watch()
    scene.submit("fresh", 40, 4)
    scene.at(41)
    scene.kueue.admit("ns/fresh", "speech", FLAVORS)
    assert ("admitted", "ns/fresh") in scene.told()
    scene.bench.close()


def test_one_that_was_refused_itself(tmp_path: Path) -> None:
    """Kueue looks at all whom it has refused at the same time, so the first of them comes first."""
    scene = Scene(tmp_path, requeue_seconds=1)
    scene.submit("second", 20, 4)
    scene.at(21)
    scene.kueue.wait("ns/second", "insufficient quota")
    assert scene.told() == []
    scene.at(40)
    scene.kueue.delete("ns/holder")
    scene.at(41)
    scene.kueue.admit("ns/second", "speech", FLAVORS)
    assert scene.told() == [("admitted", "ns/second")]
    scene.bench.close()


def test_one_that_kueue_does_not_look_at_later_either(tmp_path: Path) -> None:
    """There is room for both, and Kueue lets the refused one wait on: that is told."""
    scene = Scene(tmp_path, requeue_seconds=1, refused=4)
    scene.at(40)
    scene.kueue.delete("ns/holder")
    scene.submit("fresh", 40, 4)
    scene.at(41)
    scene.kueue.admit("ns/fresh", "speech", FLAVORS)
    assert scene.told() == [("passed over", "ns/refused")]
    scene.bench.close()


@pytest.mark.parametrize("reason", ["WaitingForPreemptedWorkloads", "Pending"])
def test_one_that_waits_for_its_victims(tmp_path: Path, reason: str) -> None:
    """It is refused by nobody, though Kueue says that it has no quota: it goes first as soon as its victims have stopped."""
    scene = Scene(tmp_path, requeue_seconds=1, refused=4)
    scene.submit("owner", 40, 4, "vision")
    scene.at(40)
    scene.kueue.preempt("ns/holder", "InCohortReclamation", "ns/owner")
    scene.kueue.wait("ns/owner", "no room. Pending the preemption of 1 workload(s)", reason)
    assert scene.told() == []
    scene.at(43)
    scene.kueue.stop("ns/holder")
    scene.kueue.admit("ns/owner", "vision", FLAVORS)
    scene.submit("fresh", 43, 2)
    scene.at(44)
    scene.kueue.admit("ns/fresh", "speech", FLAVORS)
    assert scene.told() == []
    scene.bench.close()


def test_a_long_queue_of_refused_ones(tmp_path: Path) -> None:
    """Forty wait that would all fit one after the other; the new one takes its place before them, and some of them follow."""
    scene = Scene(tmp_path, requeue_seconds=1)
    for number in range(40):
        scene.submit(f"more-{number}", 11, 1)
        scene.kueue.wait(f"ns/more-{number}", "insufficient quota")
    assert scene.told() == []
    scene.at(40)
    scene.kueue.delete("ns/holder")
    scene.submit("fresh", 40, 2)
    scene.at(41)
    scene.kueue.admit("ns/fresh", "speech", FLAVORS)
    scene.kueue.admit("ns/refused", "speech", FLAVORS)
    assert scene.told() == []
    scene.bench.close()


def test_room_that_came_in_the_stretch_before(tmp_path: Path) -> None:
    """Where changes never end, a stretch is compared though Kueue is not at rest; when there was room is known in the next one."""
    scene = Scene(tmp_path, requeue_seconds=1)
    scene.at(40)
    scene.kueue.delete("ns/holder")
    scene.bench.watch()
    scene.bench.seconds += 10
    assert scene.bench.look(is_quiet=False) == ()
    scene.submit("fresh", 40, 4)
    scene.at(41)
    scene.kueue.admit("ns/fresh", "speech", FLAVORS)
    assert scene.told() == []
    scene.bench.close()


def test_one_that_has_just_stopped(tmp_path: Path) -> None:
    """It was evicted, and Kueue has not refused it since: it gets quota again before one that was refused."""
    scene = Scene(tmp_path, requeue_seconds=1)
    scene.at(40)
    scene.kueue.evict("ns/holder", "PodsReadyTimeout")
    scene.kueue.stop("ns/holder")
    scene.at(41)
    scene.kueue.admit("ns/holder", "speech", FLAVORS)
    assert scene.told() == []
    scene.bench.close()

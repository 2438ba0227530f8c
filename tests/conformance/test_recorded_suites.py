"""What the suites of recorded decisions leave out of histories is what the data shows, and what is filled beyond its size is seen."""

from pathlib import Path
from typing import Any

import pytest
from conform import SUITES
from suites.node_room import HOSTNAME, NodeRoom
from suites.recorded import COUNTED_APART, LIVELOCKS, OVERFILLED, TAS_LIVELOCKS, compared_steps, submitted


@pytest.fixture(scope="module")
def histories(shared: Path) -> dict[str, dict[str, Any]]:
    """By suite, its histories by name; skips where the reference data is absent."""
    folder = shared / "conformance"
    if not folder.is_dir():
        pytest.skip("needs the reference data in `shared/conformance`, beside the repository")
    return {suite.name: dict(suite.cases(folder)) for suite in SUITES if suite.name in ("timeline", "tas_timeline")}


def test_every_livelock_is_named(histories: dict[str, dict[str, Any]]) -> None:
    """The histories of which the last step is not compared are those that Kueue itself never ends."""
    found = {suite: tuple(name for name, case in histories[suite].items() if case["kueue"]["livelock"]) for suite in histories}
    assert found == {"timeline": LIVELOCKS, "tas_timeline": TAS_LIVELOCKS}


def test_every_overfilled_history_is_named(histories: dict[str, dict[str, Any]]) -> None:
    """The histories that are compared up to some step only are those in which Kueue puts more on a node than it has."""
    cases = histories["tas_timeline"]
    assert tuple(name for name, case in cases.items() if case["kueue"]["overcommit"] is not None) == OVERFILLED


def test_most_steps_are_compared(histories: dict[str, dict[str, Any]]) -> None:
    """2,491 steps less those that follow upon one of these 15, and the last ones of two livelocks."""
    cases = [case["kueue"] for case in histories["tas_timeline"].values()]
    assert sum(len(kueue["steps"]) for kueue in cases) == 2491
    assert sum(map(compared_steps, cases)) == 2491 - 157 - 2


def test_what_kueue_overfills_is_seen(histories: dict[str, dict[str, Any]]) -> None:
    """Of Kueue's own steps the first that fills a node beyond its size is that which the data names, and there is none elsewhere."""
    for name, case in histories["tas_timeline"].items():
        room, workloads = NodeRoom(case["in"]), submitted(case["in"])
        overfilled = [number for number, step in enumerate(case["kueue"]["steps"]) if room.overfilled(workloads, step)]
        assert next(iter(overfilled), None) == case["kueue"]["overcommit"], name


def test_what_is_counted_apart_is_named(histories: dict[str, dict[str, Any]]) -> None:
    """The histories of which gpol's own steps may fill domains beyond their size are those that Kueue fills on topologies above nodes."""
    cases = {name: histories["tas_timeline"][name]["in"] for name in OVERFILLED}
    apart = [name for name, case in cases.items() if all(levels[-1] != HOSTNAME for levels in NodeRoom(case).levels.values())]
    assert tuple(apart) == COUNTED_APART

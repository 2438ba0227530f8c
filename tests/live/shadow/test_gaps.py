"""What a shadow cannot see it does not judge: changes that it missed, and what Kueue did while gpol was away."""

from pathlib import Path

import pytest
from kueue_writer import kind_called
from modelled_kueue import ModelledKueue
from planted_faults import Planted, faults_of
from recorded_kueue import Json, RecordedKueue, own_history, recorded_decisions, recorded_histories, recorded_steps
from shadow_bench import HistoryPlayer, ShadowBench

EVERY = 4
"""Of so many recorded histories one is taken, in order of name."""


def with_gaps(folder: Path, case: Json, first: int) -> tuple[int, int]:
    """Play a history in which all objects are listed after every second step, from the given one on. Nothing is told. Return how many of
    Kueue's decisions were explained, and how many stretches were taken unchecked."""
    bench = ShadowBench(folder, case["in"])
    player = HistoryPlayer(bench, RecordedKueue(case))
    found = list(bench.look())
    for number, step in enumerate(recorded_steps(case)):
        player.write(step)
        if number % 2 == first:
            bench.list()
        found += bench.look()
    bench.close()
    assert [difference.text for difference in found] == []
    return bench.shadow.explained, bench.shadow.unchecked


@pytest.mark.parametrize("name", ["65", "229"])
def test_whoever_stopped_and_runs_again_in_a_gap_is_explained(name: str, tmp_path: Path, shared: Path) -> None:
    """Of a workload that was evicted only that it has got quota again is seen; meanwhile others were admitted to its room."""
    case = recorded_histories(shared)[name]
    assert with_gaps(tmp_path, case, 1) == (recorded_decisions(case), 0)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("part", range(5))
def test_gaps_make_no_difference(part: int, first: int, tmp_path: Path, shared: Path) -> None:
    """Hardly anything of what Kueue decided in some 1,000 gaps is left unchecked, and nothing is told of it."""
    cases = recorded_histories(shared)
    unchecked = 0
    for name in sorted(cases)[part * EVERY :: 5 * EVERY]:
        folder = tmp_path / name
        folder.mkdir()
        unchecked += with_gaps(folder, cases[name], first)[1]
    assert unchecked <= 4


def test_a_wrong_decision_in_a_gap_is_not_judged(tmp_path: Path) -> None:
    """It is counted as unchecked, and what Kueue does afterwards is compared again."""
    case = own_history()
    flavors = [fault for fault in faults_of(case["in"], "own", most=1000) if fault.kind == "flavor"]
    planted = Planted(min(flavors, key=lambda fault: fault.cycle))
    bench = ShadowBench(tmp_path, case["in"])
    player = HistoryPlayer(bench, ModelledKueue(case["in"], planted))
    found, explained = list(bench.look()), 0
    for step in case["in"]["steps"]:
        before = planted.happened
        player.write(step)
        in_gap = planted.happened and not before
        if in_gap:
            bench.list()
        found += bench.look()
        explained = bench.shadow.explained if in_gap else explained
    bench.close()
    assert (found, bench.shadow.unchecked) == ([], 1)
    assert bench.shadow.explained > explained


def with_restarts(folder: Path, case: Json) -> None:
    """Play a history in which gpol is started anew after every second step, and is away for the one before. Nothing is told."""
    bench = ShadowBench(folder, case["in"])
    player = HistoryPlayer(bench, RecordedKueue(case))
    found = list(bench.look())
    for number, step in enumerate(recorded_steps(case)):
        if number % 2:
            bench.close()
        player.write(step)
        if number % 2:
            bench.open()
        found += bench.look()
        assert (bench.shadow.problem, bench.shadow.unchecked) == ("", 0)
    bench.close()
    assert [difference.text for difference in found] == []


def test_restarts_make_no_difference(tmp_path: Path) -> None:
    """What Kueue decided meanwhile is taken as it is, and what it decides from then on is explained."""
    with_restarts(tmp_path, own_history())


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_restarts_in_recorded_histories_make_no_difference(part: int, tmp_path: Path, shared: Path) -> None:
    """The same where much more happens."""
    cases = recorded_histories(shared)
    for name in sorted(cases)[part * EVERY :: 5 * EVERY]:
        folder = tmp_path / name
        folder.mkdir()
        with_restarts(folder, cases[name])


def test_queues_that_were_written_after_the_workloads_in_them(tmp_path: Path) -> None:
    """Kueue writes the status of a ClusterQueue again and again, so in a list of all its version is later than that of who runs in it."""
    case = own_history()
    bench = ShadowBench(tmp_path, case["in"])
    HistoryPlayer(bench, ModelledKueue(case["in"])).play(case["in"]["steps"][:6])
    bench.close()
    for kind, names in ("clusterqueues", ("vision", "speech")), ("resourceflavors", ("a100", "h100")):
        for name in names:
            bench.store.merge_patch(kind_called(kind), name, {"metadata": {"annotations": {"written": "later"}}})
    bench.open()
    assert bench.look() == ()
    running = {each.name for each in bench.shadow.decider.core.view.workloads() if each.admitted is not None}
    assert running
    assert bench.shadow.problems == {}
    bench.close()

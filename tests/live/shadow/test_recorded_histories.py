"""A shadow beside a Kueue that does what the real one was recorded to do, by its own writes: gpol decides the same, each time."""

from pathlib import Path

import pytest
from recorded_kueue import Json, RecordedKueue, own_history, recorded_decisions, recorded_histories, recorded_steps
from shadow_bench import HistoryPlayer, ShadowBench

QUICK = ("1", "5", "21")
"""Histories that `make test` plays: with and without fair sharing, with evictions."""

ALL = 200
"""The recorded histories."""


def assert_the_same(folder: Path, case: Json) -> None:
    """Every admission and eviction of a history is one that gpol decides, too: none differs, none is left out, none was taken unchecked."""
    bench = ShadowBench(folder, case["in"])
    played = HistoryPlayer(bench, RecordedKueue(case))
    differences = played.play(recorded_steps(case))
    shadow = bench.shadow
    bench.close()
    assert [difference.text for difference in differences] == []
    assert shadow.explained == played.decisions == recorded_decisions(case) > 0
    assert (shadow.problem, shadow.problems, shadow.notes, shadow.unchecked) == ("", {}, [], 0)
    assert not bench.file.exists(), "only differences are written down"


def test_a_history_of_our_own(tmp_path: Path) -> None:
    """Borrowing, reclaiming, preempting and waiting for room, worked out by hand."""
    assert_the_same(tmp_path, own_history())


@pytest.mark.parametrize("name", QUICK)
def test_some_recorded_histories(name: str, tmp_path: Path, shared: Path) -> None:
    """gpol decides as Kueue did."""
    assert_the_same(tmp_path, recorded_histories(shared)[name])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_all_recorded_histories(part: int, tmp_path: Path, shared: Path) -> None:
    """gpol decides as Kueue did in all 200 histories; of the six in which Kueue never comes to rest, the steps before that count."""
    cases = recorded_histories(shared)
    assert len(cases) == ALL
    for name in sorted(cases)[part::10]:
        folder = tmp_path / name
        folder.mkdir()
        assert_the_same(folder, cases[name])

"""Decisions that Volcano's own scheduler made: gpol makes the same ones, session by session, and works out the same figures."""

from collections.abc import Iterator
from itertools import islice

import pytest
from volcano_suites import DATA, SEVERAL, VolcanoCase, played_recorded, recorded

SAMPLE = 16
"""In the sample there is every so-manieth scenario."""


def _played(step: int) -> Iterator[tuple[VolcanoCase, VolcanoCase]]:
    if not DATA.is_dir():
        pytest.skip("needs the reference data in `shared/conformance/volcano`, beside the repository")
    return (played_recorded(entry) for entry in islice(recorded(), 0, None, step))


def _check(played: list[tuple[VolcanoCase, VolcanoCase]]) -> None:
    assert {case.name: case.differences for case, _ in played if case.differences} == {}
    assert {figures.name: figures.differences for _, figures in played if figures.differences} == {}


def test_a_sample_is_decided_alike() -> None:
    """Pods with their nodes, evictions, phases and HyperNodes of all sessions, and the figures of queues and workloads."""
    played = list(_played(SAMPLE))
    assert len(played) > 40
    _check(played)


@pytest.mark.slow
def test_all_are_decided_alike() -> None:
    """The same of all 675 scenarios: 600 with one answer, 75 with several of which one comes out."""
    played = list(_played(1))
    assert sum(case.suite == SEVERAL for case, _ in played) == 75
    assert len(played) == 675
    _check(played)

"""gpol decides as Kueue does, on Kueue's own tables and on its recorded decisions; docs/conformance.md says so."""

from collections import Counter
from pathlib import Path

import pytest
from conform import PAGE, SUITES
from report import conforming, page, run
from suites.suite import Suite
from twin_core import ALONE, by_both

RECORDED = ("single", "timeline", "tas_single", "tas_timeline")
"""The suites of whole recorded clusters; each takes many seconds."""

BY_THE_DEFINITION = {"TestScheduleForFairSharing": 1, "TestScheduleRecomputePreemptionTargets": 1, "TestScheduleForTASCohorts": 8}
"""How many cases of a suite the definition decides alone; the others are decided by both cores."""

BY_NAME = [pytest.param(suite, id=suite.name, marks=pytest.mark.slow if suite.name in RECORDED else ()) for suite in SUITES]


@pytest.fixture(scope="session")
def data(shared: Path) -> Path:
    """The folder of the reference data; skips where it is absent."""
    folder = shared / "conformance"
    if not folder.is_dir():
        pytest.skip("needs the reference data in `shared/conformance`, beside the repository")
    return folder


@pytest.mark.parametrize("suite", BY_NAME)
def test_every_case_matches(suite: Suite, data: Path) -> None:
    """Every case of the suite's file that is not excused is decided as Kueue decides it, by both cores, and there are as many as the suite
    says."""
    counts = Counter[str]()
    both = by_both(suite, counts)
    assert run(both, data) == conforming(both)
    assert counts[ALONE] == BY_THE_DEFINITION.get(suite.name, 0)


@pytest.mark.parametrize("suite", [pytest.param(suite, id=suite.name) for suite in SUITES if suite.excused])
def test_every_excuse_is_true(suite: Suite, data: Path) -> None:
    """The data of an excused case shows what excuses it."""
    shown = {name: suite.excused[name].shown(case) for name, case in suite.cases(data) if name in suite.excused}
    assert shown == dict.fromkeys(suite.excused, True)


def test_every_table_is_run(data: Path) -> None:
    """Each file of Kueue's decisions and tables belongs to one suite."""
    files = {path.relative_to(data).as_posix() for folder in ("kueue", "kueue_tables") for path in (data / folder).glob("*.jsonl*")}
    assert files == {suite.file for suite in SUITES}
    assert len({suite.file for suite in SUITES}) == len(SUITES)


def test_the_page_is_what_the_command_writes() -> None:
    """docs/conformance.md is the page of a run in which all that is not excused matches: what the other tests hold."""
    assert PAGE.read_text(encoding="utf-8") == page([conforming(suite) for suite in SUITES])

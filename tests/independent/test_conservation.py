"""The independent checker accepts what gpol writes, and rejects journals that were altered and whose chain was computed anew."""

import ast
import re
import sys
from pathlib import Path

import pytest
from alterations import ALTERATIONS, Alteration
from histories import HERE, asked, gpol, kueue_history, payloads, stored_events, write_journal

CHECKER = ("check_conservation", "ledger", "live_workload", "stored_journal", "form")
"""The modules of the checker; the others here are of its tests."""


@pytest.fixture(scope="module")
def journals(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Journals in which everything is as it should be."""
    folder = tmp_path_factory.mktemp("journals")
    lab = root / "examples" / "lab"
    gpol("simulate", lab / "lab.gpol", lab / "workloads.csv", "--journal", folder / "lab.db")
    said = ("--by", "ann", "--note", "more for the guests")
    gpol("run", HERE / "played" / "busy.gpol", HERE / "played" / "busy.jsonl", "--journal", folder / "busy.db", *said)
    return {"lab": folder / "lab.db", "busy": folder / "busy.db", "kueue": kueue_history(root, folder, ends=3, comers=4)}


@pytest.mark.parametrize("name", ["lab", "busy", "kueue"])
def test_what_gpol_writes_conserves(journals: dict[str, Path], name: str) -> None:
    """A simulation, facts that were played, and the example of a cluster under Kueue."""
    code, said = asked(journals[name])
    assert code == 0, said
    assert said.startswith("conserves: ")


def test_the_history_that_was_played_has_what_is_seldom(journals: dict[str, Path]) -> None:
    """A policy with who activated it and why, and an admission that passed over a flavor whose machines are too small."""
    events = stored_events(journals["busy"])
    assert (events[0]["by"], events[0]["note"]) == ("ann", "more for the guests")
    attempts = [attempt for event in events for attempt in event.get("passed_over", ())]
    assert "too-large" in [obstacle["kind"] for attempt in attempts for obstacle in attempt["obstacles"]]


@pytest.mark.parametrize("alteration", ALTERATIONS, ids=lambda alteration: alteration.what)
def test_an_altered_journal_is_rejected(journals: dict[str, Path], tmp_path: Path, alteration: Alteration) -> None:
    """The chain is good, and the checker says what cannot be."""
    events = stored_events(journals[alteration.journal])
    alteration.change(events)
    code, said = asked(write_journal(tmp_path / "altered.db", payloads(events)))
    assert code == 1, said
    assert re.match(r"does not conserve: event \d+: ", said)
    assert alteration.found in said


def test_unaltered_events_are_accepted_when_they_are_written_again(journals: dict[str, Path], tmp_path: Path) -> None:
    """What rejects an alteration is the alteration, and not how the test writes a journal."""
    for name, journal in journals.items():
        code, said = asked(write_journal(tmp_path / f"{name}.db", payloads(stored_events(journal))))
        assert code == 0, said


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_figures_are_those_of_the_simulation(root: Path, tmp_path: Path) -> None:
    """Two weeks of eight queues: the same events and GPU-hours as `gpol simulate` says."""
    campus = root / "examples" / "campus"
    told = gpol("simulate", campus / "campus.gpol", campus / "workloads.csv", "--journal", tmp_path / "campus.db", "--format", "plain")
    assert "7,172 facts, 4,607 decisions over 16d21h50m52s; 26,801.6 GPU-hours" in told
    code, said = asked(tmp_path / "campus.db")
    assert code == 0, said
    assert "7,172 facts, 4,607 decisions" in said
    assert "gpu: 26,801.6 hours" in said


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_a_long_history_under_kueue_conserves(root: Path, tmp_path: Path) -> None:
    """Sixty of those who run end, and sixty come again, among whom many evict."""
    code, said = asked(kueue_history(root, tmp_path, ends=60, comers=60))
    assert code == 0, said


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_philly_trace_conserves(root: Path, shared: Path, tmp_path: Path) -> None:
    """82,247 jobs, 15,176 evictions; the GPU-hours are those that `gpol simulate` says."""
    policy, trace = root / "examples" / "philly" / "quarter.gpol", shared / "traces" / "philly_sia" / "philly.csv"
    told = gpol("simulate", policy, trace, "--trace", "philly", "--journal", tmp_path / "philly.db", "--format", "plain")
    assert "1,319,788.9 GPU-hours" in told
    code, said = asked(tmp_path / "philly.db")
    assert code == 0, said
    assert "gpu: 1,319,788.9 hours" in said


def test_what_is_no_journal_cannot_be_read(tmp_path: Path, root: Path) -> None:
    """No file, another file, a database that is no journal, an event of a later version."""
    (tmp_path / "empty.db").touch()
    later = write_journal(tmp_path / "later.db", [b'{"kind":"TimeAdvanced","v":2,"time":0}'])
    for path in (tmp_path / "none.db", root / "README.md", tmp_path / "empty.db", later):
        code, said = asked(path)
        assert (code, said.startswith("cannot be read: ")) == (2, True), said


def test_the_checker_uses_nothing_but_python(root: Path) -> None:
    """It imports its own modules and the standard library: no line of gpol."""
    for name in CHECKER:
        for node in ast.walk(ast.parse((HERE / f"{name}.py").read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                for module in modules:
                    assert module.split(".")[0] in {*sys.stdlib_module_names, *CHECKER}, f"{name} imports {module}"

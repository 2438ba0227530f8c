"""Deciding at once and in cycles are one mechanism: which of the two is on is asked where their outer loops part, and nowhere else."""

import re
from pathlib import Path

PLACES = {
    "engine/policy_settings.py": "where each difference gets a name of its own",
    "engine/core/core.py": "the same, over tables",
    "engine/core/policy/policy_tables.py": "the period and the most idle cycles, as numbers",
    "engine/definition/core.py": "whether a fact is settled at once or waits for the next cycle",
    "engine/definition/admission/cycle.py": "when the next cycle is due",
}
"""The modules that may ask, and what they ask it for."""

READERS = {
    "adapters/export/columns.py": "a table's columns",
    "adapters/kueue/live/shadow/decision_difference.py": "a line about a difference",
    "cli/journal/log.py": "a line of the log",
    "cli/policy/diff_output.py": "what a scenario shows",
    "sim/compare/played_policy.py": "why workloads fare differently, on a page",
    "sim/compare/policy_record.py": "the rules by which workloads take turns, in a row of the table",
    "sim/drive/player.py": "the message about workloads that take turns for ever",
    "sim/drive/policy_tests.py": "whether a policy's own test finds the rule that it expects",
    "sim/drive/workload_outcome.py": "the rule that a test for a difference will expect",
    "sim/report/run_report.py": "a page",
    "sim/report/wording.py": "the words of pages",
}
"""The modules that read why something was decided, and what they show of it."""


def test_the_way_of_deciding_is_asked_in_few_places(root: Path) -> None:
    """Everything else goes by a setting that says one thing: how victims are looked for, whether quota is a forest, who is parked."""
    asking = {
        path.relative_to(root).as_posix()
        for path in sorted((root / "engine").rglob("*.py"))
        if re.search(r"\bcycles (is|is not) None|settings\.(cycles|in_cycles)|\.decides_in_cycles\b", path.read_text(encoding="utf-8"))
    }
    assert asking == set(PLACES)


def test_nobody_decides_by_what_is_told(root: Path) -> None:
    """Why something was decided is read where it is shown, and never to go on: not in the engine, not in the journal."""
    rooms = ("engine", "dsl", "journal", "sim", "adapters", "cli")
    paths = [path for room in rooms for path in sorted((root / room).rglob("*.py"))]
    reading = {path.relative_to(root).as_posix() for path in paths if re.search(r"\.why\b", path.read_text(encoding="utf-8"))}
    assert reading == set(READERS)

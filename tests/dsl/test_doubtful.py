"""Policies that can be used and are certainly not meant: each file has one cause, told as a warning with place and remedy."""

from pathlib import Path

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.codes import WARNINGS
from gpol.dsl.diagnostics import LineIndex

FOLDER = Path(__file__).parent / "doubtful"

EXPECTED = {
    "all_protected": ("GP054", 4, 9, "`preempt by nothing`"),
    "claimed_twice": ("GP062", 3, 13, "exclude each other"),
    "dead_queue": ("GP053", 3, 7, "let it own or borrow something"),
    "eviction_in_turns": ("GP052", 5, 9, "`victim.priority < workload.priority`"),
    "idle_guard": ("GP060", 4, 6, "leave `where` out"),
    "idle_lending": ("GP056", 5, 15, "at most `8 gpu`"),
    "idle_shares": ("GP055", 3, 34, "`share used`"),
    "idle_test": ("GP063", 4, 6, "`expect w admitted`"),
    "overlapping_groups": ("GP058", 6, 10, "Kueue refuses such a queue"),
    "refused_together": ("GP061", 5, 6, "change a guard"),
    "taking_turns": ("GP057", 7, 5, "`use gpol.fair`"),
    "later_tier": ("GP066", 13, 36, "`votes { gang, conformance, deserved }`"),
    "names_alike": ("GP064", 4, 7, "tell from the other"),
    "nobody_may_use": ("GP051", 3, 10, "raise a ceiling"),
    "placed_nowhere": ("GP065", 2, 3, "`placed on nodes`"),
    "unreachable_rule": ("GP050", 5, 9, "a cohort that holds one"),
    "unused_quota": ("GP059", 6, 3, "add `h100` to `only`"),
}
"""Code, line, column and a piece of the help."""


def test_the_table_the_folder_and_the_codes_say_the_same():
    """Every doubtful policy is in the table, every entry has its file, and every warning its example."""
    assert sorted(path.stem for path in FOLDER.glob("*.gpol")) == sorted(EXPECTED)
    assert {code for code, *_ in EXPECTED.values()} == set(WARNINGS)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_gives_one_warning_and_a_policy(name):
    """One cause, one warning, and the policy can be used all the same."""
    code, line, column, piece = EXPECTED[name]
    text = (FOLDER / f"{name}.gpol").read_text(encoding="utf-8")
    checked = check(text, f"{name}.gpol")

    [diagnostic] = checked.diagnostics
    assert (diagnostic.code, diagnostic.severity, diagnostic.file) == (code, "warning", f"{name}.gpol")
    assert LineIndex(text).position(diagnostic.span.start) == (line, column)
    assert piece in diagnostic.help
    assert checked.graph is not None

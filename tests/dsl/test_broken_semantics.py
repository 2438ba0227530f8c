"""Policies that parse and mean nothing: each file has one cause, told with its code, its line and its remedy."""

from pathlib import Path

import pytest
from gpol.dsl.checker import check
from gpol.dsl.codes import MEANING, WARNINGS
from gpol.dsl.diagnostics import LineIndex
from gpol.dsl.rendering import render

FOLDER = Path(__file__).parent / "broken_semantics"

EXPECTED = {
    "all_protected": ("GP054", 4, "`preempt by nothing`"),
    "cyclic_cohort": ("GP021", 5, "give it another name"),
    "dead_queue": ("GP053", 3, "let it own or borrow something"),
    "empty_name": ("GP036", 3, "1 to 253 characters"),
    "empty_flavor": ("GP035", 3, "`gpu 256`"),
    "eviction_in_turns": ("GP052", 5, "`victim.priority < workload.priority`"),
    "flavor_not_named": ("GP024", 4, "`8 gpu on a100`"),
    "idle_shares": ("GP055", 3, "`share used`"),
    "lends_more_than_owned": ("GP025", 5, "at most `8 gpu`"),
    "named_cluster": ("GP021", 3, "give it another name"),
    "no_evict_from": ("GP033", 4, "`evict from the same queue`"),
    "no_header": ("GP028", 1, '`policy "name" { }`'),
    "nobody_may_use": ("GP051", 3, "raise a ceiling"),
    "nothing_and_something": ("GP027", 4, "keep one of the two"),
    "owns_more_than_exists": ("GP026", 5, "10 gpu less"),
    "owns_twice": ("GP022", 5, "keep one"),
    "percent": ("GP023", 3, "write the amount itself"),
    "queue_in_profile": ("GP029", 2, "move it to a policy"),
    "queue_named_as_cohort": ("GP021", 4, "give it another name"),
    "rule_not_listed": ("GP032", None, "urgent"),
    "time_runs_backwards": ("GP034", 6, "in order of time"),
    "type_mismatch": ("GP030", 4, "compare `victim.running` with a duration"),
    "unit_missing": ("GP023", 4, "`10m`"),
    "unknown_priority": ("GP020", 4, "did you mean `batch`?"),
    "unknown_profile": ("GP020", 1, "did you mean `gpol.fair`?"),
    "unknown_queue": ("GP020", 4, "did you mean `students`?"),
    "unknown_unit": ("GP023", 3, "`8 gpu`"),
    "unreachable_rule": ("GP050", 5, "a cohort that holds one"),
    "victim_in_deny": ("GP031", 4, "start with `workload`"),
}
"""Code, line and a piece of the help; the line is None where the cause is in the profile."""


def test_the_table_and_the_folder_say_the_same():
    """Every broken policy is in the table and every entry of the table has its file."""
    assert sorted(path.stem for path in FOLDER.glob("*.gpol")) == sorted(EXPECTED)


def test_every_code_of_meaning_has_a_broken_policy():
    """No code of the checker is without an example."""
    assert {code for code, _, _ in EXPECTED.values()} == {*MEANING, *WARNINGS}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_broken_policy_gives_one_diagnostic(name):
    """One cause, one diagnostic: its code, line and remedy; shown without a crash in every style."""
    code, line, help_piece = EXPECTED[name]
    text = (FOLDER / f"{name}.gpol").read_text(encoding="utf-8")
    checked = check(text, f"{name}.gpol")
    assert [diagnostic.code for diagnostic in checked.diagnostics] == [code]
    [diagnostic] = checked.diagnostics
    assert (diagnostic.severity == "warning") == (code in WARNINGS) == (checked.graph is not None)
    assert help_piece in diagnostic.help
    source = checked.texts[diagnostic.file]
    if line is not None:
        assert (diagnostic.file, LineIndex(source).line(diagnostic.span.start)) == (f"{name}.gpol", line)
    for style in ("human", "plain", "json"):
        assert code in render(diagnostic, source, style)

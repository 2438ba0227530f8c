"""Broken policies: the command gives each the right code, place and remedy, ends with 3, and never shows a traceback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.cli.main import run_command
from gpol.dsl.codes import MEANING, SYNTAX
from gpol.dsl.diagnostics import PolicyError
from gpol.dsl.syntax.items import decode
from gpol.dsl.syntax.parser import parse

FOLDER = Path(__file__).parent / "broken"

Found = tuple[str, int, int, str]
"""Code, line, column and a piece of the help of a diagnostic."""

STORED: dict[str, list[Found]] = {
    "at_once_over_kueue": [("GP037", 3, 3, "`use gpol.fair`")],
    "byte_order_mark": [("GP001", 1, 1, "without one")],
    "capacity_in_cycle_test": [("GP034", 5, 18, "remove this step")],
    "capacity_in_cycles": [("GP039", 2, 15, "`gpu as owned`")],
    "check_twice": [("GP022", 6, 3, "keep one")],
    "closing_brace_first": [("GP003", 1, 1, "delete it")],
    "cohort_lends_more": [("GP025", 4, 15, "at most `8 gpu`")],
    "cycles_over_default": [("GP037", 2, 3, "`use kueue.classical`")],
    "cyclic_cohort": [("GP021", 5, 12, "give it another name")],
    "empty_flavor": [("GP035", 3, 8, "`gpu 256`")],
    "empty_name": [("GP036", 3, 7, "1 to 253 characters")],
    "fair_by_other_share": [("GP038", 3, 3, "`share borrowed`")],
    "flavor_not_named": [("GP024", 4, 18, "`8 gpu on a100`")],
    "foreign_colon": [("GP003", 3, 19, "without `:`")],
    "future_item": [("GP009", 3, 1, "remove it")],
    "future_word": [("GP009", 3, 24, "remove it")],
    "glued_number": [("GP003", 3, 18, "write `8 gpu`")],
    "heads_at_once": [("GP037", 2, 3, "`order queues by ...`")],
    "hidden_line": [("GP001", 2, 20, "line feed")],
    "indented_item": [("GP005", 1, 3, "delete the space")],
    "invalid_utf8": [("GP001", 2, 7, "save the file as UTF-8")],
    "label_test_without_value": [("GP003", 5, 37, "a text in quotes")],
    "lends_more_than_owned": [("GP025", 5, 15, "at most `8 gpu`")],
    "local_queue_twice": [("GP022", 4, 23, "keep one")],
    "local_queue_without_namespace": [("GP042", 5, 15, '`"namespace/name"`')],
    "missing_brace": [("GP004", 3, 11, "close it with a `}`")],
    "missing_brace_before_misspelt": [("GP004", 3, 11, "close it with a `}`"), ("GP007", 6, 1, "did you mean `queue`?")],
    "missing_comma": [("GP003", 3, 23, "write `, a100`")],
    "missing_inner_brace": [("GP004", 3, 11, "close it with a `}`")],
    "missing_resource": [("GP003", 4, 8, "`8 gpu on h100`")],
    "missing_with_label": [("GP027", 5, 3, "remove `missing`")],
    "misspelt_item": [("GP007", 2, 1, "did you mean `flavor`?")],
    "misspelt_reclaim": [("GP003", 5, 17, "`anyone`")],
    "misspelt_statement": [("GP007", 4, 3, "did you mean `owns`?")],
    "name_with_digit": [("GP008", 3, 7, '`"6214e9"`')],
    "named_cluster": [("GP021", 3, 7, "give it another name")],
    "no_evict_from": [("GP033", 4, 9, "`evict from the same queue`")],
    "no_header": [("GP028", 1, 1, '`policy "name" { }`')],
    "node_above_levels": [("GP043", 3, 3, "put this level last")],
    "node_not_there": [("GP034", 4, 30, "`at 0s node n1 { 8 gpu }`")],
    "nothing_and_something": [("GP027", 4, 3, "keep one of the two")],
    "nul_byte": [("GP001", 2, 8, "delete it")],
    "open_at_the_end": [("GP004", 2, 11, "close it with a `}`")],
    "owned_and_from_nodes": [("GP027", 4, 3, "keep one form")],
    "owns_more_than_exists": [("GP026", 5, 15, "10 gpu less")],
    "owns_twice": [("GP022", 5, 3, "keep one")],
    "placed_above_nodes": [("GP037", 5, 3, "add a level `from node` to it")],
    "placed_amounts": [("GP027", 4, 3, '`gpu from nodes where LABEL = "value"`')],
    "passes_at_once": [("GP037", 5, 3, "`decide in cycles of 1s by ...`")],
    "passes_unplaced": [("GP044", 2, 8, "`placed on nodes`")],
    "percent": [("GP023", 3, 18, "write the amount itself")],
    "queue_in_profile": [("GP029", 2, 7, "move it to a policy")],
    "queue_named_as_cohort": [("GP021", 4, 7, "give it another name")],
    "quota_not_served": [("GP041", 6, 3, "`serves gpu from a100`")],
    "reclaims_at_once": [("GP037", 5, 3, "`decide in cycles of 1s`")],
    "rule_in_cycles": [("GP037", 2, 9, "`decide at once`")],
    "rule_without_pass": [("GP045", 11, 3, "add `preempt` to `decide in cycles`")],
    "rule_not_listed": [("GP032", 5, 9, "`preempt by reclaim-owned, fair-share, make-room, urgent`")],
    "served_by_two_groups": [("GP040", 6, 10, "one `serves` only")],
    "served_without_having": [("GP020", 4, 32, "add `cpu` to the flavor")],
    "serves_nothing_and_something": [("GP027", 4, 3, "keep one of the two")],
    "serves_and_prefers": [("GP027", 5, 3, "keep one form")],
    "share_of_heads": [("GP031", 3, 18, "`order queues by ...`")],
    "statement_in_column_one": [("GP005", 4, 1, "indent it")],
    "stopped_twice": [("GP022", 5, 3, "keep one")],
    "strategies_missing": [("GP003", 3, 16, "`by`")],
    "strategy_twice": [("GP022", 3, 3, "keep one of each")],
    "stray_brace": [("GP003", 3, 1, "delete it")],
    "threshold_too_big": [("GP023", 5, 44, "to 2147483647")],
    "time_runs_backwards": [("GP034", 6, 6, "in order of time")],
    "toleration_twice": [("GP022", 5, 3, "keep one")],
    "two_broken_items": [("GP007", 3, 11, "did you mean `owns`?"), ("GP007", 5, 11, "did you mean `lends`?")],
    "two_systems": [("GP046", 3, 3, "`owned first, then by weight`")],
    "two_orders_of_turns": [("GP022", 4, 3, "keep one")],
    "type_mismatch": [("GP030", 4, 22, "compare `victim.running` with a duration")],
    "unclosed_text": [("GP006", 3, 22, 'close it with `"`')],
    "unfinished_guard": [("GP003", 3, 36, "a field")],
    "unfinished_item": [("GP003", 3, 5, "a name")],
    "unit_missing": [("GP023", 4, 39, "`10m`")],
    "unknown_effect": [("GP003", 4, 23, "`NoSchedule`")],
    "unknown_escape": [("GP006", 3, 24, "only")],
    "unknown_priority": [("GP020", 4, 30, "did you mean `batch`?")],
    "unknown_profile": [("GP020", 1, 19, "did you mean `gpol.fair`?")],
    "unknown_queue": [("GP020", 4, 19, "did you mean `students`?")],
    "unknown_served_flavor": [("GP020", 3, 27, "did you mean `h100`?")],
    "unknown_topology": [("GP020", 5, 13, "did you mean `fabric`?")],
    "unknown_unit": [("GP023", 3, 18, "`8 gpu`")],
    "usage_without_decay": [("GP038", 5, 3, "`usage halves every 7d, sampled every 5m`")],
    "victim_in_deny": [("GP031", 4, 18, "write `workload.gpu`")],
    "zero_period": [("GP023", 3, 23, "`1s`")],
}
"""What is found in each file of the folder, in order."""

HEAD = b'policy "p" { }\n'
MADE: dict[str, tuple[Callable[[], bytes], Found]] = {
    "ten_megabytes": (lambda: HEAD + b"# " + b"x" * 10_000_000, ("GP002", 1, 1, "leave out comments")),
    "ten_thousand_deep": (lambda: HEAD + b"cohort a {\n" + b"  cohort a {\n" * 9_999, ("GP002", 34, 12, "flatten it")),
    "ten_thousand_deep_on_one_line": (lambda: HEAD + b"cohort a {" * 10_000, ("GP002", 2, 330, "flatten it")),
    "guard_ten_thousand_deep": (
        lambda: HEAD + b"protect a { where " + b"not " * 10_000 + b"victim.gpu > 1 }\n",
        ("GP002", 2, 19, "flatten it"),
    ),
    "sixty_thousand_items": (lambda: HEAD + b"resource a\n" * 60_000, ("GP002", 1, 1, "leave out comments")),
    "hundred_thousand_items": (lambda: HEAD + b"resource a\n" * 100_000, ("GP002", 1, 1, "leave out comments")),
    "text_of_two_megabytes": (lambda: HEAD + b'queue "' + b"x" * 2_000_000 + b'" { }\n', ("GP002", 1, 1, "leave out comments")),
    "text_of_one_megabyte": (lambda: HEAD + b'queue "' + b"x" * 1_000_000 + b'" { }\n', ("GP002", 2, 7, "shorten it")),
}
"""Policies too big to be stored, and the one thing that is found in each."""


def found_by_the_command(path: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int, int, str]]:
    """Code, line, column and help of all that `gpol check` finds in a file, which ends it with 3."""
    assert run_command(["check", "--format", "json", str(path)]) == 3

    out, err = capsys.readouterr()
    assert err == ""
    lines = [json.loads(line) for line in out.splitlines()]
    found = [line for line in lines if line["kind"] == "diagnostic"]
    assert all(line["severity"] == "error" and line["message"] and line["file"] == str(path) for line in found)
    return [(line["code"], line["span"]["line"], line["span"]["column"], line["help"]) for line in found]


def assert_found(found: list[tuple[str, int, int, str]], expected: list[Found]) -> None:
    """Codes and places are equal, and each help has its piece."""
    assert [entry[:3] for entry in found] == [entry[:3] for entry in expected]
    for (*_, help_text), (*_, piece) in zip(found, expected, strict=True):
        assert piece in help_text


def test_the_table_and_the_folder_say_the_same() -> None:
    """Every broken policy is in the table and every entry has its file."""
    assert sorted(path.stem for path in FOLDER.glob("*.gpol")) == sorted(STORED)


def test_every_code_has_a_broken_policy() -> None:
    """No code of an error is without an example."""
    shown = {code for found in STORED.values() for code, *_ in found} | {code for _, (code, *_) in MADE.values()}
    assert shown == {*SYNTAX, *MEANING}


@pytest.mark.parametrize("name", sorted(STORED))
def test_stored_policies(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each cause is told once, at its place, with its remedy."""
    assert_found(found_by_the_command(FOLDER / f"{name}.gpol", capsys), STORED[name])


@pytest.mark.parametrize("name", sorted(MADE))
def test_made_policies(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes, depths and lengths beyond the limits are one finding each."""
    make, expected = MADE[name]
    path = tmp_path / f"{name}.gpol"
    path.write_bytes(make())

    assert_found(found_by_the_command(path, capsys), [expected])


@pytest.mark.parametrize(
    ("broken", "first"),
    [
        (b"queue a { own nothing }\n", ("GP007", 2, 11, "did you mean `owns`?")),
        (b'hold a%d for b because "c"\n', ("GP020", 2, 13, "known: `cluster`")),
    ],
)
def test_a_flood_of_errors_is_not_all_told(broken: bytes, first: Found, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is wrong all over, in form or in meaning, gives 500 findings and the place of the next."""
    path = tmp_path / "log.gpol"
    lines = [broken % number if b"%d" in broken else broken for number in range(10_000)]
    path.write_bytes(HEAD + b"".join(lines))
    found = found_by_the_command(path, capsys)

    assert_found(found[:1], [first])
    assert found[-1][:2] == ("GP002", 502)
    assert len(found) == 501


def test_the_command_as_a_program_checks_all_in_one_run() -> None:
    """No broken policy hides another, ends the program early or makes it show a traceback."""
    files = sorted(str(path) for path in FOLDER.glob("*.gpol"))
    program = [sys.executable, "-c", "from gpol.cli.main import main; main()", "check"]
    done = subprocess.run([*program, *files], capture_output=True, encoding="utf-8", check=False)

    assert done.returncode == 3
    assert done.stderr == ""
    for file in files:
        [code, line, column, _] = STORED[Path(file).stem][0]
        assert f"error[{code}]" in done.stdout
        assert f"--> {file}:{line}:{column}\n" in done.stdout


def test_line_ends_of_windows_are_fine() -> None:
    """CRLF separates lines as LF does."""
    text = 'policy "p" {\r\n  share used\r\n}\r\n'

    assert parse(decode(text.encode(), "p.gpol"), "p.gpol").diagnostics == ()


def test_decode_says_which_byte() -> None:
    """The place of the first byte that is no UTF-8 is counted from 1."""
    with pytest.raises(PolicyError, match="byte 4 is not UTF-8"):
        decode(b"abc\xff", "p.gpol")

"""Policies that do not parse: each gives the right code, place and remedy, and never a traceback."""

from pathlib import Path

import pytest
from gpol.cli.main import run_command
from gpol.dsl.diagnostics import LineIndex, PolicyError
from gpol.dsl.parser import parse
from gpol.dsl.split import decode

FOLDER = Path(__file__).parent / "broken"

EXPECTED = {
    "foreign_colon": [("GP003", 3, 19, "without `:`")],
    "future_item": [("GP009", 3, 1, "remove it")],
    "future_word": [("GP009", 3, 24, "remove it")],
    "indented_item": [("GP005", 1, 3, "delete the space")],
    "missing_brace": [("GP004", 3, 11, "close it with a `}`")],
    "missing_resource": [("GP003", 4, 8, "`8 gpu on h100`")],
    "misspelt_item": [("GP007", 2, 1, "did you mean `flavor`?")],
    "misspelt_statement": [("GP007", 4, 3, "did you mean `owns`?")],
    "name_with_digit": [("GP008", 3, 7, '`"6214e9"`')],
    "statement_in_column_one": [("GP005", 4, 1, "indent it")],
    "stray_brace": [("GP003", 3, 1, "delete it")],
    "two_broken_items": [("GP007", 3, 11, "did you mean `owns`?"), ("GP007", 5, 11, "did you mean `lends`?")],
    "unclosed_text": [("GP006", 3, 22, 'close it with `"`')],
    "unfinished_guard": [("GP003", 3, 36, "a field")],
    "unfinished_item": [("GP003", 3, 5, "a name")],
    "unknown_escape": [("GP006", 3, 24, "only")],
}
"""Code, line, column and a piece of the help of each diagnostic."""

MADE = {
    "ten megabytes": (b"# " + b"x" * 10_000_000, "GP002", "split the policy"),
    "ten thousand deep": (b"cohort a {" * 10_000, "GP002", "flatten it"),
    "a hundred thousand and one lines": (b"\n" * 100_001, "GP002", "split the policy"),
    "invalid UTF-8": (b'policy "p" { }\nqueue m\xfcnchen { owns nothing }\n', "GP001", "UTF-8"),
    "byte order mark": (b'\xef\xbb\xbfpolicy "p" { }\n', "GP001", "without one"),
    "NUL byte": (b'policy "p" { }\nqueue a\x00b { owns nothing }\n', "GP001", "delete it"),
    "only a closing brace": (b"}\n", "GP003", "delete it"),
    "an open brace at the very end": (b'policy "p" {', "GP004", "close it"),
}
"""Bytes, the code and a piece of the help."""


def test_the_table_and_the_folder_say_the_same() -> None:
    """Every broken policy is in the table and every entry has its file."""
    assert sorted(path.stem for path in FOLDER.glob("*.gpol")) == sorted(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_stored_policies(name: str) -> None:
    """Each cause is told once, at its place, with its remedy."""
    text = (FOLDER / f"{name}.gpol").read_text(encoding="utf-8")
    parsed = parse(text, f"{name}.gpol")
    index = LineIndex(text)

    found = [(diagnostic.code, *index.position(diagnostic.span.start)) for diagnostic in parsed.diagnostics]
    assert found == [entry[:3] for entry in EXPECTED[name]]
    for diagnostic, (*_, piece) in zip(parsed.diagnostics, EXPECTED[name], strict=True):
        assert piece in diagnostic.help


@pytest.mark.parametrize("case", sorted(MADE))
def test_made_policies(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes, depths and bytes beyond the limits are refused by the command with exit 3, code and remedy."""
    data, code, piece = MADE[case]
    path = tmp_path / "broken.gpol"
    path.write_bytes(data)

    exit_code = run_command(["check", str(path)])

    out, err = capsys.readouterr()
    assert exit_code == 3
    assert code in out
    assert piece in out
    assert "Traceback" not in out + err


def test_every_stored_policy_ends_the_command_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    """All files in one run: each is told, none hides another, and the exit code is 3."""
    files = sorted(str(path) for path in FOLDER.glob("*.gpol"))

    assert run_command(["check", "--format", "plain", *files]) == 3

    out = capsys.readouterr().out
    for file in files:
        assert f"{file}:" in out


def test_line_ends_of_windows_are_fine() -> None:
    """CRLF separates lines as LF does."""
    text = 'policy "p" {\r\n  share used\r\n}\r\n'

    assert parse(decode(text.encode(), "p.gpol"), "p.gpol").diagnostics == ()


def test_decode_says_which_byte() -> None:
    """The place of the first byte that is no UTF-8 is counted from 1."""
    with pytest.raises(PolicyError, match="byte 4 is not UTF-8"):
        decode(b"abc\xff", "p.gpol")

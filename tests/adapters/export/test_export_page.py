"""The page about exports does what it says: its commands, its queries and their answers, its script, its table of columns."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from gpol.adapters.export.columns import COLUMNS, OBJECTS, VERSION

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n(?:\n((?:\|[^\n]*\n)+))?", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """The page's text."""
    return (root / "docs" / "export.md").read_text(encoding="utf-8")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def _run(command: str, folder: Path) -> str:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "160"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), command
    return done.stdout


@pytest.mark.slow
def test_the_page_runs(page: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print what is shown, queries answer the tables below them, and the script prints the head that verify does."""
    shutil.copytree(root / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    done = {"console": 0, "sql": 0, "python": 0}
    for language, block, answer in BLOCK.findall(page):
        done[language] += 1
        if language == "console":
            for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, said = step.partition("\n")
                printed = _run(command, tmp_path)
                parts = [re.escape(part.strip("\n")) for part in said.split("...")]
                assert re.fullmatch("(.|\n)*".join(parts), printed.strip("\n")), f"$ {command}\n{printed}"
        elif language == "sql":
            found = duckdb.sql(block)
            header, _, *rows = answer.splitlines()
            assert found.columns == _cells(header)
            assert [[str(value) for value in row] for row in found.fetchall()] == [_cells(row) for row in rows]
        else:
            (tmp_path / "check.py").write_text(block)
            seq, chain = _run(f"{sys.executable} check.py", tmp_path).split()
            assert _run("gpol verify lab.db", tmp_path) == f"good: {seq} events; head {seq}:{chain}\n"
    assert done == {"console": 2, "sql": 4, "python": 1}


def test_every_column_is_described(page: str) -> None:
    """The table has every column with its type, in order, and the version is the program's."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| .*\|$", page, re.MULTILINE)

    assert rows == list(COLUMNS.items())
    assert f"This is version {VERSION} of the columns" in page


def test_every_field_of_a_list_is_described(page: str) -> None:
    """Where a list of objects comes up first, its fields are named."""
    for kind, fields in OBJECTS.items():
        (line, *_) = re.findall(rf"^\| `\w+` \| {kind} \| (.*)\|$", page, re.MULTILINE)
        assert [name for name in re.findall(r"`(\w+)`", line) if name in fields] == list(fields), kind

"""The pages for newcomers do what they say: every code block is run in a copy of the examples, and its output compared.

```console: after `$ ` a command, below it what it prints; `...` stands for any text, alone on a line for any lines.
```python: run as it stands. ```sh: what sets the house up; its targets of make exist. ```yaml: a file to write; it can be read.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PAGES = (
    "README.md",
    "examples/lab/README.md",
    "examples/campus/README.md",
    "examples/philly/README.md",
    "examples/compare/README.md",
    "docs/kueue.md",
    "docs/volcano.md",
    "docs/impact.md",
    "docs/compare.md",
    "docs/audit.md",
    "docs/diff.md",
)

PHILLY = """\
timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.0,1,66.0,11cb48
2017-10-09 06:13:03,2951.0,8,23608.0,23dbec
"""
"""Stands for the trace, which is not part of the project."""

SET_UP = ("git clone ", "cd ", ". .venv/bin/activate")


def blocks(page: str) -> list[tuple[str, str]]:
    """The code blocks of a page: language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is said to print."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        else:
            command, output = found[-1]
            found[-1] = command, output + line
    return found


def matches(said: str, printed: str) -> bool:
    """Whether what was printed is what the page says, up to blanks at the ends of lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else r".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
        for line in said.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None


def run(command: str, folder: Path) -> str:
    """What a command prints; it has to end well."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "160", "NO_COLOR": "1"}
    shell = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(shell, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_does_what_it_says(page: str, root: Path, tmp_path: Path) -> None:
    """Commands end well and print what the page shows, and Python blocks run."""
    shutil.copytree(root / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "philly.csv").write_text(PHILLY)
    found = blocks((root / page).read_text())
    assert found
    for language, block in found:
        assert language in ("console", "python", "sh", "yaml"), f"{page}: a block of `{language}` is run by nobody"
        if language == "yaml":
            assert isinstance(yaml.safe_load(block), dict)
        elif language == "python":
            (tmp_path / "block.py").write_text(block)
            run("python block.py", tmp_path)
        elif language == "console":
            for command, said in steps(block):
                printed = run(command, tmp_path)
                assert matches(said, printed), f"$ {command}\nthe page says:\n{said}\nbut it prints:\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_what_sets_the_house_up_exists(page: str, root: Path) -> None:
    """Each line of a sh block is a target of the Makefile or one of the known steps before it."""
    for language, block in blocks((root / page).read_text()):
        for line in block.splitlines() if language == "sh" else ():
            command = line.split("#")[0].strip()
            if not command.startswith(SET_UP):
                assert command.startswith("make "), line
                run(f"{command} --dry-run", root)


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("", "a\n", False),
        ("...\n", "", True),
        ("...\nb\n", "a\na\nb\n", True),
        ("...\nb\n", "b\nc\n", False),
        ("a...c\n", "a b c\n", True),
        ("a...c\n", "a\nc\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_output_is_compared(said: str, printed: str, same: bool) -> None:
    """Dots stand for text within a line or for whole lines, and for nothing else."""
    assert matches(said, printed) == same

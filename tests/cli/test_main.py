"""The command itself: mistakes in how it is called, and what happens when things break around it."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from gpol.cli.main import run_command

Gpol = Callable[..., Any]
COMMANDS = ("check", "fmt", "test", "run", "simulate", "log", "replay", "verify", "explain")


def test_no_arguments_show_help(gpol: Gpol) -> None:
    """Without arguments the commands are listed, exit code 0."""
    done = gpol()

    assert done.code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in done.out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(gpol: Gpol, command: str) -> None:
    """`--help` tells how a command is called."""
    done = gpol(command, "--help")

    assert done.code == 0
    assert done.out.startswith(f"Usage: gpol {command} ")


def test_version(gpol: Gpol) -> None:
    """`--version` prints the installed version."""
    done = gpol("--version")

    assert (done.code, done.out) == (0, f"gpol, version {version('gpol')}\n")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("chek",), "No such command 'chek'"),
        (("check",), "Missing argument 'FILE...'"),
        (("schema",), "Missing argument 'events|policy-graph'. Choose from: events, policy-graph; see"),
        (("check", "--nope", "x.gpol"), "No such option"),
        (("check", "x.gpol", "--format", "xml"), "'xml' is not one of"),
        (("run", "x.gpol"), "Missing argument 'FACTS.jsonl'"),
    ],
)
def test_a_wrong_call_is_told(gpol: Gpol, arguments: tuple[str, ...], part: str) -> None:
    """A call that cannot be meant is refused in one line on stderr that names the help, exit code 3."""
    done = gpol(*arguments)

    assert (done.code, done.out) == (3, "")
    assert part in done.err
    assert done.err.endswith("; see `gpol --help`\n")


def test_a_group_without_a_command_shows_its_help(gpol: Gpol) -> None:
    """A group that is called alone prints its help on stderr, line by line, exit code 3."""
    done = gpol("key")

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("Usage: gpol key [OPTIONS] COMMAND [ARGS]...\n\n  Make keys")


def test_a_defect_is_told_without_traceback(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect ends in one line that says how to see more, exit code 1; with GPOL_TRACEBACK it is raised."""

    def broken(*arguments: object) -> int:
        raise KeyError("oops")

    monkeypatch.setattr("gpol.dsl.analysis.checker.check", broken)
    done = gpol("check", "lab.gpol")

    assert (done.code, done.out) == (1, "")
    assert done.err == "gpol: internal error: KeyError: 'oops'; set GPOL_TRACEBACK=1 to see where, and report it\n"
    monkeypatch.setenv("GPOL_TRACEBACK", "1")
    with pytest.raises(KeyError):
        run_command(["check", "lab.gpol"])


def test_an_interrupt_is_told(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command quietly, exit code 130 as shells have it."""

    def interrupted(*arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpol.dsl.analysis.checker.check", interrupted)
    done = gpol("check", "lab.gpol")

    assert (done.code, done.err) == (130, "gpol: stopped\n")


def test_a_reader_that_leaves_is_no_error(journal: str, lab: Path) -> None:
    """When the reader of a pipe goes away, the command ends silently, exit code 141."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "from gpol.cli.main import main; main()", "log", journal]
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=lab, check=False)
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (141, b"")

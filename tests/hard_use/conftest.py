"""What the tests of hard use share: a command that is called in place in an empty folder, and what it printed."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gpol.cli.main import run_command


@dataclass(frozen=True)
class Done:
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """What it printed with `--format json`: one object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Gpol = Callable[..., Done]


@pytest.fixture
def gpol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gpol:
    """Runs the command in an empty folder: `gpol("check", "lab.gpol", stdin=b"...")`. No run may print a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPOL_TRACEBACK", raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        code = run_command(list(arguments))
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return Done(code, printed.out, printed.err)

    return run

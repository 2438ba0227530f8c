"""What tests of commands share: a command that is called in place, and what it printed."""

import io
import json
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from gpol.cli.main import run_command


class Done(NamedTuple):
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """What it printed with `--format json`: one object a line, each versioned."""
        records = [json.loads(line) for line in self.out.splitlines()]
        assert all(record["v"] == 1 for record in records)
        return records


Gpol = Callable[..., Done]


def in_place(patch: pytest.MonkeyPatch, printing: pytest.CaptureFixture[str]) -> Gpol:
    """Runs the command in this process: `gpol("check", "lab.gpol", stdin=b"...")`. No run may print a traceback."""

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        patch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        code = run_command(list(arguments))
        printed = printing.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return Done(code, printed.out, printed.err)

    return run

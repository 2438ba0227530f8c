"""A policy that says something otherwise than its system decides it: check, fmt, compile and diff know it; all else refuses it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

PASSES = """policy "passes" {
  use kai.default
  order workloads by submitted asc
}

flavor gpus {
  gpu from nodes where pool = "a"
  placed on nodes
}

queue owner { owns 8 gpu }

queue guest { owns nothing }

test "an owner" {
  at 0s submit g by guest { 8 gpu }
  expect g admitted
}
"""


@pytest.fixture
def passes(lab: Path) -> Path:
    """Such a policy, beside the lab's."""
    (lab / "passes.gpol").write_text(PASSES)
    return lab


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "passes.gpol", "lab.csv"),
        ("run", "passes.gpol", "facts.jsonl"),
        ("test", "passes.gpol"),
        ("compare", "passes.gpol", "lab.gpol", "lab.csv"),
    ],
    ids=" ".join,
)
def test_what_would_decide_by_it(gpol: Gpol, passes: Path, command: tuple[str, ...]) -> None:
    """One line on stderr: place, cause and remedy; nothing on stdout, exit code 3."""
    (passes / "lab.csv").write_text("workload,submitted,duration,queue,gpu\ng,2026-03-02T08:00:00Z,2h,guest,8\n")
    (passes / "facts.jsonl").write_text('{"kind":"TimeAdvanced","time":0}\n')
    done = gpol(*command)

    assert (done.code, done.out) == (3, "")
    assert "passes.gpol:1: policy `passes` says something that KAI does not decide, in `order workloads by`: KAI's order is" in done.err
    assert "internal error" not in done.err


def test_what_knows_it(gpol: Gpol, passes: Path) -> None:
    """It is checked, formatted and compiled, and its meaning is compared with another one's, without a workload that shows it."""
    assert (gpol("check", "passes.gpol").code, gpol("fmt", "--check", "passes.gpol").code) == (0, 0)
    compiled = gpol("compile", "passes.gpol")
    assert compiled.code == 0
    assert '"end-broken-gangs"' in compiled.out
    for other in ("lab.gpol", "passes.gpol"):
        done = gpol("diff", "passes.gpol", other)
        assert done.code == (2 if other == "lab.gpol" else 0)
        assert ("the tests that are tried have no nodes, on which passes decide" in done.out) == (other == "lab.gpol")

"""test: which test blocks passed, what differed in the others, and the exit code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Gpol = Callable[..., Any]
BROKEN = 'policy "x" { use gpol.fair }\nflavor a100 { gpu 8 }\nqueue q { owns 8 gpu on a10 }\n'
UNTIDY = 'policy "x" {\n    use gpol.fair   # fair\n}\nflavor   a100 { gpu 8 }\nqueue q { owns 8 gpu }\n'
TIDY = 'policy "x" {\n  use gpol.fair  # fair\n}\n\nflavor a100 { gpu 8 }\n\nqueue q { owns 8 gpu }\n'


def test_tests_that_pass(gpol: Gpol, lab: Path) -> None:
    """A test that passes is one line; the sum is the last one; exit code 0."""
    done = gpol("test", "lab.gpol")

    assert (done.code, done.out) == (0, "ok   lab.gpol:16: an owner gets its own back\n1 passed, 0 failed\n")


def test_tests_in_json(gpol: Gpol, lab: Path) -> None:
    """A test is one object with its failures."""
    (lab / "lab.gpol").write_text((lab / "lab.gpol").read_text().replace("expect o pending by warm-up", "expect o admitted"))
    done = gpol("test", "lab.gpol", "--format", "json")

    found = "o is pending because WaitingForProtectedWorkloads"
    failures = [{"line": 19, "expected": "o admitted", "found": found}]
    assert done.code == 2
    name = "an owner gets its own back"
    assert done.records == [{"v": 1, "kind": "test", "file": "lab.gpol", "name": name, "line": 16, "passed": False, "failures": failures}]


def test_a_policy_without_tests(gpol: Gpol, lab: Path) -> None:
    """A policy without tests is told how to write one, exit code 0."""
    (lab / "x.gpol").write_text(TIDY)
    done = gpol("test", "x.gpol")

    assert (done.code, done.out) == (0, "0 passed, 0 failed\n")
    assert "no test blocks; add" in done.err


def test_tests_of_a_broken_policy(gpol: Gpol, lab: Path) -> None:
    """A policy with errors is not tested: its errors on stderr, exit code 3."""
    (lab / "x.gpol").write_text(BROKEN)
    done = gpol("test", "x.gpol")

    assert (done.code, done.out) == (3, "")
    assert "error[GP020]" in done.err
    assert "`x.gpol` has 1 error\n" in done.err

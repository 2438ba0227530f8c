"""check: what the author of a policy is told, in every format, with which exit code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.cli.shared import reading

Gpol = Callable[..., Any]
BROKEN = 'policy "x" { use gpol.fair }\nflavor a100 { gpu 8 }\nqueue q { owns 8 gpu on a10 }\n'
UNTIDY = 'policy "x" {\n    use gpol.fair   # fair\n}\nflavor   a100 { gpu 8 }\nqueue q { owns 8 gpu }\n'
TIDY = 'policy "x" {\n  use gpol.fair  # fair\n}\n\nflavor a100 { gpu 8 }\n\nqueue q { owns 8 gpu }\n'


@pytest.mark.parametrize("form", ["human", "plain"])
def test_check_says_what_a_good_policy_declares(gpol: Gpol, lab: Path, form: str) -> None:
    """A good policy is summed up in one line, exit code 0."""
    done = gpol("check", "lab.gpol", "--format", form)

    assert (done.code, done.out, done.err) == (0, "lab.gpol: good (2 queues, 1 flavor, 1 test)\n", "")


def test_check_in_json(gpol: Gpol, lab: Path) -> None:
    """A good policy is one object with its digest."""
    [record] = gpol("check", "lab.gpol", "--format", "json").records

    assert record["digest"].startswith("sha256:")
    del record["digest"]
    assert record == {"v": 1, "kind": "checked", "file": "lab.gpol", "errors": 0, "warnings": 0}


def test_check_names_code_place_and_remedy(gpol: Gpol, lab: Path) -> None:
    """An error has its code, its line and column, and what to write instead; exit code 3."""
    (lab / "x.gpol").write_text(BROKEN)
    done = gpol("check", "x.gpol")

    assert done.code == 3
    for part in ("error[GP020]", "x.gpol:3:25", "did you mean `a100`?", "x.gpol: 1 error\n"):
        assert part in done.out


def test_check_errors_in_json(gpol: Gpol, lab: Path) -> None:
    """An error is one object a line, before the file's sum; a broken policy has no digest."""
    (lab / "x.gpol").write_text(BROKEN)
    done = gpol("check", "x.gpol", "--format", "json")
    error, checked = done.records

    assert done.code == 3
    assert (error["code"], error["severity"]) == ("GP020", "error")
    assert (checked["errors"], checked["digest"]) == (1, None)


def test_check_goes_on_after_a_broken_file(gpol: Gpol, lab: Path) -> None:
    """All files are checked, and one broken file is enough for exit code 3."""
    (lab / "x.gpol").write_text(BROKEN)
    done = gpol("check", "x.gpol", "lab.gpol")

    assert done.code == 3
    assert "lab.gpol: good" in done.out


def test_check_reads_standard_input(gpol: Gpol, lab: Path) -> None:
    """`-` is standard input."""
    done = gpol("check", "-", stdin=TIDY.encode())

    assert (done.code, done.out) == (0, "stdin: good (1 queue, 1 flavor, 0 tests)\n")


def test_check_of_bytes_that_are_no_text(gpol: Gpol, lab: Path) -> None:
    """Bytes that are not UTF-8 are told with their place, exit code 3."""
    done = gpol("check", "-", stdin=b'policy "\xff"\n')

    assert done.code == 3
    assert "stdin:1:8" in done.out


def test_check_of_a_missing_file(gpol: Gpol, lab: Path) -> None:
    """A file that is not there is told on stderr, exit code 3."""
    done = gpol("check", "no.gpol")

    assert (done.code, done.out) == (3, "")
    assert done.err == "gpol: `no.gpol` cannot be read: No such file or directory; check the name and your rights\n"


def test_of_a_file_without_end_only_the_beginning_is_read(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that never ends is a file that is too large, exit code 3."""
    monkeypatch.setattr(reading, "MOST_BYTES", 5_000_000)
    done = gpol("check", "/dev/zero")

    assert done.code == 3
    assert "error[GP002]: the file has 5,000,000 bytes" in done.out

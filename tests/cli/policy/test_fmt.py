"""fmt: which files are changed and how, what is printed, and the exit code."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]
BROKEN = 'policy "x" { use gpol.fair }\nflavor a100 { gpu 8 }\nqueue q { owns 8 gpu on a10 }\n'
UNTIDY = 'policy "x" {\n    use gpol.fair   # fair\n}\nflavor   a100 { gpu 8 }\nqueue q { owns 8 gpu }\n'
TIDY = 'policy "x" {\n  use gpol.fair  # fair\n}\n\nflavor a100 { gpu 8 }\n\nqueue q { owns 8 gpu }\n'


def test_fmt_changes_the_file(gpol: Gpol, lab: Path) -> None:
    """An untidy file is brought into the layout in place, keeps its mode, and leaves nothing beside it; a second run changes nothing."""
    path = lab / "x.gpol"
    path.write_text(UNTIDY)
    path.chmod(0o640)
    before = sorted(os.listdir(lab))
    done = gpol("fmt", "x.gpol")

    assert (done.code, done.out) == (0, "x.gpol: formatted\n")
    assert path.read_text() == TIDY
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(lab)) == before
    assert (gpol("fmt", "x.gpol").out, gpol("fmt", "--check", "x.gpol").code) == ("", 0)


def test_fmt_replaces_the_file_at_once(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk refuses the last step, the old file is whole and nothing is left beside it; exit code 1."""
    (lab / "x.gpol").write_text(UNTIDY)
    before = sorted(os.listdir(lab))

    def refuse(source: object, target: object) -> None:
        raise OSError(28, "No space left on device", "x.gpol")

    monkeypatch.setattr(os, "replace", refuse)
    done = gpol("fmt", "x.gpol")
    remedy = "check the rights and the room in its folder"

    assert (done.code, done.err) == (1, f"gpol: `x.gpol` cannot be written: No space left on device; {remedy}\n")
    assert ((lab / "x.gpol").read_text(), sorted(os.listdir(lab))) == (UNTIDY, before)


def test_fmt_writes_through_a_link(gpol: Gpol, lab: Path) -> None:
    """A link stays a link; the file that it leads to, in another folder, is formatted there and keeps its rights."""
    (lab / "far").mkdir()
    (lab / "far" / "x.gpol").write_text(UNTIDY)
    (lab / "far" / "x.gpol").chmod(0o640)
    (lab / "x.gpol").symlink_to(Path("far") / "x.gpol")
    done = gpol("fmt", "x.gpol")

    assert (done.code, done.out) == (0, "x.gpol: formatted\n")
    assert (lab / "x.gpol").is_symlink()
    assert (lab / "far" / "x.gpol").read_text() == TIDY
    assert (lab / "far" / "x.gpol").stat().st_mode & 0o777 == 0o640
    assert os.listdir(lab / "far") == ["x.gpol"]


def test_fmt_ends_lines_in_one_way(gpol: Gpol, lab: Path) -> None:
    """Lines that end in carriage return and line feed are read, and end in line feeds afterwards: there is one layout."""
    (lab / "x.gpol").write_bytes(TIDY.replace("\n", "\r\n").encode())

    assert gpol("fmt", "--check", "x.gpol").code == 2
    assert gpol("fmt", "x.gpol").code == 0
    assert (lab / "x.gpol").read_bytes() == TIDY.encode()


def test_fmt_of_a_file_that_may_not_be_written(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only file and one in a read-only folder stay, exit code 1 and the reason; the files after them are formatted."""
    for name in ("x.gpol", "y.gpol", "z.gpol"):
        (lab / name).write_text(UNTIDY)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "x.gpol")
    make = os.open

    def refuse(path: Any, flags: int, *mode: int) -> int:
        if Path(path).name.startswith(".y.gpol."):
            raise PermissionError(13, "Permission denied", str(path))
        return make(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    done = gpol("fmt", "x.gpol", "y.gpol", "z.gpol")

    assert (done.code, done.out) == (1, "z.gpol: formatted\n")
    assert "`x.gpol` cannot be written: it is read-only" in done.err
    assert "`y.gpol` cannot be written: Permission denied; check the rights" in done.err
    assert [(lab / name).read_text() for name in ("x.gpol", "y.gpol", "z.gpol")] == [UNTIDY, UNTIDY, TIDY]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_fmt_does_not_replace_a_pipe(gpol: Gpol, lab: Path) -> None:
    """A named pipe is read like a file, but not replaced by one: exit code 3."""
    os.mkfifo(lab / "pipe")
    writer = threading.Thread(target=lambda: (lab / "pipe").write_text(UNTIDY))
    writer.start()
    done = gpol("fmt", "pipe")
    writer.join()

    assert (done.code, done.out) == (3, "")
    assert "`pipe` is no plain file" in done.err
    assert (lab / "pipe").is_fifo()


def test_files_that_cannot_be_read_do_not_stop_the_others(gpol: Gpol, lab: Path) -> None:
    """check, fmt and test go on after a folder, a missing file and a broken one; the exit code is 3 all the same."""
    (lab / "folder").mkdir()
    (lab / "broken.gpol").write_text(BROKEN)
    for command, found in (("check", "lab.gpol: good"), ("fmt", ""), ("test", "1 passed, 0 failed")):
        done = gpol(command, "folder", "no.gpol", "nul\0.gpol", "broken.gpol", "lab.gpol")
        assert done.code == 3
        assert "`folder` is a folder; name the files in it" in done.err
        assert "`no.gpol` cannot be read: No such file" in done.err
        assert "`nul\\x00.gpol` cannot be read: embedded null byte" in done.err
        assert found in done.out


def test_fmt_check_changes_nothing(gpol: Gpol, lab: Path) -> None:
    """`--check` says what would change, exit code 2."""
    (lab / "x.gpol").write_text(UNTIDY)
    done = gpol("fmt", "--check", "x.gpol")

    assert (done.code, done.out) == (2, "x.gpol: would change\n")
    assert (lab / "x.gpol").read_text() == UNTIDY


def test_fmt_diff_shows_the_change(gpol: Gpol, lab: Path) -> None:
    """`--diff` prints a unified diff and changes nothing, exit code 2; of a tidy file it prints nothing, exit code 0."""
    (lab / "x.gpol").write_text(UNTIDY)
    (lab / "y.gpol").write_text(TIDY)
    done, tidy = gpol("fmt", "--diff", "x.gpol"), gpol("fmt", "--diff", "y.gpol")

    assert done.code == 2
    assert "\n-flavor   a100 { gpu 8 }\n" in done.out
    assert "\n+flavor a100 { gpu 8 }\n" in done.out
    assert (lab / "x.gpol").read_text() == UNTIDY
    assert (tidy.code, tidy.out) == (0, "")


def test_fmt_diff_as_json_is_json_alone(gpol: Gpol, lab: Path) -> None:
    """With json each file is one object, its diff a field, empty for a tidy file; without `--diff` there is no such field."""
    (lab / "x.gpol").write_text(UNTIDY)
    (lab / "y.gpol").write_text(TIDY)
    changed, tidy = gpol("fmt", "--diff", "x.gpol", "y.gpol", "--format", "json").records
    [checked] = gpol("fmt", "--check", "x.gpol", "--format", "json").records

    assert changed["diff"].startswith("--- x.gpol\n+++ x.gpol (formatted)\n@@ ")
    assert "\n-flavor   a100 { gpu 8 }\n" in changed["diff"]
    assert tidy == {"v": 1, "kind": "formatted", "file": "y.gpol", "changed": False, "diff": ""}
    assert checked == {"v": 1, "kind": "formatted", "file": "x.gpol", "changed": True}


def test_fmt_of_standard_input(gpol: Gpol, lab: Path) -> None:
    """`-` prints the formatted text."""
    done = gpol("fmt", "-", stdin=UNTIDY.encode())

    assert (done.code, done.out) == (0, TIDY)


def test_fmt_in_json(gpol: Gpol, lab: Path) -> None:
    """Each file is one object that says whether it changed."""
    (lab / "x.gpol").write_text(UNTIDY)
    done = gpol("fmt", "--check", "x.gpol", "lab.gpol", "--format", "json")

    assert done.code == 2
    assert done.records[0] == {"v": 1, "kind": "formatted", "file": "x.gpol", "changed": True}


def test_fmt_leaves_a_file_with_errors_alone(gpol: Gpol, lab: Path) -> None:
    """A file that is not a policy stays as it is, exit code 3; the other files are formatted."""
    (lab / "broken.gpol").write_text("polcy  x {\n")
    (lab / "x.gpol").write_text(UNTIDY)
    done = gpol("fmt", "broken.gpol", "x.gpol")

    assert done.code == 3
    assert "broken.gpol:1:1" in done.out
    assert (lab / "broken.gpol").read_text() == "polcy  x {\n"
    assert (lab / "x.gpol").read_text() == TIDY


def test_a_test_that_fails_names_what_differed(gpol: Gpol, lab: Path) -> None:
    """A failure names its line, what was expected and what was; exit code 2."""
    (lab / "lab.gpol").write_text((lab / "lab.gpol").read_text().replace("expect o pending by warm-up", "expect o admitted"))
    done = gpol("test", "lab.gpol")

    assert done.code == 2
    assert done.out.splitlines() == [
        "FAIL lab.gpol:16: an owner gets its own back",
        "       lab.gpol:19: expected o admitted; o is pending because WaitingForProtectedWorkloads",
        "0 passed, 1 failed",
    ]

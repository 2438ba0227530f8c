"""What takes seconds says what it is at, on a terminal, and leaves stdout and short commands alone."""

import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from gpol.cli.shared.progress import AFTER, progress
from rich.progress import Progress

GPOL = "from gpol.cli.shared import progress; progress.AFTER = {after}; from gpol.cli.main import main; main()"


def on_a_terminal(*arguments: str, after: float = AFTER) -> tuple[int, str, str]:
    """Runs the command with a terminal as stderr: its exit code, its stdout and what the terminal got. Progress is shown `after` so
    many seconds."""
    ours, theirs = pty.openpty()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([sys.executable, "-c", GPOL.format(after=after), *arguments], stdout=said, stderr=theirs)
        os.close(theirs)
        told = b""
        while piece := _read(ours):
            told += piece
        os.close(ours)
        code = process.wait(timeout=60)
        said.seek(0)
        return code, said.read().decode(), told.decode()


def _read(terminal: int) -> bytes:
    """What comes next from a terminal; nothing once the other end is closed."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def many_queues(queues: int) -> str:
    """A policy of so many queues of five lines."""
    each = (f'queue q{number} {{\n  for namespace "team{number}"\n  owns 8 gpu\n  weight 2\n}}\n' for number in range(queues))
    return f'policy "many" {{ }}\nflavor h100 {{ gpu {8 * queues} }}\n{"".join(each)}'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check",), "checking many.gpol"),
        (("fmt", "--check"), "formatting many.gpol"),
        (("compile", "-o", "many.json"), "checking many.gpol"),
        (("export", "kueue", "-o", "many.yaml"), "checking many.gpol"),
    ],
)
def test_long_commands_say_what_they_are_at(arguments, told, tmp_path: Path, monkeypatch):
    """A policy of 3,000 queues keeps each of them busy for a while. How long depends on the machine: here progress comes at once."""
    monkeypatch.chdir(tmp_path)
    Path("many.gpol").write_text(many_queues(3_000))
    _, said, terminal = on_a_terminal(*arguments, "many.gpol", after=0)
    assert told in terminal
    assert told not in said


def test_short_commands_say_nothing_of_it(tmp_path: Path, monkeypatch):
    """Nothing is drawn for a policy that is checked at once, however busy the machine is that it starts on."""
    monkeypatch.chdir(tmp_path)
    Path("few.gpol").write_text(many_queues(3))
    assert on_a_terminal("check", "few.gpol", after=30) == (0, "few.gpol: good (3 queues, 1 flavor, 0 tests)\n", "")


def test_reading_jobs_is_told(tmp_path: Path, monkeypatch):
    """Of a simulation the first that takes long is reading its jobs; here the last of many is none."""
    monkeypatch.chdir(tmp_path)
    Path("few.gpol").write_text(many_queues(3))
    rows = (f"w{number},0s,1m,q0,1\n" for number in range(20_000))
    Path("jobs.csv").write_text("workload,submitted,duration,queue,gpu\n" + "".join(rows) + "last,0s,0s,q0,1\n")
    code, _, terminal = on_a_terminal("simulate", "few.gpol", "jobs.csv", after=0)
    assert (code, "reading jobs" in terminal, "jobs.csv:20002: column `duration`" in terminal) == (3, True, True)


def test_work_goes_on_while_the_bar_is_made(monkeypatch):
    """What is done just before the bar has its task, or is drawn, is taken too."""
    monkeypatch.setattr("gpol.cli.shared.progress.AFTER", 3600)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ticked = []
    with progress("working", 10) as tick:

        def between(method):
            def ticking(bar, *arguments, **options):
                tick(3)
                ticked.append(method.__name__)
                return method(bar, *arguments, **options)

            return ticking

        for name in ("add_task", "start"):
            monkeypatch.setattr(Progress, name, between(getattr(Progress, name)))
        late = tick.__self__
        late.open()
        tick(7)
        assert ticked == ["add_task", "start"]
        assert [(task.completed, task.total) for task in late.bar.tasks] == [(7, 10)]

"""What happens when a command is stopped from outside, or its surroundings fail: full disks, odd terminals, signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.compiled.fast_core import NO_FOLDER

Gpol = Callable[..., Any]
COMMAND = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from gpol.cli.main import main; main()",
]
"""The command; it heeds Ctrl-C even where the tests run in the background, with Ctrl-C ignored."""

NO_KERNELS = f"{NO_FOLDER}\n".encode()
"""What a long run says first: tests give commands no folder for compiled kernels."""

needs_posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such devices and signals")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


def _run(lab: Path, *arguments: str, shell: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own; `shell` redirects it."""
    script = f'"$@" {shell}'
    command = ["sh", "-c", script, "sh", *COMMAND, *arguments]
    return subprocess.run(command, cwd=lab, env={**os.environ, **env}, capture_output=True, check=False)


def _many_jobs(lab: Path) -> None:
    """Some thousands of jobs that come one a second: far more than are played within the first written group."""
    rows = (f"j{number},{number}s,2s,owner,1" for number in range(20_000))
    (lab / "many.csv").write_text("workload,submitted,duration,queue,gpu\n" + "\n".join(rows) + "\n")


def _wait_until(done: Callable[[], bool]) -> None:
    """Wait, at most a minute."""
    for _ in range(6_000):
        if done():
            return
        time.sleep(0.01)
    raise TimeoutError


@needs_posix
@pytest.mark.parametrize(("stop", "code"), [pytest.param(signal.SIGKILL, -9, marks=pytest.mark.slow), (signal.SIGINT, 130)])
def test_a_stopped_simulation_leaves_a_good_journal(gpol: Gpol, lab: Path, stop: signal.Signals, code: int) -> None:
    """Killed or stopped with Ctrl-C in the middle, the journal opens, verifies and replays; Ctrl-C is one quiet line, exit code 130."""
    _many_jobs(lab)
    written = lab / "j.db"  # grows when SQLite moves to it what was committed
    command = [*COMMAND, "simulate", "lab.gpol", "many.csv", "--journal", "j.db"]
    with subprocess.Popen(command, cwd=lab, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        _wait_until(lambda: written.exists() and written.stat().st_size > 1_000_000)
        running.send_signal(stop)
        out, err = running.communicate()

    verified = gpol("verify", "j.db", "--format", "json")
    assert (running.returncode, out) == (code, b"")
    kept = b"gpol: stopped; the journal j.db keeps events 1 to %s, " % f"{verified.records[0]['seq']:,}".encode()
    said = err.removeprefix(NO_KERNELS)
    assert said.startswith(kept) if stop is signal.SIGINT else said == b""
    assert (verified.code, gpol("replay", "j.db").code) == (0, 0)
    assert 500 < verified.records[0]["seq"] < 60_001


@needs_posix
def test_a_stopped_run_keeps_what_it_played(gpol: Gpol, lab: Path) -> None:
    """A run that waits for more facts and is stopped with Ctrl-C has written all that came before, in the journal and in `--out`."""
    fact = {"kind": "WorkloadSubmitted", "time": 1, "workload": "a", "queue": "owner", "pod_sets": [{"requests": {"gpu": "4"}}]}
    command = [*COMMAND, "run", "lab.gpol", "-", "--journal", "j.db", "--out", "out.jsonl"]
    with subprocess.Popen(command, cwd=lab, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        running.stdin.write(b"".join(json.dumps({**fact, "workload": f"w{number}"}).encode() + b"\n" for number in range(600)))
        running.stdin.write(b'{"kind":"WorkloadFinished","time":2,"workload":"w0"}\n')
        running.stdin.flush()
        _wait_until(lambda: (lab / "out.jsonl").exists() and (lab / "out.jsonl").read_bytes().count(b"\n") == 3)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate()

    kinds = [each["event"]["kind"] for each in gpol("log", "j.db", "--format", "json").records]
    said = err.removeprefix(NO_KERNELS)
    assert (running.returncode, said.count(b"\n")) == (130, 1)
    assert said.startswith(b"gpol: stopped; the journal j.db keeps events 1 to 605, up to 1970-01-01T00:00:00.000002Z, and they verify")
    assert kinds.count("WorkloadAdmitted") == len((lab / "out.jsonl").read_text().splitlines()) == 3
    assert kinds.count("WorkloadSubmitted") == 600
    assert gpol("replay", "j.db").code == 0


@needs_posix
def test_a_full_disk_is_told_with_what_the_journal_keeps(gpol: Gpol, lab: Path) -> None:
    """Files may not grow beyond some hundred kilobytes: the simulation stops, and the journal is whole as far as it goes."""
    _many_jobs(lab)
    command = ["sh", "-c", 'ulimit -f 800; exec "$@"', "sh", *COMMAND, "simulate", "lab.gpol", "many.csv", "--journal", "j.db"]
    stopped = subprocess.run(command, cwd=lab, capture_output=True, check=False)
    verified = gpol("verify", "j.db", "--format", "json")
    said = stopped.stderr.decode().removeprefix(NO_KERNELS.decode())
    assert (stopped.returncode, said.count("\n"), verified.code) == (1, 1, 0)
    assert "nothing was appended; the journal j.db keeps events 1 to " + f"{verified.records[0]['seq']:,}, up to " in said
    assert "start again with another --journal" in said
    assert gpol("replay", "j.db").code == 0


@needs_posix
def test_no_decision_is_out_that_is_not_kept(gpol: Gpol, lab: Path) -> None:
    """A run that is killed while its stream is quiet has handed out all decisions so far, and each of them is in the journal."""
    fact = {"kind": "WorkloadSubmitted", "time": 1, "queue": "owner", "pod_sets": [{"requests": {"gpu": "1"}}]}
    command = [*COMMAND, "run", "lab.gpol", "-", "--journal", "j.db", "--out", "out.jsonl"]
    out = lab / "out.jsonl"
    with subprocess.Popen(command, cwd=lab, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        running.stdin.write(b"".join(json.dumps({**fact, "workload": f"w{number}"}).encode() + b"\n" for number in range(5)))
        running.stdin.flush()
        _wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") == 5)
        running.kill()
        running.communicate()

    kept = {each["seq"]: each["event"] for each in gpol("log", "j.db", "--format", "json").records}
    for line in out.read_text().splitlines():
        decision = json.loads(line)
        assert kept[decision.pop("seq")] == decision
    assert len(kept) == 11


@needs_posix
@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_of_a_file_keeps_whole_facts(gpol: Gpol, lab: Path, stop: signal.Signals) -> None:
    """Facts of a file are played thousands in one go. Whenever that is stopped, each fact in the journal is there with its decisions."""
    pods = '"pod_sets":[{"requests":{"gpu":"1"}}]'
    with (lab / "facts.jsonl").open("w") as facts:
        for number in range(40_000):
            facts.write(f'{{"kind":"WorkloadSubmitted","time":{number},"workload":"w{number}","queue":"owner",{pods}}}\n')
            facts.write(f'{{"kind":"WorkloadFinished","time":{number},"workload":"w{number}"}}\n')
    written = lab / "j.db"
    command = [*COMMAND, "run", "lab.gpol", "facts.jsonl", "--journal", "j.db", "--out", "out.jsonl"]
    with subprocess.Popen(command, cwd=lab, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        _wait_until(lambda: written.exists() and written.stat().st_size > 6_000_000)
        running.send_signal(stop)
        _, err = running.communicate()

    assert b"Traceback" not in err
    last = gpol("verify", "j.db", "--format", "json").records[0]["seq"]
    kept = {each["seq"]: each["event"] for each in gpol("log", "j.db", "--format", "json").records}
    assert gpol("replay", "j.db").code == 0
    assert 1_000 < last == len(kept) < 120_001
    told = [json.loads(line) for line in (lab / "out.jsonl").read_text().split("\n")[:-1]]
    assert all(kept[decision.pop("seq")] == decision for decision in told)


@needs_full
@pytest.mark.parametrize("arguments", [("check", "lab.gpol"), ("log", "lab.db"), ("--help",), ("fmt", "-")])
def test_a_full_disk_under_stdout_is_told(journal: str, lab: Path, arguments: tuple[str, ...]) -> None:
    """When what is printed can't be written, that is one line on stderr, exit code 1."""
    done = _run(lab, *arguments, shell="< lab.gpol > /dev/full")

    assert (done.returncode, done.stderr) == (1, b"gpol: No space left on device\n")


@needs_full
@pytest.mark.slow
def test_a_full_disk_under_out_and_report_is_told(lab: Path) -> None:
    """When decisions or a report can't be written, the file is named, exit code 1."""
    (lab / "report.html").symlink_to("/dev/full")
    (lab / "facts.jsonl").write_text(
        '{"kind":"WorkloadSubmitted","time":1,"workload":"a","queue":"owner","pod_sets":[{"requests":{"gpu":"4"}}]}\n'
    )
    decisions = _run(lab, "run", "lab.gpol", "facts.jsonl", "--out", "/dev/full")
    report = _run(lab, "simulate", "lab.gpol", "jobs.csv", "--report", "report.html")

    assert (decisions.returncode, report.returncode) == (1, 1)
    assert decisions.stderr.startswith(b"gpol: `/dev/full` cannot be written: No space left on device")
    assert report.stderr.startswith(b"gpol: `report.html` cannot be written: No space left on device")


def test_a_report_is_written_whole_or_not_at_all(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk refuses the last step, the report of an earlier run is as it was, and nothing is left beside it."""
    earlier = "<!doctype html><html lang='en'><head><meta name='generator' content='gpol'>earlier"
    (lab / "report.html").write_text(earlier)
    before = sorted(os.listdir(lab))

    def refuse(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refuse)
        done = gpol("simulate", "lab.gpol", "jobs.csv", "--report", "report.html")

    assert (done.code, (lab / "report.html").read_text(), sorted(os.listdir(lab))) == (1, earlier, before)
    assert "`report.html` cannot be written: No space left on device" in done.err
    assert gpol("simulate", "lab.gpol", "jobs.csv", "--report", "report.html").code == 0
    assert "earlier" not in (lab / "report.html").read_text(encoding="utf-8")


@needs_posix
@pytest.mark.parametrize(
    "arguments", [("check", "lab.gpol"), ("fmt", "-"), ("log", "lab.db"), ("explain", "lab.db", "g"), ("state", "lab.db"), ("--help",)]
)
def test_a_reader_that_leaves_is_no_error(journal: str, lab: Path, arguments: tuple[str, ...]) -> None:
    """Whatever is printed into a pipe that nobody reads ends silently, exit code 141, also where it fits the buffer."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with (lab / "lab.gpol").open("rb") as policy:
            done = subprocess.run([*COMMAND, *arguments], stdin=policy, stdout=writing, stderr=subprocess.PIPE, cwd=lab, check=False)
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (141, b"")


@needs_posix
@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), ("> /dev/null 2>&- <&-", 0)])
def test_closed_streams_are_no_error(lab: Path, closed: str, code: int) -> None:
    """With stdout, stderr or all of them closed, a command does its work, and the exit code tells."""
    done = _run(lab, "simulate", "lab.gpol", "jobs.csv", shell=closed)

    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_only(lab: Path) -> None:
    """Where the terminal can't show a character it is escaped; json is UTF-8 all the same, and so is what fmt prints."""
    policy = 'policy "z\u00fcrich" {\n  use gpol.fair\n}\n\nflavor a100 { gpu 8 }\n\nqueue "gr\u00fcn" { owns 8 gpu }\n'
    (lab / "z.gpol").write_text(policy, encoding="utf-8")
    (lab / "z.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,1h,gr\u00fcn,8\n", encoding="utf-8")
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    human, plain, as_json = (
        _run(lab, "simulate", "z.gpol", "z.csv", "--format", form, **ascii_only) for form in ("human", "plain", "json")
    )

    assert (human.returncode, plain.returncode, as_json.returncode) == (0, 0, 0)
    assert rb"gr\xfcn" in human.stdout
    assert rb"gr\xfcn" in plain.stdout
    assert json.loads(as_json.stdout.splitlines()[0])["queue"] == "gr\u00fcn"
    assert _run(lab, "fmt", "-", shell="< z.gpol", **ascii_only).stdout == policy.encode()
    assert _run(lab, "check", "n\u00f6.gpol", **ascii_only).stderr.startswith(b"gpol: `n")


def test_names_from_outside_do_not_steer_the_terminal(gpol: Gpol, lab: Path) -> None:
    """Escape codes, line breaks and marks that turn text around, in a workload's name, are shown as escapes; json has them as they are."""
    name = "a\x1b[31m\nb\u202e[red]"
    fact = {
        "kind": "WorkloadSubmitted",
        "time": 1,
        "workload": name,
        "queue": "guest",
        "user": name,
        "pod_sets": [{"requests": {"gpu": "8"}}],
    }
    (lab / "f.jsonl").write_text(json.dumps(fact) + "\n" + json.dumps({**fact, "time": 0}) + "\n")
    shown = r"a\x1b[31m\x0ab\u202e[red]"
    run = gpol("run", "lab.gpol", "f.jsonl", "--journal", "j.db")

    assert (run.code, run.err.count("\n")) == (3, 1)
    assert f"  WorkloadAdmitted   {shown} in guest " in gpol("log", "j.db").out
    assert gpol("explain", "j.db", name).out.startswith(f"{shown} is running at ")
    assert gpol("log", "j.db", "--format", "json").records[1]["event"]["workload"] == name
    unknown = gpol("explain", "j.db", name + "\n")
    assert (unknown.code, unknown.err.count("\n")) == (3, 1)

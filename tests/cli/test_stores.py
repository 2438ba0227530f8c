"""Commands with journals in PostgreSQL, by URL: they do what they do with files, and show no password."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from gpol.cli.main import run_command
from gpol.engine.facts import TimeAdvanced
from gpol.journal.journal import Journal

FACTS = [
    {"kind": "WorkloadSubmitted", "time": 1_000_000, "workload": "a\0b", "queue": "nlp", "pod_sets": [{"requests": {"gpu": "2"}}]},
    {"kind": "WorkloadSubmitted", "time": 2_000_000, "workload": "c", "queue": "nlp", "pod_sets": [{"requests": {"gpu": "900"}}]},
    {"kind": "WorkloadFinished", "time": 3_000_000, "workload": "a\0b"},
]

POLICY = """policy "lab" {
  use gpol.fair
}

flavor h100 { gpu 8 }

queue nlp {
  owns 8 gpu on h100
}
"""


def _run(*arguments: str) -> int:
    return run_command(list(arguments))


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[str, str]:
    """A policy, and facts for it."""
    policy, facts = tmp_path / "lab.gpol", tmp_path / "facts.jsonl"
    policy.write_text(POLICY)
    facts.write_text("".join(json.dumps(fact) + "\n" for fact in FACTS))
    return str(policy), str(facts)


def test_run_and_read(inputs: tuple[str, str], postgres_place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run into PostgreSQL can be read, verified, replayed and explained there, and has the head of the same run into a file."""
    url = postgres_place.replace("gpol@", "gpol:secret@")
    file = str(tmp_path / "lab.db")
    assert _run("run", *inputs, "--journal", url) == 0
    assert _run("run", *inputs, "--journal", file) == 0
    capsys.readouterr()
    for place in (url, file):
        assert _run("verify", place) == 0
        assert _run("replay", place) == 0
        assert _run("log", place, "--workload", "a\0b") == 0
        assert _run("explain", place, "c") == 0

    told = capsys.readouterr().out.splitlines()
    assert told[: len(told) // 2] == told[len(told) // 2 :]
    with Journal.open(url) as one, Journal.open(file) as other:
        assert one.head == other.head
        assert one.head.seq == 5  # the policy, two submissions, an admission and an end; the other one waits


def test_no_password_is_shown(inputs: tuple[str, str], postgres_place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is printed of a URL, in a result or in an error, has no password."""
    url = postgres_place.replace("gpol@", "gpol:secret@")
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("workload,submitted,duration,queue,gpu\na,2026-03-02T08:00:00Z,1h,nlp,2\n")
    _run("simulate", inputs[0], str(jobs), "--journal", url)
    _run("simulate", inputs[0], str(jobs), "--journal", url)
    _run("run", *inputs, "--journal", url)
    _run("log", url + "x")
    _run("verify", url.replace("/postgres?", "/nowhere?"))
    told = capsys.readouterr()

    assert "is already there" in told.err
    assert "nowhere" in told.err
    assert "secret" not in told.out + told.err


def test_exit_codes(inputs: tuple[str, str], postgres_place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A journal that is not there is invalid input; a server that is not there is a failure of the tool."""
    assert _run("verify", postgres_place) == 3
    assert _run("verify", "postgresql://127.0.0.1:1/db") == 1
    assert _run("run", *inputs, "--journal", "postgresql://127.0.0.1:1/db") == 1
    assert "check host and port, and that the server runs" in capsys.readouterr().err


def test_backup_and_restore(inputs: tuple[str, str], postgres_place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A journal goes into PostgreSQL and comes back with the same head, which is told; a place where something is already is refused."""
    first, copy, again = str(tmp_path / "lab.db"), postgres_place.replace("gpol@", "gpol:secret@"), str(tmp_path / "again.db")
    assert _run("run", *inputs, "--journal", first) == 0
    capsys.readouterr()
    assert _run("backup", first, copy, "--format", "json") == 0
    assert _run("backup", copy, again) == 0
    told = capsys.readouterr().out.splitlines()
    with Journal.open(first) as journal:
        chain = journal.head.chain.hex()

    answer = json.loads(told[0])
    assert (answer["kind"], answer["seq"], answer["chain"]) == ("backup", 5, chain)
    assert "secret" not in answer["path"]
    assert told[1] == f"backup {again}: 5 events, verified; head 5:{chain}"
    assert _run("backup", first, again) == 3
    assert "is already there; choose another name" in capsys.readouterr().err


def test_backup_of_a_damaged_journal(inputs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A journal that does not verify is not copied, which is exit code 4."""
    first, copy = tmp_path / "lab.db", tmp_path / "copy.db"
    assert _run("run", *inputs, "--journal", str(first)) == 0
    with closing(sqlite3.connect(first, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_no_update")
        connection.execute("UPDATE events SET chain = x'00' WHERE seq = 3")

    assert _run("backup", str(first), str(copy)) == 4
    assert "event 3 does not match its chain value" in capsys.readouterr().err
    assert not copy.exists()


_FOLLOWER = "import sys; from gpol.cli.main import run_command; sys.exit(run_command(sys.argv[1:]))"


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_follow(inputs: tuple[str, str], store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """log --follow prints what is there, at once, and then what is appended, filtered, up to its limit."""
    place: str = request.getfixturevalue("postgres_place") if store == "postgresql" else str(tmp_path / "lab.db")
    assert _run("run", *inputs, "--journal", place) == 0
    command = [
        sys.executable,
        "-c",
        _FOLLOWER,
        "log",
        place,
        "--follow",
        "--kind",
        "TimeAdvanced",
        "--kind",
        "WorkloadFinished",
        "--limit",
        "3",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower, Journal.open(place, readonly=False) as journal:
        assert follower.stdout is not None
        first = follower.stdout.readline()
        for time in (5_000_000, 6_000_000):
            journal.append([[TimeAdvanced(time=time)]])
        rest = follower.stdout.read().splitlines()

    assert first.split()[:3] == ["5", "1970-01-01T00:00:03Z", "WorkloadFinished"]
    assert [line.split() for line in rest] == [["6", "1970-01-01T00:00:05Z", "TimeAdvanced"], ["7", "1970-01-01T00:00:06Z", "TimeAdvanced"]]
    assert follower.returncode == 0


@pytest.mark.parametrize("option", [["--reverse"], ["--until", "5"], ["--cause", "1"]])
def test_follow_without_end(inputs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    """What has an end or goes backwards cannot be followed, and is refused by name."""
    place = str(tmp_path / "lab.db")
    assert _run("run", *inputs, "--journal", place) == 0

    assert _run("log", place, "--follow", *option) == 3
    assert f"and {option[0]} does not" in capsys.readouterr().err

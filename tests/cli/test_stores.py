"""Commands with journals in PostgreSQL, by URL: they do what they do with files, and show no password."""

import json
from pathlib import Path

import pytest
from gpol.cli.main import run_command
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

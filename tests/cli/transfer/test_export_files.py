"""export: a journal as JSON lines, as Parquet, and as the inputs of another run."""

import gzip
import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from gpol.adapters.export import parquet
from gpol.adapters.export.columns import COLUMNS
from gpol.adapters.export.parquet import NoParquetError
from gpol.journal.journal import Journal

Gpol = Callable[..., Any]


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def _files(folder: Path) -> list[str]:
    """What is in a folder, but for what SQLite keeps beside a journal while it is read."""
    return sorted(each.name for each in folder.iterdir() if not each.name.endswith(("-wal", "-shm", "-lock")))


def _spoil(journal: str, seq: int) -> None:
    """Make an event one that no program knows."""
    connection = sqlite3.connect(journal)
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute("UPDATE events SET payload = x'7b7d' WHERE seq = ?", (seq,))
    connection.commit()
    connection.close()


def test_lines_are_printed_or_written(gpol: Gpol, journal: str, lab: Path) -> None:
    """The same lines are printed, written, and packed; a packed file has the same bytes whenever it is written."""
    printed = gpol("export", "jsonl", journal)
    assert (printed.code, printed.err) == (0, "")
    assert gpol("export", "jsonl", journal, "-o", "-").out == printed.out
    for name in ("a.jsonl", "a.jsonl.gz", "b.jsonl.gz"):
        done = gpol("export", "jsonl", journal, "-o", name)
        assert (done.code, done.out) == (0, f"exported 12 events to {name}\n")

    assert [each["seq"] for each in _lines(printed.out)] == list(range(1, 13))
    assert (lab / "a.jsonl").read_text(encoding="utf-8") == printed.out
    packed = (lab / "a.jsonl.gz").read_bytes()
    assert gzip.decompress(packed).decode() == printed.out
    assert packed == (lab / "b.jsonl.gz").read_bytes()


def test_whose_and_where(gpol: Gpol, journal: str) -> None:
    """Events that name neither a queue nor a submission have both in their rows, also where earlier events were left out."""
    for filters in ((), ("--after", "9")):
        rows = {row["seq"]: row for row in _lines(gpol("export", "jsonl", journal, *filters).out)}
        assert (rows[10]["kind"], rows[10]["queue"], rows[10]["submission"]) == ("WorkloadFinished", "owner", 6)
        assert (rows[12]["queue"], rows[12]["submission"], rows[12]["submitted"]) == ("guest", 2, "2026-03-02T08:00:00Z")
    [advanced] = _lines(gpol("export", "jsonl", journal, "--kind", "TimeAdvanced").out)
    assert (advanced["queue"], advanced["submission"]) == (None, None)


@pytest.mark.parametrize(
    ("filters", "seqs"),
    [
        (("--workload", "o"), [6, 9, 10]),
        (("--queue", "owner", "--kind", "WorkloadAdmitted"), [9]),
        (("--cause", "7"), [8, 9]),
        (("--after", "10"), [11, 12]),
        (("--rule", "too-big"), [5]),
    ],
)
def test_filters(gpol: Gpol, journal: str, lab: Path, filters: tuple[str, ...], seqs: list[int]) -> None:
    """Both forms take the filters of log, and export the same rows."""
    assert [row["seq"] for row in _lines(gpol("export", "jsonl", journal, *filters).out)] == seqs
    assert gpol("export", "parquet", journal, *filters, "-o", "e.parquet").code == 0
    assert [seq for (seq,) in duckdb.sql(f"SELECT seq FROM '{lab / 'e.parquet'}' ORDER BY seq").fetchall()] == seqs


def test_the_chain_can_be_checked_from_the_file_alone(gpol: Gpol, journal: str, lab: Path) -> None:
    """Payloads and chain values of a Parquet file, read by DuckDB, make the head that verify prints."""
    gpol("export", "parquet", journal, "-o", "e.parquet")
    chain = bytes(32)
    rows = duckdb.sql(f"SELECT seq, payload, chain FROM '{lab / 'e.parquet'}' ORDER BY seq").fetchall()
    for number, (seq, payload, stored) in enumerate(rows, start=1):
        chain = hashlib.sha256(chain + payload.encode()).digest()
        assert (seq, stored) == (number, chain.hex())

    assert gpol("verify", journal).out == f"good: 12 events; head 12:{chain.hex()}\n"


def test_both_forms_say_the_same(gpol: Gpol, journal: str, lab: Path) -> None:
    """DuckDB reads the same values from JSON lines and from Parquet."""
    gpol("export", "parquet", journal, "-o", "e.parquet")
    gpol("export", "jsonl", journal, "-o", "e.jsonl")
    plain = [name for name, kind in COLUMNS.items() if kind in ("integer", "text", "boolean", "time")]
    chosen = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in plain if COLUMNS[name] != "time")
    times = "epoch_us(CAST(time AS TIMESTAMPTZ)), epoch_us(CAST(submitted AS TIMESTAMPTZ))"
    one, other = (
        duckdb.sql(f"SELECT {times}, {chosen} FROM {source} ORDER BY seq").fetchall()
        for source in (f"'{lab / 'e.parquet'}'", f"read_json('{lab / 'e.jsonl'}', sample_size=-1)")
    )

    assert len(one) == 12
    assert one == other


def test_gpu_hours_are_those_of_the_run(gpol: Gpol, lab: Path, root: Path) -> None:
    """The page's query for GPU-hours comes to what the simulation itself counted, with evictions and runs that begin anew."""
    simulated = gpol("simulate", "lab.gpol", "jobs.csv", "--journal", "new.db", "--format", "json").records
    gpol("export", "parquet", "new.db", "-o", "e.parquet")
    query = (root / "docs" / "export.md").read_text().split("```sql\n")[1].split("```")[0]
    found = duckdb.sql(query.replace("'lab.parquet'", f"'{lab / 'e.parquet'}'")).fetchall()

    assert dict(found) == {each["queue"]: round(each["gpu_hours"], 1) for each in simulated if each["kind"] == "queue"}
    assert dict(found) == {"guest": 17.3, "owner": 8.0}


def test_what_is_said_as_data(gpol: Gpol, journal: str) -> None:
    """In json one object says what was written where."""
    [lines] = gpol("export", "jsonl", journal, "-o", "e.jsonl", "--format", "json").records
    [columns] = gpol("export", "parquet", journal, "-o", "e.parquet", "--format", "json").records
    [inputs] = gpol("export", "facts", journal, "-o", "f.jsonl", "-p", "x.gpol", "--format", "json").records

    assert lines == {"v": 1, "kind": "export", "path": "e.jsonl", "events": 12}
    assert columns == {"v": 1, "kind": "export", "path": "e.parquet", "events": 12}
    note = "the policy was recorded as `lab.gpol`; a run of a file of another name ends in another chain"
    said = {"facts": 6, "policy": "x.gpol", "file": "lab.gpol", "notes": [note]}
    assert inputs == {"v": 1, "kind": "export", "path": "f.jsonl", **said}


@pytest.mark.parametrize("what", ["jsonl", "parquet", "facts"])
def test_a_file_holds_what_is_whole(gpol: Gpol, journal: str, lab: Path, what: str) -> None:
    """Where the journal can't be read on, exit code 4 names the event, and the file holds what comes before it."""
    _spoil(journal, 10)
    before = _files(lab)
    done = gpol("export", what, journal, "-o", "e.out")

    assert (done.code, done.out) == (4, "")
    assert "event 10 cannot be read" in done.err
    assert _files(lab) == sorted([*before, "e.out"])
    held = duckdb.read_parquet("e.out").project("seq").fetchall() if what == "parquet" else (lab / "e.out").read_text().splitlines()
    assert len(held) == {"jsonl": 9, "parquet": 9, "facts": 4}[what]  # event 1 is the policy, and 2, 4, 6 and 7 are facts


@pytest.mark.parametrize("what", ["jsonl", "parquet", "facts"])
@pytest.mark.parametrize(("out", "problem"), [("/dev/full", "No space left on device"), ("nowhere/e.out", "No such file or directory")])
def test_a_file_that_cannot_be_written(gpol: Gpol, journal: str, lab: Path, what: str, out: str, problem: str) -> None:
    """A full disk and a folder that is not there are told with the file's name, exit code 1, and nothing is left."""
    if out == "/dev/full" and not Path(out).exists():
        pytest.skip("this system has no /dev/full")
    before = _files(lab)
    done = gpol("export", what, journal, "-o", out)

    assert (done.code, done.out) == (1, "")
    assert f"`{out}` cannot be written: {problem}" in done.err
    assert _files(lab) == before


@pytest.mark.parametrize("arguments", [("export", "jsonl", "lab.db", "-o", "loop"), ("export", "facts", "lab.db", "-o", "f", "-p", "loop")])
def test_a_link_that_leads_in_a_circle_is_no_defect(gpol: Gpol, journal: str, lab: Path, arguments: tuple[str, ...]) -> None:
    """Nothing is there, so the new file takes the link's place."""
    (lab / "loop").symlink_to("loop")

    assert gpol(*arguments).code == 0
    assert not (lab / "loop").is_symlink()
    assert (lab / "loop").stat().st_size > 0


@pytest.mark.parametrize(
    ("failing", "step", "file"),
    [
        (1, "sync", "f.jsonl"),
        (2, "sync", "p.gpol"),
        (3, "rename", "f.jsonl"),
        (4, "sync", "f.jsonl"),  # of the folder, once the name is there
        (5, "rename", "p.gpol"),
        (6, "sync", "p.gpol"),
    ],
)
def test_facts_and_policy_are_both_there_or_neither(
    gpol: Gpol, journal: str, lab: Path, monkeypatch: pytest.MonkeyPatch, failing: int, step: str, file: str
) -> None:
    """Whichever of the two the disk does not take, be it at the last moment, neither is there; exit code 1 and the name of that one."""
    before, steps = _files(lab), []

    def failing_one(name: str, function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            steps.append(name)
            if len(steps) == failing:
                raise OSError(28, "No space left on device")
            function(*arguments)

        return call

    monkeypatch.setattr(os, "fsync", failing_one("sync", os.fsync))
    monkeypatch.setattr(os, "replace", failing_one("rename", os.replace))
    done = gpol("export", "facts", journal, "-o", "f.jsonl", "-p", "p.gpol")

    assert (done.code, len(steps), steps[-1]) == (1, failing, step)
    assert f"`{file}` cannot be written: No space left on device" in done.err
    assert _files(lab) == before


def test_a_pipe_is_written_to(gpol: Gpol, journal: str, lab: Path) -> None:
    """What is there and no plain file, such as a pipe, is written to as it is, and stays."""
    os.mkfifo(lab / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((lab / "pipe").read_text, encoding="utf-8")
        assert gpol("export", "jsonl", journal, "-o", "pipe").code == 0
        assert read.result(timeout=60) == gpol("export", "jsonl", journal).out
    assert (lab / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("jsonl", "lab.db", "-o", "lab.gpol"), "-o: `lab.gpol` is there already"),
        (("parquet", "lab.db", "-o", "lab.gpol"), "-o: `lab.gpol` is there already"),
        (("parquet", "lab.db", "-o", "-"), "-o: `-` is no name for a file; name one"),
        (("parquet", "lab.db"), "'-o'"),
        (("parquet", "lab.db", "-o", "."), "-o: `.` is a folder"),
        (("facts", "lab.db", "-o", "f.jsonl", "-p", "lab.gpol"), "-p: `lab.gpol` is there already"),
        (("facts", "lab.db", "-o", "f.x", "-p", "f.x"), "-o and -p name the same file"),
        (("facts", "lab.db", "-p", "-"), "-p: `-` is no name for a file; name one"),
        (("jsonl", "lab.db", "-o", "e.jsonl", "--kind", "Admitted"), "--kind: no event is a `Admitted`"),
        (("jsonl", "lab.db", "-o", "e.jsonl", "--cause", "8"), "--cause: event 8 is a decision"),
        (("jsonl", "no.db"), "no.db"),
    ],
)
def test_what_cannot_be_exported_is_told(gpol: Gpol, journal: str, lab: Path, arguments: tuple[str, ...], part: str) -> None:
    """Files that are there, names that are none and filters that can't be meant are told, exit code 3, and nothing is written."""
    before = _files(lab)
    done = gpol("export", *arguments)

    assert (done.code, done.out) == (3, "")
    assert part in done.err
    assert _files(lab) == before


def test_without_pyarrow(gpol: Gpol, journal: str, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyarrow is missing that is told, exit code 1, and nothing is written."""

    def missing() -> None:
        raise NoParquetError("pyarrow is not installed")

    monkeypatch.setattr(parquet, "_require_pyarrow", missing)
    before = _files(lab)
    done = gpol("export", "parquet", journal, "-o", "e.parquet")

    assert (done.code, done.err) == (1, "gpol: pyarrow is not installed\n")
    assert _files(lab) == before


CYCLES = """policy "cycles" {
  use kueue.fair
}

flavor f { gpu as owned }

cohort top {
  owns 4 gpu on f
  queue rich { serves gpu from f }
  queue poor {
    serves gpu from f
    reclaims from anyone
  }
}
"""


def _history_in_cycles(gpol: Gpol, lab: Path) -> str:
    (lab / "cycles.gpol").write_text(CYCLES)
    jobs = "".join(f"{name},2026-03-02T08:0{minute}:00Z,10m,{queue},2\n" for minute, name, queue in JOBS)
    (lab / "cycles.csv").write_text("workload,submitted,duration,queue,gpu\n" + jobs)
    assert gpol("simulate", "cycles.gpol", "cycles.csv", "--journal", "cycles.db").code == 0
    assert '"WorkloadEvicted"' in gpol("log", "cycles.db", "--format", "json").out
    return "cycles.db"


JOBS = [(0, "r1", "rich"), (0, "r2", "rich"), (3, "p1", "poor"), (3, "p2", "poor"), (7, "r3", "rich")]


@pytest.mark.parametrize("ways", ["at once", "in cycles"])
def test_the_same_history_again(gpol: Gpol, journal: str, lab: Path, ways: str) -> None:
    """A run of the exported policy and facts ends in the same chain value, with the moments at which time alone decided."""
    source = journal if ways == "at once" else _history_in_cycles(gpol, lab)
    policy = source.replace(".db", ".gpol")
    (lab / "again").mkdir()
    done = gpol("export", "facts", source, "-o", "facts.jsonl", "-p", f"again/{policy}")
    assert (done.code, done.err) == (0, "")
    assert (lab / "again" / policy).read_text() == (lab / policy).read_text()

    assert gpol("run", f"again/{policy}", "facts.jsonl", "--as-recorded", "--journal", "again.db").code == 0
    assert "TimeAdvanced" in (lab / "facts.jsonl").read_text()
    assert gpol("verify", "again.db").out == gpol("verify", source).out


def test_a_history_of_several_policies(gpol: Gpol, journal: str, lab: Path) -> None:
    """Of a journal in which the policy was changed the first policy is the file, and the second one a fact."""
    with Journal.open(journal) as kept:
        first = kept.at(1).event
    with Journal.create(lab / "two.db") as made:
        made.append([[first], [first]])
    (lab / "again").mkdir()
    done = gpol("export", "facts", "two.db", "-o", "f.jsonl", "-p", "again/lab.gpol")

    assert (done.code, done.err) == (0, "")
    assert gpol("run", "again/lab.gpol", "f.jsonl", "--as-recorded", "--journal", "again.db").code == 0
    assert gpol("verify", "again.db").out == gpol("verify", "two.db").out


def test_facts_are_printed(gpol: Gpol, journal: str) -> None:
    """Without -o the facts are printed, and what is to be noted stands on stderr."""
    done = gpol("export", "facts", journal, "-p", "other.gpol")

    assert [each["kind"] for each in _lines(done.out)] == [
        "WorkloadSubmitted", "WorkloadSubmitted", "WorkloadSubmitted", "TimeAdvanced", "WorkloadFinished", "WorkloadFinished",
    ]  # fmt: skip
    assert done.err.startswith("note: the policy was recorded as `lab.gpol`")

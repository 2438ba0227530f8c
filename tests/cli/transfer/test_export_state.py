"""export state: the cluster at a moment, printed, packed, or as a Parquet file."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.export import parquet
from gpol.adapters.export.parquet import NoParquetError
from gpol.adapters.export.state_rows import STATE_COLUMNS
from pyarrow.parquet import read_table

Gpol = Callable[..., Any]
TIMES = [name for name, kind in STATE_COLUMNS.items() if kind == "time"]


def test_a_state_is_printed_written_and_packed(gpol: Gpol, journal: str, lab: Path) -> None:
    """The same lines in each way; a line has the version and every column, with times in RFC 3339."""
    printed = gpol("export", "state", journal, "--at", "6")
    lines = [json.loads(line) for line in printed.out.splitlines()]
    for name in ("s.jsonl", "s.jsonl.gz"):
        assert gpol("export", "state", journal, "--at", "2026-03-02T08:05:00Z", "-o", name).out == f"exported 4 rows to {name}\n"

    assert (printed.code, printed.err) == (0, "")
    assert (lab / "s.jsonl").read_text() == gzip.decompress((lab / "s.jsonl.gz").read_bytes()).decode() == printed.out
    assert [(line["v"], line["seq"], line["record"], line["workload"]) for line in lines] == [
        (1, 6, "capacity", None),
        (1, 6, "running", "g"),
        (1, 6, "waiting", "o"),
        (1, 6, "reservation", "o"),
    ]
    assert [list(line) for line in lines] == 4 * [["v", *STATE_COLUMNS]]
    assert (lines[2]["submitted"], lines[3]["until"]) == ("2026-03-02T08:05:00Z", "2026-03-02T08:10:00Z")
    assert lines[0]["submitted"] is None


def test_both_forms_say_the_same(gpol: Gpol, journal: str) -> None:
    """A Parquet file, which says the version of its columns, holds the rows that are printed."""
    lines = [json.loads(line) for line in gpol("export", "state", journal, "--at", "6").out.splitlines()]
    done = gpol("export", "state", journal, "--at", "6", "-o", "s.parquet", "--format", "json")
    table = read_table("s.parquet")
    rows = table.to_pylist()

    assert done.records == [{"v": 1, "kind": "export", "path": "s.parquet", "rows": 4, "seq": 6, "time": 1_772_438_700_000_000}]
    assert [{name: row[name] for name in STATE_COLUMNS if name not in TIMES} for row in rows] == [
        {name: line[name] for name in STATE_COLUMNS if name not in TIMES} for line in lines
    ]
    assert [row["until"].isoformat() for row in rows if row["until"]] == ["2026-03-02T08:10:00+00:00"]
    assert table.schema.metadata[b"gpol.state_columns"] == b"1"


def test_without_snapshots_the_state_is_the_same(gpol: Gpol, journal: str) -> None:
    """The end of the journal, from its snapshot and from the events alone: all workloads are over, and capacity is left."""
    told, alone = gpol("export", "state", journal), gpol("export", "state", journal, "--no-snapshot")

    assert told == alone
    assert [json.loads(line)["record"] for line in told.out.splitlines()] == ["capacity"]


def test_before_any_policy(gpol: Gpol, lab: Path) -> None:
    """A journal that has no policy yet has no state, which is said."""
    from gpol.engine.facts import SimulationStarted
    from gpol.journal.journal import Journal

    with Journal.create("j.db") as journal:
        journal.append([[SimulationStarted(time=0, on_evict="restart", source="x", source_digest="sha256:" + 64 * "0")]])
    done = gpol("export", "state", "j.db")

    assert (done.code, done.out, done.err) == (0, "", "gpol: no policy was active yet at event 1, so there is no state\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--at", "13"), "--at: the journal has events 1 to 12, not 13"),
        (("--at", "yesterday"), "--at: "),
        (("-o", "lab.gpol"), "-o: `lab.gpol` is there already"),
        (("-o", ""), "the name is empty"),
    ],
)
def test_what_cannot_be_exported_is_told(gpol: Gpol, journal: str, arguments: tuple[str, ...], words: str) -> None:
    """A moment that the journal does not know, a file that is there already: exit code 3, and nothing is printed."""
    done = gpol("export", "state", journal, *arguments)

    assert (done.code, done.out) == (3, "")
    assert words in done.err


def test_parquet_needs_pyarrow(gpol: Gpol, journal: str, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow what is missing is named, exit code 1, and no file is left."""

    def missing() -> None:
        raise NoParquetError("pyarrow is not there")

    monkeypatch.setattr(parquet, "_require_pyarrow", missing)
    done = gpol("export", "state", journal, "-o", "s.parquet")

    assert (done.code, done.err) == (1, "gpol: pyarrow is not there\n")
    assert not (lab / "s.parquet").exists()

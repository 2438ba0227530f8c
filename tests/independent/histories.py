"""Journals to be checked, made by the commands of the project, and journals whose events were altered and whose chain was computed anew."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from form import Event
from stored_journal import START, link, stream_of

HERE = Path(__file__).resolve().parent
Alteration = Callable[[list[Event]], object]

TABLES = """
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
CREATE TABLE events (seq INTEGER NOT NULL, stream TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL, payload BLOB NOT NULL,
  chain BLOB NOT NULL, PRIMARY KEY (seq), UNIQUE (stream, version));
CREATE TABLE meta ("key" TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY ("key"));
INSERT INTO alembic_version VALUES ('1');
INSERT INTO meta VALUES ('format', 'gpol journal'), ('version', '1');
"""
"""Enough of the tables of the page for a journal to be read."""


def gpol(*arguments: object) -> str:
    """What a command of the project prints."""
    command = [sys.executable, "-c", "from gpol.cli.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def asked(journal: Path) -> tuple[int, str]:
    """The exit code of the checker, and what it says. It runs without the packages that are installed, so gpol is not there."""
    command = [sys.executable, "-S", "-E", str(HERE / "check_conservation.py"), str(journal)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def payload(event: Event) -> bytes:
    """An event in the one form."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


def stored_events(journal: Path) -> list[Event]:
    """The events of a journal. Decisions have their fact itself as `cause`, so that events may be put in and left out."""
    with closing(sqlite3.connect(journal)) as connection:
        events: list[Event] = [json.loads(row[0]) for row in connection.execute("SELECT payload FROM events ORDER BY seq")]
    for event in events:
        if "cause" in event:
            event["cause"] = events[event["cause"] - 1]
    return events


def payloads(events: list[Event]) -> list[bytes]:
    """Events in their form again: the number of a fact that is not there any more is 1."""
    numbers = {id(event): number for number, event in enumerate(events, start=1)}
    return [payload({**event, "cause": numbers.get(id(event["cause"]), 1)} if "cause" in event else event) for event in events]


def write_journal(path: Path, rows: Iterable[bytes]) -> Path:
    """A journal of these payloads, with a good chain."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
        chain = START
        for seq, each in enumerate(rows, start=1):
            chain = link(chain, each)
            event: dict[str, Any] = json.loads(each)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (seq, stream_of(event), seq, event["kind"], each, chain))
        connection.commit()
    return path


def kueue_history(root: Path, folder: Path, ends: int, comers: int) -> Path:
    """The example's cluster under Kueue: its dump is imported, then some who run end, and some come again with a higher priority."""
    dump = sorted((root / "examples" / "kueue" / "dump").glob("*.yaml"))
    policy, facts = folder / "kueue.gpol", folder / "kueue.jsonl"
    gpol("import", "kueue", *dump, "-o", policy, "--facts", facts)
    lines = [json.loads(line) for line in facts.read_text().splitlines()]
    time = max(line["time"] for line in lines)
    runs = [line["workload"] for line in lines if line["kind"] == "WorkloadAdopted" and not line["evicting"]]
    asks = [line for line in lines if line["kind"] == "WorkloadSubmitted" and not line.get("hold")]
    for number, name in enumerate(runs[:: len(runs) // ends], start=1):
        lines.append({"kind": "WorkloadFinished", "v": 1, "time": time + number * 60_000_000, "workload": name})
    time = lines[-1]["time"]
    for number, line in enumerate(asks[:comers], start=1):
        again = {name: value for name, value in line.items() if name not in ("created", "uid")}
        again |= {"workload": f"{line['workload']}-again", "time": time + number * 30_000_000, "priority": line["priority"] + 1000}
        lines.append(again)
    facts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    gpol("run", policy, facts, "--journal", folder / "kueue.db", "--skip-invalid")  # who was evicted meanwhile does not end
    return folder / "kueue.db"

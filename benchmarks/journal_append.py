"""How much the journal costs over SQLite itself: appends against `executemany` of the same rows, and reading, verifying, replaying.

Run `python benchmarks/journal_append.py [EVENTS] [FOLDER]`. Every round measures both sides anew on fresh files, in turns; a ratio
compares the two of one round, and the median of the rounds is what counts. Absolute times say more about the disk than about the
journal: a folder in memory (/dev/shm) leaves the processor's share.
"""

import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from gpol.engine.events import AnyEvent, Charge, PodSet, Why, WorkloadAdmitted, WorkloadFinished, WorkloadSubmitted
from gpol.journal.journal import Journal
from gpol.journal.records import START, link, stream_of
from gpol.journal.verify import verify

ROUNDS = 5
Batches = Sequence[Sequence[AnyEvent]]


def history(events: int) -> list[list[AnyEvent]]:
    """Batches of the usual kinds: submissions with their admissions, and finishes."""
    batches: list[list[AnyEvent]] = []
    seq, number, why = 0, 0, Why(reason="Admitted")
    while seq < events:
        name, gpus = f"job-{number:07d}", 1_000 * (1 + number % 8)
        usage = (Charge(flavor="h100", resource="gpu", amount=gpus),)
        submitted = WorkloadSubmitted(
            time=number, workload=name, queue=f"team-{number % 30}", user="ada", pod_sets=(PodSet(requests={"gpu": gpus}),)
        )
        admitted = WorkloadAdmitted(
            time=number, cause=seq + 1, workload=name, queue=f"team-{number % 30}", assignments=(), usage=usage, borrowed=(), why=why
        )
        batches += [[submitted, admitted], [WorkloadFinished(time=number, workload=name)]]
        seq, number = seq + 3, number + 1
    return batches


def transactions(batches: Batches, events: int) -> list[Batches]:
    """Batches grouped so that a transaction has about so many events."""
    groups: list[list[Sequence[AnyEvent]]] = [[]]
    size = 0
    for batch in batches:
        groups[-1].append(batch)
        size += len(batch)
        if size >= events:
            groups.append([])
            size = 0
    return [group for group in groups if group]


def raw_append(place: Path, groups: list[Batches]) -> float:
    """Seconds to insert the same rows with the sqlite3 module alone, into the same tables, rows made beforehand."""
    Journal.create(place).close()
    rows, seq, chain = [], 0, START.chain
    for group in groups:
        rows.append([])
        for event in (event for batch in group for event in batch):
            payload = event.payload()
            seq, chain = seq + 1, link(chain, payload)
            rows[-1].append((seq, stream_of(event), seq, event.kind, payload, chain))
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    begin = time.perf_counter()
    for part in rows:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", part)
        connection.execute("COMMIT")
    took = time.perf_counter() - begin
    connection.close()
    return took


def journal_append(place: Path, groups: list[Batches]) -> float:
    """Seconds to append: checks, encoding, chain, insert, commit."""
    with Journal.create(place) as journal:
        begin = time.perf_counter()
        for group in groups:
            journal.append(group)
        return time.perf_counter() - begin


def reading(place: Path) -> tuple[float, float]:
    """Seconds to read all events without and with parsing and checking them."""
    with Journal.open(place, readonly=True) as journal:
        begin = time.perf_counter()
        for _ in journal.events():
            pass
        read = time.perf_counter() - begin
        begin = time.perf_counter()
        assert verify(journal).good
        return read, time.perf_counter() - begin


def main() -> None:
    """Measure and print."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    batches = history(events)
    count = sum(map(len, batches))
    print(f"{count} events, {ROUNDS} rounds, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.machine()}")
    print("events a transaction | raw us/event | journal us/event | ratio (median, min-max)")
    for size in (1_000, 100, 10):
        groups = transactions(batches, size)
        figures = []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory(dir=folder) as name:
                raw, ours = raw_append(Path(name) / "raw.db", groups), journal_append(Path(name) / "journal.db", groups)
                figures.append((raw / count * 1e6, ours / count * 1e6, ours / raw))
        ratios = [ratio for _, _, ratio in figures]
        print(
            f"{size:20} | {median(raw for raw, _, _ in figures):12.1f} | {median(ours for _, ours, _ in figures):16.1f} |"
            f" {median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        )
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name) / "journal.db"
        journal_append(place, transactions(batches, 1_000))
        read, verified = reading(place)
        size = place.stat().st_size / count
    print(f"read {read / count * 1e6:.1f} us/event, verify {verified / count * 1e6:.1f} us/event, {size:.0f} bytes/event on disk")


if __name__ == "__main__":
    main()

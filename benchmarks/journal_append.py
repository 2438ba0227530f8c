"""How much the journal costs: appends to a file against the sqlite3 module alone, appends to PostgreSQL, reading and verifying.

Run `python benchmarks/journal_append.py [EVENTS] [FOLDER]`. Every round measures all sides anew on fresh journals, in turns; a ratio
compares two sides of one round, and the median of the rounds is what counts. Every commit waits for the disk, on every side; absolute times
of small transactions say more about the disk than about the journal: a folder in memory (/dev/shm) leaves the processor's share.

It ends with 1 where the journal misses its marks: single appends within 3 times the sqlite3 module, 40,000 events/s in thousands.
"""

import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from gpol.engine.event_parts import Charge, PodSet
from gpol.engine.events import AnyEvent, WorkloadAdmitted
from gpol.engine.facts import WorkloadFinished, WorkloadSubmitted
from gpol.engine.outcome.grounds import Why
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from gpol.journal.records import START, link, stream_of

ROUNDS = 5

EVENTS_A_SECOND = 40_000
"""What the journal has to take in transactions of a thousand events."""

SINGLE_RATIO = 3
"""How many times what the sqlite3 module takes for a transaction of one batch a journal may take."""

Batches = Sequence[Sequence[AnyEvent]]


def history(events: int) -> list[list[AnyEvent]]:
    """Batches of the usual kinds: submissions with their admissions, and finishes."""
    batches: list[list[AnyEvent]] = []
    seq, number = 0, 0
    while seq < events:
        name, gpus = f"job-{number:07d}", 1_000 * (1 + number % 8)
        usage = (Charge(flavor="h100", resource="gpu", amount=gpus),)
        submitted = WorkloadSubmitted(
            time=number, workload=name, queue=f"team-{number % 30}", user="ada", pod_sets=(PodSet(requests={"gpu": gpus}),)
        )
        admitted = WorkloadAdmitted(
            time=number,
            cause=seq + 1,
            workload=name,
            queue=submitted.queue,
            priority=0,
            reason="FitsOwned",
            assignments=(),
            usage=usage,
            borrowed=(),
            why=Why(),
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
    rows, seq, chain = list[list[tuple[int, str, int, str, bytes, bytes]]](), 0, START.chain
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


def journal_append(place: Path | str, groups: list[Batches]) -> float:
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


@contextmanager
def postgres() -> Iterator[str | None]:
    """The URL of a database on a server of our own, where PostgreSQL is installed, as for the tests; else None."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "stores"))
    import postgres_server

    programs = postgres_server.programs()
    if programs is None:
        yield None
        return
    with postgres_server.running(programs) as url:
        yield url


def rounds(groups: list[Batches], folder: str | None, url: str | None) -> list[tuple[float, float, float | None]]:
    """Seconds for the sqlite3 module, the journal in a file and the journal in PostgreSQL, round by round."""
    figures = []
    for number in range(ROUNDS):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            raw, ours = raw_append(Path(name) / "raw.db", groups), journal_append(Path(name) / "journal.db", groups)
        server = None if url is None else journal_append(f"{url}&journal=bench_{len(groups)}_{number}", groups)
        figures.append((raw, ours, server))
    return figures


def main() -> int:
    """Measure and print; 1 where a mark is missed."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    print(f"{events} events, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.machine()}")
    print("events a transaction | transactions | sqlite3 us/event | journal us/event    events/s | ratio (min-max)  | PostgreSQL us/event")
    marks = []
    with postgres() as url:
        for size in (1_000, 100, 10, 1):
            groups = transactions(history(events if size > 1 else events // 20), size)
            count = sum(len(batch) for group in groups for batch in group)
            figures = rounds(groups, folder, url)
            ratios = [ours / raw for raw, ours, _ in figures]
            ours = median(ours for _, ours, _ in figures)
            server = "" if url is None else f"{median(took for *_, took in figures if took is not None) / count * 1e6:10.1f}"
            print(
                f"{size:20} | {len(groups):12} | {median(raw for raw, *_ in figures) / count * 1e6:16.1f} |"
                f" {ours / count * 1e6:14.1f} {count / ours:11,.0f} | {median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) | {server}"
            )
            marks += [count / ours >= EVENTS_A_SECOND] if size == 1_000 else [median(ratios) <= SINGLE_RATIO] if size == 1 else []
        with tempfile.TemporaryDirectory(dir=folder) as name:
            place = Path(name) / "journal.db"
            journal_append(place, transactions(history(events), 1_000))
            read, verified = reading(place)
            on_disk = place.stat().st_size / events
        print(f"read {read / events * 1e6:.1f} us/event, verify {verified / events * 1e6:.1f} us/event, {on_disk:.0f} bytes/event on disk")
    print("all marks are met" if all(marks) else "a mark is missed")
    return 0 if all(marks) else 1


if __name__ == "__main__":
    sys.exit(main())

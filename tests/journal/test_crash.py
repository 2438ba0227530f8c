"""Crashes: what was acknowledged is there, what wasn't is there whole or not at all, wherever the writer stops."""

import functools
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.journal import sqlite
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.verify import verify

ROUNDS = 30

_DRIVER = """
import os, random, signal, sys, time
from gpol.engine.events import TimeAdvanced, Why, WorkloadRejected
from gpol.journal.journal import Journal
from gpol.journal.verify import verify

def batches(head, count):
    made = []
    for number in range(count):
        cause = head + 1 + sum(map(len, made))
        rejected = WorkloadRejected(time=cause, cause=cause, workload="w" * 300, why=Why(reason="Denied"))
        made.append([TimeAdvanced(time=cause), *[rejected] * (number % 4)])
    return made

def write(place, pipe):
    with Journal.open(place, readonly=False) as journal:
        while True:
            next = batches(journal.head.seq, random.randrange(1, 40))
            os.write(pipe, b"%d " % (journal.head.seq + sum(map(len, next))))
            journal.append(next)
            os.write(pipe, b"ok ")

place, rounds = sys.argv[1], int(sys.argv[2])
random.seed(3)
Journal.create(place).close()
before, killed_inside = 0, 0
for _ in range(rounds):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        random.seed(before)
        write(place, writing)
    os.close(writing)
    first = os.read(reading, 1 << 16)
    time.sleep(random.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = first
    while more := os.read(reading, 1 << 16):
        told += more
    os.close(reading)
    words = told.decode().split()
    tried = [int(word) for word in words if word != "ok"]
    acknowledged = tried[words.count("ok") - 1] if "ok" in words else before
    with Journal.open(place, readonly=False) as journal:
        assert journal.head.seq in (acknowledged, tried[-1]), (journal.head.seq, acknowledged, tried[-1])
        killed_inside += words[-1] != "ok"
        report = verify(journal)
        assert report.good and report.seq == journal.head.seq, report
        before = journal.head.seq
print(rounds, before > 40 * rounds, killed_inside > 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killed_writer(place: Path) -> None:
    """A writer killed at random instants, dozens of times: everything acknowledged is there, no part of a transaction, all verified."""
    result = subprocess.run(
        [sys.executable, "-c", _DRIVER, str(place), str(ROUNDS)], capture_output=True, text=True, check=False, timeout=120
    )

    assert result.stderr == ""
    assert result.stdout == f"{ROUNDS} True True\n"


def _failing_at(call: int) -> tuple[type[sqlite3.Connection], Callable[[], bool]]:
    """A connection class whose `call`-th statement or commit fails, counted over all its connections, and whether it did."""
    left = [call]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise sqlite3.OperationalError("the cable was pulled")

    class Cursor(sqlite3.Cursor):
        def execute(self, *args: object) -> sqlite3.Cursor:
            count()
            return super().execute(*args)  # type: ignore[arg-type]

        def executemany(self, *args: object) -> sqlite3.Cursor:
            count()
            return super().executemany(*args)  # type: ignore[arg-type]

    class Connection(sqlite3.Connection):
        def cursor(self, factory: type[sqlite3.Cursor] = Cursor) -> sqlite3.Cursor:
            return super().cursor(factory)

        def commit(self) -> None:
            count()
            super().commit()

    return Connection, lambda: left[0] <= 0


def test_every_failing_call(tmp_path: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever call to the database fails, it is a JournalError, the batches are in whole or not at all, and can be appended again."""
    batches = history(6)
    first = len(batches[0])
    total = sum(len(batch) for batch in batches)
    failed = 0
    for call in range(1, 100):
        place = tmp_path / f"{call}.db"
        with Journal.create(place) as journal:
            journal.append(batches[:1])
        failing, has_failed = _failing_at(call)
        with monkeypatch.context() as patch:
            patch.setattr(sqlite.sqlite3, "connect", functools.partial(sqlite3.connect, factory=failing))
            try:
                with Journal.open(place, readonly=False) as journal:
                    try:
                        journal.append(batches[1:])
                    except JournalError:
                        assert journal.head.seq == first
                        journal.append(batches[1:])
            except JournalError:
                pass
        with Journal.open(place, readonly=False) as journal:
            assert journal.head.seq in (first, total)
            assert verify(journal).good
        if not has_failed():
            break
        failed += 1

    assert 5 < failed < 99
    assert journal.head.seq == total

"""Tailing: readers that follow a writer miss no batch, get none in part and none out of order, whatever the store."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.journal.errors import DamagedError, JournalError
from gpol.journal.journal import Batch, Journal
from gpol.journal.read.event_selection import Selection, select

EVENTS = 3_000
"""So many are appended while readers tail."""

READERS = 3

_WRITER = """
import random, sys
from gpol.engine.outcome.grounds import Why
from gpol.engine.events import WorkloadRejected
from gpol.engine.facts import TimeAdvanced
from gpol.journal.journal import Journal

random.seed(7)
with Journal.open(sys.argv[1], readonly=False) as journal:
    while journal.head.seq < int(sys.argv[2]):
        batches, seq = [], journal.head.seq
        for _ in range(random.randrange(1, 30)):
            cause = seq + 1
            said = {"queue": None, "reason": "Denied", "why": Why()}
            decisions = [WorkloadRejected(time=cause, cause=cause, workload="w", **said)] * random.randrange(4)
            batches.append([TimeAdvanced(time=cause), *decisions])
            seq += 1 + len(decisions)
        journal.append(batches)
"""


def _times(count: int) -> tuple[Callable[[], bool], list[int]]:
    """A wait that says to look again so many times, and how often it was asked."""
    asked: list[int] = []

    def wait() -> bool:
        asked.append(1)
        return len(asked) <= count

    return wait, asked


def test_ends_when_told(journal: Journal, history) -> None:
    """What is there comes at once, from where it is asked for; then `wait` is asked, until it says no."""
    batches = history(4)
    journal.append(batches)
    wait, asked = _times(2)

    assert [batch.fact.seq for batch in journal.tail(1, wait)] == [2, 5, 8]
    assert len(asked) == 3


def test_new_batches_come(journal: Journal, place: Path, history) -> None:
    """What is appended while a reader waits comes when it looks again."""
    batches = history(4)
    with Journal.open(place) as reader:
        wait_for = iter(batches)

        def wait() -> bool:
            batch = next(wait_for, None)
            if batch is not None:
                journal.append([batch])
            return batch is not None

        tailed = list(reader.tail(0, wait))
    assert [[batch.fact.event, *(each.event for each in batch.decisions)] for batch in tailed] == batches


def test_many_readers_of_one_writer(place: Path) -> None:
    """Three readers that tail a writer process from the beginning to the end all get every batch, whole, in order."""
    Journal.create(place).close()
    seen: list[list[Batch]] = [[] for _ in range(READERS)]
    errors: list[BaseException] = []

    def read(batches: list[Batch]) -> None:
        try:
            with Journal.open(place) as reader:
                for batch in reader.tail(0, lambda: True):
                    batches.append(batch)
                    if reader.head.seq >= EVENTS and len(batch.decisions) + batch.fact.seq == reader.head.seq:
                        return
        except BaseException as error:  # to be shown where the test sees it
            errors.append(error)

    threads = [threading.Thread(target=read, args=(batches,)) for batches in seen]
    for thread in threads:
        thread.start()
    subprocess.run([sys.executable, "-c", _WRITER, str(place), str(EVENTS)], check=True, timeout=120)
    for thread in threads:
        thread.join(60)

    assert errors == []
    with Journal.open(place) as reader:
        written = list(reader.batches())
    assert len(written) > 1_000
    assert seen == [written] * READERS


def test_inside_a_batch(journal: Journal, history) -> None:
    """Reading on after an event that is not the last of its batch is refused, since half a batch would come."""
    journal.append(history(4))
    with pytest.raises(JournalError, match=r"event 2 .* is not the last one of its batch"):
        next(journal.tail(2))


def test_shorter_journal(journal: Journal, history) -> None:
    """A reader that comes with the number of an event that is not there is told: this is another journal, or its end is gone."""
    journal.append(history(4))
    with pytest.raises(DamagedError, match="ends at event 8, though there was an event 9") as caught:
        next(journal.tail(9))

    assert caught.value.seq == 9


def test_selected_events_come(journal: Journal, place: Path, history) -> None:
    """A selection is followed, too, and finds what all of the journal is looked through for."""
    journal.append(history(3))
    with Journal.open(place) as reader:

        def wait() -> bool:
            if journal.head.seq < 8:
                journal.append([history(4)[3]])
                return True
            return False

        found = [
            each for after, upto in reader.growth(0, wait) for each in select(reader, Selection(workload="w2", after=after, upto=upto))
        ]
    assert [each.event.kind for each in found] == ["WorkloadSubmitted", "WorkloadAdmitted", "WorkloadFinished"]

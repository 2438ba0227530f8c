"""Whichever call to the database fails: what was acknowledged is there, nothing else is there in part, and the error says what to do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from calls import EVERY, MOST_CALLS, Failing, Faults, Moment, failing_psycopg, failing_sqlite
from facts import Cluster
from gpol.engine.events import AnyEvent
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal

Batches = list[list[AnyEvent]]


@dataclass
class Life:
    """What a program does with a journal, and what it was told: makes it, appends, reads, opens it again, goes on."""

    place: str
    parts: list[Batches]
    created: bool = False
    acknowledged: int = 0
    errors: list[JournalError] = field(default_factory=list)

    def live(self) -> None:
        """Go through it; after an error go on as a careful program would: look where the journal ends, and append what is not in it."""
        try:
            with Journal.create(self.place) as journal:
                self.created = True
                self._append(journal, 2)
        except JournalError as error:
            self._note(error)
        for parts in (3, 4):
            try:
                with Journal.open(self.place) as journal:
                    for _ in journal.batches():
                        pass
                with Journal.open(self.place, readonly=False) as journal:
                    self._append(journal, parts)
            except JournalError as error:
                self._note(error)

    def _append(self, journal: Journal, parts: int) -> None:
        seq = 0
        for part in self.parts[:parts]:
            seq += sum(map(len, part))
            if seq <= journal.head.seq:
                continue
            self.acknowledged = max(self.acknowledged, journal.append(part).seq)
            assert self.acknowledged == seq

    def _note(self, error: JournalError) -> None:
        self.errors.append(error)


@pytest.fixture(scope="module")
def parts() -> list[Batches]:
    """Four transactions of a few batches each."""
    cluster = Cluster(Random(9))
    return [cluster.batches(count) for count in (1, 6, 2, 5)]


def _look(life: Life) -> int:
    """Whether the promise was kept. Returns the number of the last event that is there."""
    if not (life.created or _is_there(life.place)):
        return 0
    with Journal.open(life.place, readonly=False) as journal:
        ends = [0]
        for part in life.parts:
            ends.append(ends[-1] + sum(map(len, part)))
        assert journal.head.seq in ends, "half a transaction"
        assert journal.head.seq >= life.acknowledged, "an acknowledged fact is lost"
        written = [event.payload() for part in life.parts for batch in part for event in batch]
        assert [recorded.payload for recorded in journal.events()] == written[: journal.head.seq]
        assert verify(journal).good
        assert replay(journal).same
        return journal.head.seq


def _is_there(place: str) -> bool:
    """Whether a journal is there, though whoever made it was told that this failed."""
    try:
        Journal.open(place).close()
    except JournalError:
        return False
    return True


def sweep(failing: Failing, moment: Moment, parts: list[Batches], place_of: Callable[[int], str], step: int = 1) -> list[str]:
    """Let every call of a life fail in turn, or every `step`th, until none does; the names of the calls that failed."""
    failed = []
    for number in range(1, MOST_CALLS, step):
        faults, life = Faults(number, moment), Life(place_of(number), parts)
        with failing(faults):
            life.live()
        head = _look(life)
        if not faults.happened:
            assert head == sum(len(batch) for part in parts for batch in part)
            assert not life.errors
            return failed
        failed.append(faults.calls[number - 1])
        for error in life.errors:
            assert error.message
            assert error.remedy
    raise AssertionError(f"after {MOST_CALLS} calls there is no end")


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_call_to_sqlite(moment: Moment, parts: list[Batches], tmp_path: Path) -> None:
    """SQLite: the promise is kept whichever call fails, whether it was carried out or not."""
    failed = sweep(failing_sqlite, moment, parts, lambda number: str(tmp_path / f"{number}.db"), 1 if EVERY else 3)

    assert failed.count("commit") >= (3 if EVERY else 1)
    assert len(failed) > 40


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_call_to_postgres(moment: Moment, parts: list[Batches], postgres: str) -> None:
    """PostgreSQL: the same; whatever call fails has lost its connection, and nobody knows whether the server carried it out."""
    failed = sweep(failing_psycopg, moment, parts, lambda number: f"{postgres}&journal=calls_{moment}_{number}", 1 if EVERY else 7)

    assert len(failed) > (300 if EVERY else 40)
    assert not EVERY or failed.count("commit") >= 3

"""An upgrade that fails, or dies, at any call to the database: the journal has the old tables or the new ones, and every event.

The upgrade is to a version of the tables that only these tests have (`raw_tables.LATER`).
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from calls import EVERY, MOST_CALLS, Failing, Faults, Moment, failing_psycopg, failing_sqlite
from facts import Cluster
from gpol.journal.audit.verify import verify
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.store import schema
from gpol.journal.store.tables import REVISIONS
from raw_tables import LATER, later_program, made_of, rows, write_later_revision

Place = Path | str
BATCHES = Cluster(Random(8)).batches(6)
EVENTS = [event for batch in BATCHES for event in batch]


@pytest.fixture(autouse=True)
def later(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A later version of gpol, which has to upgrade the journals that `make_old_journal` makes."""
    with later_program(write_later_revision(tmp_path_factory.mktemp("later"))):
        yield


def make_old_journal(place: Place) -> None:
    """Make a journal with the tables of today."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "REVISIONS", REVISIONS)
        with Journal.create(place) as journal:
            journal.append(BATCHES)


def upgrade(place: Place, failing: Failing, faults: Faults) -> bool:
    """Open a journal to append. That fails for nothing but the fault, and else has upgraded it. Returns whether the fault came."""
    told = None
    try:
        with failing(faults):
            Journal.open(place, readonly=False).close()
    except JournalError as error:
        told = error
    if told is None:
        assert rows(place)["alembic_version"] == [(LATER,)]
    else:
        assert faults.happened, told
        assert told.remedy
    return faults.happened


def upgrade_and_die(place: Place, failing: Failing, faults: Faults) -> bool:
    """The same in a process of its own, which dies of the fault."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            upgrade(place, failing, faults)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


def sweep(failing: Failing, moment: Moment, deadly: bool, place_of: Callable[[int], Place], step: int = 1) -> list[str]:
    """Let every call of an upgrade be the fault in turn, or every `step`th, until none is; the tables that were left: `old` or `new`."""
    for number in (0, 1):
        make_old_journal(place_of(number))
    Journal.open(place_of(0), readonly=False).close()
    known = {"old": made_of(place_of(1)), "new": made_of(place_of(0))}
    place, left = place_of(1), []
    for number in range(1, MOST_CALLS, step):
        if left and left[-1] == "new":
            place = place_of(number)
            make_old_journal(place)
        fault_came = (upgrade_and_die if deadly else upgrade)(place, failing, Faults(number, moment, deadly))
        left.append(look(place, known))
        if not fault_came:
            assert left[-1] == "new"
            return left
    raise AssertionError(f"after {MOST_CALLS} calls there is no end")


def look(place: Place, known: dict[str, dict[str, str]]) -> str:
    """Which tables a journal has, and that all is as it should be with these."""
    found, kept = made_of(place), rows(place)
    assert found in known.values(), "the tables are half old and half new"
    tables = "old" if found == known["old"] else "new"
    assert [row[-2] for row in kept["events"]] == [event.payload() for event in EVENTS]
    assert kept.get("alembic_version") == {"old": [(REVISIONS[-1],)], "new": [(LATER,)]}[tables]
    with Journal.open(place) as journal:
        assert (verify(journal).good, verify(journal).seq) == (True, len(EVENTS))
    return tables


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.mark.slow
@pytest.mark.parametrize("deadly", [False, pytest.param(True, marks=needs_fork)])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_call_to_sqlite(tmp_path: Path, moment: Moment, deadly: bool) -> None:
    """SQLite: whichever call fails, or is the last of a process, an old journal is an old one or a new one, and opens again."""
    left = sweep(failing_sqlite, moment, deadly, lambda number: tmp_path / f"{number}.db")

    assert left.count("old") > 20
    assert left.count("new") > 1, "a fault comes after the commit, too"


@pytest.mark.slow
@pytest.mark.parametrize("deadly", [False, pytest.param(True, marks=needs_fork)])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_call_to_postgres(postgres: str, moment: Moment, deadly: bool) -> None:
    """PostgreSQL: the same."""
    place = f"{postgres}&journal=upgrade_{moment}_{'dies' if deadly else 'fails'}"
    left = sweep(failing_psycopg, moment, deadly, lambda number: f"{place}_{number}", 1 if EVERY else 7)

    assert left.count("old") > (90 if EVERY else 12)
    assert not EVERY or left.count("new") > 1

"""Backups: from any store to any store, of a journal in use, with the same events and the same chain, or not at all."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gpol.journal import backup as backup_module
from gpol.journal.audit.verify import verify
from gpol.journal.backup import backup
from gpol.journal.errors import DamagedError, JournalError, TakenError, UnavailableError
from gpol.journal.journal import Journal
from gpol.journal.store.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def destination(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a copy is to be, in each store."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_place")
        return url + "copy"
    return tmp_path / "copies" / "copy.db"


@pytest.fixture(autouse=True)
def copies(tmp_path: Path) -> Path:
    """The folder of copies, which has nothing else in it."""
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder


def _contents(place: Path | str) -> list[tuple[int, bytes, bytes]]:
    with Journal.open(place) as journal:
        assert verify(journal).good
        return [(each.seq, each.payload, each.chain) for each in journal.events()]


def _is_there(place: Path | str) -> bool:
    try:
        Journal.open(place).close()
    except JournalError as error:
        assert "there is no journal at" in error.message  # noqa: PT017
        return False
    return True


def test_copy_and_copy_back(place: Path, journal: Journal, destination: Path, copies: Path, history) -> None:
    """A copy of an open journal has its events, bytes and chain; so has a copy of the copy, which takes more events."""
    journal.append(history(40))
    head = backup(place, destination)
    assert head == journal.head
    assert {file.name for file in copies.iterdir()} <= {"copy.db"}
    assert _contents(destination) == _contents(place)

    restored = copies / "restored.db"
    assert backup(destination, restored) == head
    with Journal.open(restored, readonly=False) as again:
        again.append(history(2, start=head.seq + 1)[:1])
        assert verify(again).seq == head.seq + 1
    assert _contents(restored)[: head.seq] == _contents(place)


def test_empty_journal(place: Path, journal: Journal, destination: Path) -> None:
    """A journal without events is copied as one without events."""
    assert backup(place, destination).seq == 0
    assert _contents(destination) == []


def test_progress(place: Path, journal: Journal, destination: Path, history) -> None:
    """Progress never falls, and ends at twice the number of events: all copied, all verified."""
    journal.append(history(40))
    told: list[int] = []
    backup(place, destination, told.append)

    assert told == sorted(told)
    assert told[-1] == 2 * journal.head.seq


def test_nothing_is_replaced(place: Path, journal: Journal, destination: Path, history) -> None:
    """What is at the destination stays as it is, also where it came there while the copy was made."""
    journal.append(history(4))
    with Journal.create(destination) as there:
        there.append(history(1))
    with pytest.raises(TakenError, match="is already there"):
        backup(place, destination)

    assert len(_contents(destination)) == 1


def test_what_comes_in_between_stays(place: Path, journal: Journal, destination: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made at the destination while the copy was made is not replaced either."""
    journal.append(history(4))

    def verify_late(*args: object) -> object:
        Journal.create(destination).close()
        return verify(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(backup_module, "verify", verify_late)
    with pytest.raises(TakenError, match="is already there"):
        backup(place, destination)

    assert _contents(destination) == []


def test_a_damaged_journal_has_no_copy(place: Path, journal: Journal, destination: Path, copies: Path, history, hood) -> None:
    """A journal that does not verify is not copied, whatever is wrong with it: the error says where, and nothing is left behind."""
    journal.append(history(20))
    hood("UPDATE events SET payload = ? WHERE seq = 16", b"{}")
    with pytest.raises(DamagedError, match=r"an event from 1 to .* was altered|does not verify, so there is none: event 16") as caught:
        backup(place, destination)

    assert caught.value.seq in (16, None)
    assert not _is_there(destination)
    assert list(copies.iterdir()) == []


def test_altered_columns_have_no_copy(place: Path, journal: Journal, destination: Path, history, hood) -> None:
    """What the chain does not cover is verified, too."""
    journal.append(history(20))
    hood("UPDATE events SET kind = 'WorkloadFinished' WHERE seq = 16")
    with pytest.raises(DamagedError, match="column `kind` of event 16") as caught:
        backup(place, destination)

    assert caught.value.seq == 16
    assert not _is_there(destination)


def test_missing_event_has_no_copy(place: Path, journal: Journal, destination: Path, history, hood) -> None:
    """A gap is found on the way."""
    journal.append(history(20))
    hood("DELETE FROM events WHERE seq = 16")
    with pytest.raises(DamagedError, match="event 16 is missing"):
        backup(place, destination)

    assert not _is_there(destination)


@pytest.mark.sqlite
def test_no_folder(place: Path, journal: Journal, copies: Path) -> None:
    """A destination that cannot be is refused before anything is copied."""
    with pytest.raises(JournalError, match="there is no such folder"):
        backup(place, copies / "missing" / "copy.db")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        backup(place, "postgresql://127.0.0.1:1/db")


@pytest.mark.sqlite
def test_no_links(place: Path, journal: Journal, copies: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without links the copy gets its name by a rename, and still replaces nothing that is there."""
    journal.append(history(4))

    def no_link(_old: object, _new: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr("gpol.journal.store.sqlite.os.link", no_link)
    backup(place, copies / "copy.db")
    assert _contents(copies / "copy.db") == _contents(place)
    with pytest.raises(TakenError):
        backup(place, copies / "copy.db")


@pytest.mark.sqlite
def test_copy_is_synced(place: Path, journal: Journal, copies: Path, history, watch) -> None:
    """A copy is on the disk before it gets its name, and its name before the backup is said to be made."""
    journal.append(history(4))
    told = watch("link")
    backup(place, copies / "copy.db")

    assert told == ["file", "name", "folder"]


def test_a_copy_of_less_is_none(place: Path, journal: Journal, destination: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that lacks the end that the journal had in the beginning is no copy, though it verifies."""
    batches = history(4)
    journal.append(batches)

    def copy_less(_source: object, _journal: object, draft: Store, *_: object) -> None:
        draft.create()
        with Journal(draft, readonly=False) as copy:
            copy.append(batches[:2])

    monkeypatch.setattr(backup_module, "_copy", copy_less)
    with pytest.raises(DamagedError, match="does not verify, so there is none"):
        backup(place, destination)

    assert not _is_there(destination)


@pytest.mark.sqlite
def test_writers_do_not_hold_it_up(place: Path, journal: Journal, copies: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a file is that of one moment, and is not begun anew whenever somebody appends meanwhile."""
    monkeypatch.setattr("gpol.journal.store.sqlite._COPIED_PAGES", 1)
    batches = history(60)
    journal.append(batches[:20])
    head, more, told = journal.head, iter(batches[20:]), []

    def append_one(seq: int) -> None:
        told.append(seq)
        journal.append([batch for batch in [next(more, None)] if batch is not None])

    assert backup(place, copies / "copy.db", append_one) == head
    assert journal.head.seq > head.seq
    assert told == sorted(told)


@pytest.mark.sqlite
def test_long_names(place: Path, journal: Journal, copies: Path, history) -> None:
    """A name as long as a journal's may be, also in characters of four bytes, is no hindrance, and the copy can be appended to."""
    journal.append(history(4))
    for name in ("\U00010348" * 60, "x" * 242):
        assert backup(place, copies / name) == journal.head
        Journal.open(copies / name, readonly=False).close()


_KILLED = """
import os, sys
from gpol.engine.facts import TimeAdvanced
from gpol.journal.journal import Journal
journal = Journal.create(sys.argv[1])
journal.append([[TimeAdvanced(time=1)]] * 100)
os._exit(9)
"""


@pytest.mark.sqlite
@pytest.mark.parametrize("make", ["restore", "create"])
def test_a_log_of_another_journal(place: Path, journal: Journal, copies: Path, history, make: str) -> None:
    """Where a killed writer's file was taken away and its log was not, nothing is put beside that: SQLite would mix the two."""
    journal.append(history(4))
    killed = copies / "killed.db"
    subprocess.run([sys.executable, "-c", _KILLED, str(killed)], check=False)
    killed.unlink()
    log = killed.with_name("killed.db-wal").read_bytes()
    with pytest.raises(TakenError, match=r"killed.db-wal` is left of another journal .*, and may hold its last events") as caught:
        backup(place, killed) if make == "restore" else Journal.create(killed)

    assert "put it back beside that journal" in caught.value.remedy
    assert not killed.exists()
    assert killed.with_name("killed.db-wal").read_bytes() == log


@pytest.mark.sqlite
def test_a_log_that_comes_meanwhile(place: Path, journal: Journal, copies: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that comes to lie there while the copy is made stops it, too."""
    journal.append(history(4))

    def verify_late(*args: object) -> object:
        (copies / "copy.db-wal").write_bytes(b"log")
        return verify(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(backup_module, "verify", verify_late)
    with pytest.raises(TakenError, match="is left of another journal"):
        backup(place, copies / "copy.db")

    assert [file.name for file in copies.iterdir()] == ["copy.db-wal"]


_WRITER = """
import sys
from gpol.engine.facts import TimeAdvanced
from gpol.journal.journal import Journal
with Journal.open(sys.argv[1], readonly=False) as journal:
    print("open", flush=True)
    while True:
        journal.append([[TimeAdvanced(time=journal.head.seq)] for _ in range(50)])
"""


def test_journal_in_use(place: Path, journal: Journal, destination: Path, history) -> None:
    """While another process goes on appending, the copy is a beginning of the journal, and has all that was there when it was begun."""
    journal.append([[event.model_copy(update={"time": 0}) for event in batch] for batch in history(1)] * 300)
    before = journal.head.seq
    journal.close()
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(place)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        try:
            head = backup(place, destination)
            more = _growing(place, head.seq)
        finally:
            writer.kill()
    copied = _contents(destination)

    assert more
    assert len(copied) == head.seq >= before
    assert copied == _contents(place)[: head.seq]


def _growing(place: Path | str, seq: int) -> bool:
    """Whether the journal goes on behind an event, now or soon."""
    with Journal.open(place) as reader:
        return next(iter(reader.growth(seq)))[1] > seq


_COPIER = """
import os, sys
from gpol.journal import backup as module
step = module.{step}
def killed(*args, **kwargs):
    {before}
    os._exit(9)
module.{step} = killed
module.backup(sys.argv[1], sys.argv[2])
"""


@pytest.mark.parametrize("step", ["_copy", "_verified"])
@pytest.mark.parametrize("before", ["pass", "step(*args, **kwargs)"])
def test_killed_copy(place: Path, journal: Journal, destination: Path, history, step: str, before: str) -> None:
    """A copy that is killed before it is put in place leaves nothing under the name, and can be made again."""
    journal.append(history(4))
    code = _COPIER.format(step=step, before=before)
    ended = subprocess.run([sys.executable, "-c", code, str(place), str(destination)], check=False, env={**os.environ})
    assert ended.returncode == 9
    assert not _is_there(destination)

    backup(place, destination)
    assert _contents(destination) == _contents(place)


def test_writer_needs_the_right(place: Path, journal: Journal, destination: Path, history: Callable) -> None:
    """Making a backup takes no right to append away from who has it."""
    backup(place, destination)
    journal.append(history(1))

    assert journal.head.seq == 1


@pytest.mark.sqlite
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_a_copy_is_as_private_as_its_journal(place: Path, journal: Journal, copies: Path, history) -> None:
    """Who may not read a journal's file may not read its copy, whatever rights new files get."""
    journal.append(history(3))
    place.chmod(0o600)
    backup(place, copies / "copy.db")

    assert (copies / "copy.db").stat().st_mode & 0o777 == 0o600
    assert {file.name for file in copies.iterdir()} == {"copy.db"}

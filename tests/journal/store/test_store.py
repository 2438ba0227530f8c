"""Where journals live: what is accepted as one, and what is refused, by name and with a remedy."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from gpol.journal.audit.fsck import fsck
from gpol.journal.errors import DamagedError, JournalError
from gpol.journal.journal import Journal
from gpol.journal.store.location import locate
from gpol.journal.store.sqlite import SqliteStore

pytestmark = pytest.mark.sqlite


def _refused(place: object, words: str, **options: bool) -> JournalError:
    with pytest.raises(JournalError, match=words) as caught:
        Journal.open(place, **{"readonly": False, **options})  # type: ignore[arg-type]
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("text", "path"),
    [("j.db", "j.db"), ("sqlite:///j.db", "j.db"), ("sqlite:////var/j.db", "/var/j.db"), ("sqlite+pysqlite:///a b.db", "a b.db")],
)
def test_places(text: str, path: str) -> None:
    """A path or a sqlite URL names a file."""
    store = locate(text)
    assert isinstance(store, SqliteStore)
    assert store.path == Path(path)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://me:secret@host/db", "`mysql` are not supported"),
        ("https://example.org/j.db", "`https` are not supported"),
        ("sqlite://", "not in memory"),
        ("sqlite:///:memory:", "not in memory"),
        ("sqlite:///j.db?mode=memory", "names a file and nothing else"),
        ("sqlite+aiosqlite:///j.db", "names a file and nothing else"),
        ("sqlite://host/j.db", "names a file and nothing else"),
        ("x y://j", "not a database URL"),
    ],
)
def test_other_urls_are_refused(url: str, words: str) -> None:
    """Any other URL is refused by the name of its scheme, and a password in it is not repeated."""
    error = _refused(url, words)

    assert "secret" not in str(error)


@pytest.mark.parametrize("readonly", [True, False])
def test_no_journal(place: Path, readonly: bool) -> None:
    """Opening creates nothing: a missing file, an empty one, a folder and a text are each refused and left as they were."""
    _refused(place, "no journal at", readonly=readonly)
    assert not place.exists()

    place.write_bytes(b"")
    _refused(place, "empty file", readonly=readonly)
    assert place.read_bytes() == b""

    _refused(place.parent, "is a folder", readonly=readonly)

    place.write_bytes(b"policy {}\n" * 500)
    _refused(place, "not a SQLite file", readonly=readonly)
    assert place.read_bytes() == b"policy {}\n" * 500
    assert [file.name for file in place.parent.iterdir()] == [place.name]


def _database(place: Path, *statements: str) -> bytes:
    connection = sqlite3.connect(place)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return place.read_bytes()


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE events (seq INTEGER PRIMARY KEY)"],
        ["CREATE TABLE events (seq INTEGER PRIMARY KEY)", "CREATE TABLE meta (key TEXT, value TEXT)"],
        [
            "CREATE VIEW events AS SELECT 1",
            "CREATE TABLE meta (key TEXT, value TEXT)",
            "INSERT INTO meta VALUES ('format', 'gpol journal')",
        ],
        [
            "CREATE TABLE events (seq INTEGER PRIMARY KEY)",
            "CREATE TABLE meta (key TEXT, value TEXT)",
            "INSERT INTO meta VALUES ('format', 'gpol journal'), ('version', 'new')",
        ],
    ],
)
def test_foreign_databases(place: Path, statements: list[str]) -> None:
    """A SQLite file that is no journal is refused and not touched."""
    before = _database(place, *statements)
    _refused(place, "a SQLite file, but not a journal")

    assert place.read_bytes() == before


def test_later_format(journal: Journal, place: Path) -> None:
    """A journal of a later format is refused with both formats named."""
    journal.close()
    _database(place, "UPDATE meta SET value = '2' WHERE key = 'version'")

    error = _refused(place, "of journal format 2; this program knows format 1")
    assert error.remedy == "install a newer gpol"


def test_create_refuses_what_is_there(place: Path) -> None:
    """Creating never replaces anything, and leaves nothing where it can't create."""
    place.write_bytes(b"mine")
    with pytest.raises(JournalError, match="already there"):
        Journal.create(place)
    assert place.read_bytes() == b"mine"

    with pytest.raises(JournalError, match="cannot be created: there is no such folder"):
        Journal.create(place.parent / "missing" / "j.db")


@pytest.mark.parametrize("letter", ["x", "ü"])
def test_a_name_leaves_room_for_those_beside_it(tmp_path: Path, letter: str) -> None:
    """SQLite and the lock keep files beside a journal, with names of up to 13 bytes more; file systems allow 255."""
    longest = letter * (242 // len(letter.encode()))
    Journal.create(tmp_path / longest).close()
    with Journal.open(tmp_path / longest, readonly=False) as journal:
        assert journal.head.seq == 0
    before = sorted(tmp_path.iterdir())
    for more in (1, 13, 100):
        with pytest.raises(JournalError, match="its name has more than 242 bytes") as refused:
            Journal.create(tmp_path / (longest + letter * more))
        assert refused.value.remedy == "choose a shorter name"
    assert sorted(tmp_path.iterdir()) == before


def test_the_name_of_standard_input_is_none_of_a_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` is refused, as it is for other files; a path says that the file is meant."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JournalError, match="`-` is no name for one"):
        Journal.create("-")
    Journal.create("./-").close()
    assert (tmp_path / "-").is_file()


_KILLED = """import os, sys, sqlalchemy
from pathlib import Path
from gpol.journal.journal import Journal
sqlalchemy.engine.Engine.dispose = lambda *a, **k: os.kill(os.getpid(), 9)
Journal.create(Path(sys.argv[1]))
"""


def test_a_killed_creation_leaves_no_half_journal(place: Path) -> None:
    """Killed once the tables are made: nothing has the name yet, and the next one is made as ever. `fsck` tells what is left."""
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(place)], check=False)
    assert (killed.returncode, place.exists()) == (-9, False)
    Journal.create(place).close()
    with Journal.open(place) as journal:
        assert [finding.kind for finding in fsck(journal).findings] == ["leftover"]


@pytest.mark.parametrize("name", ["with space.db", "100%25 #1?.db", "größe.db", "'quoted'.db"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    """Characters that mean something in a URL mean nothing in a path."""
    Journal.create(tmp_path / name).close()

    with Journal.open(tmp_path / name, readonly=False) as journal:
        assert journal.head.seq == 0
    assert {file.name for file in tmp_path.iterdir()} == {name, f"{name}-lock"}


def test_written_pages_are_synced(journal: Journal) -> None:
    """The writer's connection is in WAL mode and waits for the disk at every commit (2 is FULL)."""
    with journal._recorder._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_rows_cannot_be_changed_in_passing(journal: Journal, place: Path, samples: list) -> None:
    """An UPDATE or DELETE is stopped by a trigger."""
    journal.append([[samples[0]]])
    journal.close()
    connection = sqlite3.connect(place)
    for statement in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="only appended to"):
            connection.execute(statement)
    connection.close()


def test_second_writer_is_refused(journal: Journal, place: Path) -> None:
    """While one journal is open to append, no other one opens to append, under whatever name; readers do."""
    link = place.with_name("link.db")
    link.symlink_to(place)
    for name in (place, link):
        _refused(name, "open for writing elsewhere")
    Journal.open(place, readonly=True).close()

    journal.close()
    Journal.open(place, readonly=False).close()


def test_past_the_lock(journal: Journal, place: Path, history) -> None:
    """Where somebody got past the lock, an append waits until they are done, and is then refused; nothing is mixed."""
    batches = history(3)
    journal.append(batches[:1])
    refused: list[JournalError] = []

    def append() -> None:
        with pytest.raises(JournalError) as caught:
            journal.append(batches[1:])
        refused.append(caught.value)

    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO events VALUES (2, 'time', 2, 'TimeAdvanced', x'', zeroblob(32))")
        thread = threading.Thread(target=append)
        thread.start()
        thread.join(0.3)
        other.execute("COMMIT")
        thread.join()

    assert "ends at event 2, not as expected at 1; nothing was appended" in refused[0].message


def test_broken_header(journal: Journal, place: Path, history) -> None:
    """A file that begins like a journal and is damaged in its first pages gives a DamagedError or is no journal, not a traceback."""
    journal.append(history(20))
    journal.close()
    data = bytearray(place.read_bytes())
    data[100:2000] = bytes(1900)
    place.write_bytes(data)

    with pytest.raises((DamagedError, JournalError)):
        Journal.open(place, readonly=False)


_READER = """
import os, sys
from gpol.journal.journal import Journal
from gpol.journal.audit.verify import verify
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Journal.open(sys.argv[1], readonly=True) as journal:
    print(verify(journal).seq)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.usefixtures("another_user")
def test_read_only_medium(tmp_path_factory: pytest.TempPathFactory, history) -> None:
    """A journal in a folder where nothing can be written can be read and verified."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "journal.db"
        with Journal.create(place) as journal:
            journal.append(history(4))
        place.with_name("journal.db-lock").unlink()
        place.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        Path(name).chmod(0o555)
        try:
            result = subprocess.run([sys.executable, "-c", _READER, str(place)], capture_output=True, text=True, check=False)
        finally:
            Path(name).chmod(0o755)

    assert (result.stdout, result.stderr) == ("8\n", "")


_LOOKER = """
import os, sys
from gpol.journal.journal import Journal
from gpol.journal.audit.verify import verify
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Journal.open(sys.argv[1]) as journal:
    while True:
        print(verify(journal).seq, flush=True)
        if not sys.stdin.readline():
            break
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.usefixtures("another_user")
def test_reader_that_cannot_write_beside(history) -> None:
    """Who may write nothing beside the file still sees what others append to it later, when it looks again."""
    import tempfile

    batches = history(300)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "journal.db"
        with Journal.create(place) as journal:
            journal.append(batches[:4])
        place.chmod(0o644)
        Path(name).chmod(0o555)
        with subprocess.Popen(
            [sys.executable, "-c", _LOOKER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as looker:
            assert looker.stdin is not None
            assert looker.stdout is not None
            seen = [int(looker.stdout.readline())]
            Path(name).chmod(0o755)
            with Journal.open(place, readonly=False) as journal:
                last = journal.append(batches[4:]).seq
            Path(name).chmod(0o555)
            looker.stdin.write("again\n")
            looker.stdin.flush()
            seen.append(int(looker.stdout.readline()))
            looker.stdin.close()
        Path(name).chmod(0o755)

    assert seen == [8, last]


_MAKER = """
import os, sys
from gpol.journal.backup import backup
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
import gpol.journal.audit.verify
journal, new = sys.argv[1:]
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
for make in (lambda: Journal.create(new), lambda: backup(journal, new)):
    try:
        make()
    except JournalError as error:
        print(error.message)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.usefixtures("another_user")
def test_folder_that_cannot_be_read(history) -> None:
    """In a folder that may be written to and not read, a file's name can't be synced: nothing is made there, and nothing is left."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        place, folder = Path(name) / "journal.db", Path(name) / "folder"
        with Journal.create(place) as journal:
            journal.append(history(4))
        Path(name).chmod(0o755)
        place.chmod(0o644)
        folder.mkdir()
        folder.chmod(0o333)
        made = subprocess.run(
            [sys.executable, "-c", _MAKER, str(place), str(folder / "new.db")], capture_output=True, text=True, check=False
        )
        folder.chmod(0o755)
        left = list(folder.iterdir())

    assert made.stderr == ""
    first, second = made.stdout.splitlines()
    assert first.endswith("new.db` cannot be created: permission denied")
    assert second.endswith("new.db` cannot be made: permission denied")
    assert left == []

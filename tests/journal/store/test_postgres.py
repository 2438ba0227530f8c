"""Journals in PostgreSQL: URLs, sessions, the right to append, and what is refused, by name and with a remedy."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import TimeAdvanced, WorkloadSubmitted
from gpol.journal.audit.verify import verify
from gpol.journal.errors import DamagedError, JournalError, TakenError, UnavailableError
from gpol.journal.journal import Journal
from gpol.journal.store import postgres as postgres_module
from gpol.journal.store.location import locate
from sqlalchemy.exc import DBAPIError


@pytest.fixture
def admin(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    """A session of the superuser."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


def _name(place: str) -> str:
    return place.rpartition("=")[2]


def _refused(place: str, words: str, kind: type[JournalError] = JournalError, **options: bool) -> JournalError:
    with pytest.raises(kind, match=words) as caught:
        Journal.open(place, **options)
    assert caught.value.remedy
    assert "secret" not in str(caught.value)
    return caught.value


# --- URLs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://me:secret@h/db", "postgresql://me@h/db?journal=gpol"),
        ("postgres://h:5433/db?journal=acme_2026", "postgresql://h:5433/db?journal=acme_2026"),
        ("postgresql+psycopg:///db?host=h&password=secret&sslmode=require", "postgresql:///db?host=h&journal=gpol"),
    ],
)
def test_names(url: str, name: str) -> None:
    """A URL is shown with where the journal is, and without what may be secret."""
    assert locate(url).name == name


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://me:secret@h", "names no database"),
        ("postgresql://h/db?journal=Acme", "no name for a journal"),
        ("postgresql://h/db?journal=pg_acme", "no name for a journal"),
        ("postgresql://h/db?journal=a&journal=b", "no name for a journal"),
        ("postgresql://h/db?journal=" + "x" * 64, "no name for a journal"),
        ("postgresql://h/db?autocommit=1", "`autocommit`, which is no option"),
        ("postgresql://h/db?dbname=other", "may not say `dbname`"),
        ("postgresql://h/db?client_encoding=latin1", "may not say `client_encoding`"),
        ("postgresql+asyncpg://h/db", "another driver than psycopg"),
        ("postgresql://h:port/db", "not a database URL"),
        ("postgresql:///db?host=h&port=first", "is refused: .*non-integer port"),
        ("postgresql:///db?host=a&host=b&port=1", "is refused: .*multihost"),
        ("postgresql://h/db?sslmode=allow&sslmode=require", "says `sslmode` more than once"),
        ("postgresql://me:secret%00x@h/db", "has a NUL in it"),
        ("postgresql://h/db%00x?port=1", "has a NUL in it"),
        ("postgresql://h/db?connect_timeout=soon", "is refused: .*connect_timeout"),
        ("postgresql://127.0.0.1:1/db?sslmode=maybe", 'is refused: .*invalid sslmode value: "maybe"'),
        ("postgresql:///db?host=127.0.0.1,127.0.0.1&port=1,2,3", "is refused: .*hosts and ports don't match"),
    ],
)
def test_urls_that_are_refused(url: str, words: str) -> None:
    """What a URL may not say is refused before anybody connects."""
    _refused(url, words)


def test_options_are_passed_on(postgres_place: str) -> None:
    """What libpq knows is told to it: here its application's name, by which the server lists the session."""
    with Journal.create(f"{postgres_place}&application_name=auditor") as journal, journal._recorder._engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW application_name").scalar() == "auditor"


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg the error names the extra that brings it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)

    error = _refused("postgresql://h/db", "need the library psycopg")
    assert "gpol[postgres]" in error.remedy


# --- what there is ----------------------------------------------------------------------------------------------------


def test_nobody_there() -> None:
    """A server that cannot be reached is told apart from one that refuses."""
    error = _refused("postgresql://me:secret@127.0.0.1:1/db", "cannot be reached: .*Connection refused", UnavailableError)

    assert "that the server runs" in error.remedy


def test_refused_by_the_server(postgres: str) -> None:
    """An unknown database, and an unknown user, are told in the server's words."""
    _refused(postgres.replace("/postgres?", "/nowhere?"), 'refuses the connection: .*database "nowhere" does not exist')
    error = _refused(postgres.replace("gpol@", "stranger:secret@"), 'role "stranger" does not exist')
    assert "PGPASSWORD" in error.remedy


@pytest.mark.parametrize("readonly", [True, False])
def test_no_journal(postgres_place: str, admin: psycopg.Connection[Any], readonly: bool) -> None:
    """A schema that is missing, empty, or holds other tables is refused; opening makes nothing."""
    name = _name(postgres_place)
    _refused(postgres_place, "there is no journal at", readonly=readonly)
    admin.execute(f"CREATE SCHEMA {name}")  # type: ignore[arg-type]
    _refused(postgres_place, "a schema of the database, but not a journal", readonly=readonly)
    admin.execute(f"CREATE TABLE {name}.events (seq int)")  # type: ignore[arg-type]
    admin.execute(f"CREATE TABLE {name}.meta AS SELECT 'format' AS key, 'gpol journal' AS value UNION SELECT 'version', '1'")  # type: ignore[arg-type]
    admin.execute(f"CREATE TABLE {name}.alembic_version AS SELECT '1' AS version_num")  # type: ignore[arg-type]
    _refused(postgres_place, "a schema of the database, but not a journal", readonly=readonly)

    tables = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", (name,)).fetchall()
    assert tables == [("alembic_version",), ("events",), ("meta",)]


def test_create_refuses_what_is_there(postgres_place: str, admin: psycopg.Connection[Any]) -> None:
    """Creating never changes a schema that holds something; an empty one, made by who has the right to, will do."""
    name = _name(postgres_place)
    admin.execute(f"CREATE SCHEMA {name}")  # type: ignore[arg-type]
    Journal.create(postgres_place).close()
    with pytest.raises(TakenError, match="is already there"):
        Journal.create(postgres_place)

    admin.execute(f"CREATE SCHEMA {name}x; CREATE TABLE {name}x.mine (n int)")  # type: ignore[arg-type]
    with pytest.raises(TakenError, match="is already there"):
        Journal.create(postgres_place + "x")


def test_journals_side_by_side(postgres_place: str, history) -> None:
    """A database holds many journals, each with its own events and its own writer."""
    with Journal.create(postgres_place) as one, Journal.create(postgres_place + "b") as other:
        one.append(history(3))
        other.append(history(1))

        assert (verify(one).seq, verify(other).seq) == (7, 1)


def test_rights(postgres_place: str, admin: psycopg.Connection[Any], history) -> None:
    """A user with the right to read can read and verify; without rights, and for what it may not do, it is told what it lacks."""
    name, reader = _name(postgres_place), postgres_place.replace("gpol@", "auditor@")
    with Journal.create(postgres_place) as journal:
        journal.append(history(4))
    admin.execute("DROP ROLE IF EXISTS auditor; CREATE ROLE auditor LOGIN")
    error = _refused(reader, f"permission denied for schema {name}")
    assert "owner for the right" in error.remedy
    admin.execute(f"GRANT USAGE ON SCHEMA {name} TO auditor; GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO auditor")  # type: ignore[arg-type]
    with Journal.open(reader) as journal:
        assert verify(journal).seq == 8
    with Journal.open(reader, readonly=False) as journal, pytest.raises(JournalError, match="permission denied for table events"):
        journal.append([[TimeAdvanced(time=2**60)]])
    admin.execute(f"GRANT INSERT ON {name}.events TO auditor")  # type: ignore[arg-type]
    with Journal.open(reader, readonly=False) as journal:
        assert journal.append([[TimeAdvanced(time=2**60)]]).seq == 9
    with pytest.raises(JournalError, match="permission denied for database"):
        Journal.create(reader + "x")
    admin.execute("DROP OWNED BY auditor; DROP ROLE auditor")


def test_rows_cannot_be_changed_in_passing(postgres_place: str, admin: psycopg.Connection[Any], history) -> None:
    """UPDATE, DELETE and TRUNCATE are stopped by triggers."""
    with Journal.create(postgres_place) as journal:
        journal.append(history(1))
    for statement in ("UPDATE {}.events SET kind = 'x'", "DELETE FROM {}.events", "TRUNCATE {}.events"):
        with pytest.raises(psycopg.Error, match="only appended to"):
            admin.execute(statement.format(_name(postgres_place)))  # type: ignore[arg-type]


NAMES = ["nul\0nul", "\0", "back\\slash", "\\0", "\\", "\\\\0\0\\", "größe", "日本"]


def test_any_name_is_kept(postgres_place: str) -> None:
    """Workloads are found by names that PostgreSQL's text could not hold, or would mix up."""
    with Journal.create(postgres_place) as journal:
        journal.append([[WorkloadSubmitted(time=1, workload=name, pod_sets=(PodSet(requests={"gpu": 1}),))] for name in NAMES])

        assert verify(journal).good
        assert [[each.event.workload for each in journal.of_workload(name)] for name in NAMES] == [[name] for name in NAMES]  # type: ignore[union-attr]
        streams = [each.originator_id for each in journal._recorder.select_notifications(1, 100)]
        assert streams == [f"workload/{name}" for name in NAMES]


# --- the server's promises ----------------------------------------------------------------------------------------------


def test_commits_wait_for_the_disk(postgres_place: str, admin: psycopg.Connection[Any]) -> None:
    """A session that appends has the settings that it needs, whatever the user's defaults are; one that reads cannot write."""
    admin.execute("DROP ROLE IF EXISTS hasty; CREATE ROLE hasty LOGIN SUPERUSER; ALTER ROLE hasty SET synchronous_commit TO off")
    admin.execute("ALTER ROLE hasty SET default_transaction_isolation TO serializable; ALTER ROLE hasty SET lock_timeout TO '1min'")
    hasty = postgres_place.replace("gpol@", "hasty@")
    with Journal.create(hasty) as journal, journal._recorder._engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "1min"
    with Journal.open(hasty) as journal, journal._recorder._engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW transaction_read_only").scalar() == "on"
    admin.execute("REASSIGN OWNED BY hasty TO gpol; DROP ROLE hasty")


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_careless_servers_are_refused(postgres_place: str, admin: psycopg.Connection[Any], setting: str) -> None:
    """A server that may lose what it acknowledged is refused for writing, by the name of its setting; reading is fine."""
    Journal.create(postgres_place).close()
    _set(admin, setting, "off")
    try:
        _refused(postgres_place, f"runs with {setting} off, so what it acknowledges may be lost", readonly=False)
        with pytest.raises(JournalError, match=setting):
            Journal.create(postgres_place + "x")
        Journal.open(postgres_place).close()
    finally:
        _set(admin, setting, "on")
    Journal.open(postgres_place, readonly=False).close()


def _set(admin: psycopg.Connection[Any], setting: str, value: str) -> None:
    admin.execute(f"ALTER SYSTEM SET {setting} TO {value}")  # type: ignore[arg-type]
    admin.execute("SELECT pg_reload_conf()")
    for _ in range(1_000):  # the server takes it in its own time
        if admin.execute(f"SHOW {setting}").fetchone() == (value,):  # type: ignore[arg-type]
            return
        admin.execute("SELECT pg_sleep(0.01)")


def test_other_encodings_are_refused(postgres: str, admin: psycopg.Connection[Any]) -> None:
    """A database that cannot hold every name is refused."""
    admin.execute("CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0")
    with pytest.raises(JournalError, match="is in LATIN1, which cannot hold every name"):
        Journal.create(postgres.replace("/postgres?", "/latin?"))


def test_no_place_for_one_more(postgres: str, postgres_place: str, admin: psycopg.Connection[Any]) -> None:
    """A server that has no place for a session is told to be tried later, and not as one that refuses this user."""
    Journal.create(postgres_place).close()
    name = _name(postgres_place)
    admin.execute("DROP ROLE IF EXISTS crowd; CREATE ROLE crowd LOGIN CONNECTION LIMIT 1")
    admin.execute(f"GRANT USAGE ON SCHEMA {name} TO crowd; GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO crowd")  # type: ignore[arg-type]
    crowd = postgres_place.replace("gpol@", "crowd@")
    with Journal.open(crowd):
        error = _refused(crowd, "could not do it: .*too many connections", UnavailableError)
    assert error.remedy == "try again later"
    admin.execute("DROP OWNED BY crowd; DROP ROLE crowd")


@pytest.mark.parametrize(
    "words",
    [
        "remaining connection slots are reserved for roles with the SUPERUSER attribute",
        "sorry, too many clients already",
        "the database system is starting up",
        "the database system is shutting down",
        "the database system is in recovery mode",
        "the database system is not yet accepting connections",
    ],
)
def test_servers_that_take_nobody_now(words: str) -> None:
    """What PostgreSQL says of itself while it starts, stops, recovers or is full is no fault of who asks."""
    error = locate("postgresql://h/db").explain(
        psycopg.OperationalError(f'connection failed: connection to server at "h" failed: FATAL:  {words}')
    )

    assert isinstance(error, UnavailableError)
    assert error.remedy == "try again later"


def test_statements_that_take_too_long(postgres_place: str, admin: psycopg.Connection[Any]) -> None:
    """A server that ends a statement is not one that cannot be reached."""
    Journal.create(postgres_place).close()
    with Journal.open(postgres_place) as journal:
        with journal._recorder._engine.connect() as connection:
            connection.exec_driver_sql("SET LOCAL statement_timeout TO '1ms'")
            with pytest.raises(DBAPIError) as ended:
                connection.exec_driver_sql("SELECT pg_sleep(10)")
        error = journal._store.explain(ended.value.orig)

    assert isinstance(error, UnavailableError)
    assert "could not do it: canceling statement due to statement timeout" in error.message


# --- the right to append ------------------------------------------------------------------------------------------------


def test_second_writer_is_refused(postgres_place: str) -> None:
    """While one journal is open to append, no other one opens to append; readers do, and the next writer does after it."""
    with Journal.create(postgres_place):
        _refused(postgres_place, "open for writing elsewhere", readonly=False)
        Journal.open(postgres_place).close()
    Journal.open(postgres_place, readonly=False).close()


def test_writer_that_is_quiet_keeps_the_right(postgres_place: str, admin: psycopg.Connection[Any]) -> None:
    """A server that ends idle sessions does not end the one that appends: it is quiet for as long as nothing happens."""
    admin.execute("DROP ROLE IF EXISTS quiet; CREATE ROLE quiet LOGIN SUPERUSER; ALTER ROLE quiet SET idle_session_timeout TO '1min'")
    with Journal.create(postgres_place.replace("gpol@", "quiet@")) as journal, journal._recorder._engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW idle_session_timeout").scalar() == "0"
    admin.execute("REASSIGN OWNED BY quiet TO gpol; DROP ROLE quiet")


_WRITER = """
import sys, time
from gpol.journal.journal import Journal
journal = Journal.open(sys.argv[1], readonly=False)
print("open", flush=True)
time.sleep(600)
"""


def test_killed_writer_lets_go(postgres_place: str, history) -> None:
    """The right to append is free again when the process that had it was killed."""
    Journal.create(postgres_place).close()
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, postgres_place], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    with writer.stdout as told:
        assert told.readline() == "open\n"
        _refused(postgres_place, "open for writing elsewhere", readonly=False)
        writer.kill()
        writer.wait()

    with Journal.open(postgres_place, readonly=False) as journal:
        assert journal.append(history(1)).seq == 1


def _end_sessions(admin: psycopg.Connection[Any]) -> None:
    """Cut off everybody else, and wait until they are gone."""
    others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    admin.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}")  # type: ignore[arg-type]


def test_a_reader_outlives_its_session(postgres_place: str, admin: psycopg.Connection[Any], history) -> None:
    """Who reads on after its session was cut off, as `log --follow` does, gets another one and misses nothing."""
    batches = history(4)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:2])
    with Journal.open(postgres_place) as reader:
        before = [recorded.seq for recorded in reader.events()]
        _end_sessions(admin)
        with Journal.open(postgres_place, readonly=False) as journal:
            journal.append(batches[2:])
        after = [recorded.seq for recorded in reader.events(before[-1])]

    assert before + after == list(range(1, sum(map(len, batches)) + 1))


def test_lost_connection_loses_the_right(postgres_place: str, admin: psycopg.Connection[Any], history) -> None:
    """A writer whose session ended says that nothing was appended, and stands back where somebody else has the right by then."""
    batches = history(3)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        _end_sessions(admin)
        with pytest.raises(UnavailableError, match=r"(terminating connection|closed|lost).*, and nothing was appended"):
            journal.append(batches[1:2])
        with Journal.open(postgres_place, readonly=False) as other:
            with pytest.raises(JournalError, match="open for writing elsewhere"):
                journal.append(batches[1:2])
            other.append(batches[1:2])
        with pytest.raises(JournalError, match="ends at event 4, not as expected at 1"):
            journal.append(batches[1:2])

    with Journal.open(postgres_place) as reader:
        assert verify(reader).seq == 4


def test_writer_goes_on_after_a_restart(postgres_place: str, admin: psycopg.Connection[Any], history) -> None:
    """Where nobody else took it, a writer that lost its session gets the right again with the next one."""
    batches = history(3)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        _end_sessions(admin)
        with pytest.raises(UnavailableError):
            journal.append(batches[1:])
        journal.append(batches[1:])

        assert verify(journal).seq == 7


def _fail_commit(monkeypatch: pytest.MonkeyPatch, journal: Journal, how: Any) -> None:
    """Let the next commit of a journal end by `how(dbapi_connection)`, which has to raise."""
    dialect = journal._recorder._engine.dialect
    commit = dialect.do_commit

    def failing(dbapi_connection: Any) -> None:
        monkeypatch.setattr(dialect, "do_commit", commit)
        how(dbapi_connection)

    monkeypatch.setattr(dialect, "do_commit", failing)


def _cut(connection: Any) -> None:
    connection.dbapi_connection.close()
    raise psycopg.OperationalError("the connection is lost")


def _commit_and_cut(connection: Any) -> None:
    connection.commit()
    _cut(connection)


def test_commit_that_did_not_happen(postgres_place: str, monkeypatch: pytest.MonkeyPatch, history) -> None:
    """A connection lost before the commit reached the server: the journal looks, says that nothing was appended, and goes on."""
    batches = history(3)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        _fail_commit(monkeypatch, journal, _cut)
        with pytest.raises(UnavailableError, match="the commit failed, and nothing was appended"):
            journal.append(batches[1:])
        journal.append(batches[1:])

        assert verify(journal).seq == 7


def test_commit_that_happened_all_the_same(postgres_place: str, monkeypatch: pytest.MonkeyPatch, history) -> None:
    """A connection lost before the server's answer came: the journal looks, says that the events are there, and has to be opened again."""
    batches = history(3)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        _fail_commit(monkeypatch, journal, _commit_and_cut)
        with pytest.raises(UnavailableError, match="the events up to 7 are there all the same"):
            journal.append(batches[1:])
        with pytest.raises(JournalError, match="is not known; open it again"):
            journal.append(batches[1:])

    with Journal.open(postgres_place, readonly=False) as again:
        assert again.head.seq == 7


def test_commit_on_which_somebody_else_went_on(postgres_place: str, monkeypatch: pytest.MonkeyPatch, history) -> None:
    """Where another writer has appended before the journal could look, what it had committed is still known to be there."""
    batches = history(3)

    def commit_and_lose_the_right(connection: Any) -> None:
        connection.commit()
        connection.dbapi_connection.close()
        with Journal.open(postgres_place, readonly=False) as other:
            other.append(batches[2:])
        raise psycopg.OperationalError("the connection is lost")

    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        _fail_commit(monkeypatch, journal, commit_and_lose_the_right)
        with pytest.raises(UnavailableError, match="the events up to 4 are there all the same") as caught:
            journal.append(batches[1:2])

    assert caught.value.remedy == "open the journal again, and go on from where it ends"
    with Journal.open(postgres_place) as again:
        assert verify(again).seq == 7


def _unreachable(*, write: bool) -> None:
    raise psycopg.OperationalError("the connection is refused")


def test_commit_of_which_nobody_knows(postgres_place: str, monkeypatch: pytest.MonkeyPatch, history) -> None:
    """A connection lost at the commit, and no new one: whether the events are there is not claimed, only how to find out."""
    batches = history(3)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        _fail_commit(monkeypatch, journal, _commit_and_cut)
        monkeypatch.setattr(journal._store, "_connect", _unreachable)
        with pytest.raises(UnavailableError, match="the events up to 7 are there or not") as caught:
            journal.append(batches[1:])

    assert "they are there if it is 7" in caught.value.remedy


def test_past_the_lock(postgres_place: str, monkeypatch: pytest.MonkeyPatch, history) -> None:
    """Where two writers got past the lock in the same moment, the second one is refused, whatever it had read; nothing is mixed."""
    batches = history(3)
    with Journal.create(postgres_place) as journal:
        journal.append(batches[:1])
        monkeypatch.setattr(postgres_module, "_LOCK_CLASS", 1)
        with Journal.open(postgres_place, readonly=False) as other:
            with other._recorder._engine.begin() as connection:
                rows, _ = other._recorder._rows([], other.head)
                assert rows == []
                connection.exec_driver_sql("INSERT INTO events SELECT 2, 'time', 2, 'TimeAdvanced', '', ''")
                failed: list[JournalError] = []
                thread = threading.Thread(target=lambda: failed.append(_error(journal, batches[1:])))
                thread.start()
                thread.join(0.3)
            thread.join()
        assert re.search("somebody else has appended to .*; nothing was appended", str(failed[0]))


def _error(journal: Journal, batches: Any) -> JournalError:
    with pytest.raises(JournalError) as caught:
        journal.append(batches)
    return caught.value


# --- damage ---------------------------------------------------------------------------------------------------------------


def test_missing_table(postgres_place: str, admin: psycopg.Connection[Any]) -> None:
    """A table that is gone while a journal is open is damage."""
    with Journal.create(postgres_place) as journal:
        admin.execute(f"DROP TABLE {_name(postgres_place)}.events")  # type: ignore[arg-type]
        with pytest.raises(DamagedError, match='relation "events" does not exist'):
            list(journal.events())


def test_indexes_are_checked(postgres_place: str, admin: psycopg.Connection[Any], history) -> None:
    """With the extension amcheck an index that lacks an event is found, though every event is as it was written."""
    batches, index = history(8), f"'{_name(postgres_place)}.events_stream_version_key'::regclass"
    maintain = f"UPDATE pg_index SET indisready = %s WHERE indexrelid = {index}"
    admin.execute("CREATE EXTENSION amcheck SCHEMA public")
    try:
        with Journal.create(postgres_place) as journal:
            journal.append(batches[:4])
            assert verify(journal).good
            admin.execute(maintain, (False,))  # type: ignore[arg-type]
            journal.append(batches[4:])
            admin.execute(maintain, (True,))  # type: ignore[arg-type]
            fault = verify(journal).fault
    finally:
        admin.execute("DROP EXTENSION amcheck")

    assert fault is not None
    assert fault.seq is None
    assert "lacks matching index tuple" in fault.found
    assert "may miss it" in fault.meaning

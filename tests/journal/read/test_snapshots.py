"""Snapshots in a journal: what they are worth, that they are never trusted for nothing, and that few are kept."""

import hashlib
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from gpol.dsl import check
from gpol.engine.cores import Core
from gpol.engine.default_core import SnapshotError, freeze, new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import Fact, TimeAdvanced, WorkloadSubmitted
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.errors import DamagedError, JournalError
from gpol.journal.journal import Journal
from gpol.journal.read import as_of as asof
from gpol.journal.read import snapshots
from gpol.journal.read.as_of import core_at, resume
from gpol.journal.read.snapshots import EVERY, Snapshotter, expendable, keep_snapshot, newest_core, restore
from small_histories import POLICY, activation, facts, play

Hood = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def kept(place: Path) -> Path:
    """A journal with snapshots after every ten events or so."""
    with Journal.create(place) as journal:
        play(journal, new_core(), facts(60), every=10)
        assert len(journal.snapshot_seqs()) > 2
        assert journal.snapshot_seqs()[-1] == journal.head.seq
    return place


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which event on events are applied, each time that they are."""
    begun: list[int] = []
    follow = asof.follow

    def noted(journal: Journal, follower: Core, *, after: int = 0, **more: Any) -> None:
        begun.append(after)
        follow(journal, follower, after=after, **more)

    monkeypatch.setattr(asof, "follow", noted)
    return begun


def test_a_state_is_the_same_with_and_without(kept: Path, counted: list[int], hood: Hood) -> None:
    """At every event the state from the newest snapshot before it is the state from the first event on, byte for byte."""
    with Journal.open(kept) as journal:
        seqs = journal.snapshot_seqs()
        found = [freeze(core_at(journal, seq)) for seq in range(journal.head.seq + 1)]
    assert counted == [max((each for each in seqs if each <= seq), default=0) for seq in range(len(found))]

    hood("DELETE FROM snapshots")
    with Journal.open(kept) as journal:
        assert [freeze(core_at(journal, seq)) for seq in range(journal.head.seq + 1)] == found


def test_a_writer_goes_on_from_a_snapshot(place: Path, tmp_path: Path) -> None:
    """A journal that is closed and taken up again, time after time, ends with the chain of one that was written in one go."""
    played = list(facts(60))
    with Journal.create(tmp_path / "whole.db") as journal:
        play(journal, new_core(), iter(played), every=1_000)
        whole = journal.head

    Journal.create(place).close()
    for start in range(0, 60, 7):
        with Journal.open(place, readonly=False) as journal:
            core = resume(journal)
            assert core.seq == journal.head.seq
            play(journal, core, iter(played[start : start + 7]), every=5)
    with Journal.open(place) as journal:
        assert journal.head == whole
        assert verify(journal).good
        assert replay(journal).same


def test_a_writer_knows_when_to_wake(place: Path) -> None:
    """Who waits for a protection to end when a journal is closed is admitted at that very moment once it is opened again."""
    waiting = [
        activation(0),
        WorkloadSubmitted(time=0, workload="guest", queue="guest", pod_sets=(PodSet(requests={"gpu": "8"}),)),
        WorkloadSubmitted(time=1_000_000, workload="owner", queue="owner", pod_sets=(PodSet(requests={"gpu": "5"}),)),
    ]
    with Journal.create(place) as journal:
        play(journal, new_core(), iter(waiting), every=1_000)
    with Journal.open(place) as journal:
        assert journal.snapshot_seqs() == [journal.head.seq]
        core = resume(journal)
    assert core.next_wake() == 10_000_000
    decided = core.step(TimeAdvanced(time=10_000_000))
    assert [(each.kind, each.workload) for each in decided] == [("WorkloadEvicted", "guest"), ("WorkloadAdmitted", "owner")]


@pytest.mark.parametrize(
    ("change", "values", "says"),
    [
        ("UPDATE snapshots SET chain = ? WHERE seq = ?", (bytes(32),), "another history"),
        ("UPDATE snapshots SET format = ? WHERE seq = ?", ("core 0",), "in the form `core 0`"),
        ("UPDATE snapshots SET digest = ? WHERE seq = ?", (b"x",), "not what was written"),
        ("UPDATE snapshots SET content = ? WHERE seq = ?", (b"",), "not what was written"),
        ("UPDATE snapshots SET seq = 1000 + ? WHERE seq = ?", (0,), "ends at event"),
        ("UPDATE snapshots SET seq = -? WHERE seq = ?", (7,), "another history"),
    ],
)
def test_what_does_not_fit_is_passed_over(
    kept: Path, counted: list[int], change: str, values: tuple[object, ...], says: str, hood: Hood
) -> None:
    """A snapshot of which anything was altered does not count: the one before it is taken, and the state is right."""
    with Journal.open(kept) as journal:
        *_, before, last = journal.snapshot_seqs()
        expected = freeze(core_at(journal))
    hood(change, *values, last)
    with Journal.open(kept) as journal:
        assert freeze(core_at(journal)) == expected
        altered = next(seq for seq in journal.snapshot_seqs() if seq not in (before,) and (seq >= last or seq < 1))
        with pytest.raises(SnapshotError, match=says):
            restore(journal, journal.snapshot(altered))
    assert counted == [last, before]


@pytest.mark.sqlite
@pytest.mark.parametrize("column", ["chain", "format", "digest", "content"])
@pytest.mark.parametrize("value", ["'text'", "x'ff'", "7", "1.5", "zeroblob(100)"])
def test_any_kind_of_value_is_passed_over(kept: Path, counted: list[int], hood: Hood, column: str, value: str) -> None:
    """SQLite keeps anything in any column; none of it counts, and none of it is in the way."""
    with Journal.open(kept) as journal:
        *_, before, last = journal.snapshot_seqs()
    hood(f"UPDATE snapshots SET {column} = {value} WHERE seq = ?", last)
    with Journal.open(kept) as journal:
        assert core_at(journal).seq == journal.head.seq
    assert counted == [before]


def packed(content: bytes) -> tuple[bytes, bytes]:
    """A content as it is stored, and its digest."""
    stored = zlib.compress(content)
    return stored, hashlib.sha256(stored).digest()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (packed(b"{}"), "format|Field required"),
        (packed(b"[" * 10_000), "recursion"),
        (packed(freeze(new_core())), "of another policy"),
        ((b"no zlib", hashlib.sha256(b"no zlib").digest()), "cannot be unpacked"),
        ((zlib.compress(b"{}")[:-1], hashlib.sha256(zlib.compress(b"{}")[:-1]).digest()), "cut off"),
    ],
)
def test_forged_content_is_passed_over(kept: Path, counted: list[int], content: tuple[bytes, bytes], says: str, hood: Hood) -> None:
    """A content whose digest was computed anew, and that is no state all the same."""
    with Journal.open(kept) as journal:
        *_, before, last = journal.snapshot_seqs()
        expected = freeze(core_at(journal))
    hood("UPDATE snapshots SET content = ?, digest = ? WHERE seq = ?", *content, last)
    with Journal.open(kept) as journal:
        assert freeze(core_at(journal)) == expected
        with pytest.raises(SnapshotError, match=says):
            restore(journal, journal.snapshot(last))
    assert counted == [last, before]


def test_a_bomb_is_not_unpacked(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A content that unpacks to more than any that is written is refused before it fills the memory."""
    monkeypatch.setattr(snapshots, "MOST_BYTES", 1_000)
    with Journal.open(kept) as journal:
        with pytest.raises(SnapshotError, match="too long"):
            restore(journal, journal.snapshot(journal.head.seq))
        assert newest_core(journal, journal.head.seq) is None


def test_another_state_of_the_same_policy_is_passed_over(kept: Path, hood: Hood) -> None:
    """The state of another event, sound in itself, does not count for this one."""
    with Journal.open(kept) as journal:
        *_, before, last = journal.snapshot_seqs()
        other = journal.snapshot(before)
    hood("UPDATE snapshots SET content = ?, digest = ? WHERE seq = ?", other.content, other.digest, last)
    with Journal.open(kept) as journal, pytest.raises(SnapshotError, match=f"after event {before}"):
        restore(journal, journal.snapshot(last))


def test_a_wrong_one_is_written_anew(kept: Path, hood: Hood) -> None:
    """What is of no use goes when the next snapshot is kept: of another form, or with what is no chain value and no number of an event."""
    with Journal.open(kept) as journal:
        seqs = journal.snapshot_seqs()
    hood("UPDATE snapshots SET format = 'core 0' WHERE seq = ?", seqs[-1])
    hood("UPDATE snapshots SET chain = ? WHERE seq = ?", b"\0", seqs[-2])
    hood("UPDATE snapshots SET seq = -5 WHERE seq = ?", seqs[-3])
    with Journal.open(kept, readonly=False) as journal:
        keep_snapshot(journal, resume(journal))
        assert journal.snapshot_seqs() == [*seqs[:-3], seqs[-1]]
        assert restore(journal, journal.snapshot(seqs[-1])).seq == seqs[-1]


@pytest.mark.parametrize(("column", "value"), [("chain", bytes(32)), ("seq", 999_999)])
def test_one_that_remembers_other_events_stays_and_no_new_one_is_kept(kept: Path, hood: Hood, column: str, value: object) -> None:
    """It is evidence that events were cut off or written anew. The journal goes on without new snapshots until all are deleted."""
    with Journal.open(kept) as journal:
        seqs = journal.snapshot_seqs()
    hood(f"UPDATE snapshots SET {column} = ?, format = 'core 0' WHERE seq = ?", value, seqs[0])
    with Journal.open(kept, readonly=False) as journal:
        core, there = resume(journal), journal.snapshot_seqs()
        with pytest.raises(DamagedError, match=r"remembers other events than .*it is evidence"):
            keep_snapshot(journal, core)
        play(journal, core, iter([TimeAdvanced(time=core.time + 1)]), every=1)
        assert journal.snapshot_seqs() == there
        journal.drop_snapshots()
        keep_snapshot(journal, core)
        assert journal.snapshot_seqs() == [journal.head.seq]


def test_a_journal_that_was_cut_off_has_none_beyond_its_end(kept: Path, counted: list[int], hood: Hood) -> None:
    """Where the last events are gone, snapshots of them do not count."""
    with Journal.open(kept) as journal:
        *_, before, last = journal.snapshot_seqs()
    hood("DELETE FROM events WHERE seq >= ?", last)
    with Journal.open(kept) as journal:
        core_at(journal)
    assert counted == [before]


def test_a_journal_without_the_table(kept: Path, counted: list[int], hood: Hood) -> None:
    """Where the table of snapshots is gone, the events give the state."""
    hood("DROP TABLE snapshots")
    with Journal.open(kept) as journal:
        assert core_at(journal).seq == journal.head.seq
    assert counted == [0]


def test_a_failing_snapshot_does_not_stop_a_writer(place: Path, hood: Hood) -> None:
    """Where snapshots cannot be kept, events are; and only they count."""
    with Journal.create(place) as journal:
        hood("DROP TABLE snapshots")
        play(journal, new_core(), facts(40), every=5)
        assert journal.head.seq > 30
        assert verify(journal).good


def test_nothing_is_kept_of_a_writer_that_failed(place: Path) -> None:
    """A core that an error stopped may stand anywhere, so its state is not kept."""
    core = new_core()
    with Journal.create(place) as journal:
        sink = Snapshotter(journal, core)
        fact = activation(0)
        sink.append([[fact, *core.step(fact, check(POLICY, "one.gpol").graph)]])
        with pytest.raises(KeyboardInterrupt), sink:
            raise KeyboardInterrupt
        assert journal.snapshot_seqs() == []


def test_a_core_that_stands_elsewhere_is_refused(kept: Path) -> None:
    """Only the state at the end is kept; and only by who may write."""
    with Journal.open(kept, readonly=False) as journal, pytest.raises(JournalError, match="the core stands at event"):
        keep_snapshot(journal, core_at(journal, 5))
    with Journal.open(kept) as journal:
        core = core_at(journal)
        with pytest.raises(JournalError, match="read only"):
            keep_snapshot(journal, core)
        with pytest.raises(JournalError, match="no snapshot after event 3"):
            journal.snapshot(3)


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_CONTENT"])
def test_a_state_too_large_to_be_read_is_not_kept(kept: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """What no reader would take is not written, and those that are there stay."""
    with Journal.open(kept, readonly=False) as journal:
        core, before = resume(journal), journal.snapshot_seqs()
        monkeypatch.setattr(snapshots, limit, 100)
        with pytest.raises(JournalError, match=r"takes \d+ bytes, \d+ packed: too much for a snapshot"):
            keep_snapshot(journal, core)

        assert journal.snapshot_seqs() == before


def test_the_interval_grows_with_what_is_alive(journal: Journal) -> None:
    """While more workloads are alive than events lie between snapshots, these come as rarely, so that they never take most of the time."""
    core, taken = new_core(), []
    with Snapshotter(journal, core, every=10) as sink:
        for number in range(300):
            fact: Fact = activation(0)
            if number:
                pods = (PodSet(requests={"gpu": "9"}),)
                fact = WorkloadSubmitted(time=number, workload=f"w{number}", queue="owner", pod_sets=pods)
            sink.append([[fact, *core.step(fact, check(POLICY, "one.gpol").graph if number == 0 else None)]])
            taken += [seq for seq in journal.snapshot_seqs() if seq not in taken]
    taken += journal.snapshot_seqs()[-1:]
    assert taken == [10, 20, 38, 74, 146, 290, 300]


def test_few_are_kept() -> None:
    """Of any number of snapshots the newest two are left, older ones each about twice as far back, and one in each of 9 to 16 stretches of
    equal length: some dozens at most, none of which another one is far from."""
    there: list[int] = []
    for number in range(1, 5_001):
        there.append(number * EVERY)
        there = [seq for seq in there if seq not in expendable(there)]
        assert len(there) <= number.bit_length() + 2 + 16
        assert there[-2:] == [max(1, number - 1) * EVERY, number * EVERY][-len(there) :]
        assert max(after - before for before, after in pairwise([0, *there])) <= max(EVERY, number * EVERY // 4)
    far = [(5_000 * EVERY - seq) // EVERY for seq in there]
    assert all(older <= 4 * max(1, newer) for older, newer in pairwise(far)), far

"""A journal that is verified in parts, by several workers: the report is the one that a walk from end to end gives."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import pytest
from gpol.engine.facts import TimeAdvanced
from gpol.journal.audit.in_parts import all_processors
from gpol.journal.audit.in_parts import verify_parts as parts
from gpol.journal.audit.page_check import BEGINNING
from gpol.journal.audit.verify import VerifyReport, verify
from gpol.journal.journal import Journal

COUNT = 29
PROCESSES = all_processors.processes


@pytest.fixture
def written(place: Path | str, history) -> Path | str:
    """A closed journal of 29 events that is good."""
    with Journal.create(place) as journal:
        journal.append(history(13))
        assert journal.head.seq == COUNT
    return place


@pytest.fixture(autouse=True)
def at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of seven events from the first on, each looked at in a thread."""
    monkeypatch.setattr(parts, "LONG", 1)
    monkeypatch.setattr(parts, "EVENTS", 7)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(all_processors, "processes", ThreadPoolExecutor)


def _reports(place: Path | str, monkeypatch: pytest.MonkeyPatch, head: tuple[int, str] | None = None) -> tuple[VerifyReport, VerifyReport]:
    """The report of a journal in parts, and the one without."""
    with Journal.open(place) as journal:
        in_parts = verify(journal, expected_head=head)
        with monkeypatch.context() as context:
            context.setattr(parts, "LONG", 1_000)
            return in_parts, verify(journal, expected_head=head)


def test_all_is_right(written: Path | str) -> None:
    """Every part is right, and the last ends at the head."""
    told: list[int] = []
    with Journal.open(written) as journal:
        assert parts.right_upto(journal, told.append).head == journal.head
        assert verify(journal).good
    assert told == [7, 14, 21, 28, 29]


@pytest.mark.parametrize("seq", [1, 7, 8, 14, 15, 29])
@pytest.mark.parametrize(
    ("attack", "values"),
    [
        ("UPDATE events SET payload = ? WHERE seq = ?", [bytes(32)]),
        ("UPDATE events SET chain = ? WHERE seq = ?", [bytes(32)]),
        ("UPDATE events SET kind = ? WHERE seq = ?", ["TimeAdvanced"]),
        ("DELETE FROM events WHERE seq = ?", []),
    ],
)
def test_the_same_fault(written: Path | str, hood, monkeypatch: pytest.MonkeyPatch, attack: str, values: list[object], seq: int) -> None:
    """What was altered inside a part, or where two of them meet, is told in the same words."""
    with Journal.open(written) as journal:
        noted = verify(journal)
    hood(attack, *values, seq)
    in_parts, whole = _reports(written, monkeypatch, (noted.seq, noted.chain))

    assert in_parts == whole
    assert not whole.good


def test_a_forged_chain(written: Path | str, hood, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain value that fits what comes before it, and not what comes after: one part is right, the next is not."""
    ((chain,),) = hood("SELECT chain FROM events WHERE seq = 3")
    hood("UPDATE events SET chain = ? WHERE seq = 14", chain)
    in_parts, whole = _reports(written, monkeypatch)

    assert in_parts == whole
    assert whole.bad_seq == 14


@pytest.mark.parametrize("seq", [1, 2, 7, 20, 29, 40])
@pytest.mark.parametrize("right", [True, False])
def test_a_noted_head(written: Path | str, monkeypatch: pytest.MonkeyPatch, seq: int, right: bool) -> None:
    """A noted head is compared wherever it lies."""
    with Journal.open(written) as journal:
        chain = journal.at(seq).chain.hex() if right and seq <= COUNT else "ab" * 32
    in_parts, whole = _reports(written, monkeypatch, (seq, chain))

    assert in_parts == whole
    assert whole.good == (right and seq <= COUNT)


@pytest.mark.sqlite
def test_another_journal_of_that_name(written: Path, tmp_path: Path, history) -> None:
    """Parts of another journal, which has taken the place of the one that is open, do not count."""
    with Journal.create(tmp_path / "other.db") as other:
        other.append([[TimeAdvanced(time=time)] for time in range(COUNT)])
    with Journal.open(written) as journal:
        journal.name = str(tmp_path / "other.db")  # as if the two had been renamed meanwhile

        assert parts.right_upto(journal) == BEGINNING
        report = verify(journal)
        assert (report.good, report.chain) == (True, journal.head.chain.hex())


@pytest.mark.sqlite
def test_workers_that_are_lost(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without workers the journal is verified all the same."""

    def lost(*_: object) -> parts.Stretch:
        raise OSError("no more processes")

    monkeypatch.setattr(parts, "look_at", lost)
    with Journal.open(written) as journal:
        assert parts.right_upto(journal) == BEGINNING
        assert verify(journal).good


@pytest.mark.slow
@pytest.mark.sqlite
def test_in_processes(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with processes of their own."""
    monkeypatch.setattr(all_processors, "processes", PROCESSES)
    with Journal.open(written) as journal:
        assert parts.right_upto(journal).head == journal.head

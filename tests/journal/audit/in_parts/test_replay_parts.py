"""A journal that is replayed in parts: it is said to be the same only if a replay from end to end says so."""

import json
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

import joblib
import pytest
from gpol.cli.speed.kernels import core_for_part
from gpol.compiled.fast_core import fast_core
from gpol.engine.cores import Core, Frozen
from gpol.engine.default_core import freeze, new_core, thaw
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import TimeAdvanced, WorkloadSubmitted
from gpol.journal.audit.in_parts import all_processors, replay_parts
from gpol.journal.audit.in_parts.replay_parts import ReplayedPart, play, replay_in_parts
from gpol.journal.audit.replay import ReplayReport, replay
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at
from gpol.journal.recorded_policies import compile_recorded
from small_histories import POLICY, activation, facts
from small_histories import play as keep

Hood = Callable[..., list[tuple[Any, ...]]]
PROCESSES = all_processors.processes


@contextmanager
def by_definition(tell: Callable[[str], None], frozen: Frozen | None) -> Iterator[Core]:
    """The definition plays."""
    yield new_core() if frozen is None else thaw(*frozen)


@contextmanager
def by_arrays(tell: Callable[[str], None], frozen: Frozen | None) -> Iterator[Core]:
    """The kernels as they stand play."""
    tell("plain kernels")
    yield fast_core(lambda line: None, is_long=True, frozen=frozen)


@pytest.fixture(autouse=True)
def at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of ten events and more in any journal, by this thread and another one."""
    monkeypatch.setattr(replay_parts, "PAYS", 1)
    monkeypatch.setattr(replay_parts, "EVENTS", 10)
    monkeypatch.setattr(replay_parts, "EVENTS_A_BYTE", 0)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(all_processors, "processes", ThreadPoolExecutor)


@pytest.fixture
def kept(place: Path | str) -> Path | str:
    """A good journal with snapshots after every ten events or so."""
    with Journal.create(place) as journal:
        keep(journal, new_core(), facts(150), every=10)
    return place


def _borders(place: Path | str) -> list[int]:
    """Behind which events parts of a journal meet."""
    with Journal.open(place) as journal:
        return [border.head.seq for border in replay_parts._borders(journal, journal.head.seq)]


def _both(place: Path | str) -> tuple[ReplayReport | None, ReplayReport]:
    """What is said of a journal in parts, and what from end to end."""
    with Journal.open(place) as journal:
        return replay_in_parts(journal, by_definition), replay(journal)


@pytest.mark.parametrize("start", [by_definition, by_arrays])
def test_a_good_journal(kept: Path | str, start: replay_parts.Start) -> None:
    """The report is the same, progress is told border by border, and what several cores tell, once."""
    places, told = list[int](), list[str]()
    with Journal.open(kept) as journal:
        report = replay_in_parts(journal, start, places.append, told.append)
        assert report == replay(journal)
        assert report.same
        assert places == [*_borders(kept), journal.head.seq]
    assert len(places) > 4
    assert told == (["plain kernels"] if start is by_arrays else [])


def test_parts_that_would_not_pay(kept: Path | str, hood: Hood, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they take little off one processor, where states are large beside what is played, and where no snapshots are left."""
    with Journal.open(kept) as journal:
        last, first = journal.head.seq, _borders(kept)[0]
        assert replay_parts._borders(journal, last)
        with monkeypatch.context() as context:
            context.setattr(replay_parts, "PAYS", last // 2 + 1)
            assert replay_in_parts(journal, by_definition) is None
        with monkeypatch.context() as context:
            context.setattr(replay_parts, "EVENTS_A_BYTE", 1)
            assert replay_in_parts(journal, by_definition) is None
        with monkeypatch.context() as context:
            context.setattr(joblib, "cpu_count", lambda: 1)
            assert replay_in_parts(journal, by_definition) is None
        hood("DELETE FROM snapshots WHERE seq > ?", first)
        assert _borders(kept) == [first]
        with monkeypatch.context() as context:
            context.setattr(replay_parts, "PAYS", first + 1)
            assert replay_in_parts(journal, by_definition) is None
        hood("DELETE FROM snapshots")
        assert replay_in_parts(journal, by_definition) is None
        hood("DROP TABLE snapshots")
        assert replay_in_parts(journal, by_definition) is None
        assert replay(journal).same


# --- attacks --------------------------------------------------------------------------------------------------------


def _chained(hood: Hood, payloads: list[bytes]) -> None:
    """Make a journal consist of these payloads, with a chain that is right, also in its snapshots."""
    chain = bytes(32)
    for seq, payload in enumerate(payloads, 1):
        chain = sha256(chain + payload).digest()
        hood("UPDATE events SET payload = ?, chain = ? WHERE seq = ?", payload, chain, seq)
        hood("UPDATE snapshots SET chain = ? WHERE seq = ?", chain, seq)


def _payloads(hood: Hood) -> list[bytes]:
    return [bytes(payload) for (payload,) in hood("SELECT payload FROM events ORDER BY seq")]


def _forge(hood: Hood, seq: int, content: bytes) -> None:
    """Put another content into a snapshot, with its digest."""
    packed = zlib.compress(content, 1)
    hood("UPDATE snapshots SET content = ?, digest = ? WHERE seq = ?", packed, sha256(packed).digest(), seq)


@pytest.mark.parametrize("field", [b'"reason":"', b'"queue":"', b'"name":"', b'"workload":"w'])
def test_a_forged_decision(kept: Path | str, hood: Hood, field: bytes) -> None:
    """One of any part, and the chain computed anew."""
    payloads = _payloads(hood)
    decisions = [at for at, payload in enumerate(payloads) if b'"cause":' in payload and field in payload]
    for at in {decisions[0], decisions[len(decisions) // 2], decisions[-1]}:
        _chained(hood, [*payloads[:at], payloads[at].replace(field, field + b"x", 1), *payloads[at + 1 :]])
        in_parts, whole = _both(kept)
        assert in_parts is None
        assert whole.bad_seq == at + 1


@pytest.mark.parametrize("beside", [-1, 0, 1, 2])
@pytest.mark.parametrize(
    ("attack", "values"),
    [
        ("UPDATE events SET payload = ? WHERE seq = ?", [b"{}"]),
        ("UPDATE events SET chain = ? WHERE seq = ?", [bytes(32)]),
        ("DELETE FROM events WHERE seq = ?", []),
    ],
)
def test_where_parts_meet(kept: Path | str, hood: Hood, attack: str, values: list[object], beside: int) -> None:
    """Events that were altered or removed at a border, or that are the last ones."""
    for seq in (_borders(kept)[2] + beside, _payloads(hood).__len__() + min(0, beside)):
        hood(attack, *values, seq)
        in_parts, whole = _both(kept)
        assert in_parts is None
        assert not whole.same or seq > whole.seq  # the last fact, without decisions, is missed by nobody


@pytest.mark.parametrize(
    "attack",
    [
        "DELETE FROM snapshots WHERE seq = ?",
        "UPDATE snapshots SET chain = digest WHERE seq = ?",
        "UPDATE snapshots SET format = 'core 0' WHERE seq = ?",
        "UPDATE snapshots SET seq = seq + 1 WHERE seq = ?",
    ],
)
def test_a_snapshot_that_does_not_count(kept: Path | str, hood: Hood, attack: str) -> None:
    """Parts do not meet there, and all else is as ever."""
    border = _borders(kept)[2]
    hood(attack, border)
    in_parts, whole = _both(kept)
    assert in_parts == whole
    assert whole.same
    assert border not in _borders(kept)


@pytest.mark.parametrize("content", [b"", b"{}", None])
def test_a_snapshot_of_something_else(kept: Path | str, hood: Hood, content: bytes | None) -> None:
    """No state, or that of another event: nothing is said in parts, and the journal is as good as before."""
    with Journal.open(kept) as journal:
        _forge(hood, _borders(kept)[2], freeze(core_at(journal, 3)) if content is None else content)
    in_parts, whole = _both(kept)
    assert in_parts is None
    assert whole.same


# --- states that agree with what follows ----------------------------------------------------------------------------


def _alone(place: Path | str, border: int) -> ReplayedPart | None:
    """What comes of the last part alone, as if it were known that it begins rightly."""
    with Journal.open(place) as journal:
        begin = next(each for each in replay_parts._borders(journal, journal.head.seq) if each.head.seq == border)
    return play(str(place), by_definition, begin, None)


def test_a_history_that_follows_from_a_forged_state(place: Path | str, hood: Hood, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state with more than there ever was, and all that comes after it decided from there, in a chain that is right: each part agrees
    with itself, but the one before that state does not come to it."""
    monkeypatch.setattr(replay_parts, "EVENTS", 1)
    given = list(facts(80))
    with Journal.create(place) as journal:
        core = new_core()
        keep(journal, core, given[:40], every=1_000)
        border = core.seq
        state = json.loads(core.freeze())
        state["overrides"] = [["a100", "gpu", 64_000]]
        content = json.dumps(state, separators=(",", ":"), ensure_ascii=False).encode()
        keep(journal, thaw(content, core.graph), given[40:], every=1_000)
        assert verify(journal).good
    _forge(hood, border, content)

    assert _alone(place, border) is not None
    in_parts, whole = _both(place)
    assert in_parts is None
    assert whole.bad_seq is not None
    assert whole.bad_seq > border


def test_the_same_policy_on_other_lines(place: Path | str, hood: Hood) -> None:
    """A policy of the same meaning, recorded before the one that decides, whose lines decisions cite: the part before it knows better."""
    policy = POLICY + 'deny too-big for guest { where workload.gpu > 4 } because "it is"\n'
    submitted = [
        WorkloadSubmitted(time=number, workload=f"w{number}", queue="guest", pod_sets=(PodSet(requests={"gpu": "8"}),))
        for number in range(40)
    ]
    with Journal.create(place) as journal:
        core = new_core()
        keep(journal, core, [activation(0, policy), *submitted[:20], activation(20, f"# one more line\n{policy}")], every=1_000)
        border = core.seq
        keep(journal, thaw(core.freeze(), compile_recorded(activation(0, policy))), submitted[20:], every=1_000)
        assert verify(journal).good
    hood("UPDATE events SET stream = 'time' WHERE seq = ?", border)

    assert _alone(place, border) is not None
    in_parts, whole = _both(place)
    assert in_parts is None
    assert whole.bad_seq == border + 2


def test_a_border_within_a_batch(kept: Path | str) -> None:
    """A part begins with a fact."""
    with Journal.open(kept) as journal:
        border = next(each for each in replay_parts._borders(journal, journal.head.seq))
        within = next(recorded.seq for recorded in journal.events() if recorded.event.is_decision) - 1
        state = journal.snapshot(border.head.seq)
    assert play(str(kept), by_definition, border, None) is not None
    with pytest.MonkeyPatch.context() as context:
        context.setattr(Journal, "at", lambda journal, seq: next(journal.events(within, within + 1)))
        context.setattr(Journal, "snapshot", lambda journal, seq: state)
        assert play(str(kept), by_definition, border, None) is None


# --- what happens meanwhile -----------------------------------------------------------------------------------------


def test_a_journal_that_grows(kept: Path | str) -> None:
    """What is appended before the last part comes to its end is replayed with it."""
    with Journal.open(kept) as journal:
        before, last = journal.head.seq, core_at(journal)
    more = [TimeAdvanced(time=last.time + 1 + number) for number in range(7)]
    appended, one_by_one = list[bool](), Lock()

    @contextmanager
    def start(tell: Callable[[str], None], frozen: Frozen | None) -> Iterator[Core]:
        with one_by_one:  # no part begins before this has happened, so that the last one cannot come to its end before
            if not appended:
                appended.append(True)
                with Journal.open(kept, readonly=False) as writer:
                    writer.append([[fact, *last.step(fact)] for fact in more])
        with by_definition(tell, frozen) as core:
            yield core

    with Journal.open(kept) as journal:
        report = replay_in_parts(journal, start)
        assert report == replay(journal)
        assert report.seq == journal.head.seq > before


def test_another_journal_of_that_name(kept: Path | str, tmp_path: Path) -> None:
    """Parts of another journal, which has taken the place of the one that is open, do not count."""
    with Journal.create(tmp_path / "other.db") as other:
        keep(other, new_core(), facts(160), every=10)
    with Journal.open(kept) as journal:
        journal.name = str(tmp_path / "other.db")  # as if the two had been renamed meanwhile
        assert replay_in_parts(journal, by_definition) is None


def test_processes_that_are_lost(kept: Path | str) -> None:
    """Nothing is said, whatever went wrong."""

    def start(tell: Callable[[str], None], frozen: Frozen | None) -> Any:
        raise OSError("no more processes")

    with Journal.open(kept) as journal:
        assert replay_in_parts(journal, start) is None


def test_an_interrupt(kept: Path | str) -> None:
    """Ctrl-C is not taken for something that went wrong."""

    def interrupted(seq: int) -> None:
        raise KeyboardInterrupt

    with Journal.open(kept) as journal, pytest.raises(KeyboardInterrupt):
        replay_in_parts(journal, by_definition, interrupted)


@pytest.mark.slow
def test_in_processes(kept: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with processes of their own."""
    monkeypatch.setattr(all_processors, "processes", PROCESSES)
    with Journal.open(kept) as journal:
        assert replay_in_parts(journal, partial(core_for_part, "definition")) == replay(journal)

"""Replay: the recorded facts give the recorded decisions again, and the first that differs is named with both versions."""

import functools
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from gpol.dsl import check
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.errors import FactError
from gpol.engine.event_parts import Operand, PodSet
from gpol.engine.events import AnyDecision, AnyEvent, WorkloadRejected
from gpol.engine.facts import CapacityChanged, Fact, PolicyActivated, ProfileText, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.engine.outcome.grounds import Why
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.semantics import SEMANTICS
from gpol.journal.audit.replay import ReplayReport, other_semantics, replay
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from gpol.journal.records import stream_of
from gpol.journal.store.writers import Writer

POLICY = """policy "two" {
  use gpol.fair
}

flavor a100 { gpu 8 }
priority batch 100
priority production 1000

queue owner {
  owns 8 gpu on a100
}
queue guest {
  owns nothing
}

protect warm-up { where victim.running < 10m }
"""

MINUTE = 60_000_000


class Rejecter:
    """Rejects every second submission: the least that decides."""

    def __init__(self) -> None:
        self.seq = 0
        self.submissions = 0

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> Sequence[AnyDecision]:
        """A decision for every second submission; work called `impossible` is refused."""
        self.seq += 1
        cause = self.seq
        if not isinstance(fact, WorkloadSubmitted):
            return []
        if fact.workload == "impossible":
            raise FactError("there is no such thing")
        self.submissions += 1
        if self.submissions % 2:
            return []
        self.seq += 1
        return [WorkloadRejected(time=fact.time, cause=cause, workload=fact.workload, queue=None, reason="Denied", why=Why())]


def _submission(time: int, name: str) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue="owner", pod_sets=(PodSet(requests={"gpu": "1"}),))


def _play(journal: Journal, decider: Rejecter | Core, facts: list[tuple[Fact, PolicyGraph | None]]) -> None:
    for fact, graph in facts:
        journal.append([[fact, *decider.step(fact, graph)]])


@pytest.fixture
def small(place: Path) -> Path:
    """A closed journal of a Rejecter: submissions a at 1, b at 2 (rejected at 3), c at 4, time at 5, d at 6 (rejected at 7)."""
    facts: list[Fact] = [_submission(1, "a"), _submission(2, "b"), _submission(3, "c"), TimeAdvanced(time=4), _submission(5, "d")]
    with Journal.create(place) as journal:
        _play(journal, Rejecter(), [(fact, None) for fact in facts])
        assert journal.head.seq == 7
    return place


Change = Callable[[list[AnyEvent]], list[AnyEvent]]


@pytest.fixture
def rewrite(place: Path, hood) -> Callable[[Change], None]:
    """Changes the events of a journal as a forger would, everything else made to fit."""

    def rewrite(change: Change) -> None:
        with Journal.open(place, readonly=True) as journal:
            events = change([recorded.event for recorded in journal.events()])
        hood("DELETE FROM events")
        chain = bytes(32)
        for seq, event in enumerate(events, 1):
            chain = sha256(chain + event.payload()).digest()
            row = (seq, stream_of(event), seq, event.kind, event.payload(), chain)
            hood("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", *row)

    return rewrite


def _replay(place: Path, decider: Rejecter | None = None) -> ReplayReport:
    with Journal.open(place, readonly=True) as journal:
        return replay(journal, decider=decider or Rejecter())


def test_identical(small: Path) -> None:
    """Facts that are decided as they were are replayed to the end, and counted."""
    report = _replay(small)

    assert report == ReplayReport(facts=5, decisions=2, difference=None)
    assert report.same
    assert (report.seq, report.bad_seq, report.problem, report.recorded, report.recomputed) == (7, None, "", "", "")


def test_decider_goes_on(small: Path) -> None:
    """The decider stands behind the last event afterwards, ready for the next fact."""
    decider = Rejecter()
    _replay(small, decider)

    assert decider.seq == 7


def test_empty(journal: Journal) -> None:
    """Nothing replays to nothing."""
    assert replay(journal) == ReplayReport(0, 0, None)


def test_changed_decision(small: Path, rewrite) -> None:
    """A decision that was changed and chained anew verifies, and is named with both versions."""
    rewrite(
        lambda events: [*events[:6], events[6].model_copy(update={"why": Why(operands=(Operand(name="because", value="of nothing"),))})]
    )
    with Journal.open(small, readonly=True) as journal:
        assert verify(journal).good
    report = _replay(small)

    assert (report.facts, report.decisions, report.seq, report.bad_seq) == (4, 1, 5, 7)
    assert report.difference is not None
    assert report.difference.seq == 7
    assert '"value":"of nothing"' in (report.difference.recorded or "")
    assert '"reason":"Denied"' in (report.difference.recomputed or "")


def test_missing_decision(small: Path, rewrite) -> None:
    """A decision that is gone is a difference at the place where it should be."""
    rewrite(lambda events: events[:6])
    difference = _replay(small).difference

    assert difference is not None
    assert (difference.seq, difference.recorded) == (7, None)
    assert '"workload":"d"' in (difference.recomputed or "")
    assert "the fact at event 6 causes one more than was recorded" in difference.problem


def test_extra_decision(small: Path, rewrite) -> None:
    """A decision that does not follow from its fact is a difference."""
    extra = WorkloadRejected(time=1, cause=1, workload="a", queue=None, reason="Denied", why=Why())
    rewrite(lambda events: [events[0], extra])
    difference = _replay(small).difference

    assert difference is not None
    assert (difference.seq, difference.recomputed) == (2, None)
    assert "does not follow from the fact at event 1" in difference.problem


def test_left_out_fact(small: Path, rewrite) -> None:
    """A fact that was left out shows in the decisions after it."""
    rewrite(lambda events: [events[0], events[3]])
    difference = _replay(small).difference

    assert difference is not None
    assert (difference.seq, difference.recorded) == (3, None)


def test_impossible_fact(small: Path, rewrite) -> None:
    """A fact that the core refuses is a difference with the core's reason."""
    rewrite(lambda events: [events[0], _submission(2, "impossible")])
    difference = _replay(small).difference

    assert difference is not None
    assert difference.seq == 2
    assert "cannot have happened: there is no such thing" in difference.problem


def test_unreadable_event(small: Path, hood) -> None:
    """Bytes that are no event end the replay with a difference, not a traceback."""
    hood("UPDATE events SET payload = ? WHERE seq = 4", b"{")
    difference = _replay(small).difference

    assert difference is not None
    assert difference.seq == 4
    assert "event 4 cannot be read" in difference.problem


def test_progress(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is told now and then, and at the end."""
    monkeypatch.setattr("gpol.journal.audit.replay.AT_ONCE", 3)
    monkeypatch.setattr("gpol.journal.store.recorder.PAGE_EVENTS", 2)
    told: list[int] = []
    with Journal.open(small, readonly=True) as journal:
        replay(journal, told.append, decider=Rejecter())

    assert told == [3, 5, 7]


# --- with the core and the compiler ---------------------------------------------------------------------------------


def _activation(time: int, text: str = POLICY) -> tuple[PolicyActivated, PolicyGraph]:
    checked = check(text, "two.gpol")
    assert checked.graph is not None
    profiles = tuple(ProfileText(name=name, text=text) for name, text in checked.profiles)
    return PolicyActivated(time=time, file="two.gpol", text=text, profiles=profiles, digest=checked.graph.digest), checked.graph


def _work(time: int, name: str, queue: str, gpus: int) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": f"{gpus}"}),))


@pytest.fixture
def cluster(place: Path) -> Path:
    """A journal of the core: a guest borrows, the owner comes back and waits for the guest's protection, then evicts it."""
    core = new_core()
    with Journal.create(place) as journal:
        facts: list[tuple[Fact, PolicyGraph | None]] = [
            _activation(0),
            (_work(MINUTE, "guest-1", "guest", 6), None),
            (_work(5 * MINUTE, "owner-1", "owner", 4), None),
            (TimeAdvanced(time=11 * MINUTE), None),
            (CapacityChanged(time=12 * MINUTE, flavor="a100", capacity={"gpu": "16"}), None),
            _activation(13 * MINUTE, POLICY.replace("gpu 8 }", "gpu 32 }")),
            (WorkloadFinished(time=14 * MINUTE, workload="owner-1"), None),
        ]
        _play(journal, core, facts)
        kinds = [recorded.event.kind for recorded in journal.events() if recorded.event.is_decision]
        assert kinds == ["WorkloadAdmitted", "WorkloadEvicted", "WorkloadAdmitted", "WorkloadAdmitted"]
    return place


def test_core_replays(cluster: Path) -> None:
    """What the core decided under recorded policies is decided again, and the journal verifies."""
    with Journal.open(cluster, readonly=True) as journal:
        assert verify(journal).good
        assert replay(journal) == ReplayReport(facts=7, decisions=4, difference=None)


def test_core_resumes(cluster: Path) -> None:
    """A core that has replayed a journal goes on as the one that wrote it would."""
    core = new_core()
    with Journal.open(cluster, readonly=False) as journal:
        assert replay(journal, decider=core).same
        fact = _work(20 * MINUTE, "owner-2", "owner", 2)
        journal.append([[fact, *core.step(fact)]])

        assert replay(journal).same


def _with_policy(text: str, events: list[AnyEvent]) -> list[AnyEvent]:
    return [events[0].model_copy(update={"text": text}), *events[1:]]


def test_forged_policy(cluster: Path, rewrite) -> None:
    """A policy whose text no longer has the recorded digest, or does not compile, is a difference at its event."""
    for text, words in (
        (POLICY.replace("8 gpu on", "7 gpu on"), "another digest"),
        (POLICY.replace("flavor", "flavour"), "does not compile"),
    ):
        rewrite(functools.partial(_with_policy, text))
        with Journal.open(cluster, readonly=True) as journal:
            difference = replay(journal).difference

        assert difference is not None
        assert difference.seq == 1
        assert words in difference.problem


def test_profiles_come_from_the_event(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay reads the profiles that were recorded, not those that the program ships today."""
    monkeypatch.setattr("gpol.dsl.analysis.checker.shipped", lambda name: None)
    with Journal.open(cluster, readonly=True) as journal:
        assert replay(journal).same


def test_another_semantics_version(small: Path, rewrite: Callable[[Change], None], hood) -> None:
    """A difference at an event of another semantics version is reported with its writer; at an event of this one it is not."""
    rewrite(lambda events: [*events[:2], *events[3:]])
    assert _replay(small).writer is None

    hood("UPDATE writers SET semantics = 7, program = '0.0.1'")
    report = _replay(small)
    assert report.writer == Writer(1, "0.0.1", 7)
    assert report.bad_seq == 3
    assert other_semantics(3, report.writer) == (
        f"event 3 was written under semantics 7 by gpol 0.0.1; this program decides by semantics {SEMANTICS}: a difference is expected,"
        " and says nothing about tampering; replay with that version"
    )


def test_the_same_decisions_of_another_version(small: Path, hood) -> None:
    """Where every decision is the same, it does not matter which version wrote it."""
    hood("UPDATE writers SET semantics = 7")

    assert _replay(small) == ReplayReport(facts=5, decisions=2, difference=None)


def test_a_damaged_table_of_writers(small: Path, rewrite: Callable[[Change], None], hood) -> None:
    """Without the table a difference is judged as one of this version."""
    rewrite(lambda events: [*events[:2], *events[3:]])
    hood("DROP TABLE writers")

    assert (_replay(small).bad_seq, _replay(small).writer) == (3, None)

"""Reading by workload, kind, queue and time gives exactly the events that a look at all of them would."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from gpol.engine.event_parts import Charge, PodSet, RuleRef
from gpol.engine.events import AnyEvent, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced
from gpol.engine.facts import OperatorAction, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted, WorkloadUpdated
from gpol.engine.outcome.grounds import Why
from gpol.journal.journal import Journal
from gpol.journal.read import workload_origins as origins
from gpol.journal.read.event_selection import Selection, select, select_with_origins


def _submitted(time: int, name: str, queue: str | None = None, user: str = "ada") -> WorkloadSubmitted:
    pods = (PodSet(requests={"gpu": 1}),)
    return WorkloadSubmitted(time=time, workload=name, queue=queue, user=user, namespace=f"of-{user}", pod_sets=pods)


def _admitted(time: int, cause: int, name: str, queue: str) -> WorkloadAdmitted:
    usage = (Charge(flavor="f", resource="gpu", amount=1),)
    return WorkloadAdmitted(
        time=time,
        cause=cause,
        workload=name,
        queue=queue,
        priority=0,
        reason="FitsOwned",
        assignments=(),
        usage=usage,
        borrowed=(),
        why=Why(),
    )


RECLAIMED = Why(rule=RuleRef(name="reclaim", file="p.gpol", line=3))

REJECTED = {"queue": None, "reason": "NoMatchingQueue"}

EVENTS: list[list[AnyEvent]] = [
    [TimeAdvanced(time=10)],  # 1
    [_submitted(20, "a", "p")],  # 2
    [_submitted(20, "b")],  # 3: in queue q, as is found out at 5
    [WorkloadUpdated(time=20, workload="a", hold=True)],  # 4
    [TimeAdvanced(time=30), _admitted(30, 5, "b", "q")],  # 5, 6
    [
        _submitted(40, "c"),
        WorkloadRejected(time=40, cause=7, workload="c", why=Why(), **REJECTED),
    ],  # 7, 8: in no queue
    [WorkloadFinished(time=40, workload="b")],  # 9
    [_submitted(50, "b", "p", user="bob")],  # 10: another workload of the same name
    [
        OperatorAction(time=60, by="o", action="release", workload="a"),  # 11
        WorkloadEvicted(
            time=60,
            cause=11,
            workload="b",
            queue="r",
            priority=0,
            reason="Preempted",
            beneficiary="a",
            preemption="other",
            usage=(),
            why=RECLAIMED,
        ),  # 12
        _admitted(60, 11, "a", "p"),  # 13
    ],
    [WorkloadCancelled(time=70, workload="b")],  # 14: last seen in r, after a change of policy
    [
        _submitted(80, "d", "p"),  # 15
        WorkloadReplaced(time=80, cause=15, workload="a", queue="p", by="d", usage=(), why=Why()),  # 16
        _admitted(80, 15, "d", "p"),  # 17
    ],
    [_submitted(90, "a")],  # 18: another workload of the same name, in no queue
]

QUEUES = {2: "p", 3: "q", 4: "p", 6: "q", 9: "q", 10: "p", 11: "p", 12: "r", 13: "p", 14: "r", 15: "p", 16: "p", 17: "p"}
"""The queue of each event that has one."""

SUBMISSIONS = {2: 2, 3: 3, 4: 2, 6: 3, 7: 7, 8: 7, 9: 3, 10: 10, 11: 2, 12: 10, 13: 2, 14: 10, 15: 15, 16: 2, 17: 15, 18: 18}
"""The submission of each event that is of a workload."""

USERS = {seq: "bob" if seq in (10, 12, 14) else "ada" for seq in range(2, 19) if seq not in (5,)}
"""Who submitted the workload of each event that is of one."""


@pytest.fixture
def filled(journal: Journal) -> Iterator[Journal]:
    """A journal of these events."""
    journal.append(EVENTS)
    return journal


def _selected(journal: Journal, newest_first: bool = False, **choices: Any) -> list[int]:
    return [recorded.seq for recorded in select(journal, Selection(**choices), newest_first=newest_first)]


def test_everything(filled: Journal) -> None:
    """A selection that says nothing selects all."""
    assert _selected(filled) == list(range(1, 19))


@pytest.mark.parametrize("at_hand", [1, 2, 3, 100])
@pytest.mark.parametrize("queue", ["p", "q", "r", "s"])
def test_queues(filled: Journal, queue: str, at_hand: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue's events are those that name it and those of the workloads in it at the time, however far one looks ahead."""
    monkeypatch.setattr(origins, "_AT_HAND", at_hand)
    assert _selected(filled, queue=queue) == [seq for seq, name in QUEUES.items() if name == queue]


FLAT = [event for batch in EVENTS for event in batch]


def _expected(**choices: Any) -> list[int]:
    """What holds for all choices, found by looking at every event."""
    said = {"kinds": (), "since": None, "until": None, "after": 0, **choices}
    asked = {name: value for name, value in said.items() if name not in ("kinds", "since", "until", "after") and value is not None}
    return [
        seq
        for seq, event in enumerate(FLAT, 1)
        if (not said["kinds"] or event.kind in said["kinds"])
        and (said["since"] is None or event.time >= said["since"])
        and (said["until"] is None or event.time <= said["until"])
        and seq > said["after"]
        and all(_facets(seq, event)[name] == value for name, value in asked.items())
    ]


def _facets(seq: int, event: AnyEvent) -> dict[str, object]:
    why = getattr(event, "why", None)
    return {
        "workload": getattr(event, "workload", None),
        "queue": QUEUES.get(seq),
        "user": USERS.get(seq),
        "namespace": None if seq not in USERS else f"of-{USERS[seq]}",
        "reason": getattr(event, "reason", None),
        "rule": why and why.rule and why.rule.name,
        "cause": getattr(event, "cause", None),
    }


@pytest.mark.parametrize("newest_first", [False, True])
def test_all_combinations(filled: Journal, newest_first: bool) -> None:
    """Every combination of workload, kinds, queue, user and times selects what holds for all of them, in either order."""
    for workload, kinds, queue, user, since, until in itertools.product(
        (None, "a", "b"),
        ((), ("WorkloadSubmitted",), ("WorkloadFinished", "WorkloadEvicted"), ("X",)),
        (None, "p"),
        (None, "ada", "bob"),
        (None, 20, 41),
        (None, 40),
    ):
        choices = {"workload": workload, "kinds": kinds, "queue": queue, "user": user, "since": since, "until": until}
        found = _selected(filled, newest_first, **choices)

        assert found == _expected(**choices)[:: -1 if newest_first else 1], choices


@pytest.mark.parametrize(
    "choices",
    [
        {"namespace": "of-bob"},
        {"namespace": "of-bob", "kinds": ("WorkloadEvicted",)},
        {"reason": "Preempted"},
        {"rule": "reclaim"},
        {"rule": "reclaim", "queue": "r"},
        {"after": 11},
        {"after": 18},
        {"after": 3, "since": 20, "until": 40},
        {"cause": 11},
        {"cause": 11, "after": 12},
        {"cause": 11, "workload": "b"},
        {"cause": 15, "kinds": ("WorkloadAdmitted",)},
        {"cause": 18},
        {"cause": 11, "until": 30},
    ],
)
@pytest.mark.parametrize("newest_first", [False, True])
def test_filters(filled: Journal, choices: dict[str, Any], newest_first: bool) -> None:
    """Whose the workload is, what the decision says, which fact caused it, and where to begin are each exact, also together."""
    assert _selected(filled, newest_first, **choices) == _expected(**choices)[:: -1 if newest_first else 1]


@pytest.mark.parametrize("choices", [{}, {"after": 11}, {"workload": "b"}, {"kinds": ("WorkloadFinished", "WorkloadCancelled")}])
def test_origins(filled: Journal, choices: dict[str, Any]) -> None:
    """Each event comes with the submission of its workload, of two under the same name the right one, and with its queue."""
    found = {recorded.seq: origin for recorded, origin in select_with_origins(filled, Selection(**choices))}

    assert list(found) == _expected(**choices)
    assert {seq: origin.seq for seq, origin in found.items()} == {seq: SUBMISSIONS.get(seq) for seq in found}
    assert {seq: origin.queue for seq, origin in found.items()} == {seq: QUEUES.get(seq) for seq in found}
    for origin in found.values():
        assert origin.submission == (None if origin.seq is None else FLAT[origin.seq - 1])


def test_filters_find_something() -> None:
    """The cases above are no comparisons of nothing with nothing."""
    assert [seq for seq, name in USERS.items() if name == "bob"] == [10, 12, 14]
    assert _expected(rule="reclaim") == [12]
    assert _expected(cause=11) == [12, 13]
    assert _expected(reason="Preempted") == [12]


@pytest.mark.parametrize(("time", "seq"), [(-1, 0), (9, 0), (10, 1), (19, 1), (20, 4), (39, 6), (40, 9), (79, 14), (80, 17), (2**63, 18)])
def test_seq_at(filled: Journal, time: int, seq: int) -> None:
    """The last event at a time is the last of those that share it."""
    assert filled.seq_at(time) == seq


def test_seq_at_of_nothing(journal: Journal) -> None:
    """An empty journal has no event at any time."""
    assert journal.seq_at(5) == 0


def test_times_are_found_without_reading_all(journal: Journal, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time is found by looking at as many events as the journal's length has bits."""
    journal.append(history(400))
    looked: list[int] = []
    at = Journal.at
    monkeypatch.setattr(Journal, "at", lambda self, seq: looked.append(seq) or at(self, seq))
    journal.seq_at(journal.at(77).event.time)

    assert len(looked) <= 1 + journal.head.seq.bit_length()

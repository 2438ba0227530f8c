"""Reading by workload, kind, queue and time gives exactly the events that a look at all of them would."""

import itertools
from collections.abc import Iterator

import pytest
from gpol.engine.events import (
    AnyEvent,
    Charge,
    OperatorAction,
    PodSet,
    TimeAdvanced,
    Why,
    WorkloadAdmitted,
    WorkloadCancelled,
    WorkloadEvicted,
    WorkloadFinished,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from gpol.journal.journal import Journal
from gpol.journal.read import Selection, select


def _submitted(time: int, name: str, queue: str | None = None) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": 1}),))


def _admitted(time: int, cause: int, name: str, queue: str) -> WorkloadAdmitted:
    usage = (Charge(flavor="f", resource="gpu", amount=1),)
    return WorkloadAdmitted(
        time=time, cause=cause, workload=name, queue=queue, assignments=(), usage=usage, borrowed=(), why=Why(reason="Admitted")
    )


OUT = Why(reason="Preempted")

EVENTS: list[list[AnyEvent]] = [
    [TimeAdvanced(time=10)],  # 1
    [_submitted(20, "a", "p")],  # 2
    [_submitted(20, "b")],  # 3: in queue q, as is found out at 5
    [WorkloadUpdated(time=20, workload="a", hold=True)],  # 4
    [TimeAdvanced(time=30), _admitted(30, 5, "b", "q")],  # 5, 6
    [_submitted(40, "c"), WorkloadRejected(time=40, cause=7, workload="c", why=Why(reason="NoQueue"))],  # 7, 8: in no queue
    [WorkloadFinished(time=40, workload="b")],  # 9
    [_submitted(50, "b", "p")],  # 10: another workload of the same name
    [
        OperatorAction(time=60, operator="o", action="release", workload="a"),  # 11
        WorkloadEvicted(
            time=60, cause=11, workload="b", queue="r", beneficiary="a", preemption="other", usage=(), why=Why(reason="E")
        ),  # 12
        _admitted(60, 11, "a", "p"),  # 13
    ],
    [WorkloadCancelled(time=70, workload="b")],  # 14: last seen in r, after a change of policy
    [
        _submitted(80, "d", "p"),  # 15
        WorkloadReplaced(time=80, cause=15, workload="a", queue="p", by="d", usage=(), why=OUT),  # 16
        _admitted(80, 15, "d", "p"),  # 17
    ],
    [_submitted(90, "a")],  # 18: another workload of the same name, in no queue
]

QUEUES = {2: "p", 3: "q", 4: "p", 6: "q", 9: "q", 10: "p", 11: "p", 12: "r", 13: "p", 14: "r", 15: "p", 16: "p", 17: "p"}
"""The queue of each event that has one."""


@pytest.fixture
def filled(journal: Journal) -> Iterator[Journal]:
    """A journal of these events."""
    journal.append(EVENTS)
    return journal


def _selected(journal: Journal, **choices: object) -> list[int]:
    return [recorded.seq for recorded in select(journal, Selection(**choices))]  # type: ignore[arg-type]


def test_everything(filled: Journal) -> None:
    """A selection that says nothing selects all."""
    assert _selected(filled) == list(range(1, 19))


@pytest.mark.parametrize("queue", ["p", "q", "r", "s"])
def test_queues(filled: Journal, queue: str) -> None:
    """A queue's events are those that name it and those of the workloads in it at the time."""
    assert _selected(filled, queue=queue) == [seq for seq, name in QUEUES.items() if name == queue]


def test_all_combinations(filled: Journal) -> None:
    """Every combination of workload, kind, queue and times selects what holds for all of them."""
    flat = [event for batch in EVENTS for event in batch]
    for workload, kind, queue, since, until in itertools.product(
        (None, "a", "b", "x"), (None, "WorkloadSubmitted", "WorkloadFinished", "X"), (None, "p", "q"), (None, 0, 20, 41), (None, 5, 40, 90)
    ):
        expected = [
            seq
            for seq, event in enumerate(flat, 1)
            if workload in (None, getattr(event, "workload", None))
            and kind in (None, event.kind)
            and queue in (None, QUEUES.get(seq))
            and (since is None or event.time >= since)
            and (until is None or event.time <= until)
        ]
        choices = {"workload": workload, "kind": kind, "queue": queue, "since": since, "until": until}

        assert _selected(filled, **choices) == expected, choices


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

"""Comparing two histories moment by moment: what is the same, what only one has, and where they part."""

import pytest
from gpol.engine.event_parts import Assignment, Charge, Operand, PlacedPods
from gpol.engine.events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadReplaced,
)
from gpol.engine.outcome.grounds import Why
from gpol.sim.impact.history_diff import Changes, Tally, what

WHY = Why()
OTHER = Why(operands=(Operand(name="victims", value="1"),))


def admitted(
    workload: str = "w", flavor: str = "a100", time: int = 1, cause: int = 1, why: Why = WHY, queue: str = "q"
) -> WorkloadAdmitted:
    """An admission."""
    charges = (Charge(flavor=flavor, resource="gpu", amount=1000),)
    places = (Assignment(pod_set="main", count=1, flavors={"gpu": flavor}),)
    return WorkloadAdmitted(
        time=time,
        cause=cause,
        workload=workload,
        queue=queue,
        priority=0,
        reason="FitsOwned",
        assignments=places,
        usage=charges,
        borrowed=charges,
        why=why,
    )


def evicted(workload: str = "w", beneficiary: str | None = "b", time: int = 1) -> WorkloadEvicted:
    """An eviction."""
    return WorkloadEvicted(
        time=time,
        cause=1,
        workload=workload,
        queue="q",
        priority=0,
        reason="Preempted",
        beneficiary=beneficiary,
        preemption="reclaim",
        usage=(),
        why=WHY,
    )


DECISIONS: list[AnyDecision] = [
    admitted(),
    evicted(),
    WorkloadRejected(time=1, cause=1, workload="w", queue=None, reason="Denied", why=WHY),
    WorkloadReplaced(time=1, cause=1, workload="w", queue="q", by="x", usage=(), why=WHY),
    WorkloadDeferred(time=1, cause=1, workload="w", queue="q", reason="WaitingForQuota", outcome="no fit", waits="next", why=WHY),
    WorkloadPlaced(
        time=1,
        cause=1,
        workload="w",
        queue="q",
        reason="NodeLost",
        assignments=(Assignment(pod_set="main", count=1, flavors={"gpu": "a100"}, places=(PlacedPods(domain=("n1",), pods=1),)),),
        why=WHY,
    ),
]

PLACED_OTHERWISE = (Assignment(pod_set="main", count=1, flavors={"gpu": "a100"}, places=(PlacedPods(domain=("n1",), pods=1),)),)

CHANGED: list[tuple[AnyDecision, dict[str, object]]] = [
    (DECISIONS[0], {"borrowed": ()}),
    (DECISIONS[0], {"assignments": ()}),
    (DECISIONS[0], {"assignments": PLACED_OTHERWISE}),
    (DECISIONS[0], {"usage": ()}),
    (DECISIONS[0], {"queue": "r"}),
    (DECISIONS[1], {"beneficiary": None}),
    (DECISIONS[1], {"preemption": "other"}),
    (DECISIONS[3], {"by": "y"}),
    (DECISIONS[4], {"waits": "parked"}),
    (DECISIONS[4], {"preempting": True}),
    (DECISIONS[4], {"alike": True}),
    (DECISIONS[5], {"assignments": ()}),
]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda each: each.kind)
def test_why_and_numbers_do_not_count(decision: AnyDecision) -> None:
    """Two decisions that decide the same for other reasons, because of another event, are the same."""
    assert what(decision.model_copy(update={"why": OTHER, "cause": 7})) == what(decision)


@pytest.mark.parametrize(("decision", "said"), CHANGED)
def test_all_else_counts(decision: AnyDecision, said: dict[str, object]) -> None:
    """Another queue, place, amount, beneficiary or kind of waiting is another decision."""
    assert what(decision.model_copy(update=said)) != what(decision)


def test_kinds_are_told_apart() -> None:
    """No two kinds of decisions about one workload are the same."""
    assert len({what(decision) for decision in DECISIONS}) == len(DECISIONS)


def test_equal_histories_have_no_difference() -> None:
    """The same decisions at the same moments, in whatever batches and order, are no change."""
    changes = Changes()
    changes.take_recorded(1, 1, [admitted("a"), admitted("b")])
    changes.take_played(1, [admitted("b", cause=9)])
    changes.take_played(1, [admitted("a")])
    changes.finish()

    assert (changes.same, changes.changed, changes.parting, changes.tallies) == (2, 0, None, {})


def test_changes_are_counted_by_kind_and_queue() -> None:
    """One that is gone, one that is new, and one that is placed otherwise."""
    changes = Changes()
    changes.take_recorded(1, 1, [admitted("a"), evicted("v"), admitted("c", queue="r")])
    changes.take_played(1, [admitted("a", flavor="h100"), admitted("d", queue="r")])
    changes.finish()

    assert changes.tallies == {
        ("WorkloadAdmitted", "q"): Tally(other=1),
        ("WorkloadEvicted", "q"): Tally(gone=1),
        ("WorkloadAdmitted", "r"): Tally(gone=1, new=1),
    }
    assert changes.changed == 4


@pytest.mark.parametrize(("recorded", "played", "tally"), [(1, 2, Tally(new=1, other=1)), (2, 1, Tally(gone=1, other=1))])
def test_one_decision_takes_the_place_of_one(recorded: int, played: int, tally: Tally) -> None:
    """Admitted twice at one moment, for an eviction in between, and once in the other history elsewhere: one is otherwise, one alone."""
    changes = Changes()
    changes.take_recorded(1, 1, [admitted(flavor=f"a{number}") for number in range(recorded)])
    changes.take_played(1, [admitted(flavor=f"h{number}") for number in range(played)])
    changes.finish()

    assert changes.tallies == {("WorkloadAdmitted", "q"): tally}


def test_the_same_decision_at_another_moment_is_two_changes() -> None:
    """An admission that comes a moment later is gone at one moment and new at the other."""
    changes = Changes()
    changes.take_recorded(1, 1, [admitted("a")])
    changes.take_played(2, [admitted("a", time=2)])
    changes.finish()

    assert changes.tallies == {("WorkloadAdmitted", "q"): Tally(gone=1, new=1)}


@pytest.mark.parametrize("recorded_first", [True, False])
def test_the_first_difference_is_named(recorded_first: bool) -> None:
    """Whichever history is told first, the parting is the earliest moment, with the seq of the recorded decision."""
    changes = Changes()

    def recorded() -> None:
        changes.take_recorded(1, 1, [admitted("a")])
        changes.take_recorded(3, 2, [admitted("b", time=2), admitted("c", time=2)])
        changes.take_recorded(6, 9, [])

    def played() -> None:
        changes.take_played(1, [admitted("a")])
        changes.take_played(2, [admitted("b", time=2)])
        changes.take_played(3, [admitted("c", time=3)])

    for tell in (recorded, played) if recorded_first else (played, recorded):
        tell()
    changes.finish()

    assert changes.parting is not None
    assert (changes.parting.time, changes.parting.recorded, changes.parting.played) == (2, ((5, admitted("c", time=2)),), ())


def test_moments_that_both_have_passed_are_let_go() -> None:
    """What is kept does not grow with the histories."""
    changes = Changes()
    for time in range(1, 100):
        changes.take_recorded(time, time, [admitted("a", time=time)])
        changes.take_played(time, [admitted("a", time=time)])

    assert len(changes._moments) == 1
    assert changes.same == 98

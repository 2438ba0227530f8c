"""What gpol writes to a Workload: once for each decision, whole, and only in the state that it is for."""

import json
from typing import Any

import pytest
from gpol.adapters.kueue.live.protocol import DECIDED, Mark
from gpol.adapters.kueue.live.writes import body, safe_message, undecided, write_of
from gpol.adapters.live.desired import Desired
from gpol.engine.event_parts import Assignment, Charge, RuleRef
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from gpol.engine.outcome.grounds import Why
from workload_states import JOURNAL, NOW, STEPS, after, plain, policy, seen

WHY = Why(rule=RuleRef(name="reclaim-owned", file="live.gpol", line=7))
CHARGE = (Charge(flavor="h100", resource="gpu", amount=4000),)
WAITS = after(plain(), STEPS.reserve)


def admitted(seq: int = 5) -> Desired:
    """An admission."""
    given = (Assignment(pod_set="main", count=2, flavors={"gpu": "h100"}),)
    fields: Any = {"queue": "research", "priority": 3, "reason": "FitsOwned", "assignments": given, "usage": CHARGE, "borrowed": ()}
    return Desired(seq, WorkloadAdmitted(time=NOW + 1_500_000, cause=seq - 1, workload="team/a", why=WHY, **fields))


def evicted(seq: int = 7, workload: str = "team/a") -> Desired:
    """An eviction for another workload."""
    fields: Any = {
        "queue": "research",
        "priority": 3,
        "reason": "Preempted",
        "beneficiary": "team/b",
        "preemption": "reclaim",
        "usage": CHARGE,
    }
    return Desired(seq, WorkloadEvicted(time=NOW, cause=seq - 1, workload=workload, why=WHY, **fields))


def rejected(seq: int = 3) -> Desired:
    """A rejection."""
    return Desired(seq, WorkloadRejected(time=NOW, cause=seq - 1, workload="team/a", queue="research", reason="Denied", why=WHY))


def wants(desired: Desired | None, workload: Any) -> bool:
    """Whether there is something to write."""
    return write_of(desired, "team/a", seen(workload), JOURNAL)


def test_an_admission_is_written_once() -> None:
    """To a workload that asks, and not to one that bears its mark."""
    assert wants(admitted(), WAITS)
    assert not wants(admitted(), after(plain(), STEPS.reserve, ("Ready", 5)))
    assert not wants(admitted(), after(plain(), STEPS.reserve, ("Ready", 5), lambda it: STEPS.evict(it, "X"), STEPS.stop, STEPS.reserve))
    assert not wants(admitted(), plain())
    assert not wants(None, WAITS)


def test_the_mark_of_another_journal_is_none() -> None:
    """Its numbers say nothing about this one."""
    workload = after(plain(), STEPS.reserve, ("Pending", 9))
    assert not wants(admitted(), workload)
    assert write_of(admitted(), "team/a", seen(workload), "f" * 32)


def test_an_eviction_is_written_to_one_that_runs() -> None:
    """Not to one that waits, or that Kueue stops already."""
    running = after(plain(), STEPS.reserve, ("Ready", 5), STEPS.admit)
    assert wants(evicted(), running)
    assert not wants(evicted(), after(running, ("Retry", 7), STEPS.evict))
    assert not wants(evicted(), WAITS)


def test_the_eviction_of_an_earlier_slice_is_written_to_the_later_one() -> None:
    """Though that one waits: the pods belong to it. Once is enough."""
    assert write_of(evicted(workload="team/earlier"), "team/a", seen(WAITS), JOURNAL)
    assert not write_of(evicted(workload="team/earlier"), "team/a", seen(after(plain(), STEPS.reserve, ("Pending", 7))), JOURNAL)


def test_a_rejection_is_written_to_one_that_asks() -> None:
    """Once, so that an owner who activates it again asks anew."""
    assert wants(rejected(), WAITS)
    assert not wants(rejected(), after(plain(), STEPS.reserve, ("Pending", 3)))


def test_a_write_names_the_life_and_the_version_that_it_is_for() -> None:
    """And says the answer, the pods' machines, who decided, and why."""
    written = body("team/a", "41", seen(WAITS), admitted(), "gpol", JOURNAL, policy(), {})
    assert written["metadata"] == {"namespace": "team", "name": "a", "uid": "uid-a", "resourceVersion": "41"}
    (answer,), (condition,) = written["status"]["admissionChecks"], written["status"]["conditions"]
    (update,) = answer["podSetUpdates"]
    assert (answer["name"], answer["state"], answer["lastTransitionTime"]) == ("gpol", "Ready", "2027-01-15T08:00:01Z")
    assert "reclaim-owned" in answer["message"]
    assert "live.gpol:7" in answer["message"]
    assert (condition["type"], condition["status"], Mark.read(condition["reason"])) == (DECIDED, "True", Mark(JOURNAL, 5))
    assert update["nodeSelector"] == {"model": "h100"}
    assert update["labels"] == {"gpol.dev/workload": "uid-a"}
    assert (update["annotations"]["gpol.dev/decision"], json.loads(update["annotations"]["gpol.dev/flavors"])) == ("5", {"gpu": "h100"})


@pytest.mark.parametrize(("desired", "state"), [(evicted(), "Retry"), (rejected(), "Rejected")])
def test_who_is_not_let_run_keeps_no_machines(desired: Desired, state: str) -> None:
    """What was said of its pods would stay otherwise, and count for its next life. Kueue is not told to wait before it stops it."""
    written = body("team/a", "41", seen(WAITS), desired, "gpol", JOURNAL, policy(), {})
    (answer,), (condition,) = written["status"]["admissionChecks"], written["status"]["conditions"]
    assert (answer["state"], answer["podSetUpdates"], condition["status"]) == (state, [], "False")
    assert "requeueAfterSeconds" not in answer


def test_the_same_decision_is_the_same_write() -> None:
    """Whenever it is written: an API server takes it for no change then."""
    assert body("team/a", "41", seen(WAITS), admitted(), "gpol", JOURNAL, policy(), {}) == body(
        "team/a", "41", seen(WAITS), admitted(), "gpol", JOURNAL, policy(), {}
    )


def test_what_is_said_while_it_waits_keeps_the_mark() -> None:
    """What gpol leaves out of an apply would be dropped."""
    workload = after(plain(), STEPS.reserve, ("Pending", 7))
    written = undecided("team/a", "41", seen(workload), "gpol", "why", NOW)
    assert [row["reason"] for row in written["status"]["conditions"]] == [Mark(JOURNAL, 7).reason]
    assert "conditions" not in undecided("team/a", "41", seen(WAITS), "gpol", "why", NOW)["status"]


def test_messages_are_such_that_kueue_passes_them_on() -> None:
    """It takes some for a format, and cuts long ones."""
    assert safe_message("50% of") == "50 percent of"
    assert len(safe_message("x" * 5_000)) == 900

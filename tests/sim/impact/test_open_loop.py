"""Open loop: each recorded moment decided again on the recorded state, each difference told once."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import CapacityChanged, Fact, OperatorAction, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.engine.units import MINUTE
from gpol.journal.journal import Batch, Journal
from gpol.sim.drive.policy import Policy
from gpol.sim.impact.open_impact import OpenImpact, UnlikeError, open_impact
from gpol.sim.impact.open_loop import OpenLoop, Redecision

Make = Callable[..., Policy]

FAIR = """
policy "p" { use gpol.fair }
flavor a100 { gpu 8 }
flavor h100 { gpu 8 }
cohort all {
  queue owner {
    owns 8 gpu on a100
    only a100
  }
  queue guest {
    owns nothing
    only a100
  }
}
"""

NOBODY_GOES = FAIR.replace("{ use gpol.fair }", "{\n  use gpol.fair\n  preempt by nothing\n}")

NO_GUESTS = FAIR + 'deny no-guests for guest { where workload.gpu > 0 } because "no guests"\n'


def _submitted(time: int, name: str, queue: str, gpus: str = "8") -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": gpus}),))


def _found(place: Path, old: Policy, facts: Sequence[Fact], new: Policy) -> OpenImpact:
    """What is found in the history of these facts under one policy when another one decides."""
    core, start = new_core(), old.activation(0)
    with Journal.create(place) as journal:
        journal.append([[start, *core.step(start, old.graph)], *([fact, *core.step(fact)] for fact in facts)])
        return open_impact(journal, new)


def _told(found: OpenImpact) -> set[tuple[str, str, int]]:
    return {(each.redecision.category, each.redecision.workload, each.redecision.time) for each in found.shown}


FACTS: list[Fact] = [
    _submitted(0, "g", "guest"),
    _submitted(MINUTE, "o", "owner"),
    TimeAdvanced(time=2 * MINUTE),
    TimeAdvanced(time=3 * MINUTE),
    WorkloadFinished(time=4 * MINUTE, workload="o"),
    TimeAdvanced(time=5 * MINUTE),
]
"""Under FAIR the guest yields to the owner after a minute, and runs again after four."""


def test_an_eviction_that_is_not_made_is_told_with_its_beneficiary(tmp_path: Path, policy: Make) -> None:
    """Where nobody goes, the guest is no longer evicted, and the owner no longer admitted, at that moment: then all is as recorded."""
    found = _found(tmp_path / "j.db", policy(FAIR), FACTS, policy(NOBODY_GOES))

    assert _told(found) == {("no longer evicted", "g", MINUTE), ("no longer admitted", "o", MINUTE)}
    assert found.tallies == (("no longer admitted", "owner", 1), ("no longer evicted", "guest", 1))
    owner = next(each for each in found.shown if each.redecision.workload == "o")
    assert owner.redecision.standing is not None
    assert owner.redecision.standing.reason == "WaitingForQuota"
    assert owner.redecision.seq == 6, "activated 1, g 2 and 3, o submitted 4, g evicted 5, o admitted 6"


def test_what_goes_on_differing_is_told_once(tmp_path: Path, policy: Make) -> None:
    """Where somebody would go at any of three moments, the eviction and the admission are told at the first one only."""
    facts = [fact for fact in FACTS if not isinstance(fact, WorkloadFinished)]
    found = _found(tmp_path / "j.db", policy(NOBODY_GOES), facts, policy(FAIR))

    assert _told(found) == {("newly evicted", "g", MINUTE), ("newly admitted", "o", MINUTE)}
    assert found.changed == 2
    admitted = next(each for each in found.shown if each.redecision.workload == "o")
    assert admitted.before is not None
    assert admitted.before.reason == "WaitingForQuota"


def test_what_is_appended_meanwhile_is_no_part_of_it(tmp_path: Path, policy: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that grows while it is decided again is decided as far as it went when that began: two moments, no more."""
    old, place = policy(FAIR), tmp_path / "j.db"
    core, take = new_core(), OpenLoop.take
    with Journal.create(place) as journal:

        def append(fact: Fact) -> None:
            journal.append([[fact, *core.step(fact, old.graph if core.graph is None else None)]])

        def take_and_append(loop: OpenLoop, batch: Batch) -> Iterator[Redecision]:
            if core.time < 9:
                append(TimeAdvanced(time=core.time + 1))
            return take(loop, batch)

        append(old.activation(0))
        append(TimeAdvanced(time=1))

        monkeypatch.setattr(OpenLoop, "take", take_and_append)
        with Journal.open(place) as reader:
            found = open_impact(reader, old)

    assert (found.moments, core.seq) == (2, 4)


def test_what_differs_again_is_told_again(tmp_path: Path, policy: Make) -> None:
    """Once the recorded history has admitted and an operator evicted the owner's workload, its newly found admission is another one."""
    facts: list[Fact] = [
        *FACTS[:2],
        WorkloadFinished(time=2 * MINUTE, workload="g"),
        OperatorAction(time=3 * MINUTE, by="ada", action="evict", workload="o"),
        _submitted(4 * MINUTE, "h", "guest"),
        OperatorAction(time=5 * MINUTE, by="ada", action="release", workload="o"),
    ]
    found = _found(tmp_path / "j.db", policy(NOBODY_GOES), facts, policy(FAIR))

    assert [each for each in sorted(_told(found)) if each[1] == "o"] == [
        ("newly admitted", "o", MINUTE),
        ("newly admitted", "o", 5 * MINUTE),
    ]


def test_another_place_is_told_as_such(tmp_path: Path, policy: Make) -> None:
    """A workload that both admit, on another flavor, is placed otherwise."""
    new = policy(FAIR.replace("owns nothing\n    only a100", "owns nothing\n    only h100"))
    found = _found(tmp_path / "j.db", policy(FAIR), FACTS[:1], new)

    assert _told(found) == {("placed otherwise", "g", 0)}


def test_who_is_rejected_is_told_once_and_takes_no_room(tmp_path: Path, policy: Make) -> None:
    """Guests that are denied: the one difference about them is that, with the admission that was recorded and its GPUs."""
    found = _found(tmp_path / "j.db", policy(FAIR), FACTS, policy(NO_GUESTS))

    assert [each for each in _told(found) if each[1] == "g"] == [("newly rejected", "g", 0)]
    [shown] = [each.redecision for each in found.shown if each.redecision.workload == "g"]
    assert (shown.queue, shown.gpus) == ("guest", 8000)
    assert shown.recorded is not None
    assert shown.recorded.kind == "WorkloadAdmitted"
    assert shown.decided is not None
    assert shown.decided.kind == "WorkloadRejected"


def test_who_would_have_waited_is_newly_rejected_in_the_queue_that_it_was_meant_for(tmp_path: Path, policy: Make) -> None:
    """A second guest finds no room in history, and under the other policy is denied: its queue and its GPUs are those it asked for."""
    found = _found(tmp_path / "j.db", policy(FAIR), [FACTS[0], _submitted(1, "h", "guest", "4")], policy(NO_GUESTS))

    [shown] = [each.redecision for each in found.shown if each.redecision.workload == "h"]
    assert (shown.category, shown.queue, shown.gpus, shown.recorded) == ("newly rejected", "guest", 4000, None)


def test_who_is_no_longer_rejected_is_told(tmp_path: Path, policy: Make) -> None:
    """One difference: the rejection that was recorded, and the admission at once, or where the workload stands."""
    guests = [FACTS[0], _submitted(1, "h", "guest", "16")]  # more than there is
    found = _found(tmp_path / "j.db", policy(NO_GUESTS), guests, policy(FAIR))

    assert _told(found) == {("no longer rejected", "g", 0), ("no longer rejected", "h", 1)}
    runs, waits = sorted((each.redecision for each in found.shown), key=lambda each: each.time)
    assert runs.decided is not None
    assert runs.decided.kind == "WorkloadAdmitted"
    assert waits.decided is None
    assert waits.standing is not None
    assert waits.standing.state == "pending"


def test_what_the_policy_has_no_words_for_is_listed(tmp_path: Path, policy: Make) -> None:
    """A flavor that is gone: its capacity and who ran on it are named, and that workload is left out from there on."""
    old = policy(FAIR.replace("only a100\n  }\n  queue guest", "only h100\n  }\n  queue guest").replace("8 gpu on a100", "8 gpu on h100"))
    new = policy(FAIR.replace("flavor h100 { gpu 8 }\n", ""))
    facts: list[Fact] = [
        CapacityChanged(time=0, flavor="h100", capacity={"gpu": 8000}),
        _submitted(0, "o", "owner"),
        WorkloadFinished(time=MINUTE, workload="o"),
    ]
    found = _found(tmp_path / "j.db", old, facts, new)

    assert [(each.seq, each.kind, each.about) for each in found.unexpressed] == [
        (2, "CapacityChanged", "h100"),
        (4, "WorkloadAdmitted", "o"),
    ]
    assert "no gpu on flavor `h100`" in found.unexpressed[1].reason
    assert not found.nothing_changes


@pytest.mark.parametrize("cycles_first", [True, False])
def test_moments_of_another_kind_are_refused(tmp_path: Path, policy: Make, cycles_first: bool) -> None:
    """A policy that decides at once and one that decides in cycles have no moments in common; the message says which is which."""
    cycles = policy('policy "c" { use kueue.classical }\nflavor a100 { gpu as owned }\nqueue owner { owns 8 gpu }\n')
    old, new = (cycles, policy(FAIR)) if cycles_first else (policy(FAIR), cycles)

    with pytest.raises(UnlikeError, match="at event 1"):
        _found(tmp_path / "j.db", old, FACTS[1:2], new)

"""What was said of workloads is kept once for all of whom the same was said, and each of them is read as if it stood by itself."""

from typing import Any

import pytest
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.intake import sayings
from gpol.engine.intake.sayings import Foreign, KeptSaying, said_of
from player import fact_of
from worlds import SECOND

POLICY = 'policy "p" { use gpol.fair }\nflavor a { gpu 100 }\nqueue q { owns 100 gpu }\nqueue r {}\n'
ALIKE = ("w1", "w2", "w3")

Plain = dict[str, Any]

CHANGES: dict[str, Plain] = {
    "priority": {"priority": 7},
    "boost": {"boost": 3},
    "owner": {"hold": False},
    "checks": {"checks": {"quota": "Retry"}},
    "requeued": {"requeued": 2 * SECOND},
    "pods": {"reclaimable": {"main": 2}},
}


def submission(name: str, time: int = SECOND, **said: Any) -> Plain:
    """A submission to queue q that waits, as its owner holds it."""
    common = {"queue": "q", "user": "ann", "labels": {"team": "x"}, "pod_sets": [{"requests": {"gpu": "1"}, "count": 3}]}
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, **common, **said}


def cores() -> tuple[ArrayCore, list[Core]]:
    """A core over arrays, and with it the definition, under the policy."""
    core = ArrayCore()
    both = [core, DefinitionCore()]
    play(both, {"kind": "PolicyActivated", "time": 0, "policy": 0})
    return core, both


def play(both: list[Core], *facts: Plain) -> None:
    """Play facts; all decide the same, and stand at the same state after each."""
    for plain in facts:
        told = [[event.payload() for event in core.step(*fact_of(plain, (POLICY,)))] for core in both]
        assert all(each == told[0] for each in told)
        assert len({core.freeze() for core in both}) == 1


def kept_of(core: ArrayCore, *names: str) -> list[KeptSaying]:
    """What is kept of live workloads."""
    assert core._store is not None
    return [core._store.kept_of(name) for name in names]


@pytest.mark.parametrize(("change", "hold"), [*((name, True) for name in CHANGES), *((name, False) for name in CHANGES if name != "owner")])
def test_a_change_of_one_is_not_seen_in_another(change: str, hold: bool) -> None:
    """Three say the same; one of them is changed, and the others stay what they were."""
    core, both = cores()
    play(both, *(submission(name, SECOND * place, hold=hold) for place, name in enumerate(ALIKE, 1)))
    first, second, third = kept_of(core, *ALIKE)
    assert first is second is third
    before = [core.workload(name) for name in ALIKE]
    play(both, {"kind": "WorkloadUpdated", "time": 9 * SECOND, "workload": "w2", **CHANGES[change]})
    assert [core.workload(name) for name in ALIKE if name != "w2"] == [before[0], before[2]]
    assert core.workload("w2") != before[1]
    assert kept_of(core, "w1", "w3") == [first, first]
    assert kept_of(core, "w2") != [first]


def test_who_is_changed_in_the_same_way_is_alike_again() -> None:
    """Of two who were given the same priority the same is kept."""
    core, both = cores()
    play(both, *(submission(name) for name in ALIKE))
    play(both, *({"kind": "WorkloadUpdated", "time": 2 * SECOND, "workload": name, "priority": 5} for name in ALIKE[:2]))
    first, second, third = kept_of(core, *ALIKE)
    assert first is second is not third


def test_snapshots_have_checks_in_the_order_in_which_they_were_told() -> None:
    """Two of whom the same checks say the same, one after the other or at once, are not shared."""
    core, both = cores()
    play(both, *(submission(name) for name in ALIKE[:2]))
    told = ({"b": "Ready"}, {"a": "Pending"})
    play(both, *({"kind": "WorkloadUpdated", "time": 2 * SECOND, "workload": "w1", "checks": checks} for checks in told))
    play(both, {"kind": "WorkloadUpdated", "time": 2 * SECOND, "workload": "w2", "checks": told[0] | told[1]})
    first, second = (said_of(each).checks for each in kept_of(core, *ALIKE[:2]))
    assert (list(first), list(second)) == (["b", "a"], ["a", "b"])


def test_what_an_outside_system_had_is_each_ones_own() -> None:
    """When they were created, and their identities, are not shared; all else is."""
    core, both = cores()
    play(both, submission("w1"), submission("w2", created=5, uid="b"), submission("w3", created=7), submission("w4", uid="a"))
    found = kept_of(core, "w1", "w2", "w3", "w4")
    assert [isinstance(known, Foreign) for known in found] == [False, True, True, True]
    assert len({id(said_of(known)) for known in found}) == 1
    facts = [workload.fact for name in ("w1", "w2", "w3", "w4") if (workload := core.workload(name)) is not None]
    assert [(fact.workload, fact.time, fact.created, fact.uid) for fact in facts] == [
        ("w1", SECOND, None, ""),
        ("w2", SECOND, 5, "b"),
        ("w3", SECOND, 7, ""),
        ("w4", SECOND, None, "a"),
    ]


OTHERS: list[Plain] = [
    {"user": "bob"},
    {"labels": {"team": "y"}},
    {"priority": 1},
    {"replaces": "w1"},
    {"pod_sets": [{"requests": {"gpu": "1"}}]},
]


@pytest.mark.parametrize("said", OTHERS)
def test_who_says_something_else_is_not_alike(said: Plain) -> None:
    """Nothing of it is shared."""
    core, both = cores()
    play(both, submission("w1"), submission("w2", **said, hold=True))
    first, second = kept_of(core, "w1", "w2")
    assert first != second


def test_a_name_may_be_used_again() -> None:
    """By a workload that says something else, and by one that says the same at another time."""
    core, both = cores()
    play(both, submission("w1"), {"kind": "WorkloadFinished", "time": 2 * SECOND, "workload": "w1"})
    assert core._store is not None
    assert not any(core._store.kept)
    play(both, submission("w1", 3 * SECOND, user="bob"), {"kind": "WorkloadCancelled", "time": 4 * SECOND, "workload": "w1"})
    play(both, submission("w1", 5 * SECOND))
    workload = core.workload("w1")
    assert workload is not None
    assert (workload.fact.time, workload.fact.user) == (5 * SECOND, "ann")


def test_nothing_but_memory_depends_on_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that remembers a single saying does the same."""
    monkeypatch.setattr(sayings, "MOST_SAYINGS", 1)
    core, both = cores()
    for place, name in enumerate(ALIKE, 1):
        play(both, submission(name, place * SECOND), submission(f"{name}-{place}", place * SECOND, user="bob"))
    first, second = kept_of(core, "w1", "w2")
    assert first is not second

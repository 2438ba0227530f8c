"""Where what exists changes, rows stay in their tables, and both cores decide alike from then on."""

from typing import Any

import pytest
from cores_by_name import CORES
from fuzzing import Tally, fuzz_one
from gpol.engine.core import core as core_module
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.supply import change_supply
from player import Play, fact_of

Plain = dict[str, Any]

AT_ONCE = """policy "p" {}
flavor pool { gpu from nodes where pool = "a" }
queue q { owns 2 gpu }
queue r { owns 2 gpu }
"""
FIXED = AT_ONCE.replace('gpu from nodes where pool = "a"', "gpu 4")
ACTIVATED = {"kind": "PolicyActivated", "time": 0, "policy": 0}


def node(time: int, name: str, gpus: int, kind: str = "NodeAdded", **labels: str) -> Plain:
    """A node that is there from now on, or is otherwise."""
    return {"kind": kind, "time": time, "node": name, "labels": {"pool": "a", **labels}, "capacity": {"gpu": str(gpus)}}


def submitted(time: int, name: str, gpus: int = 1) -> Plain:
    """A submission to the queue that the name begins with."""
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": name[0], "pod_sets": [{"requests": {"gpu": str(gpus)}}]}


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The capacities for which tables were changed around their rows."""
    made: list[list[int]] = []

    def noted(store: Any, capacity: list[int]) -> None:
        made.append(capacity)
        change_supply(store, capacity)

    monkeypatch.setattr(core_module, "change_supply", noted)
    return made


def test_generated_histories_are_decided_alike(changes: list[list[int]]) -> None:
    """Crowded histories with facts of all kinds, in which that happens many times. In cycles what exists is what is owned."""
    tally = Tally()
    for number in (1, 2):
        found = fuzz_one(f"supply/{number}", False, CORES["definition"], CORES["array"], 200, tally, crowded=True)
        assert found is None, f"history {number}, fact {len(found[0].facts)}: {found[1]}"
    assert len(changes) >= 5


def test_who_runs_and_who_waits_stays_who_it_was(changes: list[list[int]]) -> None:
    """More nodes let somebody in who waited, fewer let nobody go; of another size they are taken in by the definition."""
    play = Play((AT_ONCE,), CORES["definition"], CORES["careful"], often=1, seldom=1)
    facts = [ACTIVATED, node(0, "n1", 4), submitted(1, "q1", 2), submitted(1, "r1", 2), submitted(2, "q2"), submitted(2, "r2", 4)]
    facts += [node(3, "n2", 4), node(4, "n2", 1, "NodeChanged"), node(5, "n2", 1, "NodeChanged", zone="b"), node(6, "n3", 8)]
    facts += [{"kind": "NodeRemoved", "time": 7, "node": "n1"}, {"kind": "WorkloadFinished", "time": 8, "workload": "q1"}]
    for fact in facts:
        play.step(fact)
    assert changes == [[8000], [5000], [9000]]
    assert play.seen["WorkloadAdmitted FitsBorrowing"] > 0


def test_what_changes_nothing_leaves_the_tables_as_they_are() -> None:
    """Labels that no flavor asks for, and capacity where each queue has what it owns."""
    core = ArrayCore()
    for fact in (ACTIVATED, node(0, "n1", 4), submitted(1, "q1")):
        core.step(*fact_of(fact, (AT_ONCE,)))
    before = core._tables.tables
    assert core.step(*fact_of(node(2, "n1", 4, "NodeChanged", zone="b"), (AT_ONCE,))) == []
    assert core._tables.tables is before
    assert core.machines["n1"].labels["zone"] == "b"
    assert (core.seq, core.time) == (core.view.cause, 2)


def test_beyond_bounds_the_definition_decides() -> None:
    """An amount that is too large for the tables is there all the same."""
    huge: Plain = {"kind": "CapacityChanged", "time": 3, "flavor": "pool", "capacity": {"gpu": str(2**52)}}
    core = ArrayCore()
    for fact in (ACTIVATED, submitted(1, "q1"), huge):
        core.step(*fact_of(fact, (FIXED,)))
    assert core._store is None
    assert core.view.workload("q1") is not None
    assert core.step(*fact_of({**huge, "time": 4, "capacity": {"gpu": "0"}}, (FIXED,))) == []

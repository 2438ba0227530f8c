"""Heads of a cycle of which most find their room taken when they have their turn, by the core over arrays and by the definition."""

from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels import cycle as cycles
from player import Case, difference, fact_of

SECOND = 1_000_000
Plain = dict[str, Any]

POLICY = """policy "p" {{ use kueue.{} }}
flavor pool {{ gpu as owned }}
cohort all {{
  queue a {{ owns 1 gpu }}
  queue b {{ owns 1 gpu }}
  queue c {{ owns 1 gpu }}
}}
"""


TWO_FLAVORS = """policy "p" {{ use kueue.{} }}
flavor first {{ gpu as owned }}
flavor second {{ gpu as owned }}
cohort all {{
  queue a {{ owns 1 gpu on first
            owns 0 gpu on second }}
  queue b {{ owns 0 gpu on first
            owns 1 gpu on second }}
}}
"""


def submitted(time: int, name: str, priority: int = 0, gpus: int = 1) -> Plain:
    """A submission to the queue that the name begins with."""
    pods = [{"requests": {"gpu": str(gpus)}}]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": name[0], "priority": priority, "pod_sets": pods}


def ended(time: int, name: str) -> Plain:
    """The end of a workload."""
    return {"kind": "WorkloadFinished", "time": time, "workload": name}


def cycle(time: int) -> Plain:
    """A cycle."""
    return {"kind": "TimeAdvanced", "time": time}


FULL = [*(submitted(number, name) for number, name in enumerate(("a1", "b1", "c1"))), cycle(2)]
WAITING = [*(submitted(3 + number, name) for number, name in enumerate(("a2", "b2", "c2"))), cycle(5)]


def decisions(profile: str, facts: list[Plain], policy: str = POLICY) -> list[list[str]]:
    """What the core over arrays decides in each cycle, in words; it is the same as the definition does."""
    activated, policies = {"kind": "PolicyActivated", "time": 0, "policy": 0}, (policy.format(profile),)
    found = difference(Case(policies, (activated, *facts)), CORES["definition"], CORES["array"], 1000)
    assert found is None, str(found[0])
    core = ArrayCore()
    told = [(fact["kind"], core.step(*fact_of(fact, policies))) for fact in (activated, *facts)]
    return [[f"{type(each).__name__[8:].lower()} {each.workload}" for each in some] for kind, some in told if kind == "TimeAdvanced"]


@pytest.mark.parametrize("profile", ["classical", "fair"])
def test_who_is_overtaken_again_is_told_nothing_new(profile: str) -> None:
    """One GPU becomes free for three heads. c2 is within what its queue owns; the others wait for quota as before."""
    facts = [*FULL, *WAITING, ended(6, "c1"), cycle(7), cycle(7 + SECOND)]
    assert decisions(profile, facts)[2:] == [["admitted c2"], ["deferred a2", "deferred b2"]]


@pytest.mark.parametrize("profile", ["classical", "fair"])
def test_who_is_overtaken_for_the_first_time_is_told_in_turn(profile: str) -> None:
    """a3 and b3 were never looked at; b3 is more important, and so comes first of those who would borrow. c2 was put off before."""
    facts = [*FULL, *WAITING, submitted(6, "a3", 1), submitted(7, "b3", 2), submitted(8, "c3", 3), ended(9, "c1"), cycle(9)]
    assert decisions(profile, facts)[2:] == [["admitted c3", "deferred b3", "deferred a3"]]


@pytest.mark.parametrize("profile", ["classical", "fair"])
def test_what_a_head_asks_for_is_noted_of_it_alone(profile: str) -> None:
    """a2 waits for one GPU and is cancelled. a3 asks for two, and takes its row in the tables; one GPU is not enough."""
    cancelled = {"kind": "WorkloadCancelled", "time": 6, "workload": "a2"}
    facts = [*FULL, submitted(3, "a2"), cycle(5), cancelled, submitted(7, "a3", 0, 2), ended(8, "b1"), cycle(9), ended(10, "c1"), cycle(11)]
    assert decisions(profile, facts)[1:] == [["deferred a2"], ["deferred a3"], ["admitted a3"]]


@pytest.mark.parametrize("profile", ["classical", "fair"])
def test_a_head_that_goes_on_to_another_flavor_is_compared_by_it(profile: str) -> None:
    """b1 would borrow the first flavor, and a1 takes it. On the second one b1 is within what its queue owns, and so before a2."""
    facts = [submitted(1, "a1"), submitted(2, "a2"), submitted(3, "b1"), cycle(4), cycle(4 + SECOND), cycle(4 + 2 * SECOND)]
    assert decisions(profile, facts, TWO_FLAVORS)[:2] == [["admitted a1", "deferred b1"], ["admitted b1", "deferred a2"]]


@pytest.mark.parametrize("profile", ["classical", "fair"])
def test_heads_that_fit_are_searched_for_once_their_turn_has_come(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three heads that fit one is admitted: it alone is nominated with a record, and the cycle ends when no other has room."""
    core, policies, turns = ArrayCore(), (POLICY.format(profile),), list[int]()
    for fact in ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *FULL, *WAITING, ended(6, "c1")):
        core.step(*fact_of(fact, policies))
    process = cycles.process

    def noted(t: Any, nom: int, *others: Any) -> int:
        turns.append(int(t.work[t.nom[nom, c.N_ROW], c.NAME]))
        return process(t, nom, *others)

    monkeypatch.setattr(cycles, "process", noted)
    monkeypatch.setattr(cycles, "nominate", None)
    assert len(core.step(*fact_of(cycle(7), policies))) == 1
    assert len(turns) == 2

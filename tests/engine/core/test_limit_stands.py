"""Under Kueue's profiles no victims are looked for where the borrowing limit of a workload's own queue refuses it whoever goes."""

from collections.abc import Callable
from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels.preemption import victims as searching
from player import Case, difference, fact_of

Plain = dict[str, Any]

PROFILES = ("kueue.classical", "kueue.fair")

LIMITED = """policy "p" {{ use {} }}
flavor pool {{ gpu as owned }}
cohort all {{
  queue mine {{
    owns 4 gpu
    borrows up to 2 gpu
    evicts its own of lower priority
    reclaims from anyone
  }}
  queue absent {{ owns 16 gpu }}
  queue guest {{ owns 0 gpu }}
}}
"""


def submitted(name: str, queue: str, gpus: int, priority: int = 0) -> Plain:
    """A submission of some GPUs."""
    pods = [{"requests": {"gpu": str(gpus)}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "priority": priority, "pod_sets": pods}


def told(profile: str, submissions: list[Plain]) -> list[list[str]]:
    """What the core over arrays decides after each submission, in words; it is the same as the definition does."""
    policy, facts = LIMITED.format(profile), [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    for each in submissions:
        facts += [each, {"kind": "TimeAdvanced", "time": 0}]
    found = difference(Case((policy,), tuple(facts)), CORES["definition"], CORES["array"], 1000)
    assert found is None, str(found[0])
    core = ArrayCore()
    each_time = [core.step(*fact_of(fact, (policy,))) for fact in facts][2::2]
    return [[f"{type(each).__name__[8:].lower()} {each.workload}" for each in some] for some in each_time]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The searches that are made from now on."""
    made: list[str] = []

    def noted(name: str) -> Callable[..., int]:
        search = getattr(searching, name)

        def found(*given: object) -> int:
            made.append(name)
            return int(search(*given))

        return found

    for name in ("search_classically", "search_fairly"):
        monkeypatch.setattr(searching, name, noted(name))
    return made


@pytest.mark.parametrize("profile", PROFILES)
def test_no_search_where_the_limit_stands(profile: str, searches: list[str]) -> None:
    """mine has as much as it may; what guests borrow does not help it."""
    before = [submitted(f"guest{number}", "guest", 1) for number in range(14)] + [submitted("six", "mine", 6)]
    assert told(profile, [*before, submitted("more", "mine", 1)])[-1] == ["deferred more"]
    assert searches == []


@pytest.mark.parametrize("profile", PROFILES)
def test_who_goes_in_the_own_queue_makes_room_below_the_limit(profile: str, searches: list[str]) -> None:
    """low goes for high of its own queue, whose limit then allows high."""
    before = [submitted(f"guest{number}", "guest", 1) for number in range(14)] + [submitted("low", "mine", 6)]
    assert told(profile, [*before, submitted("high", "mine", 4, 5)])[-1] == ["deferred high", "evicted low"]
    assert searches

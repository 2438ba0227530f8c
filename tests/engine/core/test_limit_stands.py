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

LIMITED = """policy "p" {{ use {profile} }}
flavor pool {{
  gpu as owned
  cpu as owned
}}
cohort all {{
  queue mine {{
    owns 4 gpu
    owns 4 cpu
    {limits}
    evicts its own of lower priority
    reclaims from anyone
  }}
  queue absent {{
    owns 16 gpu
    owns 16 cpu
  }}
  queue guest {{
    owns 0 gpu
    owns 0 cpu
  }}
}}
"""

GUESTS = 14


def submitted(name: str, queue: str, amount: int, priority: int = 0) -> Plain:
    """A submission of so many GPUs and as many processors."""
    pods = [{"requests": {"gpu": str(amount), "cpu": str(amount)}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "priority": priority, "pod_sets": pods}


def told(profile: str, limited: tuple[str, ...], submissions: list[Plain]) -> list[list[str]]:
    """What the core over arrays decides after each of these, once guests run, in words; it is the same as the definition does."""
    policy = LIMITED.format(profile=profile, limits="\n    ".join(f"borrows up to 2 {resource}" for resource in limited))
    facts: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    for each in [*(submitted(f"guest{number}", "guest", 1) for number in range(GUESTS)), *submissions]:
        facts += [each, {"kind": "TimeAdvanced", "time": 0}]
    found = difference(Case((policy,), tuple(facts)), CORES["definition"], CORES["array"], 1000)
    assert found is None, str(found[0])
    core = ArrayCore()
    each_time = [core.step(*fact_of(fact, (policy,))) for fact in facts][2::2]
    return [[f"{type(each).__name__[8:].lower()} {each.workload}" for each in some] for some in each_time[GUESTS:]]


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


@pytest.mark.parametrize("limited", [("gpu", "cpu"), ("gpu",), ("cpu",)])
@pytest.mark.parametrize("profile", PROFILES)
def test_no_search_where_the_limit_stands(profile: str, limited: tuple[str, ...], searches: list[str]) -> None:
    """mine has as much as it may, and what guests borrow does not help it. A resource without a limit is searched for alone, once."""
    assert told(profile, limited, [submitted("six", "mine", 6), submitted("more", "mine", 1)]) == [["admitted six"], ["deferred more"]]
    assert len(searches) == 2 * (2 - len(limited))  # by each of the two cores over arrays that are asked


@pytest.mark.parametrize("profile", PROFILES)
def test_who_goes_in_the_own_queue_makes_room_below_the_limit(profile: str, searches: list[str]) -> None:
    """low goes for high of its own queue, whose limit then allows high."""
    assert told(profile, ("gpu",), [submitted("low", "mine", 6), submitted("high", "mine", 4, 5)])[1] == ["deferred high", "evicted low"]
    assert searches


@pytest.mark.parametrize("profile", PROFILES)
def test_no_more_are_taken_than_the_limit_needs(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six in mine one goes; on behalf of the limit that one is looked at, and whoever comes next."""
    looked = list[int]()
    candidate = searching.next_candidate

    def noted(*given: Any) -> int:
        looked.append(candidate(*given))
        return looked[-1]

    monkeypatch.setattr(searching, "next_candidate", noted)
    lows = [submitted(f"low{number}", "mine", 1) for number in range(6)]
    assert told(profile, ("gpu", "cpu"), [*lows, submitted("high", "mine", 1, 5)])[-1] == ["deferred high", "evicted low0"]
    assert len(set(looked)) == 2

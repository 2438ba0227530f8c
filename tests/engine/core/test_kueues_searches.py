"""Kueue's two searches over tables, where they ask few: small cases of who may go and who may not, decided alike by the definition."""

from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.events import AnyDecision
from player import Play

SECOND = 1_000_000

Plain = dict[str, Any]


def decided(policy: str, facts: list[Plain]) -> list[str]:
    """What both cores decide alike, with a fact and a cycle each second, in short."""
    play = Play((policy,), CORES["definition"], CORES["careful"], often=1)
    for number, fact in enumerate(({"kind": "PolicyActivated", "policy": 0}, *facts)):
        play.step({"time": number * SECOND, **fact})
        play.step({"kind": "TimeAdvanced", "time": number * SECOND})
    play.finish()
    return [f"{event.kind.removeprefix('Workload')} {event.workload}" for event, _ in play.events if isinstance(event, AnyDecision)]


def submitted(name: str, queue: str, gpus: int, cpus: int = 0, priority: int = 0) -> Plain:
    """A submission of some GPUs and cpus."""
    requests = {resource: str(count) for resource, count in (("gpu", gpus), ("cpu", cpus)) if count}
    return {"kind": "WorkloadSubmitted", "workload": name, "queue": queue, "pod_sets": [{"requests": requests}], "priority": priority}


def evicted(decisions: list[str]) -> list[str]:
    """Who was evicted."""
    return sorted(each.removeprefix("Evicted ") for each in decisions if each.startswith("Evicted "))


def policy(profile: str, cohorts: str) -> str:
    """A policy for GPUs and cpus."""
    return f'policy "p" {{ use {profile} }}\nflavor pool {{ gpu, cpu as owned }}\n{cohorts}'


TEAM = """cohort all {
  cohort team {
    queue lab {
      owns nothing
      reclaims from anyone
    }
    queue beside { owns 4 gpu }
  }
  queue vision { owns 8 gpu }
  cohort others {
    queue guest { owns nothing }
  }
}
"""


def test_who_borrows_in_another_cohort_may_give_by_share() -> None:
    """Nobody else of the team borrows. The others borrow 6 of 12, and the team would borrow 2 with the request."""
    guests = [submitted(f"guest{number}", "guest", 2) for number in range(3)]
    facts = [submitted("four", "beside", 4), *guests, submitted("two", "vision", 2), submitted("more", "lab", 2)]
    assert evicted(decided(policy("kueue.fair", TEAM), facts)) == ["guest2"]


def test_the_side_that_asks_is_compared_on_each_level() -> None:
    """With the request `lab` would borrow 7, more than the others. Its team would borrow 3, less than their 5, and that is what counts."""
    facts = [submitted("three", "lab", 3), submitted("five", "guest", 5), submitted("two", "vision", 2), submitted("more", "lab", 4)]
    assert evicted(decided(policy("kueue.fair", TEAM), facts)) == ["five"]


def test_who_borrows_something_else_keeps_what_is_needed() -> None:
    """`guest` borrows most of the cpus, so its share is the greatest. Its two GPUs are its own."""
    cohorts = """cohort all {
  queue lab {
    owns nothing
    reclaims from anyone
  }
  queue vision {
    owns 4 gpu
    owns 40 cpu
  }
  queue guest { owns 2 gpu }
}
"""
    facts = [submitted("four", "vision", 4), submitted("cpus", "guest", 0, 30), submitted("two", "guest", 2), submitted("more", "lab", 2)]
    assert evicted(decided(policy("kueue.fair", cohorts), facts)) == []


def test_the_second_strategy_takes_whom_the_first_refused_first() -> None:
    """`guest` has 10, and would have 5 without either of its two: less than the 6 of `lab`. The last one to come is asked first."""
    cohorts = """cohort all {
  queue lab {
    owns nothing
    reclaims from anyone
  }
  queue vision { owns 40 gpu }
  queue guest { owns nothing }
}
"""
    facts = [submitted("most", "vision", 29), submitted("first", "guest", 5), submitted("second", "guest", 5), submitted("more", "lab", 6)]
    assert evicted(decided(policy("kueue.fair", cohorts), facts)) == ["second"]


def test_what_is_owned_is_taken_back_whatever_the_shares() -> None:
    """`lab` borrows most of the cpus, so its share is greater than that of `guest`. It asks for GPUs that it owns."""
    cohorts = """cohort all {
  queue lab {
    owns 8 gpu
    reclaims from anyone
  }
  queue vision {
    owns 32 gpu
    owns 40 cpu
  }
  queue guest { owns nothing }
}
"""
    facts = [
        submitted("cpus", "lab", 0, 30),
        submitted("most", "vision", 32),
        submitted("four", "lab", 4),
        submitted("guest", "guest", 4),
    ]
    assert evicted(decided(policy("kueue.fair", cohorts), [*facts, submitted("more", "lab", 4)])) == ["guest"]


@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair"])
def test_who_uses_something_else_does_not_hide_who_comes_next(profile: str) -> None:
    """Of the newer ones the last uses cpus alone, and stays; the one before has the GPU that old needs."""
    queue = "queue q {\n  owns 4 gpu\n  owns 4 cpu\n  evicts its own of lower priority or newer\n}\n"
    facts = [submitted("three", "q", 3), submitted("old", "q", 4), submitted("one", "q", 1), submitted("cpu", "q", 0, 1)]
    facts += [{"kind": "WorkloadFinished", "workload": "three"}]
    assert evicted(decided(policy(profile, queue), facts)) == ["one"]


@pytest.mark.parametrize(("gpus", "gone"), [(2, ["guest4"]), (3, [])])
def test_a_cohort_that_no_longer_borrows_is_spared(gpus: int, gone: list[str]) -> None:
    """One GPU is idle. `team` owns four and uses five: `guest` may give one, though it still borrows after that. `high` gives nothing."""
    cohorts = """cohort all {
  queue lab {
    owns 5 gpu
    reclaims from lower priority
  }
  queue high { owns nothing }
  cohort team {
    queue vision { owns 4 gpu }
    queue guest { owns nothing }
  }
}
"""
    guests = [submitted(f"guest{number}", "guest", 1) for number in range(5)]
    facts = [*guests, submitted("high", "high", 1, priority=9), submitted("two", "lab", 2), submitted("more", "lab", gpus, priority=5)]
    assert evicted(decided(policy("kueue.classical", cohorts), facts)) == gone


@pytest.mark.parametrize(("priority", "gone"), [(0, []), (5, ["guest"])])
def test_who_would_borrow_evicts_by_priority_alone(priority: int, gone: list[str]) -> None:
    """`lab` owns one and asks for three."""
    cohorts = """cohort all {
  queue lab {
    owns 1 gpu
    reclaims from anyone
    borrows by evicting lower priority
  }
  queue vision { owns 4 gpu }
  queue guest { owns nothing }
}
"""
    facts = [submitted("guest", "guest", 4), submitted("more", "lab", 3, priority=priority)]
    assert evicted(decided(policy("kueue.classical", cohorts), facts)) == gone

"""Sums that grow in the course of a cycle: many heads may keep for themselves, each for one, all that exists."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels.quota.shares import thousandths
from gpol.engine.definition.quota.fair_share import nearest_double
from player import Case, difference, fact_of

SECOND = 1_000_000

Plain = dict[str, Any]


def heads_that_keep_all(profile: str, cohorts: int, queues: int, gpus: int) -> Case:
    """Who runs may not be evicted by heads that ask for all there is, so that each of them keeps it; at the end a small one comes."""
    lines = [f'policy "p" {{\n  use {profile}\n  queueing strict fifo\n}}\nflavor a {{ gpu as owned }}\ncohort top {{']
    lines += [f"  queue owner {{ owns {gpus} gpu }}\n  queue small {{ owns nothing }}"]
    for cohort in range(cohorts):
        inside = "borrows by evicting lower priority\n      reclaims from lower priority"
        each = [f"    queue c{cohort}q{number} {{\n      owns nothing\n      {inside}\n    }}" for number in range(queues)]
        weight = [f"    weight {cohort + 1}"] if profile == "kueue.fair" else []
        lines += [f"  cohort c{cohort} {{", *weight, *each, "  }"]
    facts = [submitted(0, "o", "owner", 10, 200), cycle(0)]
    for cohort in range(cohorts):
        facts += [submitted(1, f"w{cohort}-{number}", f"c{cohort}q{number}", gpus, 100) for number in range(queues)]
    facts += [submitted(1, "s", "small", 5, 50), cycle(1), cycle(1 + SECOND)]
    facts += [{"kind": "WorkloadFinished", "time": 2 * SECOND, "workload": "o"}, cycle(2 * SECOND), cycle(3 * SECOND)]
    return Case(("\n".join([*lines, "}\n"]),), ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *facts))


def submitted(time: int, name: str, queue: str, gpus: int, priority: int) -> Plain:
    """A submission."""
    pods = [{"requests": {"gpu": str(gpus)}}]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "priority": priority, "pod_sets": pods}


def cycle(time: int) -> Plain:
    """A cycle."""
    return {"kind": "TimeAdvanced", "time": time}


@pytest.mark.parametrize("exponent", [40, 50, 53, 56, 60])
@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair"])
def test_heads_that_keep_all_that_exists_are_decided_alike(profile: str, exponent: int) -> None:
    """Two cohorts of twelve queues. Beyond the bounds of the tables the definition decides."""
    found = difference(heads_that_keep_all(profile, 2, 12, (2**exponent - 50) // 1000), CORES["definition"], CORES["careful"], 1000)
    assert found is None, str(found[0])


def told(case: Case) -> Iterator[str]:
    """Why tables are left, fact by fact."""
    reasons = list[str]()
    core = ArrayCore(tell_beyond=reasons.append)
    for plain in case.facts:
        core.step(*fact_of(plain, case.texts))
        yield from reasons
        reasons.clear()


def test_tables_are_left_only_where_all_ask_for_too_much_together() -> None:
    """24 times 2**55 is less than the 2**60 that tables are wide enough for, 24 times 2**56 is more."""
    assert list(told(heads_that_keep_all("kueue.fair", 2, 12, (2**55 - 50) // 1000))) == []
    assert set(told(heads_that_keep_all("kueue.fair", 2, 12, (2**56 - 50) // 1000))) == {"live workloads ask for too much together"}


def heads_that_get_their_queue_late(exponent: int) -> Case:
    """As above, but nobody has a queue until somebody outside says so: each is adopted, told to stop, and comes back to its queue."""
    case = heads_that_keep_all("kueue.fair", 2, 12, (2**exponent - 50) // 1000)
    facts = list[Plain]()
    for fact in case.facts:
        facts.append({**fact, "queue": "none"} if fact.get("workload", "").startswith("w") else fact)
    heads = [(fact["workload"], fact["queue"]) for fact in case.facts if fact.get("workload", "").startswith("w")]
    stopped = [adopted(1, workload, queue) for workload, queue in heads]
    back = [{"kind": "WorkloadUpdated", "time": 1, "workload": workload, "requeued": 1} for workload, _ in heads]
    last = max(at for at, fact in enumerate(facts) if fact["kind"] == "WorkloadSubmitted")
    return Case(case.texts, (*facts[:last], *stopped, *back, *facts[last:]))


def adopted(time: int, name: str, queue: str) -> Plain:
    """An outside system has told a workload to stop; it holds nothing."""
    placement = {"pod_set": "main", "flavors": {"gpu": "a"}, "count": 1, "usage": {}}
    adoption = {"kind": "WorkloadAdopted", "time": time, "workload": name, "queue": queue, "since": time, "evicting": True}
    return {**adoption, "placements": [placement]}


@pytest.mark.parametrize("exponent", [40, 55, 56, 60])
def test_a_queue_that_is_told_late_counts_as_well(exponent: int) -> None:
    """24 times 2**56 is more than tables are wide enough for, whenever it becomes known."""
    case = heads_that_get_their_queue_late(exponent)
    assert set(told(case)) == ({"live workloads ask for too much together"} if exponent > 55 else set())
    found = difference(case, CORES["definition"], CORES["careful"], 1000)
    assert found is None, str(found[0])


def many_that_reserve_all(queues: int, gpus: int) -> Case:
    """All that exists is lent and protected for an hour; then four of each queue ask for what it owns."""
    lines = ['policy "p" { use gpol.fair }', "flavor a { gpu as owned }", "protect warm-up { where victim.running < 1h }"]
    lines += ["queue borrower { owns nothing }", *(f"queue q{number} {{ owns {gpus} gpu }}" for number in range(queues))]
    facts: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    facts += [submitted(0, f"o{number}", "borrower", gpus, 0) for number in range(queues)]
    facts += [submitted(1 + again, f"w{number}-{again}", f"q{number}", gpus, 100) for again in range(4) for number in range(queues)]
    facts += [cycle(6), cycle(3600 * SECOND), cycle(3601 * SECOND)]
    facts += [{"kind": "WorkloadFinished", "time": 3602 * SECOND, "workload": "w0-0"}]
    return Case(("\n".join([*lines, ""]),), tuple(facts))


def test_tables_are_wide_enough_at_once_whatever_all_ask_for_together() -> None:
    """Three queues own 2**60 together, which tables are wide enough for; 15 workloads ask for 5 * 2**60, and wait for time or for room."""
    case = many_that_reserve_all(3, 2**60 // 3000)
    assert list(told(case)) == []
    found = difference(case, CORES["definition"], CORES["careful"], 1000)
    assert found is None, str(found[0])


@pytest.mark.parametrize("above", [1, 999, 2**40 + 1, 2**53 - 1, 2**53 + 1, 2**53 + 3, 2**60 + 2**7 + 1, 3 * 2**60 - 1])
@pytest.mark.parametrize("below", [1, 3, 2**31 - 1, 2**53 - 1, 2**53 + 1, 2**60 + 2**8 - 1, 2**61 - 1])
def test_thousandths_are_rounded_step_by_step(above: int, below: int) -> None:
    """As the definition has it, also beyond the 53 digits of a double."""
    digits, exponent = thousandths(above, below)
    each = nearest_double(nearest_double(Fraction(above)) * 1000)
    assert Fraction(digits) * Fraction(2) ** exponent == nearest_double(each / nearest_double(Fraction(below)))

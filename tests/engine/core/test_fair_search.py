"""A search by shares over tables: none where no queue has a share great enough, and one question where the share of a queue refuses all."""

from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels.preemption import fair
from player import Case, difference, fact_of

Plain = dict[str, Any]

POLICY = """policy "p" { use kueue.fair }
flavor pool { gpu as owned }
cohort all {
  queue lab {
    owns 4 gpu
    reclaims from anyone
  }
  queue vision { owns 40 gpu }
  queue guest { owns 0 gpu }
  queue nlp { owns 0 gpu }
}
"""


OF_TWO = """policy "p" { use kueue.fair }
flavor pool { gpu, cpu as owned }
cohort all {
  queue lab {
    owns 0 gpu
    owns 0 cpu
    reclaims from anyone
  }
  queue vision {
    owns 40 gpu
    owns 40 cpu
  }
  queue guest {
    owns 0 gpu
    owns 0 cpu
  }
}
"""


def submitted(name: str, queue: str, gpus: int, cpus: int = 0) -> Plain:
    """A submission of some GPUs and cpus."""
    pods = [{"requests": {name: str(count) for name, count in (("gpu", gpus), ("cpu", cpus)) if count}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "pod_sets": pods}


FIRST = [submitted("four", "lab", 4), *(submitted(f"guest{number}", "guest", 1) for number in range(14))]


def asked_and_decided(
    monkeypatch: pytest.MonkeyPatch, submissions: list[Plain], policy: str = POLICY
) -> tuple[list[tuple[str, int]], list[str]]:
    """Whom the last submission's search asks, each with the strategy, and the kinds of what is decided; the definition decides the same."""
    facts: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    for each in submissions:
        facts += [each, {"kind": "TimeAdvanced", "time": 0}]
    assert difference(Case((policy,), tuple(facts)), CORES["definition"], CORES["array"], 1000) is None
    core, asked, decided = ArrayCore(), list[tuple[str, int]](), list[str]()
    try_victim = fair.try_victim

    def noted(t: Any, row: int, each: int, strategy: int) -> bool:
        asked.append((core.graph.nodes[int(t.work[each, c.QUEUE])].name, strategy))
        return try_victim(t, row, each, strategy)

    monkeypatch.setattr(fair, "try_victim", noted)
    for fact in facts:
        asked.clear()
        decided = [each.kind for each in core.step(*fact_of(fact, (policy,)))]
    return asked, decided


def test_nobody_is_asked_where_no_share_is_as_great(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 36 more `lab` would borrow 36, and `guest` has 14: it keeps them by either strategy."""
    asked, decided = asked_and_decided(monkeypatch, [*FIRST, submitted("more", "lab", 36)])
    assert (asked, decided) == ([], ["WorkloadDeferred"])


def test_a_share_that_is_as_great_may_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """`guest` has 30 of 40 cpus, as `lab` would have of the gpus. Its share stays as great without its 20 gpus, so they may go."""
    guest = [submitted("cpus", "guest", 0, 30), submitted("gpus", "guest", 20)]
    asked, decided = asked_and_decided(monkeypatch, [*guest, submitted("more", "lab", 30)], OF_TWO)
    assert ("guest", c.FINAL_SHARE) in asked
    assert decided == ["WorkloadDeferred", "WorkloadEvicted"]


def test_one_is_asked_where_nobody_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 16 more `lab` would borrow more than `guest`, so that keeps all 14. `nlp` may give its 20 only by the second strategy."""
    asked, decided = asked_and_decided(monkeypatch, [*FIRST, submitted("nlp", "nlp", 20), submitted("more", "lab", 16)])
    assert asked == [("nlp", c.FINAL_SHARE), ("guest", c.FINAL_SHARE), ("nlp", c.INITIAL_SHARE)]
    assert decided[0] == "WorkloadDeferred"


def test_one_is_asked_where_all_who_run_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """`guest` has three of 6. Without one it has 12, less than the 13 of `lab`: none goes by final share, one by initial share."""
    guests = [submitted(name, "guest", 6) for name in ("first", "second", "third")]
    facts = [submitted("four", "lab", 4), *guests, submitted("ten", "vision", 10), submitted("more", "lab", 13)]
    asked, decided = asked_and_decided(monkeypatch, facts)
    assert asked == [("guest", c.FINAL_SHARE), ("guest", c.INITIAL_SHARE)]
    assert decided == ["WorkloadDeferred", "WorkloadEvicted"]


def test_all_are_asked_where_one_is_unlike(monkeypatch: pytest.MonkeyPatch) -> None:
    """`guest` has two of 6 and one of 1. Without the last one it has 12, as `lab` would have: that one goes by final share."""
    guests = [submitted(name, "guest", gpus) for name, gpus in (("first", 6), ("second", 6), ("third", 1))]
    facts = [submitted("four", "lab", 4), *guests, submitted("sixteen", "vision", 16), submitted("more", "lab", 12)]
    asked, decided = asked_and_decided(monkeypatch, facts)
    assert asked == [("guest", c.FINAL_SHARE)] * 3
    assert decided == ["WorkloadDeferred", "WorkloadEvicted"]

"""A search by shares asks one victim of a queue whose share lets nobody go, over tables."""

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
  queue mine {
    owns 4 gpu
    reclaims from anyone
  }
  queue absent { owns 16 gpu }
  queue guest { owns 0 gpu }
}
"""


def submitted(name: str, queue: str, gpus: int) -> Plain:
    """A submission of some GPUs."""
    pods = [{"requests": {"gpu": str(gpus)}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "pod_sets": pods}


def test_one_is_asked_where_nobody_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 16 more mine would borrow more than guest has, so guest keeps all 14: one of them is asked by either strategy."""
    facts: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    first = [submitted("four", "mine", 4), *(submitted(f"guest{number}", "guest", 1) for number in range(14))]
    for each in [*first, submitted("more", "mine", 16)]:
        facts += [each, {"kind": "TimeAdvanced", "time": 0}]
    assert difference(Case((POLICY,), tuple(facts)), CORES["definition"], CORES["array"], 1000) is None
    core, asked = ArrayCore(), list[int]()
    try_victim = fair.try_victim

    def noted(t: Any, row: int, each: int, strategy: int) -> bool:
        asked.append(strategy)
        return try_victim(t, row, each, strategy)

    monkeypatch.setattr(fair, "try_victim", noted)
    decided = [core.step(*fact_of(fact, (POLICY,))) for fact in facts]
    assert [each.kind for each in decided[-1]] == ["WorkloadDeferred"]
    assert asked == [c.FINAL_SHARE, c.INITIAL_SHARE]

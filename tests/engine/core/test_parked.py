"""What is parked returns where something became free, tree by tree, by the core over arrays and by the definition."""

from typing import Any

import pytest
from cores_by_name import CORES, Side
from gpol.engine.core.core import ArrayCore
from player import Case, Play, difference, fact_of

SECOND = 1_000_000

Plain = dict[str, Any]

POLICY = """policy "p" { use kueue.classical }
flavor pool { gpu as owned }
cohort north {
  queue a { owns 1 gpu }
}
cohort south {
  queue b { owns 1 gpu }
}
cohort east {
  queue c { owns 1 gpu }
}
"""
ONE_TREE = """policy "p" { use kueue.classical }
flavor pool { gpu as owned }
cohort all {
  queue a { owns 1 gpu }
  queue b { owns 1 gpu }
  queue c { owns 1 gpu }
}
"""


def submitted(time: int, name: str) -> Plain:
    """A submission of one GPU to the queue that the name begins with."""
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": name[0], "pod_sets": [{"requests": {"gpu": "1"}}]}


def ended(time: int, name: str) -> Plain:
    """The end of a workload."""
    return {"kind": "WorkloadFinished", "time": time, "workload": name}


def cycle(time: int) -> Plain:
    """A cycle."""
    return {"kind": "TimeAdvanced", "time": time}


ACTIVATED = {"kind": "PolicyActivated", "time": 0, "policy": 0}
FULL = [ACTIVATED, *(submitted(1, name) for name in ("a1", "b1", "c1")), cycle(1)]
PARKED = [*(submitted(2, name) for name in ("a2", "b2", "c2")), cycle(2), cycle(2 + SECOND)]


def waiting(side: Side, facts: list[Plain], policies: tuple[str, ...] = (POLICY,)) -> list[str]:
    """Who is parked after these facts."""
    core = side.new()
    for fact in facts:
        core.step(*fact_of(fact, policies))
    return [workload.name for workload in core.view.workloads() if workload.parked]


@pytest.mark.parametrize("side", [CORES["definition"], CORES["array"]], ids=["definition", "array"])
def test_all_trees_in_which_something_became_free_are_looked_at(side: Side) -> None:
    """Of three trees two have room again before one cycle; who waits in the third stays parked."""
    facts = [*FULL, *PARKED]
    assert waiting(side, facts) == ["a2", "b2", "c2"]
    facts += [ended(3 * SECOND, "a1"), ended(3 * SECOND, "c1"), cycle(3 * SECOND)]
    assert waiting(side, facts) == ["b2"]
    assert difference(Case((POLICY,), tuple(facts)), CORES["definition"], CORES["careful"], 1000) is None


@pytest.mark.parametrize("side", [CORES["definition"], CORES["array"]], ids=["definition", "array"])
def test_no_tree_of_a_new_policy_is_marked_for_what_became_free_before(side: Side) -> None:
    """Something ends in one of three trees; before the next cycle a policy is activated under which all are one tree."""
    facts = [*FULL, *PARKED, ended(3 * SECOND, "c1"), {**ACTIVATED, "time": 3 * SECOND, "policy": 1}]
    policies = (POLICY, ONE_TREE)
    play = Play(policies, CORES["definition"], side, often=1, seldom=1)
    for fact in [*facts, cycle(3 * SECOND), cycle(4 * SECOND)]:
        play.step(fact)
    core = side.new()
    for fact in facts:
        core.step(*fact_of(fact, policies))
    assert b'"stirred":true' not in side.freeze(core)


def test_who_is_parked_stays_so_however_much_comes_to_run_in_the_queue() -> None:
    """Two workloads of 300 PiB run one after the other; who is turned away, parked as itself, is not looked at for that."""
    policy = POLICY.replace("gpu as owned", "gpu, memory as owned").replace("owns 1 gpu", "owns 1 gpu\n    owns 700Pi memory", 1)
    misconfigured = {**submitted(3 * SECOND, "a2"), "misconfigured": "its pods differ"}
    large = [{**submitted(time * SECOND, name), "pod_sets": [{"requests": {"memory": "300Pi"}}]} for time, name in ((1, "a1"), (5, "a3"))]
    facts = [ACTIVATED, large[0], cycle(SECOND), ended(2 * SECOND, "a1"), misconfigured, cycle(3 * SECOND), cycle(4 * SECOND)]
    facts += [large[1], cycle(5 * SECOND), cycle(6 * SECOND)]
    for side in (CORES["array"], CORES["careful"]):
        assert difference(Case((policy,), tuple(facts)), CORES["definition"], side, 1) is None
    assert waiting(CORES["array"], facts, (policy,)) == ["a2"]
    core = CORES["array"].new()
    core.step(*fact_of(ACTIVATED, (policy,)))
    assert isinstance(core, ArrayCore)
    assert core._store is not None, "the definition decides under this policy"

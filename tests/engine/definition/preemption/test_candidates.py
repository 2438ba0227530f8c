"""Who may have to go, and in which order."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from gpol.engine.definition.preemption.candidates import candidates
from gpol.engine.definition.preemption.candidates import ordered as in_order
from gpol.engine.definition.preemption.rules import Preemptor
from gpol.engine.definition.state.trial import Trial
from gpol.engine.outcome.nomination import as_request

POLICY = """priority pinned 0 { never evicted }
flavor a { gpu as owned }
flavor b { gpu as owned }
cohort all {
  owns 12 gpu on a
  owns 4 gpu on b
  queue q {
    serves gpu from a, b
    evicts its own of lower priority
    reclaims from lower priority
    lends nothing on a
  }
  queue x { serves gpu from a, b }
}
"""


def ordered(c: Any, *names: str) -> list[str]:
    """The given workloads as candidates for one that waits in q, best victim first."""
    running = [c.state.workloads[name] for name in names]
    return [each.name for each in in_order(Trial(c.state), running, c.state.workloads["w"].queue)]


def test_the_order(cycles: Callable[[str], Any]) -> None:
    """Those told to stop, then other queues' before one's own, lower priority, later admitted, identity, earlier submitted."""
    c = cycles(POLICY)
    c.submit("told", "x", priority=5)
    placements = [{"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "1"}}]
    c.fact("WorkloadAdopted", workload="told", queue="x", since=0, evicting=True, placements=placements)
    for name, queue, said in (
        ("own-low", "q", {"priority": 1}),
        ("x-old", "x", {"priority": 2}),
        ("x-high", "x", {"priority": 3}),
    ):
        c.submit(name, queue, **said)
        c.rest()
    c.at("5s")
    c.submit("x-new", "x", priority=2, uid="b")
    c.fact("WorkloadSubmitted", workload="x-twin", queue="x", priority=2, uid="a", pod_sets=[{"requests": {"gpu": "1"}}])
    for name in ("x-new", "x-twin"):
        placement = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "1"}}
        c.fact("WorkloadAdopted", workload=name, queue="x", since=c.now, placements=[placement])
    c.submit("w", "q", priority=9)

    assert ordered(c, "own-low", "x-high", "x-old", "x-new", "x-twin", "told") == ["told", "x-twin", "x-new", "x-old", "x-high", "own-low"]


BY_USAGE = """policy "p" {
  use kueue.classical
  usage halves every 1h, sampled every 1m
}
flavor f { gpu as owned }
queue q {
  serves gpu from f
  owns 3 gpu on f
  evicts its own of lower priority
  admits by usage
  local queue "n/x"
  local queue "n/y"
}
"""


@pytest.mark.parametrize("submitted", list(permutations(("much", "some", "none"))), ids=" ".join)
def test_usage_goes_before_priority(cycles: Callable[[str], Any], submitted: tuple[str, ...]) -> None:
    """Whose local queue has used most goes first; who came by none has used nothing. The order of submission decides nothing of that."""
    c = cycles(BY_USAGE)
    c.fact("UsageReported", local_queue="n/x", consumed={"gpu": "5"})
    c.fact("UsageReported", local_queue="n/y", consumed={"gpu": "3"})
    said = {
        "much": {"queue": None, "local_queue": "n/x", "priority": 10},
        "some": {"queue": None, "local_queue": "n/y", "priority": 1},
        "none": {"queue": "q", "priority": 5},
    }
    for name in submitted:
        c.submit(name, **said[name])
    c.rest()
    c.submit("w", "q", priority=20)

    assert ordered(c, *submitted) == ["much", "some", "none"]


BESIDE = (
    BY_USAGE
    + """queue v {
  serves gpu from f
  owns 1 gpu on f
}
"""
)


@pytest.mark.parametrize("asked", list(permutations(("much", "some", "beside"))), ids=" ".join)
def test_usage_counts_within_a_queue_only(cycles: Callable[[str], Any], asked: tuple[str, ...]) -> None:
    """By usage much precedes some; by priority some precedes beside, and beside much. Of the first ones of both queues the best goes."""
    c = cycles(BESIDE)
    c.fact("UsageReported", local_queue="n/x", consumed={"gpu": "5"})
    for name, said in (
        ("much", {"queue": None, "local_queue": "n/x", "priority": 10}),
        ("some", {"queue": None, "local_queue": "n/y", "priority": 1}),
        ("beside", {"queue": "v", "priority": 5}),
    ):
        c.submit(name, **said)
    c.rest()
    c.submit("w", "x", priority=20)

    assert ordered(c, *asked) == ["beside", "much", "some"]


def test_only_users_of_the_slot_in_need(cycles: Callable[[str], Any]) -> None:
    """Who runs on another flavor frees nothing; a pinned one never goes; equal priority is not lower."""
    c = cycles(POLICY)
    for name, said in (
        ("on-a", {"on": ["a"]}),
        ("on-b", {"on": ["b"]}),
        ("kept", {"on": ["a"], "priority": "pinned"}),
        ("equal", {"on": ["a"], "priority": 4}),
    ):
        c.submit(name, "x", **said)
        c.rest()
    c.submit("w", "q", priority=4)

    found = candidates(Trial(c.state), c.node("x"), Preemptor(c.state.workloads["w"], ((0, 1),), [c.slot("a")]))
    assert [each.name for each in found] == ["on-a"]


@pytest.mark.parametrize(
    ("policy", "priority", "created", "may"),
    [
        ("nothing", 0, 0, False),
        ("any", 9, 0, True),
        ("lower", 4, 0, True),
        ("lower", 5, 9, False),
        ("lower-or-newer", 5, 9, True),
        ("lower-or-newer", 5, 0, False),
        ("lower-or-newer", 6, 9, False),
    ],
)
def test_whom_a_policy_lets_go(cycles: Callable[[str], Any], policy: str, priority: int, created: int, may: bool) -> None:
    """The one that needs room has priority 5 and came at 3."""
    c = cycles(POLICY)
    c.at("10us")
    c.submit("w", "q", priority=5, created=3)
    c.submit("v", "x", priority=priority, created=created)

    assert c.core.probe.may_evict("w", "v", policy) == may


def test_the_tree_is_put_back(cycles: Callable[[str], Any]) -> None:
    """Workloads left out and amounts charged are so only while the context lasts."""
    c = cycles(POLICY)
    c.submit("v", "x", "2", on=["a"])
    c.rest()
    before, trial, x, slot = c.charges(), Trial(c.state), c.node("x"), c.slot("a")
    with trial.without([c.state.workloads["v"]]):
        assert (trial.tree.usage[x][slot], trial.running(x)) == (0, [])
    with trial.charged(x, ((slot, 500),)):
        assert trial.tree.usage[x][slot] == 2500
    with trial.uncharged(x, ((slot, 500),)):
        assert trial.tree.usage[x][slot] == 1500

    assert (trial.tree.usage[x][slot], c.charges()) == (2000, before)
    assert trial.running(x) == [c.state.workloads["v"]]


def test_as_request() -> None:
    """Amounts by slot in order, without those of nothing."""
    assert as_request({3: 1, 1: 2, 2: 0}) == ((1, 2), (3, 1))

"""Snapshots of a core: what they hold, and what is refused."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.default_core import FORMAT, SnapshotError, freeze, new_core, thaw

NODES = """policy "nodes" {
  use gpol.fair
}
flavor a { gpu from nodes where model = "a" }
flavor b { gpu from nodes where model = "b" }
cohort all {
  queue owner {
    owns 4 gpu on a
  }
  queue guest {
    owns nothing
    only a
  }
}
protect warm-up {
  where victim.running < 10m
}
"""


def busy(cluster: Callable[[str], Any]) -> Any:
    """A cluster of machines with somebody who runs, somebody who waits for a protection to end, and an operator's hold."""
    c = cluster(NODES)
    c.node("Added", "n1", {"model": "a"}, "4")
    c.node("Added", "n2", {"model": "b"}, "2")
    c.node("Added", "n3", {"model": "c"}, "8")
    c.submit("guest", "guest", "4", user='größe "7"\n')
    c.tick("1m")
    c.submit("owner", "owner", "2", on=["a"])
    c.submit("held", "guest", "1")
    c.operator("hold", "held")
    return c


def test_machines_and_holds_are_kept(cluster: Callable[[str], Any]) -> None:
    """From a snapshot the protection ends at the same moment, with the same eviction; machines change and go as before."""
    c = busy(cluster)
    thawed = thaw(freeze(c.core), c.core.graph)
    assert thawed.next_wake() == c.core.next_wake() == 10 * 60_000_000

    c.core, original = thawed, c.core
    assert c.tick("10m") == ["evict guest", "run owner"]
    assert c.node("Changed", "n1", {"model": "b"}, "1") == []
    assert c.fact("NodeRemoved", node="n3") == []
    assert c.submit("late", "owner", "1", pods=3, on=["b"]) == ["run late"], "two of n2 and one of n1"
    assert (original.seq, original.next_wake()) == (10, 10 * 60_000_000), "the original stands where it stood"


def test_before_the_first_policy() -> None:
    """A core that has not begun is a state as any other, of no policy."""
    assert thaw(freeze(new_core()), None).seq == 0


def test_another_policy_is_refused(cluster: Callable[[str], Any]) -> None:
    """A snapshot belongs to the policy that was active, and to none where there was none."""
    c, other = busy(cluster), cluster(NODES.replace("owns 4", "owns 3"))
    for content, graph in ((freeze(c.core), other.core.graph), (freeze(c.core), None), (freeze(new_core()), c.core.graph)):
        with pytest.raises(SnapshotError, match="of another policy"):
            thaw(content, graph)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": FORMAT + 1}, "format"),
        ({"seq": -1}, "seq"),
        ({"surprise": 1}, "surprise"),
        ({"queues": [{"hopeless": [], "stirred": False, "preemptor": None, "generation": 0}]}, "no state of this policy"),
    ],
)
def test_what_is_not_of_this_form_is_refused(cluster: Callable[[str], Any], change: dict[str, object], says: str) -> None:
    """Another version, an impossible value, an unknown field, cycles in a policy without any."""
    c = busy(cluster)
    content = json.dumps({**json.loads(freeze(c.core)), **change}, separators=(",", ":"), ensure_ascii=False).encode()
    with pytest.raises(SnapshotError, match=says):
        thaw(content, c.core.graph)


@pytest.mark.parametrize(
    ("workload", "change", "says"),
    [
        ("owner", {"queue": 0}, "in none of the policy's queues"),
        ("owner", {"queue": 99}, "in none of the policy's queues"),
        ("owner", {"queue": -2}, "in none of the policy's queues"),
        ("guest", {"queue": -1}, "runs in no queue"),
        ("owner", {"remaining": [7]}, "more pods are left than it asked for"),
        ("owner", {"remaining": []}, "no state of this policy"),
        ("guest", {"usage": [[99, 1]]}, "uses what the policy does not have"),
        ("guest", {"evictions": -1}, "below 0"),
        ("owner", {"parked": True}, "contradicts itself"),
        ("owner", {"scan": [1, 1]}, "scan"),
        ("owner", {"lost_nodes": ["n1"]}, "has lost nodes on which it has no pods"),
    ],
)
def test_what_contradicts_the_policy_is_refused(cluster: Callable[[str], Any], workload: str, change: dict[str, object], says: str) -> None:
    """A workload in no queue of the policy, with more pods than it has, with what does not exist, at a place where nobody waits."""
    c = busy(cluster)
    document = json.loads(freeze(c.core))
    next(each for each in document["workloads"] if each["fact"]["workload"] == workload).update(change)
    content = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    with pytest.raises(SnapshotError, match=says):
        thaw(content, c.core.graph)


def test_what_is_parked_returns_in_all_of_a_tree_or_in_none(cycles: Callable[[str], Any]) -> None:
    """Queues of one cohort of which one alone is marked are no state; queues that stand alone may differ."""
    for together, nodes in ((False, TWO_QUEUES), (True, ONE_COHORT)):
        c = cycles(nodes)
        document = json.loads(freeze(c.core))
        document["queues"][0]["stirred"] = True
        content = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
        if together:
            with pytest.raises(SnapshotError, match="contradicts itself"):
                thaw(content, c.core.graph)
        else:
            assert freeze(thaw(content, c.core.graph)) == content


def test_equal_states_give_equal_bytes_for_ever(cluster: Callable[[str], Any]) -> None:
    """The bytes of this state are these. If they are others, raise FORMAT, so that snapshots of before are made anew."""
    content = freeze(busy(cluster).core)
    assert (FORMAT, hashlib.sha256(content).hexdigest()[:16]) == (6, "90f275dd9a61298b")


TWO_QUEUES = """flavor f { gpu as owned }
queue q {
  serves gpu from f
  owns 1 gpu
}
queue r {
  serves gpu from f
  owns 1 gpu
}
"""
ONE_COHORT = """flavor f { gpu as owned }
cohort all {
  queue q {
    owns 1 gpu
  }
  queue r {
    owns 1 gpu
  }
}
"""
ONE_QUEUE = "flavor f { gpu as owned }\nqueue r {\n  serves gpu from f\n  owns 1 gpu\n}\n"
AT_ONCE = 'policy "p" { use gpol.fair }\nflavor f { gpu 1 }\nqueue q { owns 1 gpu on f }\nqueue r { owns nothing }\n'
HOLD = 'hold h for q because "maintenance"\n'


@pytest.mark.parametrize(
    "after", [ONE_QUEUE, TWO_QUEUES + HOLD, AT_ONCE, AT_ONCE + HOLD], ids=["no queue", "held", "at once", "at once, held"]
)
@pytest.mark.parametrize("runs", [False, True], ids=["waits", "parked"])
def test_a_policy_that_takes_the_place_of_who_waits(cycles: Callable[[str], Any], after: str, runs: bool) -> None:
    """Who waited in line or was parked under the policy before is neither where the next one drops or holds its queue."""
    c = cycles(TWO_QUEUES)
    if runs:
        c.submit("first", "q")
    c.submit("w", "q")
    if runs:
        c.rest()
        assert c.workload("w").parked
        c.finish("first")
    c.activate(after)

    again = thaw(freeze(c.core), c.graph)
    assert freeze(again) == freeze(c.core)
    assert [(each.in_line, each.parked) for each in again.view.workloads()] == [
        (each.in_line, each.parked) for each in c.core.view.workloads()
    ]
    if after != AT_ONCE:
        assert (c.workload("w").in_line, c.workload("w").parked) == (False, False)

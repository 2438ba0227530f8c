"""Facts that a policy in cycles refuses, because nothing would come of them, or because they contradict themselves."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.errors import FactError

POLICY = """flavor a { gpu as owned }
cohort all {
  queue q {
    owns 2 gpu
    reclaims from anyone
    local queue "ns/q"
  }
  queue r { owns 2 gpu }
}
"""


def test_a_local_queue_of_another_queue(cycles: Callable[[str], Any]) -> None:
    """A submission that names both says the same by both; it is refused where the two disagree, and nothing of it is kept."""
    c = cycles(POLICY)
    with pytest.raises(FactError, match="names queue `r`, but its local queue `ns/q` leads to queue `q`; leave one of the two out"):
        c.submit("w", "r", local_queue="ns/q")
    assert c.core.view.names() == []

    c.submit("agrees", "q", local_queue="ns/q")
    c.submit("unknown", "r", local_queue="ns/gone")
    c.submit("alone", None, local_queue="ns/q")
    assert [c.workload(name).queue for name in ("agrees", "unknown", "alone")] == [c.node("q"), c.node("r"), c.node("q")]


def test_an_adoption_may_say_another_queue(cycles: Callable[[str], Any]) -> None:
    """What an outside system admitted runs where it was admitted, whatever its local queue leads to by now."""
    c = cycles(POLICY)
    c.submit("w", None, local_queue="ns/q", hold=True)
    placement = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "1"}}
    c.fact("WorkloadAdopted", workload="w", queue="r", since=0, placements=[placement])

    assert c.workload("w").queue == c.node("r")


@pytest.mark.parametrize(
    ("kind", "said"),
    [("NodeAdded", {"capacity": {"gpu": "3"}}), ("NodeChanged", {"capacity": {"gpu": "3"}}), ("NodeRemoved", {})],
)
def test_nodes(cycles: Callable[[str], Any], kind: str, said: dict[str, Any]) -> None:
    """There is what is owned, so what machines there are is refused, as a change of capacity is."""
    c = cycles(POLICY)
    with pytest.raises(FactError, match="places no pods on nodes: change what queues own instead"):
        c.fact(kind, node="n", **said)


def test_a_policy_at_once_while_somebody_is_told_to_stop(cycles: Callable[[str], Any]) -> None:
    """A policy that decides at once knows of nobody who stops later; once it has stopped the policy is taken."""
    c = cycles(POLICY)
    c.submit("v", "q", hold=True)
    placement = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "1"}}
    c.fact("WorkloadAdopted", workload="v", queue="r", since=0, evicting=True, placements=[placement])
    at_once = 'policy "t" { use gpol.fair }\n' + POLICY.replace("    reclaims from anyone\n", "")
    with pytest.raises(FactError, match="`v` is told to stop and still holds its place, and the policy decides at once; report first"):
        c.activate(at_once)

    c.update("v", requeued=0)
    c.activate(at_once)
    assert c.running() == ["v"], "it waited, and is admitted at once"


def test_checks_at_once(cycles: Callable[[str], Any]) -> None:
    """A check that failed keeps a workload waiting in a policy that decides at once, too, until it says otherwise."""
    c = cycles('policy "t" { use gpol.fair }\n' + POLICY.replace("    reclaims from anyone\n", ""))
    c.submit("runs", "q", "4")
    c.submit("w", "q")
    c.update("w", checks={"prov": "Retry"})
    assert c.finish("runs") == []
    assert c.standing("w").reason == "PendingEvaluation"

    assert c.update("w", checks={"prov": "Pending"}) == ["run w"]


PLACED = POLICY.replace("flavor a { gpu as owned }", "flavor a {\n  gpu as owned\n  placed on nodes\n}")


def test_nodes_where_pods_get_places(cycles: Callable[[str], Any]) -> None:
    """There nodes may be told of, each once until it is gone; what queues own stays what they own."""
    c = cycles(PLACED)
    c.fact("NodeAdded", node="n", capacity={"gpu": "3", "pods": 9}, labels={})
    with pytest.raises(FactError, match="node `n` is already there; use NodeChanged"):
        c.fact("NodeAdded", node="n", capacity={"gpu": "3"}, labels={})
    with pytest.raises(FactError, match="no node `m` was added"):
        c.fact("NodeChanged", node="m", capacity={"gpu": "3"}, labels={})
    c.fact("NodeChanged", node="n", capacity={"gpu": "1", "pods": 9}, labels={})
    assert c.core.probe.most(c.node("q"), c.slot("a")) == 4000
    c.fact("NodeRemoved", node="n")
    with pytest.raises(FactError, match="no node `n` was added"):
        c.fact("NodeRemoved", node="n")


def test_nodes_outlive_a_policy_without_places(cycles: Callable[[str], Any]) -> None:
    """They are there again once a policy places pods again."""
    c = cycles(PLACED)
    c.fact("NodeAdded", node="n", capacity={"gpu": "3", "pods": 9}, labels={})
    c.activate('policy "t" { use kueue.classical }\n' + POLICY)
    c.activate('policy "t" { use kueue.classical }\n' + PLACED)
    c.submit("w", "q")
    assert c.cycle() == ["run w"]

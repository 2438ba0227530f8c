"""What changes under way: workloads, what exists, and the policy itself."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.units import parse_duration

POLICY = """policy "changes" {
  use test.bare
}
flavor a { gpu 4 }
priority low 1
priority high 10
priority sacred 20 { never evicted }
queue q {
  owns 4 gpu
  default priority low
}
preempt make-room {
  evict from the same queue
  where victim.priority < workload.priority
}
"""


# --- workloads ------------------------------------------------------------------------------------------------------


def test_a_waiting_workload_overtakes(cluster: Callable[[str], Any]) -> None:
    """A new priority counts for the place in the queue, and for whom it may evict."""
    c = cluster(POLICY)
    c.submit("runs", "q", "4", priority="high")
    c.submit("first", "q", "4")
    c.submit("second", "q", "4")
    c.at("1s")

    assert c.update("second", priority="high") == []
    assert [c.standing(name).position for name in ("second", "first")] == [1, 2]
    assert c.update("second", priority=11) == ["evict runs", "run second"]


def test_a_running_workload_becomes_a_victim(cluster: Callable[[str], Any]) -> None:
    """One that runs and sinks below others that wait makes room for them."""
    c = cluster(POLICY)
    c.submit("runs", "q", "4", priority="high")
    c.submit("waits", "q", "4", priority=5)
    c.at("1s")

    assert c.update("runs", priority=4) == ["evict runs", "run waits"]


def test_a_running_workload_becomes_safe(cluster: Callable[[str], Any]) -> None:
    """One that is given a class that is never evicted stays, and may lose that again."""
    c = cluster(POLICY)
    c.submit("runs", "q", "4")
    c.at("1s")
    c.update("runs", priority="sacred")

    assert c.submit("w", "q", "4", priority=100) == []
    assert c.update("runs", priority=20) == ["evict runs", "run w"]  # the number alone gives no privilege


def pod_sets() -> list[dict[str, object]]:
    """One driver of 1 GPU, and three workers of 1 GPU."""
    return [{"name": "driver", "requests": {"gpu": "1"}}, {"name": "worker", "count": 3, "requests": {"gpu": "1"}}]


def test_done_pods_make_room(cluster: Callable[[str], Any]) -> None:
    """Pods that are done are free at once for others; numbers are in all, not since the last time."""
    c = cluster(POLICY)
    c.submit("gang", "q", sets=pod_sets())
    for number in range(4):
        c.submit(f"w{number}", "q", "1")

    assert c.update("gang", reclaimable={"worker": 1}) == ["run w0"]
    assert c.update("gang", reclaimable={"worker": 1}) == []
    assert c.update("gang", reclaimable={"worker": 3}) == ["run w1", "run w2"]
    assert c.update("gang", reclaimable={"driver": 1}) == ["run w3"]
    assert c.standing("gang").usage == ()
    assert c.finish("gang") == []


def test_a_waiting_workload_needs_less_when_pods_are_done(cluster: Callable[[str], Any]) -> None:
    """Evicted after two of its four pods were done, a gang asks for the two that are left."""
    c = cluster(POLICY)
    c.submit("gang", "q", sets=pod_sets())
    c.update("gang", reclaimable={"driver": 1, "worker": 1})
    c.operator("evict", "gang")
    c.submit("other", "q", "2")

    assert c.operator("release", "gang") == ["run gang"]
    assert [(part.pod_set, part.count) for part in c.decided[0].assignments] == [("worker", 2)]
    assert [charge.amount for charge in c.decided[0].usage] == [2000]


def test_cancelling_frees_room(cluster: Callable[[str], Any]) -> None:
    """A running workload that is withdrawn makes room; a waiting one leaves its place."""
    c = cluster(POLICY)
    for name in ("a", "b", "c"):
        c.submit(name, "q", "4")

    assert c.cancel("b") == []
    assert c.cancel("a") == ["run c"]


# --- what exists ----------------------------------------------------------------------------------------------------


def test_more_exists(cluster: Callable[[str], Any]) -> None:
    """New GPUs serve those who wait."""
    c = cluster(POLICY)
    c.submit("a", "q", "4")
    c.submit("b", "q", "2")

    assert c.capacity("a", gpu="6") == ["run b"]


def test_less_exists_than_runs(cluster: Callable[[str], Any]) -> None:
    """GPUs that go evict nobody by themselves; nothing starts until use is below what is left."""
    c = cluster(POLICY)
    for name in ("a", "b", "c"):
        c.submit(name, "q", "1")

    assert c.capacity("a", gpu="1") == []
    assert c.submit("d", "q", "1") == []
    assert c.finish("a") == []
    assert c.finish("b") == []
    assert c.finish("c") == ["run d"]


def test_an_unchanged_resource_stays(cluster: Callable[[str], Any]) -> None:
    """A capacity fact sets the resources that it names, and no others."""
    c = cluster('policy "p" { preempt by nothing }\nflavor a {\n  gpu 4\n  cpu 8\n}\nqueue q { owns nothing }\n')
    c.capacity("a", cpu="2")

    assert c.submit("w", "q", sets=[{"requests": {"gpu": "4", "cpu": "2"}}]) == ["run w"]
    assert c.submit("v", "q", sets=[{"requests": {"cpu": "1"}}]) == []


NODES = """policy "nodes" { preempt by nothing }
flavor a { gpu from nodes where model = "a100" and zone = "b" }
flavor h { gpu from nodes where model = "h100" }
queue q { owns nothing }
"""


def test_nodes_belong_to_the_flavor_that_their_labels_match(cluster: Callable[[str], Any]) -> None:
    """All labels of the selector have to match; other labels don't matter; a node that matches nothing serves nobody."""
    c = cluster(NODES)
    c.submit("w", "q", "2")

    assert c.node("Added", "n1", {"model": "a100"}, "8") == []
    assert c.node("Added", "n2", {"model": "v100", "zone": "b"}, "8") == []
    assert c.node("Added", "n3", {"model": "a100", "zone": "b", "rack": "7"}, "2") == ["run w"]
    assert c.flavors("w") == {"gpu": "a"}


def test_nodes_add_up_change_and_go(cluster: Callable[[str], Any]) -> None:
    """A flavor has what all its nodes have together; new labels may move a node to another flavor."""
    c = cluster(NODES)
    c.node("Added", "n1", {"model": "h100"}, "2")
    c.node("Added", "n2", {"model": "h100"}, "2")
    c.submit("w4", "q", "1", pods=4)
    c.submit("w3", "q", "1", pods=3)

    assert c.running() == ["w4"]
    assert c.node("Changed", "n1", {"model": "h100"}, "5") == ["run w3"]
    assert c.node("Changed", "n2", {"model": "a100", "zone": "b"}, "2") == []
    c.finish("w4")
    c.submit("a", "q", "2", on=("a",))
    assert c.running() == ["w3", "a"]
    c.fact("NodeRemoved", node="n1")
    c.finish("w3")
    assert c.submit("h", "q", "1", on=("h",)) == []


# --- the policy -----------------------------------------------------------------------------------------------------


def test_a_new_policy_decides_at_once(cluster: Callable[[str], Any]) -> None:
    """A queue that now owns what it waits for gets it, because of the activation; who owned it before gives way."""
    text = 'policy "p" {{ }}\nflavor a {{ gpu 4 }}\nqueue old {{ owns {} gpu }}\nqueue new {{ owns {} gpu }}\n'
    c = cluster(text.format(4, 0))
    c.submit("o", "old", "4")
    c.submit("n", "new", "4")
    c.at("1s")

    assert c.activate(text.format(0, 4)) == ["evict o", "run n"]


def test_a_new_order_counts_at_once(cluster: Callable[[str], Any]) -> None:
    """Those who wait are put in the new order."""
    c = cluster(POLICY)
    c.submit("all", "q", "4")
    c.submit("big", "q", "3")
    c.submit("small", "q", "2")
    c.activate(POLICY.replace("use test.bare", "use test.bare\n  order workloads by gpu asc"))

    assert [c.standing(name).position for name in ("small", "big")] == [1, 2]
    assert c.finish("all") == ["run small"]


def test_a_new_default_priority_counts_for_all(cluster: Callable[[str], Any]) -> None:
    """Workloads that name no priority have the one of the policy that is active, running ones as well."""
    c = cluster(POLICY)
    c.submit("runs", "q", "4", priority=5)
    c.submit("waits", "q", "4")
    c.at("1s")

    assert c.activate(POLICY.replace("default priority low", "default priority high")) == ["evict runs", "run waits"]


def test_capacities_outlive_a_policy(cluster: Callable[[str], Any]) -> None:
    """What was reported about the world is true under the next policy too, and nodes are sorted into its flavors."""
    c = cluster(POLICY)
    c.capacity("a", gpu="2")
    c.submit("w", "q", "3")

    assert c.activate(POLICY.replace("gpu 4 }", "gpu 8 }")) == []
    c = cluster(NODES)
    c.node("Added", "n1", {"model": "h100"}, "2")
    c.submit("w", "q", "2", on=("new",))
    assert c.activate(NODES.replace("flavor h ", "flavor new ")) == ["run w"]


def test_a_queue_may_be_renamed_while_nothing_runs_in_it(cluster: Callable[[str], Any]) -> None:
    """A workload that waits goes where the new match rules send it, or is rejected."""
    text = 'policy "p" {{ preempt by nothing }}\nflavor a {{ gpu 1 }}\nqueue {} {{\n  for user "ada"\n}}\nqueue busy {{ owns nothing }}\n'
    c = cluster(text.format("before"))
    c.submit("all", "busy", "1")
    c.submit("matched", None, "1", user="ada")
    c.submit("named", "before", "1", user="ada")

    assert c.activate(text.format("after")) == ["reject named"]
    assert c.standing("matched").queue == "after"


@pytest.mark.parametrize(
    "flavors", ["flavor a { gpu 4 }\nflavor b { gpu 4 }\n", "flavor b { gpu 4 }\nflavor a { gpu 4 }\nflavor aa { gpu 1 }\n"]
)
def test_running_workloads_keep_their_flavor(cluster: Callable[[str], Any], flavors: str) -> None:
    """Flavors may come and change places; use is counted under its name, and given back there."""
    policy = 'policy "p" {{ preempt by nothing }}\n{}queue q {{ owns nothing }}\n'
    c = cluster(policy.format("flavor b { gpu 4 }\n"))
    c.submit("w", "q", "3")
    c.activate(policy.format(flavors))

    assert c.standing("w").usage[0].flavor == "b"
    assert c.submit("b", "q", "2", on=("b",)) == []
    assert c.finish("w") == ["run b"]


def test_capacity_of_a_fact_does_not_count_where_what_is_owned_exists(cluster: Callable[[str], Any]) -> None:
    """A policy that decides in cycles has what queues own, whatever a fact said of the flavor before; back again, the fact counts."""
    at_once = 'policy "p" { use gpol.fair }\nflavor a { gpu 8 }\nqueue q { owns 8 gpu on a }\n'
    cycles = 'policy "p" { use kueue.classical }\nflavor a { gpu as owned }\nqueue q {\n  serves gpu from a\n  owns 8 gpu on a\n}\n'
    c = cluster(at_once)
    c.capacity("a", gpu="1")
    exist = [c.core.view.capacity(0)]
    for text in (cycles, at_once):
        c.activate(text)
        exist.append(c.core.view.capacity(0))

    assert exist == [1_000, 8_000, 1_000]


# --- how long it has waited ------------------------------------------------------------------------------------------


PATIENCE = """policy "p" {{ preempt by starved, reclaim-owned, fair-share, make-room }}
flavor a {{ gpu 4 }}
queue one {{ owns nothing }}
queue {} {{ for user "eve" }}
preempt starved {{
  evict from any queue
  where workload.waiting >= 10m
}}
{}
"""


@pytest.mark.parametrize(
    ("queue", "rule", "due"),
    [("two", "", "10m"), ("other", "", "14m"), ("two", 'hold all for two because "maintenance"', None)],
    ids=["the same queue", "another queue", "a hold"],
)
def test_a_new_policy_and_the_wait(cluster: Callable[[str], Any], queue: str, rule: str, due: str | None) -> None:
    """A policy that leaves a workload waiting in its queue changes nothing about its wait; another queue, or a hold, begins it anew."""
    c = cluster(PATIENCE.format("two", ""))
    c.submit("runs", "one", "4")
    c.submit("waits", None, "4", user="eve")
    c.at("4m")
    c.activate(PATIENCE.format(queue, rule))
    if due is None:
        c.at("20m")
        c.activate(PATIENCE.format("two", ""))
        due = "30m"

    assert c.core.next_wake() == parse_duration(due)
    assert c.tick(due) == ["evict runs", "run waits"]

"""What can never run as things stand: each cause as data, and in words with its remedy."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.explain.wording import impediment_told

POLICY = """policy "never" {
  use test.bare
}
flavor a {
  gpu 8
}
flavor b {
  gpu 2
  cpu 4
  label zone = "x"
}
flavor tainted {
  gpu 8
  taint pool = "spot" NoSchedule
}
flavor nodes {
  gpu from nodes where pool = "n"
}
queue q {
  owns 8 gpu on a
  only a, b
}
queue capped {
  owns nothing
  borrows up to 1 gpu on a
  only a
}
queue on-nodes {
  owns nothing
  only nodes
}
queue on-tainted {
  owns nothing
  only tainted
}
queue zone {
  owns nothing
  only b
}
hold frozen for capped { where workload.user = "eve" } because "ask Olga"
"""


def told(c: Any, name: str) -> list[tuple[str, str, str, str]]:
    """Why it can never run: kind, flavor, and both clauses."""
    return [(each.kind, each.flavor, *impediment_told(each)) for each in c.standing(name).never]


def test_more_than_there_is(cluster: Callable[[str], Any]) -> None:
    """On each flavor the limit that is too low, whatever runs."""
    c = cluster(POLICY)
    c.submit("r", "q", "8")
    c.submit("w", "q", "9")
    assert told(c, "w") == [
        ("exceeds", "a", "it asks for 9 gpu on a, and a has at most 8 gpu", "ask for at most 8 gpu, or add gpu to a"),
        ("exceeds", "b", "it asks for 9 gpu on b, and b has at most 2 gpu", "ask for at most 2 gpu, or add gpu to b"),
    ]
    c.capacity("a", gpu="9")
    assert c.standing("w").never == ()


def test_more_than_may_be_borrowed(cluster: Callable[[str], Any]) -> None:
    """The borrowing limit, also of one that is held."""
    c = cluster(POLICY)
    c.submit("w", "capped", "2", user="eve")
    assert c.standing("w").reason == "OnHold"
    assert told(c, "w") == [
        (
            "exceeds",
            "a",
            "it asks for 2 gpu on a, and the borrowing limit of capped leaves at most 1 gpu",
            "ask for at most 1 gpu, or raise the borrowing limit of capped",
        )
    ]


@pytest.mark.parametrize(
    ("queue", "on", "expected"),
    [
        ("q", ("c",), [("unknown flavor", "c", "the policy has no flavor c", "ask for a or b, or declare c in the policy")]),
        (
            "q",
            ("tainted",),
            [("other flavors", "tainted", "its queue may not use tainted", "ask for a or b, or let the queue use tainted")],
        ),
        ("on-tainted", (), [("taint", "tainted", "taint pool=spot:NoSchedule of tainted is not tolerated", "let it tolerate the taint")]),
        (
            "on-nodes",
            (),
            [
                (
                    "no nodes",
                    "nodes",
                    "it asks for 1 gpu on nodes, which has what its nodes have, and there are no nodes",
                    'add nodes with label pool = "n" (`--nodes` of `gpol simulate`, or NodeAdded by `gpol run`), '
                    "or write how much gpu nodes has instead of `from nodes`",
                )
            ],
        ),
    ],
)
def test_flavors_that_will_not_do(cluster: Callable[[str], Any], queue: str, on: tuple[str, ...], expected: list[Any]) -> None:
    """Flavors that nobody declares, that its queue may not use, that it does not tolerate, that have no nodes."""
    c = cluster(POLICY)
    c.submit("w", queue, "1", on=on)
    assert told(c, "w") == expected


@pytest.mark.parametrize(
    ("nodes", "told", "remedy"),
    [
        ([{"labels": {}}], 'no node is of it: 1 node lacks label pool = "n"', "correct the labels of the nodes or of the flavor, or add"),
        ([{"cordoned": True}], "all its nodes are cordoned", "uncordon one, or add"),
        (
            [{"cordoned": True}, {"capacity": {"cpu": "4"}}],
            "none of its nodes that take pods has any gpu",
            "uncordon nodes, or add",
        ),
    ],
)
def test_nodes_that_give_nothing(cluster: Callable[[str], Any], nodes: list[dict[str, Any]], told: str, remedy: str) -> None:
    """A node that lacks the flavor's labels, one that takes nobody, and one without the resource beside such a one."""
    c = cluster(POLICY)
    for number, node in enumerate(nodes):
        c.fact("NodeAdded", node=f"n{number}", **{"labels": {"pool": "n"}, "capacity": {"gpu": "8"}, **node})
    c.submit("w", "on-nodes", "1")
    [never] = c.standing("w").never
    cause, help_text = impediment_told(never)
    assert cause == f"it asks for 1 gpu on nodes, which has what its nodes have, and {told}"
    assert help_text.startswith(remedy)
    assert help_text.endswith("or write how much gpu nodes has instead of `from nodes`")


def _with(c: Any, queue: str, **pod_set: Any) -> list[tuple[str, str, str, str]]:
    c.fact("WorkloadSubmitted", workload="w", queue=queue, pod_sets=[{"name": "main", "count": 1, **pod_set}])
    return told(c, "w")


def test_resources_that_are_not_counted(cluster: Callable[[str], Any]) -> None:
    """A resource that no flavor has, and one that the flavor does not have."""
    c = cluster(POLICY)
    assert _with(c, "q", requests={"gpu": 1000, "disk": 1}) == [
        ("not counted", "", "the policy does not count disk", "write `ignore disk` in the policy, or give a flavor some disk")
    ]
    c = cluster(POLICY)
    [first, *_] = _with(c, "capped", requests={"gpu": 1000, "cpu": 1000})
    assert first[0] in ("unserved", "lacks-resource")
    assert "cpu" in first[2]


def test_nodes_that_it_selects(cluster: Callable[[str], Any]) -> None:
    """A node selector that no flavor of its queue meets."""
    c = cluster(POLICY)
    assert _with(c, "zone", requests={"gpu": 1000}, node_selector={"zone": "y"}) == [
        ("not-selected", "b", "it selects other nodes than those of b", "let its node selector and affinity match b")
    ]


def test_what_waits_for_others_can_run(cluster: Callable[[str], Any]) -> None:
    """Whoever would run in an idle cluster can run, also with fewer pods."""
    c = cluster(POLICY)
    c.submit("r", "q", "8")
    c.submit("w", "q", "8")
    c.fact(
        "WorkloadSubmitted", workload="few", queue="q", pod_sets=[{"name": "main", "count": 9, "min_count": 1, "requests": {"gpu": 1000}}]
    )
    assert (c.standing("w").never, c.standing("few").never) == ((), ())
    assert c.standing("w").reason == "WaitingForQuota"

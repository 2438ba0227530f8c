"""Nodes of a cluster as facts: what is said of them where flavors are amounts, and where pods get places."""

from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.kubernetes.nodes import HOSTNAME, NodeSeen, Supply, read_node, unselectable
from gpol.dsl import compile_policy
from gpol.engine.event_parts import Taint
from gpol.engine.facts import NodeAdded, NodeChanged, NodeRemoved
from gpol.journal.journal import Journal

AMOUNTS = compile_policy('policy "p" { use gpol.fair }\nflavor f { gpu from nodes where model = "h100" }\n', "p.gpol")
PLACED = compile_policy(
    'policy "p" { use gpol.fair }\nflavor f {\n  gpu from nodes where model = "h100"\n  placed on nodes\n}\n', "p.gpol"
)  # fmt: skip
LABELS = {"model": "h100", "disk": "ssd", HOSTNAME: "host"}
NAMES = {"gpu": "nvidia.com/gpu"}


@pytest.fixture
def supply(tmp_path: Path) -> Supply:
    """Nodes of an empty journal."""
    with Journal.create(tmp_path / "journal.db") as journal:
        return Supply(journal, NAMES)


def plain(**spec: Any) -> dict[str, Any]:
    """A Node."""
    status = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"nvidia.com/gpu": "8", "memory": "1Ki", "pods": "9"}}
    return {"metadata": {"name": "n1", "labels": dict(LABELS)}, "spec": spec, "status": status}


def learned(supply: Supply, seen: NodeSeen | None, graph: Any = PLACED) -> list[Any]:
    """The next facts about one node, which are taken in."""
    facts = list(supply.facts({"n1": seen}, graph, 0))
    for fact in facts:
        supply.take(fact)
    return facts


def test_where_flavors_are_amounts(supply: Supply) -> None:
    """A node has what the policy counts, by the labels that it reads; one that takes no new pods is gone."""
    tainted = read_node(plain(taints=[{"key": "k", "effect": "NoSchedule"}]))
    assert learned(supply, tainted, AMOUNTS) == [NodeAdded(time=0, node="n1", labels={"model": "h100"}, capacity={"gpu": 8000})]
    assert learned(supply, read_node(plain(unschedulable=True)), AMOUNTS) == [NodeRemoved(time=0, node="n1")]


def test_where_pods_get_places(supply: Supply) -> None:
    """All that keeps pods off a node; one that takes no new pods is cordoned, whatever its labels say by then, and gone once it is lost."""
    [added] = learned(supply, read_node(plain(taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])))
    assert added == NodeAdded(
        time=0,
        node="n1",
        labels=LABELS,
        capacity={"gpu": 8000, "memory": 1024, "pods": 9},
        taints=(Taint(key="k", value="v", effect="NoSchedule"),),
    )
    for change in ({"spec": {"unschedulable": True}}, {"status": {}}, {"metadata": {"labels": {}, "deletionTimestamp": "2027-01-01"}}):
        [changed] = learned(supply, read_node({**plain(), **change}))
        assert isinstance(changed, NodeChanged)
        assert changed.cordoned
    out = read_node(plain(taints=[{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]))
    assert out is None
    assert learned(supply, out) == [NodeRemoved(time=0, node="n1")]


def test_a_node_says_more_than_a_fact_holds(supply: Supply) -> None:
    """What the policy reads is kept."""
    labels = {**{f"a{number}": "x" for number in range(400)}, **LABELS, "l" * 300: "x"}
    allocatable = {**{f"a{number}": "1" for number in range(100)}, "pods": "9", "nvidia.com/gpu": "8", "z": "no quantity"}
    taints = tuple(Taint(key=f"t{number}", effect="NoSchedule") for number in range(99))
    [added] = learned(supply, NodeSeen(labels, allocatable, taints))
    assert (len(added.labels), len(added.capacity), len(added.taints)) == (256, 64, 64)
    assert (added.labels["model"], added.labels[HOSTNAME]) == ("h100", "host")
    assert (added.capacity["gpu"], added.capacity["pods"]) == (8000, 9)


def test_a_journal_that_is_opened_again_has_its_nodes(tmp_path: Path) -> None:
    """Nothing is told twice."""
    place = tmp_path / "journal.db"
    with Journal.create(place) as journal:
        supply = Supply(journal, NAMES)
        facts = learned(supply, read_node(plain()))
        assert len(facts) == 1
    assert learned(supply, read_node(plain())) == []


def test_nodes_of_one_hostname() -> None:
    """Each of them is named, if it is of a flavor that places pods on nodes."""
    nodes = {
        "a": NodeSeen({**LABELS, HOSTNAME: "twin"}, {}),
        "b": NodeSeen({HOSTNAME: "twin"}, {}),
        "c": NodeSeen({"model": "h100"}, {}),
        "d": NodeSeen(LABELS, {}),
        "e": None,
    }
    assert unselectable(nodes, PLACED) == {
        "a": f"has the label {HOSTNAME} of another node, twin",
        "c": f"has no label {HOSTNAME}",
    }
    assert unselectable(nodes, AMOUNTS) == {}

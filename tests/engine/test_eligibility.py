"""Which flavors a pod set may run on at all."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from gpol.engine import policy_graph as graph
from gpol.engine.eligibility import barrier, holds, selects, untolerated
from gpol.engine.event_parts import PodSet, Requirement, Toleration
from gpol.engine.nodes import conditions
from gpol.engine.nodes.conditions import Taint

SPOT = Taint("pool", "spot", "NoSchedule")


def flavor(labels: dict[str, str] | None = None, taints: tuple[Taint, ...] = (), tolerations: tuple[Toleration, ...] = ()) -> graph.Flavor:
    """A flavor called `f`."""
    return graph.Flavor(
        name="f",
        capacity=(("gpu", 0),),
        nodes=None,
        worth=Fraction(1),
        source=graph.Source("t.gpol", 1),
        labels=tuple(sorted((labels or {}).items())),
        taints=taints,
        tolerations=tolerations,
    )


def pods(**said: object) -> PodSet:
    """A pod set that asks for one GPU."""
    return PodSet.model_validate({"requests": {"gpu": "1"}, **said})


def test_the_labels_that_select_its_nodes_are_those_of_a_flavor() -> None:
    """A pod that selects others would find no node there."""
    of_nodes = replace(flavor({"pool": "spot"}), nodes=(("model", "h100"),))
    assert selects(of_nodes, pods(node_selector={"model": "h100", "pool": "spot"}))
    assert not selects(of_nodes, pods(node_selector={"model": "a100"}))
    assert not selects(of_nodes, pods(affinity=[[{"key": "model", "operator": "NotIn", "values": ["h100"]}]]))
    assert selects(of_nodes, pods(affinity=[[{"key": "rack", "operator": "In", "values": ["7"]}]]))


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        pytest.param({"key": "pool", "value": "spot"}, True, id="same key and value"),
        pytest.param({"key": "pool", "value": "spot", "effect": "NoSchedule"}, True, id="same effect"),
        pytest.param({"key": "pool", "value": "spot", "effect": "NoExecute"}, False, id="another effect"),
        pytest.param({"key": "pool", "value": "other"}, False, id="another value"),
        pytest.param({"key": "pool", "operator": "Exists"}, True, id="any value"),
        pytest.param({"operator": "Exists"}, True, id="anything"),
        pytest.param({"operator": "Exists", "effect": "NoExecute"}, False, id="anything, of another effect"),
        pytest.param({"value": "spot"}, False, id="no key, and not Exists"),
        pytest.param({"key": "zone", "operator": "Exists"}, False, id="another key"),
    ],
)
def test_tolerations(toleration: dict[str, str], tolerated: bool) -> None:
    """A taint is forgiven by key, value and effect, as Kubernetes compares them; those of the flavor count like the pod set's."""
    theirs = Toleration.model_validate(toleration)
    given = conditions.Toleration(theirs.key, theirs.operator, theirs.value, theirs.effect)

    assert (untolerated(flavor(taints=(SPOT,)), pods(tolerations=[toleration])) is None) == tolerated
    assert (untolerated(flavor(taints=(SPOT,), tolerations=(given,)), pods()) is None) == tolerated


def test_the_first_taint_that_is_not_tolerated_is_told() -> None:
    """`PreferNoSchedule` keeps nobody away; of the others the first in order is named."""
    soft, hard = Taint("a", "", "PreferNoSchedule"), Taint("z", "1", "NoExecute")

    assert untolerated(flavor(taints=(soft,)), pods()) is None
    assert untolerated(flavor(taints=(soft, hard, SPOT)), pods()) is hard


def term(key: str, operator: str, *values: str) -> dict[str, object]:
    """One condition of a term."""
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        pytest.param({"node_selector": {"pool": "spot"}}, True, id="selector meets the label"),
        pytest.param({"node_selector": {"pool": "other"}}, False, id="selector wants another value"),
        pytest.param({"node_selector": {"rack": "7"}}, True, id="selector of a key that the flavor does not declare"),
        pytest.param({"affinity": [[term("pool", "In", "a", "spot")]]}, True, id="one of the values"),
        pytest.param({"affinity": [[term("pool", "In", "a")], [term("pool", "Exists")]]}, True, id="the second alternative"),
        pytest.param({"affinity": [[term("pool", "Exists"), term("gen", "Gt", "5")]]}, False, id="both of a term have to hold"),
        pytest.param({"affinity": [[term("pool", "In", "a")], [term("rack", "In", "7")]]}, True, id="a term about undeclared keys alone"),
        pytest.param({"affinity": [[term("rack", "In", "7"), term("pool", "In", "a")]]}, False, id="what is left of a term counts"),
        pytest.param({"affinity": [[term("gen", "Gt", "4")]], "node_selector": {"pool": "x"}}, False, id="selector and affinity"),
    ],
)
def test_selectors_compare_declared_labels(said: dict[str, object], chosen: bool) -> None:
    """Only keys that the flavor declares are compared, here pool=spot and gen=5."""
    assert selects(flavor({"pool": "spot", "gen": "5"}), pods(**said)) == chosen


@pytest.mark.parametrize(
    ("operator", "values", "label", "holding"),
    [
        ("In", ["a"], "a", True),
        ("In", ["a"], None, False),
        ("NotIn", ["a"], "a", False),
        ("NotIn", ["a"], None, True),
        ("Exists", [], "", True),
        ("Exists", [], None, False),
        ("DoesNotExist", [], None, True),
        ("DoesNotExist", [], "a", False),
        ("Gt", ["5"], "6", True),
        ("Gt", ["5"], "5", False),
        ("Lt", ["-2"], "-3", True),
        ("Lt", ["5"], "5", False),
        ("Gt", ["5"], "10", True),
        ("Gt", ["5"], "many", False),
        ("Lt", ["x"], "1", False),
        ("Gt", ["1", "2"], "3", False),
        ("Gt", ["1"], None, False),
        ("Gt", ["1"], "9" * 21, False),
    ],
)
def test_conditions(operator: str, values: list[str], label: str | None, holding: bool) -> None:
    """Each operator on a label or its absence; Gt and Lt compare whole numbers and nothing else."""
    condition = Requirement.model_validate({"key": "k", "operator": operator, "values": values})

    assert holds(condition, {} if label is None else {"k": label}) == holding


def test_all_of_it_counts() -> None:
    """A flavor that the pod set does not name is no flavor for it; nor is one that is tainted or has other labels."""

    def accepts(known: graph.Flavor, pod_set: PodSet) -> bool:
        policy: Any = SimpleNamespace(flavors=(known,))
        return barrier(policy, ((),), 0, pod_set, ("gpu",)) is None

    assert accepts(flavor(), pods())
    assert accepts(flavor(), pods(flavors=["f", "g"]))
    assert not accepts(flavor(), pods(flavors=["g"]))
    assert not accepts(flavor(taints=(SPOT,)), pods())
    assert not accepts(flavor({"pool": "spot"}), pods(node_selector={"pool": "x"}))


@pytest.mark.parametrize(
    ("asked", "sizes", "found"),
    [
        ({"gpu": "8"}, [{"gpu": 8000}], None),
        ({"gpu": "9"}, [{"gpu": 8000}, {"gpu": 4000}], ("gpu", 9000, 8000)),
        ({"gpu": "8", "cpu": "2"}, [{"gpu": 8000, "cpu": 1000}, {"gpu": 1000, "cpu": 4000}], ("", 0, 0)),
        ({"gpu": "8", "cpu": "2"}, [{"gpu": 8000, "cpu": 1000}, {"gpu": 8000, "cpu": 2000}], None),
        ({"gpu": "8", "memory": "9Ti"}, [{"gpu": 8000, "memory": 1}], None),
        ({"gpu": "0"}, [{"gpu": 0}], None),
        ({"gpu": "1"}, [{"gpu": 0}], ("gpu", 1000, 0)),
        ({"gpu": "99"}, [], None),
    ],
)
def test_a_pod_fits_on_some_machine(asked: dict[str, str], sizes: list[dict[str, int]], found: tuple[str, int, int] | None) -> None:
    """One machine has to hold all that a pod gets from the flavor, and no more; without machines there are no sizes."""
    policy: Any = SimpleNamespace(flavors=(flavor(),))
    obstacle = barrier(policy, (tuple(sizes),), 0, PodSet.model_validate({"count": 3, "requests": asked}), ("cpu", "gpu"))

    assert (None if obstacle is None else (obstacle.resource, obstacle.asked, obstacle.limit)) == found
    assert obstacle is None or obstacle.kind == "too-large"

"""What keeps a pod off a node, whatever is free there."""

import pytest
from gpol.engine.event_parts import Toleration
from gpol.engine.nodes import conditions
from gpol.engine.nodes.conditions import Taint
from gpol.engine.nodes.kept_off import KeptOff, kept_off
from placing import machine, pod_set

SPOT, LOST, RATHER_NOT = Taint("pool", "spot", "NoSchedule"), Taint("lost", "", "NoExecute"), Taint("old", "", "PreferNoSchedule")
FOR_SPOT, FOR_ALL = Toleration(key="pool", value="spot"), conditions.Toleration("", "Exists", "", "")
H100 = [[{"key": "model", "operator": "In", "values": ["h100"]}]]


@pytest.mark.parametrize(
    ("taints", "tolerations", "cause"),
    [
        pytest.param([SPOT], [], KeptOff("taint", "pool=spot:NoSchedule"), id="not tolerated"),
        pytest.param([LOST], [FOR_SPOT], KeptOff("taint", "lost:NoExecute"), id="without a value"),
        pytest.param([SPOT, LOST], [FOR_SPOT], KeptOff("taint", "lost:NoExecute"), id="one of two tolerated"),
        pytest.param([LOST, SPOT], [], KeptOff("taint", "lost:NoExecute"), id="the first counts"),
        pytest.param([SPOT, LOST], [FOR_ALL], None, id="tolerated by the flavor"),
        pytest.param([RATHER_NOT], [], None, id="no more than a preference"),
    ],
)
def test_taints(taints: list[Taint], tolerations: list[Toleration], cause: KeptOff | None) -> None:
    """The first taint that keeps pods off and is not tolerated."""
    assert kept_off(machine("b/r", 8, taints=taints), pod_set(), tolerations) == cause


def test_the_flavors_tolerations_are_no_others() -> None:
    """Only those that are given count: a pod set's own have to be among them."""
    assert kept_off(machine("b/r", 8, taints=[SPOT]), pod_set(tolerations=[FOR_SPOT]), []) == KeptOff("taint", "pool=spot:NoSchedule")


def test_a_node_selector_goes_by_the_labels_of_the_node() -> None:
    """All of its labels have to be there."""
    selecting = pod_set(node_selector={"model": "h100", "zone": "a"})
    assert kept_off(machine("b/r", 8, model="h100", zone="a"), selecting, []) is None
    assert kept_off(machine("b/r", 8, model="h100", zone="b"), selecting, []) == KeptOff("selector")
    assert kept_off(machine("b/r", 8, model="h100"), selecting, []) == KeptOff("selector")


def test_one_alternative_of_an_affinity_is_enough() -> None:
    """An alternative without conditions is none, as in Kubernetes."""
    either = pod_set(affinity=[*H100, [{"key": "zone", "operator": "Exists"}]])
    assert kept_off(machine("b/r", 8, zone="a"), either, []) is None
    assert kept_off(machine("b/r", 8), either, []) == KeptOff("affinity")
    assert kept_off(machine("b/r", 8), pod_set(affinity=[[]]), []) == KeptOff("affinity")


def test_the_first_cause_counts() -> None:
    """A taint before the node selector, and that before the affinity."""
    asking = pod_set(node_selector={"zone": "a"}, affinity=H100)
    assert kept_off(machine("b/r", 8, taints=[SPOT]), asking, []) == KeptOff("taint", "pool=spot:NoSchedule")
    assert kept_off(machine("b/r", 8), asking, []) == KeptOff("selector")
    assert kept_off(machine("b/r", 8, zone="a"), asking, []) == KeptOff("affinity")
    assert kept_off(machine("b/r", 8, zone="a", model="h100"), asking, []) is None

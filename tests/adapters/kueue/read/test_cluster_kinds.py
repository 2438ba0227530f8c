"""ResourceFlavors, WorkloadPriorityClasses, AdmissionChecks."""

from typing import Any

import pytest

from ..conftest import Maker

TAINT = {"key": "pool", "value": "spot", "effect": "NoSchedule"}


def test_a_flavor_is_read(kueue: Maker) -> None:
    """Labels in order of key; taints and tolerations once each, with Kubernetes' defaults."""
    spec = {"nodeLabels": {"b": "2", "a": "1"}, "nodeTaints": [TAINT, TAINT], "tolerations": [{"key": "x"}, {"operator": "Exists"}]}
    flavor = kueue.load(kueue.flavor(**spec)).objects.flavors[0]
    assert flavor.labels == (("a", "1"), ("b", "2"))
    assert [(taint.key, taint.value, taint.effect) for taint in flavor.taints] == [("pool", "spot", "NoSchedule")]
    read = [(each.key, each.operator, each.value, each.effect) for each in flavor.tolerations]
    assert read == [("x", "Equal", "", ""), ("", "Exists", "", "")]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"nodeTaints": [{**TAINT, "effect": "Never"}]}, "nodeTaints[0].effect: is `Never`"),
        ({"nodeTaints": [{"effect": "NoSchedule"}]}, "nodeTaints[0].key: is missing"),
        ({"tolerations": [{"value": "x"}]}, "tolerations[0].operator: is Equal without a key"),
        ({"tolerations": [{"key": "a", "operator": "Gt", "value": "1"}]}, "operator: is `Gt`"),
        ({"nodeLabels": {"a": True}}, "nodeLabels.a: is true or false, not a text"),
        ({"nodeLabels": {"a": "x\ny"}}, "nodeLabels.a: has an invisible character"),
    ],
)
def test_what_no_flavor_says(spec: dict[str, Any], why: str, kueue: Maker) -> None:
    """Taints, tolerations and labels that Kubernetes refuses are refused."""
    assert any(why in problem for problem in kueue.problems(kueue.flavor(**spec)))


def test_priorities(kueue: Maker) -> None:
    """A priority class has a whole number of 32 bits."""
    assert kueue.load(kueue.obj("WorkloadPriorityClass", "low", value=-(2**31))).objects.priorities[0].value == -(2**31)
    assert "value: is missing" in kueue.problems(kueue.obj("WorkloadPriorityClass", "low"))[0]
    assert "value: is 2147483648" in kueue.problems(kueue.obj("WorkloadPriorityClass", "low", value=2**31))[0]
    assert "value: is true or false" in kueue.problems(kueue.obj("WorkloadPriorityClass", "low", value=True))[0]


@pytest.mark.parametrize(("status", "active"), [(["True"], True), (["False"], False), ([], False)])
def test_checks_are_active_once_their_controller_says_so(status: list[str], active: bool, kueue: Maker) -> None:
    """Only the condition Active that is True makes a check active."""
    conditions = [kueue.true("Active", status=said) for said in status]
    check = kueue.obj("AdmissionCheck", "prov", {"controllerName": "c"}, status={"conditions": conditions})
    assert kueue.load(check).objects.checks[0].active is active

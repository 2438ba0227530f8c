"""Who has written which fields, as metadata.managedFields says."""

from typing import Any

import pytest
from gpol.adapters.live.guard.managed_fields import FieldManager, applied_by, field_managers, has_written, shown_steps, value_of

Json = dict[str, Any]

GROUPS = ("f:spec", "f:resourceGroups")
WEIGHT = ("f:spec", "f:fairSharing", "f:weight")
CHECK = ("f:spec", "f:admissionChecksStrategy", "f:admissionChecks", 'k:{"name":"gpol"}', "f:name")
GPOL: Json = {'k:{"name":"gpol"}': {".": {}, "f:name": {}}}


def entry(manager: str, operation: str, fields: Json, subresource: str = "") -> Json:
    """One record of managedFields."""
    made: Json = {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    return made | ({"subresource": subresource} if subresource else {})


QUEUE: Json = {
    "metadata": {
        "managedFields": [
            entry("gpol.dev/policy", "Apply", {"f:spec": {"f:resourceGroups": {}, "f:fairSharing": {".": {}, "f:weight": {}}}}),
            entry("kubectl-edit", "Update", {"f:spec": {"f:fairSharing": {"f:weight": {}}, "f:stopPolicy": {}}}),
            entry("argocd", "Apply", {"f:spec": {"f:admissionChecksStrategy": {"f:admissionChecks": GPOL}}}),
            entry("kueue", "Update", {"f:status": {"f:conditions": {}}, "f:spec": {"f:stopPolicy": {}}}, "status"),
        ]
    },
    "spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "other"}, {"name": "gpol", "onFlavors": ["h100"]}]}},
}


def test_managers_of_a_field() -> None:
    """Everybody who has written a field is found, with whether it applies the field; writes to the status are not looked at."""
    assert field_managers(QUEUE, WEIGHT) == [FieldManager("gpol.dev/policy", True), FieldManager("kubectl-edit", False)]
    assert field_managers(QUEUE, ("f:spec", "f:stopPolicy")) == [FieldManager("kubectl-edit", False)]
    assert field_managers(QUEUE, CHECK) == [FieldManager("argocd", True)]
    assert field_managers(QUEUE, ("f:spec", "f:cohortName")) == []
    assert field_managers({}, WEIGHT) == []


def test_what_is_below_a_whole_field_belongs_to_its_writer() -> None:
    """Who has written a list as a whole has written what is in it; who has written an object's field has not written its neighbours."""
    assert has_written(QUEUE, "gpol.dev/policy", (*GROUPS, "f:anything"))
    assert not has_written(QUEUE, "gpol.dev/policy", ("f:spec", "f:fairSharing", "f:other"))
    empty = {"metadata": {"managedFields": [entry("gpol.dev/policy", "Apply", {"f:spec": {}})]}}
    assert not has_written(empty, "gpol.dev/policy", GROUPS)


def test_what_a_manager_has_applied() -> None:
    """The fields of its applies are listed, without marks that an item is there, and without what it has written otherwise."""
    assert applied_by(QUEUE, "gpol.dev/policy") == [WEIGHT, GROUPS]
    assert applied_by(QUEUE, "argocd") == [CHECK]
    assert applied_by(QUEUE, "kubectl-edit") == []


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        (CHECK, "gpol"),
        ((*CHECK[:-1], "f:onFlavors", 'v:"h100"'), "h100"),
        ((*CHECK[:-1], "f:onFlavors", 'v:"a100"'), None),
        ((*CHECK[:3], 'k:{"name":"third"}', "f:name"), None),
        (("f:spec", 'k:{"name":"x"}'), None),
        (("f:spec", "f:x", "f:y"), None),
    ],
)
def test_value_at_steps(steps: tuple[str, ...], value: Any) -> None:
    """Items of lists are found by their names and values of sets by themselves; what is not there is None."""
    assert value_of(QUEUE, steps) == value


def test_steps_for_people() -> None:
    """A path reads as Kubernetes writes fields; names with dots or slashes stand in brackets."""
    assert shown_steps(CHECK) == "spec.admissionChecksStrategy.admissionChecks[gpol].name"
    assert shown_steps((*CHECK[:-1], "f:onFlavors", 'v:"h100"')).endswith("[gpol].onFlavors[h100]")
    assert shown_steps(("f:metadata", "f:labels", "f:gpol.dev/guard")) == "metadata.labels[gpol.dev/guard]"

"""The rights of gpol: what each way of its work needs, and no more."""

from typing import Any

import pytest
from gpol.adapters.kueue.export.live.access_rights import AccessChoices, access_objects

Json = dict[str, Any]


def granted(kind: str = "ClusterRole", **choices: Any) -> set[tuple[str, str, str, str]]:
    """Every right: group, resource, verb, and the one object that it is about (or nothing)."""
    made = access_objects(AccessChoices(**{"way": "decide", "namespace": "home", "check": "gpol", **choices}))
    rules = [rule for item in made if item["kind"] == kind for rule in item["rules"]]
    return {
        (group, resource, verb, name)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
    }


KUEUE = "kueue.x-k8s.io"
EVENTS = {("events.k8s.io", "events", "create", "")}
DECIDE = {
    *((KUEUE, "workloads", verb, "") for verb in ("get", "list", "watch")),
    (KUEUE, "workloads/status", "patch", ""),
    *((KUEUE, "admissionchecks", verb, "") for verb in ("get", "list", "watch")),
    (KUEUE, "admissionchecks/status", "patch", "gpol"),
    (KUEUE, "clusterqueues", "list", ""),
    *(("", "namespaces", verb, "") for verb in ("list", "watch")),
    ("", "namespaces", "get", "kube-system"),
    ("", "pods", "list", ""),
    *EVENTS,
}


def test_rights_to_decide() -> None:
    """Workloads are read and their status written; no quota, no pod and no other check can be changed."""
    assert granted() == DECIDE


def test_nodes_are_read_where_they_are_counted() -> None:
    """A policy that says itself what exists needs no right to nodes."""
    assert granted(nodes=True) - granted() == {("", "nodes", verb, "") for verb in ("list", "watch")}


def test_rights_to_guard() -> None:
    """The objects of a policy are read and applied, and deleted only if that is asked for; workloads are not even read."""
    resources = ("clusterqueues", "cohorts", "localqueues", "resourceflavors", "workloadpriorityclasses")
    plain = {(KUEUE, resource, verb, "") for resource in resources for verb in ("get", "list", "watch", "create", "patch")}

    assert granted(way="guard") == plain | EVENTS
    assert granted(way="guard", deletes=True) - granted(way="guard") == {(KUEUE, resource, "delete", "") for resource in resources}


def test_reviews_are_asked_for() -> None:
    """Who calls gpol, and what they may do, is found out only where that is asked for."""
    more = granted(reviews=True) - granted()
    assert more == {
        ("authentication.k8s.io", "tokenreviews", "create", ""),
        ("authorization.k8s.io", "subjectaccessreviews", "create", ""),
    }


def test_the_lease_is_in_its_own_namespace() -> None:
    """No other namespace is concerned."""
    verbs = ("get", "create", "patch")
    assert granted("Role") == {("coordination.k8s.io", "leases", verb, "") for verb in verbs}
    assert all(
        item["metadata"]["namespace"] == "home"
        for item in access_objects(AccessChoices("decide", "home", "gpol"))
        if item["kind"] == "Role"
    )


@pytest.mark.parametrize("way", ["decide", "guard"])
def test_roles_are_bound_to_the_account(way: Any) -> None:
    """Each role has a binding of its name, to the ServiceAccount that is exported with it; no name is one of Kubernetes's own roles."""
    made = access_objects(AccessChoices(way, "home", "admin"))
    roles = {(item["kind"], item["metadata"]["name"]) for item in made if item["kind"] in ("Role", "ClusterRole")}
    bindings = [item for item in made if item["kind"].endswith("Binding")]

    assert {(item["roleRef"]["kind"], item["roleRef"]["name"]) for item in bindings} == roles
    assert all(item["kind"] == item["roleRef"]["kind"] + "Binding" for item in bindings)
    assert all(item["subjects"] == [{"kind": "ServiceAccount", "name": "gpol", "namespace": "home"}] for item in bindings)
    assert ("ClusterRole", "admin") not in roles

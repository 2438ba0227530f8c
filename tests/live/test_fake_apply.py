"""Server-side apply in the tests' own store: who owns what, and what becomes of it."""

from typing import Any

import pytest
from fake_errors import ApiError
from fake_kinds import CLUSTER_QUEUE, CONFIG_MAP, WORKLOAD, Json
from fake_store import Clock, FakeStore

WHERE: dict[str, Any] = {"namespace": "default", "subresource": "status"}


@pytest.fixture
def store() -> FakeStore:
    """A store with the workload `w` in the namespace `default`."""
    store = FakeStore()
    store.create(WORKLOAD, body(spec={"active": True}), namespace="default", manager="kueue")
    return store


def body(**parts: Any) -> Json:
    """The workload `w` with some parts."""
    return {"apiVersion": WORKLOAD.api_version, "kind": "Workload", "metadata": {"name": "w", **parts.pop("metadata", {})}, **parts}


def checks(*names: str, **more: Any) -> Json:
    """The workload with admission checks."""
    return body(status={"admissionChecks": [{"name": name, "state": "Ready", **more} for name in names]})


def status_of(obj: Json) -> list[tuple[str, str]]:
    """The admission checks with their states."""
    return [(check["name"], check["state"]) for check in obj["status"]["admissionChecks"]]


def test_what_an_apply_records(store: FakeStore) -> None:
    """The entry says the manager, the subresource, the time and the fields: items of lists with keys by their keys, other lists whole."""
    assert isinstance(store.now, Clock)
    store.now.advance(3.5)
    new = store.apply(WORKLOAD, "w", checks("gpol", podSetUpdates=[{"name": "main"}]), manager="gpol", **WHERE)
    assert new["metadata"]["managedFields"] == [
        {
            "manager": "gpol",
            "operation": "Apply",
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "time": "2026-01-01T00:00:03Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:status": {
                    "f:admissionChecks": {'k:{"name":"gpol"}': {".": {}, "f:name": {}, "f:state": {}, "f:podSetUpdates": {}}},
                }
            },
            "subresource": "status",
        },
        {
            "manager": "kueue",
            "operation": "Update",
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {".": {}, "f:active": {}}},
        },
    ]


def test_managers_share_a_list_with_keys(store: FakeStore) -> None:
    """Two managers have an item each, and neither takes away the other's by not sending it."""
    store.apply(WORKLOAD, "w", checks("gpol"), manager="gpol", **WHERE)
    new = store.apply(WORKLOAD, "w", checks("other"), manager="other", **WHERE)
    assert status_of(new) == [("gpol", "Ready"), ("other", "Ready")]
    new = store.apply(WORKLOAD, "w", body(), manager="other", **WHERE)
    assert status_of(new) == [("gpol", "Ready")]
    assert "status" not in store.apply(WORKLOAD, "w", body(), manager="gpol", **WHERE)


def test_a_field_of_another_manager_is_a_conflict(store: FakeStore) -> None:
    """Another value is 409 with a cause for each field, the same value is shared, and with force the other one loses the field."""
    store.apply(WORKLOAD, "w", checks("gpol"), manager="kueue-admission", **WHERE)
    with pytest.raises(ApiError) as caught:
        store.apply(WORKLOAD, "w", checks("gpol", state="Retry"), manager="gpol", **WHERE)
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")
    place = '.status.admissionChecks[name="gpol"].state'
    assert caught.value.status["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "kueue-admission" with subresource "status"', "field": place}
    ]
    assert str(caught.value) == f'Apply failed with 1 conflict: conflict with "kueue-admission" with subresource "status": {place}'

    store.apply(WORKLOAD, "w", checks("gpol"), manager="gpol", **WHERE)
    new = store.apply(WORKLOAD, "w", checks("gpol", state="Retry"), manager="gpol", force=True, **WHERE)
    assert status_of(new) == [("gpol", "Retry")]
    owned = {entry["manager"]: entry["fieldsV1"] for entry in new["metadata"]["managedFields"]}
    assert owned["kueue-admission"]["f:status"]["f:admissionChecks"]['k:{"name":"gpol"}'] == {".": {}, "f:name": {}}


def test_conflicts_with_updates_and_with_several(store: FakeStore) -> None:
    """A field that was written by an update has an owner, too; conflicts with several owners are told owner by owner."""
    store.apply(WORKLOAD, "w", body(spec={"priority": 1}), manager="other", namespace="default")
    with pytest.raises(ApiError) as caught:
        store.apply(WORKLOAD, "w", body(spec={"active": False, "priority": 2}), manager="gpol", namespace="default")
    assert str(caught.value).splitlines() == [
        'Apply failed with 2 conflicts: conflicts with "kueue" using kueue.x-k8s.io/v1beta2:',
        "- .spec.active",
        'conflicts with "other":',
        "- .spec.priority",
    ]


def test_what_is_no_longer_sent_is_removed_if_nobody_else_has_it(store: FakeStore) -> None:
    """A field that only this manager had goes; one that another has, or that nobody applied, stays."""
    store.merge_patch(WORKLOAD, "w", {"status": {"conditions": [{"type": "Admitted", "status": "True"}]}}, **WHERE)
    store.apply(WORKLOAD, "w", body(status={"a": 1, "b": 2}), manager="gpol", **WHERE)
    store.apply(WORKLOAD, "w", body(status={"b": 2}), manager="other", **WHERE)
    new = store.apply(WORKLOAD, "w", body(status={}), manager="gpol", **WHERE)
    assert new["status"] == {"conditions": [{"type": "Admitted", "status": "True"}], "b": 2}


def test_what_is_owned_is_not_left_without_parts(store: FakeStore) -> None:
    """An apply that would take away the last part of what somebody owns is 422 for a custom resource, as it would be null; else it goes."""
    store.merge_patch(WORKLOAD, "w", {"status": {"a": 1}}, manager="kueue", **WHERE)
    store.apply(WORKLOAD, "w", body(status={"a": 2}), manager="gpol", force=True, **WHERE)
    with pytest.raises(ApiError, match='is invalid: status: Invalid value: "null"', check=lambda error: error.code == 422):
        store.apply(WORKLOAD, "w", body(), manager="gpol", **WHERE)
    store.create(CONFIG_MAP, {"metadata": {"name": "c"}, "data": {"a": "1"}}, namespace="default", manager="kueue")
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    store.apply(CONFIG_MAP, "c", config | {"data": {"a": "2"}}, manager="gpol", force=True, namespace="default")
    assert "data" not in store.apply(CONFIG_MAP, "c", config, manager="gpol", namespace="default")


def test_an_atomic_list_has_one_owner() -> None:
    """resourceGroups of a ClusterQueue is replaced whole, and another manager's apply to it is one conflict."""
    store = FakeStore()

    def apply(manager: str, *flavors: str, force: bool = False) -> Json:
        groups = [{"coveredResources": ["gpu"], "flavors": [{"name": flavor} for flavor in flavors]}]
        config = {
            "apiVersion": CLUSTER_QUEUE.api_version,
            "kind": "ClusterQueue",
            "metadata": {"name": "q"},
            "spec": {"resourceGroups": groups},
        }
        return store.apply(CLUSTER_QUEUE, "q", config, manager=manager, force=force)

    assert apply("gpol", "h100", "a100")["metadata"]["generation"] == 1
    with pytest.raises(ApiError, match=r"conflict with \"gpol\": .spec.resourceGroups"):
        apply("other", "h100")
    assert [flavor["name"] for flavor in apply("gpol", "a100")["spec"]["resourceGroups"][0]["flavors"]] == ["a100"]


def test_finalizers_and_labels_are_shared() -> None:
    """Finalizers are a set, and labels are merged one by one."""
    store = FakeStore()
    for manager, finalizer in (("a", "x"), ("b", "y")):
        metadata = {"finalizers": [finalizer], "labels": {manager: "yes"}}
        new = store.apply(WORKLOAD, "w", body(metadata=metadata), manager=manager, namespace="default")
    assert (new["metadata"]["finalizers"], new["metadata"]["labels"]) == (["x", "y"], {"a": "yes", "b": "yes"})


def test_an_apply_creates_what_is_not_there() -> None:
    """It creates the object, unless a uid is given (409) or only the status is meant (404). A version does not keep it from that."""
    store = FakeStore()
    with pytest.raises(ApiError, match="uid mismatch: the provided object specified uid x"):
        store.apply(WORKLOAD, "w", body(metadata={"uid": "x"}), manager="gpol", namespace="default")
    with pytest.raises(ApiError, match='"w" not found'):
        store.apply(WORKLOAD, "w", checks("gpol"), manager="gpol", **WHERE)
    new = store.apply(WORKLOAD, "w", body(metadata={"resourceVersion": "1"}, status={"x": 1}), manager="gpol", namespace="default")
    assert (new["metadata"]["generation"], "status" in new) == (1, False)


def test_an_apply_with_the_version_it_has_seen(store: FakeStore) -> None:
    """With the version that is stored an apply is made, and with an older one it is a conflict, also with force."""
    version = store.get(WORKLOAD, "w", "default")["metadata"]["resourceVersion"]
    sent = checks("gpol") | {"metadata": {"name": "w", "resourceVersion": version}}
    store.apply(WORKLOAD, "w", sent, manager="gpol", force=True, **WHERE)
    with pytest.raises(ApiError, match="the object has been modified"):
        store.apply(WORKLOAD, "w", sent, manager="gpol", force=True, **WHERE)


def test_what_cannot_be_applied(store: FakeStore) -> None:
    """Another type, another name, and managedFields are refused."""
    for wrong, why in (
        ({"kind": "Job"}, "invalid object type"),
        ({"metadata": {"name": "v"}}, "does not match the name on the URL"),
        ({"metadata": {"name": "w", "managedFields": []}}, "managedFields must be nil"),
    ):
        with pytest.raises(ApiError, match=why, check=lambda error: error.code == 400):
            store.apply(WORKLOAD, "w", body() | wrong, manager="gpol", namespace="default")


def test_an_object_that_nobody_owns_is_taken_over_before_the_first_apply() -> None:
    """What was there before is kept, and written down as of `before-first-apply`."""
    store = FakeStore()
    store.create(CONFIG_MAP, {"metadata": {"name": "c"}}, namespace="default")
    store.merge_patch(CONFIG_MAP, "c", {"data": {"old": "1"}}, namespace="default", manager="someone")
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"new": "2"}}
    new = store.apply(CONFIG_MAP, "c", config, manager="gpol", namespace="default")
    assert new["data"] == {"old": "1", "new": "2"}
    assert [entry["manager"] for entry in new["metadata"]["managedFields"]] == ["gpol", "before-first-apply"]


def test_an_update_takes_what_it_changes(store: FakeStore) -> None:
    """An update of another manager's field makes it the owner, and the next apply of the other one is a conflict."""
    store.apply(WORKLOAD, "w", checks("gpol"), manager="gpol", **WHERE)
    store.merge_patch(WORKLOAD, "w", {"status": {"admissionChecks": [{"name": "gpol", "state": "Pending"}]}}, manager="kueue", **WHERE)
    with pytest.raises(ApiError, match=r'conflict with "kueue" with subresource "status" using kueue\.x-k8s\.io/v1beta2'):
        store.apply(WORKLOAD, "w", checks("gpol"), manager="gpol", **WHERE)


def test_an_apply_of_the_same_manager_by_another_way_is_another_owner(store: FakeStore) -> None:
    """What a manager applies to the object and to its status is kept apart: an apply to one does not remove what is in the other."""
    store.apply(WORKLOAD, "w", checks("gpol"), manager="gpol", **WHERE)
    new = store.apply(WORKLOAD, "w", body(spec={"active": False}), manager="gpol", namespace="default", force=True)
    assert status_of(new) == [("gpol", "Ready")]
    owners = [(entry["operation"], entry["manager"], entry.get("subresource")) for entry in new["metadata"]["managedFields"]]
    assert owners == [("Apply", "gpol", None), ("Apply", "gpol", "status"), ("Update", "kueue", None)]

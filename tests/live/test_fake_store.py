"""The tests' own store: what each write does and refuses, as a Kubernetes API server does."""

from datetime import UTC, datetime
from typing import Any

import pytest
from fake_history import StoredObjects
from fake_kinds import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    KINDS,
    LEASE,
    NAMESPACE,
    POD_GROUP,
    VOLCANO_QUEUE,
    WORKLOAD,
    Json,
    checks_stay_as_they_were,
)
from fake_scenes import NS, made, refused
from fake_selectors import Selection
from fake_store import Clock, FakeStore


@pytest.fixture
def store() -> FakeStore:
    """A store with the workload `w` in the namespace `default`."""
    store = FakeStore()
    store.create(WORKLOAD, made(WORKLOAD, "w", spec={"active": True}, status={"x": 1}), namespace="default")
    return store


# --- creating -------------------------------------------------------------------------------------------------------


def test_a_new_object_has_what_the_server_gives() -> None:
    """Uid, version, generation and the time, in whole seconds, are given; a status and what the client says of these is not taken."""
    store = FakeStore(now=Clock(datetime(2026, 5, 6, 7, 8, 9, 900_000, tzinfo=UTC)))
    new = store.create(
        WORKLOAD, made(WORKLOAD, "w", metadata={"uid": "x", "generation": 7, "creationTimestamp": None}, status={}), namespace="default"
    )
    assert "status" not in new
    assert {name: new["metadata"][name] for name in ("namespace", "resourceVersion", "generation", "creationTimestamp")} == {
        "namespace": "default",
        "resourceVersion": "3",
        "generation": 1,
        "creationTimestamp": "2026-05-06T07:08:09Z",
    }
    other = store.create(WORKLOAD, made(WORKLOAD, "v"), namespace="default")
    assert new["metadata"]["uid"] != "x"
    assert new["metadata"]["uid"] != other["metadata"]["uid"]


def test_what_cannot_be_created(store: FakeStore) -> None:
    """A name that is taken, a namespace that is missing or another one, a version, a wrong type, and a bad name are refused."""
    with refused(409, 'workloads.kueue.x-k8s.io "w" already exists'):
        store.create(WORKLOAD, made(WORKLOAD, "w"), **NS)
    with refused(404, 'namespaces "nowhere" not found'):
        store.create(WORKLOAD, made(WORKLOAD, "v"), namespace="nowhere")
    with refused(400, "does not match the namespace sent"):
        store.create(WORKLOAD, made(WORKLOAD, "v", metadata={"namespace": "other"}), **NS)
    with refused(400, "needs a namespace"):
        store.create(WORKLOAD, made(WORKLOAD, "v"))
    with refused(500, "resourceVersion should not be set"):
        store.create(WORKLOAD, made(WORKLOAD, "v", metadata={"resourceVersion": "1"}), **NS)
    with refused(422, 'kind: Invalid value: "ClusterQueue": must be Workload'):
        store.create(WORKLOAD, made(CLUSTER_QUEUE, "v"), **NS)
    with refused(400, "does not match the expected API version"):
        store.create(WORKLOAD, made(WORKLOAD, "v") | {"apiVersion": "kueue.x-k8s.io/v1beta1"}, **NS)
    with refused(400, "Object 'Kind' is missing"):
        store.create(WORKLOAD, {"apiVersion": WORKLOAD.api_version, "metadata": {"name": "v"}}, **NS)
    with refused(422, "name or generateName is required"):
        store.create(WORKLOAD, made(WORKLOAD, ""), **NS)
    with refused(422, "RFC 1123"):
        store.create(WORKLOAD, made(WORKLOAD, "Not_A_Name"), **NS)
    assert [event["object"]["metadata"]["name"] for event in store.watch(WORKLOAD, version="1").take()] == ["w"]


def test_names_are_generated(store: FakeStore) -> None:
    """Objects with generateName get names that differ."""
    bare = {"apiVersion": WORKLOAD.api_version, "kind": "Workload", "metadata": {"generateName": "job-"}}
    names = [store.create(WORKLOAD, bare, **NS)["metadata"]["name"] for _ in range(2)]
    assert len(set(names)) == 2
    assert all(name.startswith("job-") for name in names)


def test_built_in_kinds_may_leave_out_their_type(store: FakeStore) -> None:
    """A ConfigMap need not say its type, and an item of a list of built-in objects does not say it; an item of custom resources does."""
    assert store.create(CONFIG_MAP, {"metadata": {"name": "c"}}, **NS)["kind"] == "ConfigMap"
    assert set(store.list(CONFIG_MAP)["items"][0]) == {"metadata"}
    assert store.list(CONFIG_MAP)["kind"] == "ConfigMapList"
    assert store.list(WORKLOAD)["items"][0]["kind"] == "Workload"


def test_what_is_returned_belongs_to_the_caller(store: FakeStore) -> None:
    """Nobody changes the store by changing what was sent or received."""
    sent = made(WORKLOAD, "v", spec={"podSets": [{"name": "a"}]})
    answers = [store.create(WORKLOAD, sent, **NS), store.get(WORKLOAD, "v", "default"), store.list(WORKLOAD)["items"][0]]
    answers += [event["object"] for event in store.watch(WORKLOAD, version="1").take()]
    for obj in [sent, *answers]:
        obj["spec"].clear()
        obj["metadata"]["labels"] = {"changed": "yes"}
    assert store.get(WORKLOAD, "v", "default")["spec"] == {"podSets": [{"name": "a"}]}
    assert store.list(WORKLOAD, Selection(labels="changed"))["items"] == []


# --- updating -------------------------------------------------------------------------------------------------------


def test_a_stale_update_is_a_conflict(store: FakeStore) -> None:
    """Of two writers with the same version the second gets 409, whose body says what it is about."""
    first, second = store.get(WORKLOAD, "w", "default"), store.get(WORKLOAD, "w", "default")
    store.replace(WORKLOAD, first | {"spec": {"active": False}}, **NS)
    with refused(409, "the object has been modified") as caught:
        store.replace(WORKLOAD, second | {"spec": {"active": True, "priority": 1}}, **NS)
    assert caught.value.status["details"] == {"name": "w", "group": "kueue.x-k8s.io", "kind": "workloads"}
    assert store.get(WORKLOAD, "w", "default")["spec"] == {"active": False}


@pytest.mark.parametrize("part", ["", "status"])
def test_another_version_is_a_conflict_in_every_write(store: FakeStore, part: str) -> None:
    """Whatever the way of writing, and also for the status: 409 for a version that the object does not have."""
    live, stale = store.get(WORKLOAD, "w", "default"), {"resourceVersion": "1"}
    with refused(409):
        store.replace(WORKLOAD, live | {"metadata": live["metadata"] | stale}, subresource=part, **NS)
    with refused(409):
        store.merge_patch(WORKLOAD, "w", {"metadata": stale}, subresource=part, **NS)
    with refused(409):
        store.apply(WORKLOAD, "w", made(WORKLOAD, "w", metadata=stale), manager="m", subresource=part, force=True, **NS)


def test_another_uid_is_refused_in_most_writes(store: FakeStore) -> None:
    """An update says which object it means, 409; a patch or an apply would change the uid, 422; those of the status pass over it."""
    live, other = store.get(WORKLOAD, "w", "default"), {"uid": "other"}
    sent = live | {"metadata": live["metadata"] | other}
    for part in ("", "status"):
        with refused(409, "Precondition failed: UID in precondition: other, UID in object meta: 00000000"):
            store.replace(WORKLOAD, sent, subresource=part, **NS)
    with refused(422, "metadata.uid: .* field is immutable"):
        store.merge_patch(WORKLOAD, "w", {"metadata": other}, **NS)
    with refused(422, "metadata.uid: .* field is immutable"):
        store.apply(WORKLOAD, "w", made(WORKLOAD, "w", metadata=other), manager="m", **NS)
    new = store.merge_patch(WORKLOAD, "w", {"metadata": other, "status": {"x": 1}}, subresource="status", **NS)
    new = store.apply(WORKLOAD, "w", made(WORKLOAD, "w", metadata=other, status={"y": 2}), manager="m", subresource="status", **NS)
    assert (new["metadata"]["uid"], new["status"]) == (live["metadata"]["uid"], {"x": 1, "y": 2})


def test_updates_without_a_version() -> None:
    """A custom resource and a lease are not updated without a version; a ConfigMap is."""
    store = FakeStore()
    for kind in (WORKLOAD, LEASE, CONFIG_MAP):
        store.create(kind, made(kind, "x"), namespace="default")
    for kind in (WORKLOAD, LEASE):
        with refused(422, "must be specified for an update"):
            store.replace(kind, made(kind, "x", spec={}), namespace="default")
    assert store.replace(CONFIG_MAP, made(CONFIG_MAP, "x", data={"a": "b"}), namespace="default")["data"] == {"a": "b"}


def test_what_an_update_cannot_change(store: FakeStore) -> None:
    """Uid, times and generation stay, and so does the name that the path says."""
    live = store.get(WORKLOAD, "w", "default")
    meta = live["metadata"] | {"generation": 9, "creationTimestamp": "1999-01-01T00:00:00Z", "deletionTimestamp": "1999-01-01T00:00:00Z"}
    store.replace(WORKLOAD, live | {"metadata": meta}, **NS)
    assert store.get(WORKLOAD, "w", "default") == live
    store.create(WORKLOAD, made(WORKLOAD, "v"), **NS)
    with refused(400, "does not match the name on the URL"):
        store.replace(WORKLOAD, live, name="v", **NS)
    with refused(404):
        store.replace(WORKLOAD, made(WORKLOAD, "missing"), **NS)


def test_an_update_that_changes_nothing_is_no_event(store: FakeStore) -> None:
    """The same object, put or patched again, keeps its version."""
    version = store.version
    live = store.get(WORKLOAD, "w", "default")
    assert store.replace(WORKLOAD, live, **NS) == live
    assert store.merge_patch(WORKLOAD, "w", {"spec": {"active": True}}, manager="another", **NS) == live
    assert store.version == version


def test_a_merge_patch() -> None:
    """Objects are merged, a null removes, and a list is replaced whole, also one with keys."""
    store = FakeStore()
    store.create(WORKLOAD, made(WORKLOAD, "w", spec={"a": {"b": 1, "c": 2}, "podSets": [{"name": "x"}, {"name": "y"}]}), **NS)
    new = store.merge_patch(WORKLOAD, "w", {"spec": {"a": {"b": None, "d": 3}, "podSets": [{"name": "z"}]}}, **NS)
    assert new["spec"] == {"a": {"c": 2, "d": 3}, "podSets": [{"name": "z"}]}


def test_generations(store: FakeStore) -> None:
    """The generation counts changes of the content: not of labels, not of the status where that is a subresource, and not for leases."""
    patch = store.merge_patch
    assert patch(WORKLOAD, "w", {"metadata": {"labels": {"a": "b"}}}, **NS)["metadata"]["generation"] == 1
    assert patch(WORKLOAD, "w", {"status": {"x": 2}}, subresource="status", **NS)["metadata"]["generation"] == 1
    assert patch(WORKLOAD, "w", {"spec": {"active": False}}, **NS)["metadata"]["generation"] == 2
    store.create(POD_GROUP, made(POD_GROUP, "g"), **NS)
    assert patch(POD_GROUP, "g", {"status": {"phase": "Inqueue"}}, **NS)["metadata"]["generation"] == 2
    assert "generation" not in store.create(LEASE, made(LEASE, "l"), **NS)["metadata"]


def test_lists_with_keys_have_each_key_once(store: FakeStore) -> None:
    """A key that is missing or there twice is refused, with the place of the list."""
    for items, place, why in (
        ([{"type": "A"}, {"type": "A"}], 1, 'Duplicate value: {"type":"A"}|duplicate entries for key'),
        ([{"status": "True"}], 0, "omits all key fields"),
    ):
        with refused(422, rf"status\.conditions\[{place}\]: .*({why})"):
            store.merge_patch(WORKLOAD, "w", {"status": {"conditions": items}}, subresource="status", **NS)
        with refused(500, f"failed to create typed patch object .*({why})"):
            store.apply(WORKLOAD, "w", made(WORKLOAD, "w", status={"conditions": items}), manager="m", subresource="status", **NS)


# --- the status -----------------------------------------------------------------------------------------------------


def test_the_status_is_written_by_its_subresource_only(store: FakeStore) -> None:
    """A write to the status leaves the rest, and a write to the rest leaves the status."""
    both = {"spec": {"active": False}, "metadata": {"labels": {"a": "b"}}, "status": {"x": 5}}
    new = store.merge_patch(WORKLOAD, "w", both, subresource="status", **NS)
    assert (new["spec"], new["metadata"].get("labels"), new["status"]) == ({"active": True}, None, {"x": 5})
    new = store.merge_patch(WORKLOAD, "w", both | {"status": {"x": 6}}, **NS)
    assert (new["spec"], new["metadata"]["labels"], new["status"]) == ({"active": False}, {"a": "b"}, {"x": 5})


def test_kinds_without_the_subresource() -> None:
    """A PodGroup has no /status, and its field `status` is like any other; a Queue of Volcano has it."""
    store = FakeStore()
    assert store.create(POD_GROUP, made(POD_GROUP, "g", status={"phase": "Pending"}), **NS)["status"] == {"phase": "Pending"}
    with refused(404):
        store.merge_patch(POD_GROUP, "g", {}, subresource="status", **NS)
    with refused(404):
        store.apply(POD_GROUP, "g", made(POD_GROUP, "g"), manager="m", subresource="status", **NS)
    with refused(404):
        store.replace(POD_GROUP, made(POD_GROUP, "g"), subresource="status", **NS)
    store.create(VOLCANO_QUEUE, made(VOLCANO_QUEUE, "q"))
    assert store.merge_patch(VOLCANO_QUEUE, "q", {"status": {"state": "Open"}}, subresource="status")["status"] == {"state": "Open"}


# --- deleting -------------------------------------------------------------------------------------------------------


def test_an_object_without_finalizers_is_gone_at_once(store: FakeStore) -> None:
    """The answer is a Status with the uid, and the event has the last state with a new version."""
    live, watch = store.get(WORKLOAD, "w", "default"), store.watch(WORKLOAD, version=str(store.version))
    answer = store.delete(WORKLOAD, "w", **NS)
    assert (answer["status"], answer["details"]["uid"]) == ("Success", live["metadata"]["uid"])
    [event] = watch.take()
    assert event == {"type": "DELETED", "object": live | {"metadata": live["metadata"] | {"resourceVersion": str(store.version)}}}
    with refused(404):
        store.delete(WORKLOAD, "w", **NS)


def test_finalizers_keep_an_object_until_the_last_is_gone(store: FakeStore) -> None:
    """A deletion marks it, a second one changes nothing, new finalizers are refused, and the update that removes the last one ends it."""
    store.merge_patch(WORKLOAD, "w", {"metadata": {"finalizers": ["a", "b"]}}, **NS)
    watch = store.watch(WORKLOAD, version=str(store.version))
    marked = store.delete(WORKLOAD, "w", **NS)
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert marked["metadata"]["generation"] == 2
    assert store.delete(WORKLOAD, "w", **NS) == marked
    with refused(409, "object is being deleted"):
        store.create(WORKLOAD, made(WORKLOAD, "w"), **NS)
    with refused(422, "no new finalizers"):
        store.merge_patch(WORKLOAD, "w", {"metadata": {"finalizers": ["a", "b", "c"]}}, **NS)
    store.merge_patch(WORKLOAD, "w", {"metadata": {"finalizers": ["b"]}}, **NS)
    store.merge_patch(WORKLOAD, "w", {"metadata": {"finalizers": []}}, **NS)
    assert [event["type"] for event in watch.take()] == ["MODIFIED", "MODIFIED", "DELETED"]
    with refused(404):
        store.get(WORKLOAD, "w", "default")


def test_deletions_have_preconditions(store: FakeStore) -> None:
    """A uid or a version that the object does not have keeps it."""
    wrongs: list[dict[str, Any]] = [{"uid": "other"}, {"version": "1"}]
    for wrong in wrongs:
        with refused(409, "in the precondition"):
            store.delete(WORKLOAD, "w", **NS, **wrong)
    metadata = store.get(WORKLOAD, "w", "default")["metadata"]
    store.delete(WORKLOAD, "w", uid=metadata["uid"], version=metadata["resourceVersion"], **NS)


def test_a_namespace_takes_its_objects_with_it(store: FakeStore) -> None:
    """It is being deleted as long as something in it is kept, and takes nothing new; then it is gone."""
    store.merge_patch(WORKLOAD, "w", {"metadata": {"finalizers": ["a"]}}, **NS)
    store.create(CONFIG_MAP, made(CONFIG_MAP, "c"), **NS)
    assert store.delete(NAMESPACE, "default")["metadata"]["deletionTimestamp"]
    assert store.list(CONFIG_MAP)["items"] == []
    with refused(403, "because it is being terminated") as caught:
        store.create(CONFIG_MAP, made(CONFIG_MAP, "c"), **NS)
    assert caught.value.status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    store.merge_patch(WORKLOAD, "w", {"metadata": {"finalizers": None}}, **NS)
    with refused(404):
        store.get(NAMESPACE, "default")


# --- rules ----------------------------------------------------------------------------------------------------------


def test_rules_refuse_writes(store: FakeStore) -> None:
    """A rule sees the old and the new object, the subresource and the manager, and refuses with its code; nothing is written then."""
    calls: list[tuple[bool, str, str]] = []

    def no_second_pool(old: Json | None, new: Json, part: str, manager: str) -> str | None:
        calls.append((old is None, part, manager))
        return "spec.pools: Too many" if len(new.get("spec", {}).get("pools", [])) > 1 else None

    store.validate(WORKLOAD, no_second_pool, code=422)
    version = store.version
    with refused(422, 'Workload.kueue.x-k8s.io "w" is invalid: spec.pools: Too many'):
        store.merge_patch(WORKLOAD, "w", {"spec": {"pools": [1, 2]}}, manager="m", **NS)
    assert store.version == version
    store.merge_patch(WORKLOAD, "w", {"status": {}}, subresource="status", manager="m", **NS)
    store.create(WORKLOAD, made(WORKLOAD, "v"), manager="m", **NS)
    assert calls == [(False, "", "m"), (False, "status", "m"), (True, "", "m")]


def test_the_rule_of_kueue_about_ready_checks(store: FakeStore) -> None:
    """While a check stays Ready its podSetUpdates are not changed (403); a check that goes through another state takes new ones."""
    store.validate(WORKLOAD, checks_stay_as_they_were)

    def answer(state: str, pool: str) -> Json:
        check = {"name": "gpol", "state": state, "message": "", "podSetUpdates": [{"name": "main", "nodeSelector": {"pool": pool}}]}
        body = made(WORKLOAD, "w", status={"admissionChecks": [check]})
        return store.apply(WORKLOAD, "w", body, manager="gpol", subresource="status", force=True, **NS)

    answer("Ready", "a")
    with refused(403, r"denied the request: status.admissionChecks\[0\].podSetUpdates: .* field is immutable"):
        answer("Ready", "b")
    answer("Retry", "b")
    answer("Ready", "b")


def test_every_kind_is_served_once() -> None:
    """No two kinds of the table have the same path, and a store without namespaces takes any."""
    assert len({(kind.group, kind.version, kind.plural) for kind in KINDS}) == len(KINDS)
    bare = FakeStore([WORKLOAD])
    assert isinstance(bare, StoredObjects)
    assert bare.create(WORKLOAD, made(WORKLOAD, "w"), namespace="any")["metadata"]["resourceVersion"] == "2"

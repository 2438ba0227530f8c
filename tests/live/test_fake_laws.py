"""Laws of the tests' own store, which hold for every sequence of writes."""

from typing import Any

import pytest
from fake_errors import ApiError
from fake_fields import fields_of, from_fields_v1
from fake_history import Watch
from fake_kinds import NAMESPACE, WORKLOAD, Json
from fake_objects import merge_patched
from fake_selectors import Selection
from fake_store import FakeStore
from hypothesis import given
from hypothesis import strategies as st

LISTS_WITH_KEYS = ("f:admissionChecks", "f:conditions", "f:finalizers")
MANAGERS = ("gpol.dev/policy", "kueue-admission", "someone")

few = st.sampled_from


def some(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with at least one of some fields."""
    return st.fixed_dictionaries({}, optional=fields).filter(bool)


# No part is empty. Server-side apply has no owner for an empty list with keys, makes null of an object whose last part it takes away,
# and lets `before-first-apply` own what nobody owns at the next apply. So the laws would have exceptions, as in a real server.
checks = st.lists(
    st.fixed_dictionaries(
        {"name": few(["gpol", "other"])},
        optional={
            "state": few(["Ready", "Retry"]),
            "podSetUpdates": st.lists(st.fixed_dictionaries({"name": few(["a", "b"])}), max_size=2),
        },
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda check: str(check["name"]),
)
conditions = st.lists(
    st.fixed_dictionaries({"type": few(["Admitted", "Evicted"]), "status": few(["True", "False"])}),
    min_size=1,
    max_size=2,
    unique_by=lambda condition: condition["type"],
)
bodies = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": few(["a", "b"])},
            optional={"labels": st.dictionaries(few(["team", "tier"]), few(["x", "y"]), min_size=1), "finalizers": st.just(["keep"])},
        )
    },
    optional={
        "spec": some({"active": st.booleans(), "priority": few([1, 2]), "nested": some({"x": few([1, 2]), "y": few([1, 2])})}),
        "status": some({"admissionChecks": checks, "conditions": conditions, "accumulated": few([1, 2])}),
    },
)
writes = st.tuples(few(["create", "replace", "patch", "apply", "apply", "force", "delete"]), bodies, few(MANAGERS), few(["", "status"]))
histories = st.lists(writes, max_size=25)


def whole(body: Json) -> Json:
    """The body of a workload with its type."""
    return {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.name, **body}


def write(store: FakeStore, how: str, body: Json, manager: str, part: str) -> Json | None:
    """One write; nothing if it is refused."""
    name = body["metadata"]["name"]
    where: dict[str, Any] = {"namespace": "default", "manager": manager}
    try:
        if how == "create":
            return store.create(WORKLOAD, whole(body), **where)
        if how == "replace":
            version = store.get(WORKLOAD, name, "default")["metadata"]["resourceVersion"]
            sent = merge_patched(whole(body), {"metadata": {"resourceVersion": version}})
            return store.replace(WORKLOAD, sent, subresource=part, **where)
        if how == "patch":
            return store.merge_patch(WORKLOAD, name, body, subresource=part, **where)
        if how == "delete":
            return store.delete(WORKLOAD, name, namespace="default")
        return store.apply(WORKLOAD, name, whole(body), subresource=part, force=how == "force", **where)
    except ApiError:
        return None


def after(history: list[tuple[str, Json, str, str]]) -> FakeStore:
    """A store after some writes, of which some may have been refused."""
    store = FakeStore()
    for each in history:
        write(store, *each)
    return store


def states(store: FakeStore, selection: Selection | None = None, version: str = "") -> dict[str, Json]:
    """The workloads by name."""
    found = store.list(WORKLOAD, selection, version=version, match="Exact" if version else "")
    return {item["metadata"]["name"]: item for item in found["items"]}


def replayed(known: dict[str, Json], watch: Watch) -> dict[str, Json]:
    """What a controller knows after the events of a watch."""
    for event in watch.take():
        name = event["object"]["metadata"]["name"]
        if event["type"] == "DELETED":
            del known[name]
        else:
            assert (event["type"] == "MODIFIED") == (name in known)
            known[name] = event["object"]
    return known


@given(histories, st.data())
def test_a_list_and_the_events_after_it_are_the_state(history: list[Any], data: st.DataObject) -> None:
    """From any version on, the list of then and the events since then give the list of now; so do all events from the first version on."""
    store = after(history)
    version = data.draw(st.integers(1, store.version))
    assert replayed(states(store, version=str(version)), store.watch(WORKLOAD, version=str(version))) == states(store)
    assert replayed({}, store.watch(WORKLOAD, version="1")) == states(store)
    assert replayed({}, store.watch(WORKLOAD)) == states(store)


@given(histories, st.integers(1, 40), few(["team=x", "team!=x", "team in (x,y),tier", "!team"]))
def test_a_selector_sees_objects_come_and_go(history: list[Any], version: int, labels: str) -> None:
    """What is replayed for a selector is what a list with that selector shows: an object that no longer belongs is deleted for it."""
    store = after(history)
    selection = Selection("default", labels)
    start = str(min(version, store.version))
    assert replayed(states(store, selection, start), store.watch(WORKLOAD, selection, start)) == states(store, selection)


@given(histories)
def test_versions_only_grow(history: list[Any]) -> None:
    """Each write is one event with a version of its own, and what a write returns has the version that is stored; a refusal is no event."""
    store = FakeStore()
    watch = store.watch(WORKLOAD, version=str(store.version))
    for each in history:
        before = store.version
        result = write(store, *each)
        events = watch.take()
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
        assert versions == list(range(before + 1, store.version + 1))
        assert len(events) <= 1
        if result is None:
            assert events == []
        elif events and events[0]["type"] != "DELETED":
            assert events[0]["object"] == result


@given(histories, bodies, few(MANAGERS), few(["", "status"]), st.booleans())
def test_the_same_apply_changes_nothing(history: list[Any], body: Json, manager: str, part: str, force: bool) -> None:
    """An apply that is sent a second time leaves the version as it was, also when time has passed.

    It sends only what it may write. With a status that is not taken, a real server may write a new time of the same owners.
    """
    store, how = after(history), "force" if force else "apply"
    sent = {field: value for field, value in body.items() if (field == "status") == (part == "status")}
    sent["metadata"] = {"name": body["metadata"]["name"]} if part else body["metadata"]
    if write(store, how, sent, manager, part) is None or body["metadata"]["name"] not in states(store):
        return  # refused, or it took away the last finalizer of what was being deleted
    version = store.version
    store.now.advance(5)  # type: ignore[attr-defined]
    assert write(store, how, sent, manager, part) is not None
    assert store.version == version


def values(obj: Json, paths: Any) -> dict[Any, Any]:
    """What stands at some paths that are fields all the way, or items of lists with keys."""
    return {path: at(obj, path) for path in paths}


def at(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of an object; None where there is none. What has parts of its own is just there."""
    for step in path:
        if value is None:
            return None
        if step.startswith("f:"):
            value = value.get(step[2:]) if isinstance(value, dict) else None
        else:
            value = next((item for item in value if f'"{item_key(item)}"' in step), None)
    has_parts = isinstance(value, dict) or (value is not None and path[-1] in LISTS_WITH_KEYS)
    return "there" if has_parts else value


def item_key(item: Any) -> str:
    """The key of a check or of a condition, or a finalizer."""
    return str(item.get("name") or item.get("type")) if isinstance(item, dict) else str(item)


@given(histories, bodies, few(MANAGERS), few(["", "status"]))
def test_nobody_overwrites_another_without_force(history: list[Any], body: Json, manager: str, part: str) -> None:
    """An apply without force is refused with its conflicts, or leaves every value that another owner has.

    An object with parts is no value. One that would be left without parts, although somebody has it, is a refusal, too.
    """
    store = after(history)
    name = body["metadata"]["name"]
    try:
        old = store.get(WORKLOAD, name, "default")
    except ApiError:
        return
    others = [
        entry
        for entry in old["metadata"].get("managedFields", [])
        if (entry["manager"], entry["operation"], entry.get("subresource", "")) != (manager, "Apply", part)
    ]
    version = store.version
    new, refusal = None, None
    try:
        new = store.apply(WORKLOAD, name, whole(body), manager=manager, namespace="default", subresource=part)
    except ApiError as error:
        refusal = error
    if new is None:
        assert refusal is not None
        assert refusal.code in (409, 422)  # 422: what somebody has would be left without parts
        assert refusal.status["details"]["causes"]
        assert store.version == version
        return
    for entry in others:
        owned = {path for path in from_fields_v1(entry["fieldsV1"]) if at(old, path) != "there"}
        assert values(new, owned) == values(old, owned)


@given(histories, bodies, few(MANAGERS), few(["", "status"]))
def test_what_is_applied_is_there_and_owned(history: list[Any], body: Json, manager: str, part: str) -> None:
    """After an apply with force, each field that it sends and may write is there, and these are what its manager owns."""
    store = after(history)
    new = write(store, "force", body, manager, part)
    if new is None:
        return
    reach = {"": ("f:spec", "f:metadata"), "status": ("f:status",)}[part]
    sent = {path for path in fields_of(whole(body), WORKLOAD.shape) if path[0] in reach and path != ("f:metadata", "f:name")}
    mine = [
        from_fields_v1(entry["fieldsV1"])
        for entry in new["metadata"].get("managedFields", [])
        if (entry["manager"], entry["operation"], entry.get("subresource", "")) == (manager, "Apply", part)
    ]
    assert mine == ([sent] if sent else [])
    assert values(new, sent) == values(whole(body), sent)


@given(histories)
def test_the_status_and_the_rest_are_written_apart(history: list[Any]) -> None:
    """A write to the status changes nothing else but who owns what, and a write to the object never changes its status."""
    store = FakeStore()
    for how, body, manager, part in history:
        old = states(store).get(body["metadata"]["name"])
        new = write(store, how, body, manager, part)
        if old is None or new is None or how == "delete":
            continue
        if part == "status" and how != "create":
            for obj in (old, new):
                obj.pop("status", None)
                obj["metadata"].pop("resourceVersion")
                obj["metadata"].pop("managedFields", None)
            assert new == old
        else:
            assert new.get("status") == old.get("status")


@given(histories, histories, st.integers(1, 3))
def test_the_pages_of_a_list_are_of_one_version(history: list[Any], later: list[Any], limit: int) -> None:
    """Pages show the list as it was at the first page, whatever is written between them."""
    store = after(history)
    store.create(NAMESPACE, {"metadata": {"name": "second"}})
    store.create(WORKLOAD, whole({"metadata": {"name": "z"}}), namespace="second")
    wanted = store.list(WORKLOAD)["items"]
    page = store.list(WORKLOAD, limit=limit)
    found = page["items"]
    ahead = iter(later)
    while token := page["metadata"].get("continue"):
        assert page["metadata"]["remainingItemCount"] == len(wanted) - len(found)
        for each in [next(ahead, None), next(ahead, None)]:
            if each is not None:
                write(store, *each)
        page = store.list(WORKLOAD, limit=limit, continue_=token)
        found += page["items"]
    assert found == wanted


@given(histories, histories, histories)
def test_a_restored_store_goes_on_from_the_backup(history: list[Any], lost: list[Any], later: list[Any]) -> None:
    """After a backup is restored the state and the version are those of the backup, a watch is silent until the store is where it was.

    No uid is given a second time.
    """
    store = after(history)
    backup, state, version = store.backup(), states(store), store.version
    for each in lost:
        write(store, *each)
    uids = {item["metadata"]["uid"] for item in states(store).values()} - {item["metadata"]["uid"] for item in state.values()}
    watch = store.watch(WORKLOAD, version=str(store.version))
    store.restore(backup)
    assert (states(store), store.version) == (state, version)
    for each in later:
        write(store, *each)
        assert all(int(event["object"]["metadata"]["resourceVersion"]) > watch_start for watch_start in [version] for event in watch.take())
    assert not uids & {item["metadata"]["uid"] for item in states(store).values()}


@given(histories, st.integers(0, 6))
def test_a_short_history_expires_and_never_skips(history: list[Any], longest: int) -> None:
    """With a bounded history, a watch brings all events since its version, or says that it cannot."""
    store, full = FakeStore(history=longest), FakeStore()
    for each in history:
        write(store, *each)
        write(full, *each)
    for version in range(2, store.version + 1):
        if version < store.version - longest:
            with pytest.raises(ApiError) as refused:
                store.watch(WORKLOAD, version=str(version))
            assert (refused.value.code, refused.value.reason) == (410, "Expired")
        else:
            assert store.watch(WORKLOAD, version=str(version)).take() == full.watch(WORKLOAD, version=str(version)).take()


@pytest.mark.parametrize("how", ["create", "replace", "patch", "apply", "delete"])
@given(history=histories, body=bodies)
def test_a_dry_run_changes_nothing(how: str, history: list[Any], body: Json) -> None:
    """A dry run returns what would be there, and neither the version nor the objects change."""
    store = after(history)
    before, version = states(store), store.version
    name, where = body["metadata"]["name"], {"namespace": "default", "dry_run": True}
    try:
        if how == "create":
            store.create(WORKLOAD, whole(body), **where)  # type: ignore[arg-type]
        elif how == "replace":
            store.replace(WORKLOAD, before.get(name, whole(body)), **where)  # type: ignore[arg-type]
        elif how == "patch":
            store.merge_patch(WORKLOAD, name, body, **where)  # type: ignore[arg-type]
        elif how == "apply":
            store.apply(WORKLOAD, name, whole(body), manager="gpol", **where)  # type: ignore[arg-type]
        else:
            store.delete(WORKLOAD, name, **where)  # type: ignore[arg-type]
    except ApiError:
        pass
    assert (states(store), store.version) == (before, version)

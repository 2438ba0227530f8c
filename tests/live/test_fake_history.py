"""The tests' own store: selectors, watches, and what is known of earlier versions."""

import pytest
from fake_kinds import CONFIG_MAP, NAMESPACE, NODE, WORKLOAD
from fake_scenes import NS, made, refused
from fake_selectors import Selection
from fake_store import FakeStore


@pytest.fixture
def store() -> FakeStore:
    """A store with the workload `w` in the namespace `default`."""
    store = FakeStore()
    store.create(WORKLOAD, made(WORKLOAD, "w", spec={"active": True}), namespace="default")
    return store


def test_selectors() -> None:
    """Label selectors and the field metadata.name pick objects; what cannot be read is refused."""
    store = FakeStore()
    for name, labels in (("a", {"team": "x"}), ("b", {"team": "y", "gpu": ""}), ("c", {})):
        store.create(NODE, made(NODE, name, metadata={"labels": labels}))

    def names(labels: str = "", fields: str = "") -> str:
        return "".join(item["metadata"]["name"] for item in store.list(NODE, Selection(labels=labels, fields=fields))["items"])

    found = {
        selector: names(selector)
        for selector in ("", "team", "!team", "team=x", "team == x", "team!=x", "team in (x, z)", "team notin (x)")
    }
    assert list(found.values()) == ["abc", "ab", "c", "a", "a", "bc", "a", "bc"]
    assert names("team in (x,y),gpu") == names("gpu=, team") == "b"
    assert names(fields="metadata.name=b") == "b"
    assert names(fields="metadata.name!=b,metadata.namespace=") == "ac"
    for label_selector, field_selector in (
        ("team in x", ""),
        ("a b", ""),
        ("=x", ""),
        ("a,,b", ""),
        ("", "spec.x=1"),
        ("", "metadata.name"),
    ):
        with refused(400):
            names(label_selector, field_selector)


def test_a_watch_brings_what_happened(store: FakeStore) -> None:
    """Added, modified and deleted, of its own kind and namespace only, each once."""
    store.create(NAMESPACE, {"metadata": {"name": "other"}})
    watch = store.watch(WORKLOAD, Selection("default"), str(store.version))
    store.create(WORKLOAD, made(WORKLOAD, "v"), **NS)
    store.create(WORKLOAD, made(WORKLOAD, "v"), namespace="other")
    store.create(CONFIG_MAP, made(CONFIG_MAP, "v"), **NS)
    store.merge_patch(WORKLOAD, "v", {"spec": {}}, **NS)
    store.delete(WORKLOAD, "v", **NS)
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in watch.take()] == [
        ("ADDED", "v"),
        ("MODIFIED", "v"),
        ("DELETED", "v"),
    ]
    assert watch.take() == []


def test_watches_from_now_and_with_initial_events(store: FakeStore) -> None:
    """Without a version a watch begins with what is there; `initial` adds a bookmark that ends it, or leaves it out."""
    assert [event["type"] for event in store.watch(WORKLOAD).take()] == ["ADDED"]
    assert store.watch(WORKLOAD, initial=False).take() == []
    added, mark = store.watch(WORKLOAD, initial=True).take()
    assert (added["type"], mark["type"]) == ("ADDED", "BOOKMARK")
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert mark["object"]["metadata"]["resourceVersion"] == str(store.version)


def test_versions_that_are_gone_or_not_there_yet(store: FakeStore) -> None:
    """After a compaction an earlier version is 410. A list of a version that is not there yet is 504, and a watch from it is silent."""
    watch = store.watch(WORKLOAD, version="1")
    later = store.watch(WORKLOAD, version=str(store.version + 1))
    store.compact()
    for call in (lambda: store.watch(WORKLOAD, version="1"), watch.take, lambda: store.list(WORKLOAD, version="1", match="Exact")):
        with refused(410, "too old"):
            call()
    with refused(504, "Too large resource version") as caught:
        store.list(WORKLOAD, version=str(store.version + 1))
    assert caught.value.status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    store.create(WORKLOAD, made(WORKLOAD, "skipped"), **NS)
    assert later.take() == []
    store.create(WORKLOAD, made(WORKLOAD, "seen"), **NS)
    assert [event["object"]["metadata"]["name"] for event in later.take()] == ["seen"]
    assert store.list(WORKLOAD, version="1")["metadata"]["resourceVersion"] == str(store.version)
    with refused(504, "Too large resource version"):
        store.get(WORKLOAD, "w", "default", version=str(store.version + 1))
    with refused(400, "invalid syntax"):
        store.watch(WORKLOAD, version="soon")


def test_a_list_whose_version_is_gone_can_go_on(store: FakeStore) -> None:
    """A continuation after a compaction is 410, and the answer has a token that goes on with the list of now."""
    for name in "xyz":
        store.create(WORKLOAD, made(WORKLOAD, name), **NS)
    token = store.list(WORKLOAD, limit=2)["metadata"]["continue"]
    store.delete(WORKLOAD, "y", **NS)
    store.compact()
    with refused(410, "too old to display a consistent list") as caught:
        store.list(WORKLOAD, limit=2, continue_=token)
    rest = store.list(WORKLOAD, limit=2, continue_=caught.value.status["metadata"]["continue"])
    assert [item["metadata"]["name"] for item in rest["items"]] == ["z"]
    with refused(400, "continue key is not valid"):
        store.list(WORKLOAD, continue_="?")


def test_bookmarks(store: FakeStore) -> None:
    """A bookmark has the version up to which a watch brought everything; none before that, ahead of the store, or if none are taken."""
    watch = store.watch(WORKLOAD, version="1")
    assert watch.bookmark() is None
    watch.take()
    assert watch.bookmark() == {
        "type": "BOOKMARK",
        "object": {"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"resourceVersion": str(store.version)}},
    }
    assert store.watch(WORKLOAD, version=str(store.version + 5)).bookmark() is None
    plain = store.watch(WORKLOAD, initial=True, bookmarks=False)
    assert [event["type"] for event in plain.take()] == ["ADDED"]
    assert plain.bookmark() is None


def test_after_a_restore_versions_mean_something_else(store: FakeStore) -> None:
    """A watch from before misses what is written until the store has passed its version: it has to be found by comparing versions."""
    backup = store.backup()
    for name in "abc":
        store.create(WORKLOAD, made(WORKLOAD, name), **NS)
    watch = store.watch(WORKLOAD, version=str(store.version))
    store.restore(backup)
    for name in "defg":
        store.create(WORKLOAD, made(WORKLOAD, name), **NS)
    assert [event["object"]["metadata"]["name"] for event in watch.take()] == ["g"]
    assert [item["metadata"]["name"] for item in store.list(WORKLOAD)["items"]] == ["d", "e", "f", "g", "w"]


def test_listeners_hear_of_each_change(store: FakeStore) -> None:
    """A listener is called after a change is made, not for a refused write, and not after it ended."""
    heard: list[int] = []
    end = store.on_change(lambda: heard.append(store.version))
    store.create(WORKLOAD, made(WORKLOAD, "v"), **NS)
    with refused(409):
        store.create(WORKLOAD, made(WORKLOAD, "v"), **NS)
    assert heard == [store.version]
    end()
    store.delete(WORKLOAD, "v", **NS)
    assert heard == [store.version - 1]

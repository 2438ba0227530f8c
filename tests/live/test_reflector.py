"""A reflector comes to know what is there, whatever becomes of its watches."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from fake_apiserver import FakeApiServer
from fake_kinds import WORKLOAD
from fake_scenes import workload
from fake_store import FakeStore
from following import Following, connected, following, until
from gpol.adapters.kubernetes import api
from gpol.adapters.kubernetes.api import ObjectList


class Scene:
    """A store, its server, and a reflector that follows it."""

    def __init__(self, store: FakeStore, server: FakeApiServer, followed: Following) -> None:
        self.store, self.server, self.followed = store, server, followed

    def create(self, name: str, **labels: str) -> None:
        """Create a Workload."""
        self.store.create(WORKLOAD, workload(name, metadata={"labels": labels}), namespace="default")

    def label(self, name: str, **labels: str | None) -> None:
        """Change its labels."""
        self.store.merge_patch(WORKLOAD, name, {"metadata": {"labels": labels}}, namespace="default")

    def delete(self, name: str) -> None:
        """Delete it."""
        self.store.delete(WORKLOAD, name, namespace="default")

    def there(self) -> dict[str, dict[str, str]]:
        """What is there, as the reflector should know it."""
        items = self.store.list(WORKLOAD)["items"]
        return {f"default/{item['metadata']['name']}": item["metadata"].get("labels") or {} for item in items}

    async def in_step(self) -> None:
        """Wait until the reflector knows what is there."""
        await until(lambda: self.followed.known == self.there() and not self.followed.reflector.problem)


def play(tmp_path: Path, act: Callable[[Scene], Awaitable[None]], **options: float) -> None:
    """Let a scene be acted, with two Workloads at its beginning."""

    @asynccontextmanager
    async def scene() -> AsyncIterator[Scene]:
        store = FakeStore()
        for name in ("a", "b"):
            store.create(WORKLOAD, workload(name), namespace="default")
        async with FakeApiServer(store) as server, connected(server, tmp_path) as api, following(api, **options) as followed:
            await until(lambda: server.faults.open_watches)
            yield Scene(store, server, followed)

    async def played() -> None:
        async with scene() as made:
            await act(made)

    asyncio.run(played())


def test_it_knows_what_is_there_and_what_becomes_of_it(tmp_path: Path) -> None:
    """Each change is told with what was known before and what is known now."""

    async def act(scene: Scene) -> None:
        assert sorted(scene.followed.known) == ["default/a", "default/b"]
        scene.create("c", tier="x")
        scene.label("a", tier="y")
        scene.delete("b")
        await scene.in_step()
        told = [(change.key, change.old is not None, change.new is not None) for change in scene.followed.told]
        assert told[2:] == [("default/c", False, True), ("default/a", True, True), ("default/b", True, False)]
        assert scene.followed.reflector.lists == 1

    play(tmp_path, act)


@pytest.mark.parametrize("cut", ["reset_watches", "end_watches", "expire_watches"])
def test_a_watch_that_is_cut_loses_nothing(tmp_path: Path, cut: str) -> None:
    """What happens while nobody watches is found by the list, or by the next watch."""

    async def act(scene: Scene) -> None:
        for number in range(3):
            getattr(scene.server.faults, cut)()
            scene.create(f"new{number}")
            scene.delete(f"new{number - 1}" if number else "a")
            await scene.in_step()

    play(tmp_path, act)


def test_a_forgotten_version_is_listed_anew(tmp_path: Path) -> None:
    """As after a restart of the server, which has no history then."""

    async def act(scene: Scene) -> None:
        await scene.server.go_down()
        scene.create("c")
        scene.delete("a")
        scene.store.compact()
        await asyncio.sleep(0.05)
        assert "cannot follow workloads" in scene.followed.reflector.problem
        await scene.server.come_up()
        await scene.in_step()
        assert scene.followed.reflector.lists >= 2

    play(tmp_path, act)


def test_a_server_that_went_back_in_time_is_noticed(tmp_path: Path) -> None:
    """A backup of its store was restored; the watch from a version that is not there yet would stay silent."""

    async def act(scene: Scene) -> None:
        backup = scene.store.backup()
        scene.create("c")
        scene.label("a", tier="x")
        await scene.in_step()
        scene.store.restore(backup)
        scene.server.faults.end_watches()
        await scene.in_step()
        scene.label("a", tier="y")
        await scene.in_step()

    play(tmp_path, act, look_seconds=0.02)


def test_what_was_missed_is_found_in_the_end(tmp_path: Path) -> None:
    """The objects are listed from time to time, whatever the watch says."""

    async def act(scene: Scene) -> None:
        scene.server.faults.hold_watches()
        scene.create("c")
        await scene.in_step()

    play(tmp_path, act, look_seconds=0.02, list_seconds=0.05)


def test_a_watch_that_says_nothing_for_long_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection may be dead, and neither side know it. The next watch goes on where it ended; nothing is listed."""
    monkeypatch.setattr(api, "SILENT_SECONDS", 0.1)

    async def act(scene: Scene) -> None:
        scene.server.faults.hold_watches()
        scene.create("c")
        scene.server.faults.watches_held = False  # the open watches are not told
        await scene.in_step()
        assert scene.followed.reflector.lists == 1

    play(tmp_path, act)


def test_a_list_that_fails_is_tried_again(tmp_path: Path) -> None:
    """And it is said why it is out of step."""

    async def act(scene: Scene) -> None:
        scene.server.faults.answer(500, times=3, method="GET")
        scene.server.faults.reset_watches()
        await until(lambda: "500" in scene.followed.reflector.problem)
        scene.create("c")
        await scene.in_step()

    play(tmp_path, act)


def test_what_this_program_wrote_is_not_forgotten_for_an_older_event(tmp_path: Path) -> None:
    """An answer to a write is newer than the events that are still on the way."""

    async def act(scene: Scene) -> None:
        scene.server.faults.hold_watches()
        scene.label("a", tier="x")
        scene.label("a", tier="y")
        scene.followed.reflector.written(scene.store.get(WORKLOAD, "a", "default"))
        assert scene.followed.known["default/a"] == {"tier": "y"}
        before = len(scene.followed.told)
        scene.create("c")
        scene.server.faults.release_watches()
        await scene.in_step()
        assert [change.key for change in scene.followed.told[before:]] == ["default/c"]

    play(tmp_path, act)


def test_another_object_of_a_name_is_told_as_two_changes(tmp_path: Path) -> None:
    """The first is gone, and the second is new."""

    async def act(scene: Scene) -> None:
        await scene.server.go_down()
        scene.delete("a")
        scene.create("a", tier="x")
        await scene.server.come_up()
        await scene.in_step()
        told = [(change.old is not None, change.new is not None) for change in scene.followed.told if change.key == "default/a"]
        assert told == [(False, True), (True, False), (False, True)]

    play(tmp_path, act)


def test_a_list_takes_back_nothing_that_this_program_has_written() -> None:
    """A list of many pages is as old as its first page; but an object of the name with another uid is a later one, whatever its version."""
    versions, listed = {"a": ("1", "20")}, {"a": ("1", "10")}

    class Listing:
        async def list_all(self, kind: Any, namespace: str) -> ObjectList:
            return ObjectList([item(name, *said) for name, said in listed.items()], "15")

    def item(name: str, uid: str, version: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "uid": uid, "resourceVersion": version}}

    followed = Following(cast("Any", Listing()))
    for name, said in versions.items():
        followed.reflector._take(followed.reflector._difference(name, item(name, *said)))
    asyncio.run(followed.reflector._list())
    assert followed.reflector.known["a"].version == "20"
    listed["a"] = ("2", "12")
    asyncio.run(followed.reflector._list())
    assert (followed.reflector.known["a"].uid, followed.reflector.known["a"].version) == ("2", "12")
    listed.clear()
    asyncio.run(followed.reflector._list())
    assert followed.reflector.known == {}

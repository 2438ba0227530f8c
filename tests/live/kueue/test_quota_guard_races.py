"""Guarding quotas one step at a time: what others write between two requests of gpol, and what is put back behind it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from fake_kinds import CLUSTER_QUEUE
from fake_store import FakeStore
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED
from gpol.adapters.live.guard import object_writes
from gpol.adapters.live.guard.object_writes import RepairPace
from gpol.adapters.live.guard.quota_guard import QuotaGuard
from guard_store_api import GuardStoreApi
from guarded_policies import PLAIN, STOPPED

Json = dict[str, Any]
STRICT = {"spec": {"queueingStrategy": "StrictFIFO"}}


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop."""
    asyncio.run(test())  # type: ignore[arg-type]


class Meddling(GuardStoreApi):
    """An API behind which a webhook puts a field back after every apply."""

    async def apply(self, path: str, body: Json, manager: str, force: bool = True) -> Json:
        """Apply, and have it changed."""
        answer = await super().apply(path, body, manager, force)
        if path.endswith("clusterqueues/a"):
            return self.store.merge_patch(CLUSTER_QUEUE, "a", {"spec": {"fairSharing": {"weight": "5"}}}, manager="gpol.dev/policy")
        return answer


def test_a_webhook_that_puts_a_field_back() -> None:
    """It is told that applying is in vain, and nothing is written again until the object or the policy changes."""

    async def scene() -> None:
        store = FakeStore(namespaces=["team-a", "team-b"])
        api = Meddling(store)
        guard = QuotaGuard(api, KUEUE_GUARDED, PLAIN, pace=RepairPace(first_pause=0))  # type: ignore[arg-type]
        cohorts = next(reflector for kind, reflector in guard.followed.items() if kind.kind == "ClusterQueue")
        assert await guard.look("clusterqueues a") is None
        await cohorts._list()
        version = store.version
        assert await guard.look("clusterqueues a") is None
        assert store.version == version
        [drift] = guard.drift
        assert (drift.field, drift.found) == ("spec.fairSharing.weight", "5")
        assert "the server does not keep it" in drift.kept
        guard.keep(STOPPED)
        assert await guard.look("clusterqueues a") is None
        assert store.version > version

    run(scene)


@dataclass
class Raced(GuardStoreApi):
    """An API where others write just before an apply by force, and that counts applies."""

    before_force: Callable[[], object] | None = None
    applies: int = 0

    async def apply(self, path: str, body: Json, manager: str, force: bool = True) -> Json:
        """Let the others write first."""
        self.applies += 1
        if force and self.before_force is not None:
            write, self.before_force = self.before_force, None
            write()
        return await super().apply(path, body, manager, force)


def contested() -> tuple[Raced, QuotaGuard, Callable[[], Awaitable[float | None]]]:
    """A cluster in step, and a step of its guard in which it learns of everything and looks at the first queue."""
    store = FakeStore(namespaces=["team-a", "team-b"])
    api = Raced(store)
    guard = QuotaGuard(api, KUEUE_GUARDED, PLAIN, pace=RepairPace(first_pause=0))  # type: ignore[arg-type]
    queues = next(reflector for kind, reflector in guard.followed.items() if kind.kind == "ClusterQueue")

    async def step() -> float | None:
        await queues._list()
        return await guard.look("clusterqueues a")

    return api, guard, step


def argocd(store: FakeStore, spec: Json) -> None:
    """Another program applies what it wants."""
    body = {"apiVersion": CLUSTER_QUEUE.api_version, "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}
    store.apply(CLUSTER_QUEUE, "a", body, manager="argocd", force=True)


def test_what_is_gone_meanwhile_is_not_made_in_part() -> None:
    """A body without the fields of others is for the very object that was read: gone, it is made anew as a whole."""

    async def scene() -> None:
        api, guard, step = contested()
        await step()
        argocd(api.store, {"resourceGroups": []})
        api.store.merge_patch(CLUSTER_QUEUE, "a", {"spec": {"cohortName": None}}, manager="kubectl-edit")
        api.meanwhile = lambda: api.store.delete(CLUSTER_QUEUE, "a") and None
        assert await step() == 0.0
        assert api.store.list(CLUSTER_QUEUE)["items"] == []
        assert await step() is None
        assert (
            api.store.get(CLUSTER_QUEUE, "a")["spec"]["resourceGroups"] == guard._wanted["clusterqueues a"].body["spec"]["resourceGroups"]
        )

    run(scene)


def test_nothing_is_taken_by_force_that_was_not_looked_at() -> None:
    """Another program that begins to apply a field just before is noticed, and keeps it."""

    async def scene() -> None:
        api, guard, step = contested()
        await step()
        api.store.merge_patch(CLUSTER_QUEUE, "a", {"spec": {"cohortName": "other"}}, manager="kubectl-edit")
        api.before_force = lambda: argocd(api.store, {"queueingStrategy": "StrictFIFO"})
        assert await step() == 0.0
        assert await step() is None
        spec = api.store.get(CLUSTER_QUEUE, "a")["spec"]
        assert (spec["cohortName"], spec["queueingStrategy"]) == ("all", "StrictFIFO")
        assert [each.by for each in guard.drift] == [("argocd",)]

    run(scene)


def test_another_program_lets_go_meanwhile() -> None:
    """What was left out for it is looked at again at once, and is not taken for something that the server does not keep."""

    async def scene() -> None:
        api, guard, step = contested()
        await step()
        argocd(api.store, {"queueingStrategy": "StrictFIFO"})
        api.store.merge_patch(CLUSTER_QUEUE, "a", {"spec": {"cohortName": None}}, manager="kubectl-edit")
        api.meanwhile = lambda: argocd(api.store, {})
        assert await step() == 0.0
        assert await step() is None
        assert api.store.get(CLUSTER_QUEUE, "a")["spec"]["queueingStrategy"] == "BestEffortFIFO"
        assert guard.drift == []

    run(scene)


def test_an_answer_counts_before_the_watch_tells_of_it() -> None:
    """A look that comes before the event of gpol's own write asks the server for nothing."""

    async def scene() -> None:
        api, guard, step = contested()
        await step()
        await step()
        api.store.merge_patch(CLUSTER_QUEUE, "a", STRICT, manager="kubectl-edit")
        await step()
        applies = api.applies
        assert await guard.look("clusterqueues a") is None
        assert api.applies == applies

    run(scene)


def test_a_field_that_is_changed_again_and_again() -> None:
    """Repairs follow more and more slowly."""

    async def scene() -> None:
        store = FakeStore(namespaces=["team-a", "team-b"])
        guard = QuotaGuard(GuardStoreApi(store), KUEUE_GUARDED, PLAIN)  # type: ignore[arg-type]
        queues = next(reflector for kind, reflector in guard.followed.items() if kind.kind == "ClusterQueue")
        assert await guard.look("clusterqueues a") is None
        store.merge_patch(CLUSTER_QUEUE, "a", STRICT, manager="loop")
        await queues._list()
        wait = await guard.look("clusterqueues a")
        assert wait is not None
        assert 0 < wait <= guard.pace.first_pause
        assert guard.drift[0].by == ("loop",)

    run(scene)


# --- the pace of writes ---------------------------------------------------------------------------------------------


def test_a_write_without_drift_has_a_pace() -> None:
    """Somebody makes the object anew again and again, just as the policy says: gpol takes its fields each time, but slower and slower."""

    async def scene() -> None:
        api, guard, step = contested()
        guard.pace = RepairPace(first_pause=100, longest_pause=1000)
        await step()
        api.store.delete(CLUSTER_QUEUE, "a")
        api.store.create(CLUSTER_QUEUE, guard._wanted["clusterqueues a"].body, manager="kubectl")
        seconds = await step()
        assert guard.drift == []
        assert seconds is not None
        assert 90 < seconds <= 100
        assert guard.applied == 1

    run(scene)


def test_a_write_in_vain_has_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a webhook puts back is written again when the object changes in another way, and no faster than what can be repaired."""
    now = 1000.0
    monkeypatch.setattr(object_writes, "monotonic", lambda: now)

    async def scene() -> None:
        nonlocal now
        store = FakeStore(namespaces=["team-a", "team-b"])
        guard = QuotaGuard(Meddling(store), KUEUE_GUARDED, PLAIN, pace=RepairPace(first_pause=10))  # type: ignore[arg-type]
        queues = next(reflector for kind, reflector in guard.followed.items() if kind.kind == "ClusterQueue")
        waits = []
        for policy in ("Hold", "HoldAndDrain", "None"):
            waits.append(await guard.look("clusterqueues a"))
            now += waits[-1] or 0.0
            if waits[-1]:
                assert await guard.look("clusterqueues a") is None
            store.merge_patch(CLUSTER_QUEUE, "a", {"spec": {"stopPolicy": policy}}, manager="kubectl-edit")
            await queues._list()
        assert waits == [None, 10.0, 20.0]

    run(scene)


def test_a_deletion_has_a_pace() -> None:
    """Another gpol with the same name and an earlier policy makes an object anew that this one deletes."""

    async def scene() -> None:
        api, guard, step = contested()
        guard.pace, guard.deletes = RepairPace(first_pause=100, longest_pause=1000), True
        body = {**guard._wanted["clusterqueues a"].body, "metadata": {"name": "old", "labels": {"gpol.dev/guard": "gpol"}}}
        waits = []
        for _ in range(2):
            api.store.apply(CLUSTER_QUEUE, "old", body, manager="gpol.dev/policy")
            await step()
            waits.append(await guard.look("clusterqueues old"))
        assert (waits[0], guard.deleted) == (None, 1)
        assert waits[1] is not None
        assert 90 < waits[1] <= 100

    run(scene)

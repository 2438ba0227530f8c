"""Guarding Volcano's Queues on the tests' own API server, with what its webhook refuses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fake_apiserver import FakeApiServer
from fake_kinds import PRIORITY_CLASS, VOLCANO_QUEUE
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kueue.problems import ExportRefused
from gpol.adapters.live.guard.drift import Drift
from gpol.adapters.live.guard.object_writes import RepairPace
from gpol.adapters.live.guard.quota_guard import QuotaGuard
from gpol.adapters.volcano.live.guarded_queues import volcano_guarded
from gpol.dsl import compile_policy
from gpol.engine.policy_graph import PolicyGraph
from guard_site import GuardSite, at_work, run
from kubernetes.aio.client import ApiClient, Configuration
from volcano_webhook import with_volcano

Json = dict[str, Any]

HEAD = """policy "p" { use gpol.reclaim }

resource "nvidia.com/gpu"

flavor f { "nvidia.com/gpu" 64 }

priority prod 1000

"""
TREE = """cohort all {
  queue a {
    owns %s "nvidia.com/gpu"
    borrows up to 4 "nvidia.com/gpu"
  }
  queue b {
    owns %s "nvidia.com/gpu"
    guarantees 2 "nvidia.com/gpu"
  }
}
"""


def policy(a: int = 8, b: int = 4, more: str = "") -> PolicyGraph:
    """A policy of two queues in a cohort."""
    return compile_policy(HEAD + TREE % (a, b) + more, "p.gpol")


@dataclass
class VolcanoSite(GuardSite):
    """A store of a cluster with Volcano, and a guard that is at work there."""

    def edit(self, name: str, spec: Json) -> None:
        """Somebody writes by hand."""
        self.store.merge_patch(VOLCANO_QUEUE, name, {"spec": spec}, manager="kubectl-edit")

    def spec(self, name: str) -> Json:
        """What stands in a Queue."""
        found: Json = self.store.get(VOLCANO_QUEUE, name)["spec"]
        return found


@asynccontextmanager
async def site(graph: PolicyGraph, store: FakeStore | None = None, **options: Any) -> AsyncIterator[VolcanoSite]:
    """A guard at work."""
    store = store or with_volcano(FakeStore())
    told: list[tuple[str, Drift]] = []
    configuration = Configuration()
    async with FakeApiServer(store) as server:
        configuration.host = server.url
        async with Api(ApiClient(configuration)) as api:
            pace = RepairPace(first_pause=0)
            tell: Any = lambda step, drift: told.append((step, drift))  # noqa: E731
            guard = QuotaGuard(api, volcano_guarded(), graph, pace=pace, tell=tell, **options)
            async with at_work(guard):
                yield VolcanoSite(store, guard, told)


def test_queues_are_applied_parents_first() -> None:
    """What the policy says is there, in an order that the webhook takes; a guard that begins anew writes nothing. Others' Queues stay."""

    async def scene() -> None:
        async with site(policy()) as here:
            await here.rest()
            assert here.guard.applied == 4
            assert here.spec("a")["capability"] == {"nvidia.com/gpu": "12"}
            assert here.spec("a")["parent"] == "all"
            assert here.store.get(PRIORITY_CLASS, "prod")["value"] == 1000
            assert here.spec("default") == {"weight": 1, "reclaimable": True, "parent": "root"}
            store, version = here.store, here.store.version
        async with site(policy(), store) as here:
            await here.rest()
            assert (here.store.version, here.guard.applied, here.told) == (version, 0, [])

    run(scene)


def test_edits_are_repaired() -> None:
    """An amount, a limit of another resource, a parent: each is put back or taken away; what is Volcano's default is no drift."""

    async def scene() -> None:
        async with site(policy()) as here:
            await here.rest()
            before = {name: here.spec(name) for name in ("all", "a", "b")}
            here.edit("all", {"parent": "root"})
            here.edit("a", {"deserved": {"nvidia.com/gpu": "2"}, "capability": {"cpu": "4"}, "priority": 7, "weight": None})
            here.edit("b", {"parent": "root", "reclaimable": True, "affinity": {"nodeGroupAffinity": {}}})
            await here.until(lambda: here.spec("a") == before["a"] and here.spec("b")["parent"] == "all")
            await here.rest()
            assert here.spec("b") == {**before["b"], "affinity": {"nodeGroupAffinity": {}}}
            assert here.spec("all") == {**before["all"], "parent": "root"}
            fields = {(step, drift.field, drift.found) for step, drift in here.told}
            assert ("repaired", "spec.capability.cpu", "4") in fields
            assert ("repaired", "spec.deserved[nvidia.com/gpu]", "2") in fields

    run(scene)


def test_drift_of_queues_is_only_reported() -> None:
    """Nothing is written; the same number in another spelling is no drift."""

    async def scene() -> None:
        async with site(policy()) as here:
            await here.rest()
            store = here.store
        async with site(policy(), store, mode="report") as here:
            await here.rest()
            here.edit("b", {"deserved": {"nvidia.com/gpu": "4000m"}})
            here.edit("a", {"reclaimable": not here.spec("a")["reclaimable"]})
            await here.until(lambda: here.guard.drift)
            version = store.version
            here.guard.looks.add("queues b")
            await here.until(lambda: not len(here.guard.looks))
            assert [(each.name, each.field, each.by) for each in here.guard.drift] == [("a", "spec.reclaimable", ("kubectl-edit",))]
            assert store.version == version

    run(scene)


def test_quotas_move_from_one_queue_to_another() -> None:
    """The webhook refuses more than the parent has: what it refused is tried again as soon as another Queue was written."""

    async def scene() -> None:
        async with site(policy(8, 4)) as here:
            await here.rest()
            for a, b in ((4, 8), (11, 3), (2, 2), (20, 20)):
                here.guard.keep(policy(a, b))
                await here.rest()
                assert [here.spec(name)["deserved"] for name in ("all", "a", "b")] == [{"nvidia.com/gpu": str(n)} for n in (a + b, a, b)]

    run(scene)


def test_what_volcano_would_not_take_never_gets_there() -> None:
    """A queue that deserves more than its capability passes Volcano's CRD: a policy that says so is refused, the earlier one counts."""

    async def scene() -> None:
        unused = 'flavor g { "example.com/nic" 8 }\n\nresource "example.com/nic"\n\n'
        wrong = compile_policy(HEAD + unused + 'queue a {\n  owns 8 "nvidia.com/gpu" on f\n  only g\n}\n', "p.gpol")
        async with site(policy()) as here:
            await here.rest()
            version = here.store.version
            with pytest.raises(ExportRefused, match="which it does not use"):
                here.guard.keep(wrong)
            await here.rest()
            assert here.store.version == version

    run(scene)


def test_what_the_webhook_refuses_is_told() -> None:
    """A queue whose parent is somebody else's, who keeps it too small: it is named until the parent has room."""

    async def scene() -> None:
        store = with_volcano(FakeStore())
        head = {"apiVersion": PRIORITY_CLASS.api_version, "kind": "PriorityClass", "metadata": {"name": "prod"}}
        store.create(PRIORITY_CLASS, {**head, "value": 7})
        store.validate(VOLCANO_QUEUE, lambda old, new, part, by: "no queue of this name" if new["metadata"]["name"] == "all" else None, 400)
        async with site(policy(), store) as here:
            await here.until(lambda: len(here.guard.failures) == 4)
            assert "no queue of this name" in here.guard.failures["queues all"]
            assert "parent queue all not found" in here.guard.failures["queues a"]
            assert "delete it by hand, so that gpol makes it anew" in here.guard.failures["priorityclasses prod"]

    run(scene)


def test_queues_that_are_left_over() -> None:
    """What the guard has applied and the policy no longer has goes, where a setting says so; `default` and `root` never do."""

    async def scene() -> None:
        async with site(policy(more='queue default { owns 1 "nvidia.com/gpu" }\n'), deletes=True) as here:
            await here.rest()
            here.guard.keep(compile_policy(HEAD + 'queue a { owns 8 "nvidia.com/gpu" }\n', "p.gpol"))
            await here.until(lambda: {each["metadata"]["name"] for each in here.store.list(VOLCANO_QUEUE)["items"]} == {"root", "a"})
            await here.rest()
            assert "parent" not in here.spec("a")

    run(scene)

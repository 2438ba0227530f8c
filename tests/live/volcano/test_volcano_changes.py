"""gpol decides for Volcano, over HTTP: PodGroups, namespaces and policies that change after something was decided."""

import asyncio
from pathlib import Path

from fake_kinds import NAMESPACE, NODE
from volcano_player import GPU, SPACE
from volcano_scene import POLICY, VolcanoScene, holds, run

DENIES = POLICY + 'deny guests { where workload.queue = "wide" } because "closed"\n'
COUNTS_CPU = """policy "live" {
  use gpol.fair
  ignore gpu
}
flavor h100 { cpu 8 }
queue wide { owns 4 cpu }
"""
COUNTS_BOTH = COUNTS_CPU.replace("  ignore gpu\n", "").replace("cpu 8 }", "cpu 8\n  gpu 8 }")
PROTECTS = POLICY + "protect warm-up { where victim.running < 1s }\n"
FROM_NODES = POLICY.replace("gpu 8 }", 'gpu from nodes where model = "h100" }').replace("owns 4 gpu", "owns nothing")
BY_LABEL = POLICY.replace("queue wide { ", 'queue wide {\n  for namespaces where label "tier" in "good"\n  ')


async def reclaim(scene: VolcanoScene) -> None:
    """A guest runs, and is evicted for an owner, which has not come to run yet."""
    scene.volcano.submit("guest", 8, "wide")
    await scene.until("guest")
    scene.volcano.submit("owner", 4, "other")
    await holds(lambda: ("guest", "GpolEvicted") in scene.events())


def test_who_is_evicted_and_then_denied_makes_room(tmp_path: Path) -> None:
    """A new policy turns away one whose pods still run after an eviction: Volcano may still evict them, now and after a restart."""
    scene = VolcanoScene(tmp_path)

    async def first() -> None:
        async with scene.at_work():
            await reclaim(scene)

    async def second() -> None:
        async with scene.at_work() as gpol:
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/guest") is None)
            assert gpol.answers.evictable(f"{SPACE}/owner", f"{SPACE}/guest", in_one_queue=False).yes
            assert gpol.problems == {}
            await holds(lambda: ("guest", "GpolTurnedAway") in scene.events())

    async def third() -> None:
        async with scene.at_work() as gpol:
            await scene.until("owner")
            assert scene.volcano.phase("guest") == "Pending"
            scene.volcano.delete("guest")
            await holds(lambda: not gpol.answers.evictable(f"{SPACE}/owner", f"{SPACE}/guest", in_one_queue=False).yes)

    run(first)
    scene.text = DENIES
    run(second)
    run(third)


def test_who_is_evicted_and_asks_anew_makes_room(tmp_path: Path) -> None:
    """One that runs on after its eviction, and is edited, waits with what it asks for now; its pods still make room."""
    scene = VolcanoScene(tmp_path)

    async def first() -> None:
        async with scene.at_work() as gpol:
            await reclaim(scene)
            seq = gpol.decider.core.seq
            scene.volcano.set_phase("guest", "Inqueue")  # some of its pods were stopped
            scene.volcano.change("guest", {"minResources": {GPU: "7"}})
            await holds(lambda: gpol.decider.core.seq > seq)
            scene.volcano.set_phase("guest", "Running")
            await scene.until("owner")
            assert scene.volcano.phase("guest") == "Pending"
            assert gpol.problems == {}

    run(first)


def test_one_that_runs_and_is_denied(tmp_path: Path) -> None:
    """It was let run without gpol, and the policy does not allow it: that is a problem by its name."""
    scene = VolcanoScene(tmp_path)

    async def test() -> None:
        scene.volcano.submit("big", 9, "wide")
        scene.volcano.set_phase("big", "Running")
        async with scene.at_work() as gpol:
            await holds(lambda: "it runs, and the policy denies it" in gpol.problems.get(f"{SPACE}/big", ""))
            scene.volcano.set_phase("big", "Completed")
            await holds(lambda: gpol.problems == {})

    run(test)


def test_who_runs_comes_before_who_waits(tmp_path: Path) -> None:
    """It ran before gpol came: nobody gets its place, also if he stands before it in the list."""
    scene = VolcanoScene(tmp_path)

    async def test() -> None:
        for name in ("a-waits", "runs", "waits"):
            scene.volcano.submit(name, 8, "wide")
        scene.volcano.set_phase("runs", "Running")
        async with scene.at_work() as gpol:
            await holds(lambda: len(gpol.decider.core.view.names()) == 3)
            admitted = [known.name for known in gpol.decider.core.view.workloads() if known.admitted is not None]
            assert admitted == [f"{SPACE}/runs"]

    run(test)


def test_one_that_waits_and_can_no_longer_be_read(tmp_path: Path) -> None:
    """It is not decided by what it said before; once it can be read again, it asks again."""
    scene = VolcanoScene(tmp_path)

    async def test() -> None:
        async with scene.at_work() as gpol:
            scene.volcano.submit("first", 8, "wide")
            await scene.until("first")
            scene.volcano.submit("second", 8, "wide")
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/second"))
            scene.volcano.change("second", {"minResources": None})
            await holds(lambda: "spec.minResources is missing" in gpol.problems.get(f"{SPACE}/second", ""))
            scene.volcano.set_phase("first", "Completed")
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/first") is None)
            assert gpol.decider.core.view.workload(f"{SPACE}/second") is None
            scene.volcano.change("second", {"minResources": {GPU: "8"}})
            await scene.until("second")
            assert gpol.problems == {}

    run(test)


def test_a_policy_that_counts_more(tmp_path: Path) -> None:
    """One that is admitted says the same as before, whatever the policy counts of it, and by which name."""
    scene = VolcanoScene(tmp_path, COUNTS_CPU)

    async def first() -> None:
        async with scene.at_work():
            scene.volcano.submit("runs", 4, "wide", with_resources=False)
            scene.volcano.change("runs", {"minResources": {GPU: "4", "cpu": "1"}})
            await scene.until("runs")

    async def second() -> None:
        async with scene.at_work() as gpol:
            await holds(lambda: not gpol.cluster.has_changed)
            assert gpol.problems == {}
            scene.volcano.change("runs", {"minResources": {GPU: "3", "cpu": "1"}})
            await holds(lambda: "have changed since it was admitted" in gpol.problems.get(f"{SPACE}/runs", ""))

    run(first)
    scene.text = COUNTS_BOTH
    run(second)


def test_a_namespace_that_is_seen_late(tmp_path: Path) -> None:
    """Labels decide, so a PodGroup is not decided about before its namespace is known; when those that let it in change, it asks anew."""
    scene = VolcanoScene(tmp_path, BY_LABEL)
    scene.store.merge_patch(NAMESPACE, SPACE, {"metadata": {"labels": {"tier": "good"}}})

    async def test() -> None:
        async with scene.at_work() as gpol:
            reflector = gpol.cluster.namespaces
            await holds(lambda: SPACE in reflector.known)
            del reflector.known[SPACE]
            scene.volcano.submit("early", 1, "wide")
            await holds(lambda: gpol.cluster.pod_group(f"{SPACE}/early") is not None and not gpol.cluster.has_changed)
            assert gpol.decider.core.view.workload(f"{SPACE}/early") is None
            reflector._on_event({"type": "ADDED", "object": scene.store.get(NAMESPACE, SPACE)})
            await scene.until("early")

            scene.store.merge_patch(NAMESPACE, SPACE, {"metadata": {"labels": {"tier": "none"}}})
            await holds(lambda: gpol.cluster.labels(SPACE) == {"tier": "none"})
            scene.volcano.submit("waits", 1, "wide")
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/waits"))
            head = gpol.decider.journal.head
            scene.store.merge_patch(NAMESPACE, SPACE, {"metadata": {"labels": {"owner": "somebody"}}})
            await holds(lambda: "owner" in (gpol.cluster.labels(SPACE) or {}) and not gpol.cluster.has_changed)
            assert gpol.decider.journal.head == head
            scene.volcano.schedule("waits")
            assert scene.volcano.phase("waits") == "Pending"
            scene.store.merge_patch(NAMESPACE, SPACE, {"metadata": {"labels": {"tier": "good"}}})
            await scene.until("waits")
            assert scene.volcano.phase("early") == "Running"
            assert gpol.problems == {}

    run(test)


def test_who_is_gone_evicts_nobody(tmp_path: Path) -> None:
    """While gpol is down, a protection ends, and the one for which it would end is deleted: nobody is evicted for it."""
    scene = VolcanoScene(tmp_path, PROTECTS)

    async def first() -> None:
        async with scene.at_work() as gpol:
            scene.volcano.submit("guest", 8, "wide")
            await scene.until("guest")
            scene.volcano.submit("owner", 4, "other")
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/owner"))
            assert gpol.decider.next_wake() is not None

    async def down() -> None:
        scene.volcano.delete("owner")
        await asyncio.sleep(1.2)

    async def second() -> None:
        async with scene.at_work() as gpol:
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/owner") is None)
            assert ("guest", "GpolEvicted") not in scene.events()
            assert gpol.decider.core.view.workload(f"{SPACE}/guest").admitted is not None  # type: ignore[union-attr]

    run(first)
    run(down)
    run(second)


def test_a_node_that_is_refused(tmp_path: Path) -> None:
    """Its refusal is a problem that is told once, not at each heartbeat, and that ends with the node."""
    scene = VolcanoScene(tmp_path, FROM_NODES + 'flavor spot { gpu from nodes where pool = "spot" }\n')
    status = {"allocatable": {GPU: "8"}, "conditions": [{"type": "Ready", "status": "True"}]}
    refused: list[str] = []

    async def test() -> None:
        async with scene.at_work() as gpol:
            gpol.deciding._refuse = lambda fact, error: refused.append(str(error))  # type: ignore[method-assign]
            for name, labels in (("good", {"model": "h100"}), ("both", {"model": "h100", "pool": "spot"})):
                scene.store.create(NODE, {"metadata": {"name": name, "labels": labels}})
                scene.store.merge_patch(NODE, name, {"status": status}, subresource="status")
            await holds(lambda: "node both" in gpol.problems)
            for beat in range(3):
                version = gpol.cluster.nodes.known["both"].version
                heard = [{"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-01-01T00:00:0{beat}Z"}]
                scene.store.merge_patch(NODE, "both", {"status": {"conditions": heard}}, subresource="status")
                await holds(lambda version=version: gpol.cluster.nodes.known["both"].version != version)
                assert not gpol.cluster.has_changed
            scene.store.merge_patch(NODE, "good", {"status": {"allocatable": {GPU: "7"}}}, subresource="status")
            await holds(lambda: not gpol.cluster.has_changed and gpol.decider.core.seq > 2)
            assert len(refused) == 1
            scene.store.delete(NODE, "both")
            await holds(lambda: gpol.problems == {})

    run(test)


def test_nodes_that_go_while_gpol_is_down(tmp_path: Path) -> None:
    """After a restart without a node, the room that it gave is gone."""
    scene = VolcanoScene(tmp_path, FROM_NODES)

    async def first() -> None:
        async with scene.at_work():
            scene.store.create(NODE, {"metadata": {"name": "n", "labels": {"model": "h100"}}})
            status = {"allocatable": {GPU: "8"}, "conditions": [{"type": "Ready", "status": "True"}]}
            scene.store.merge_patch(NODE, "n", {"status": status}, subresource="status")
            scene.volcano.submit("runs", 4, "wide")
            await scene.until("runs")

    async def second() -> None:
        async with scene.at_work() as gpol:
            await holds(lambda: list(gpol.decider.journal.of_kinds(["NodeRemoved"])))

    run(first)
    scene.store.delete(NODE, "n")
    run(second)

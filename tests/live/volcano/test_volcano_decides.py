"""gpol decides for Volcano, over HTTP: a gang is admitted, evicted for another one, and nothing is forgotten by a restart."""

from pathlib import Path

from fake_access import Access, Grant, User
from fake_kinds import NODE
from gpol.adapters.volcano.export.live_for_volcano import VolcanoLiveChoices, export_live_for_volcano
from gpol.adapters.volcano.live.guarded_queues import volcano_guarded
from gpol.dsl.analysis.checker import check
from gpol.engine.policy_graph import PolicyGraph
from volcano_player import GPU, SPACE
from volcano_scene import POLICY, VolcanoScene, holds, run

FROM_NODES = POLICY.replace("gpu 8 }", 'gpu from nodes where model = "h100" }').replace("owns 4 gpu", "owns nothing", 1)


def test_a_guest_is_reclaimed_from(tmp_path: Path) -> None:
    """Who borrows runs until the owner comes; the owner is let in at once, and its pods evict the guest. A restart changes nothing."""
    scene = VolcanoScene(tmp_path)

    async def first() -> None:
        async with scene.at_work() as gpol:
            scene.volcano.submit("guest", 8, "wide")
            await scene.until("guest")
            scene.volcano.submit("owner", 4, "other")
            await holds(lambda: gpol.answers.enqueueable(f"{SPACE}/owner", scene.volcano.groups()["owner"]["metadata"]["uid"]).yes)
            assert scene.volcano.phase("guest") == "Running"
            told = {("guest", "GpolAdmitted"), ("guest", "GpolEvicted"), ("owner", "GpolAdmitted")}
            await holds(lambda: told <= scene.events())

    async def second() -> None:
        async with scene.at_work() as gpol:
            seq = gpol.decider.journal.head.seq
            await scene.until("owner")
            assert scene.volcano.phase("guest") == "Pending"
            assert gpol.decider.journal.head.seq == seq
            scene.volcano.set_phase("owner", "Completed")
            await scene.until("guest")
            assert gpol.problems == {}

    run(first)
    run(second)


def test_what_is_turned_away_stays_so(tmp_path: Path) -> None:
    """A PodGroup that the policy denies is told, and is not decided again after a restart; made anew, it is."""
    scene = VolcanoScene(tmp_path)

    async def first() -> None:
        async with scene.at_work():
            scene.volcano.submit("big", 9, "wide")
            await holds(lambda: ("big", "GpolTurnedAway") in scene.events())

    async def second() -> None:
        async with scene.at_work() as gpol:
            seq = gpol.decider.journal.head.seq
            scene.volcano.submit("small", 1, "wide")
            await scene.until("small")
            assert gpol.decider.journal.head.seq == seq + 2
            scene.volcano.delete("big")
            scene.volcano.submit("big", 8, "wide")
            scene.volcano.delete("small")
            await scene.until("big")

    run(first)
    run(second)


def test_one_that_says_no_resources(tmp_path: Path) -> None:
    """It is a problem by name until it says what it asks for."""
    scene = VolcanoScene(tmp_path)

    async def test() -> None:
        async with scene.at_work() as gpol:
            scene.volcano.submit("shy", 2, "wide", with_resources=False)
            await holds(lambda: "spec.minResources is missing" in gpol.problems.get(f"{SPACE}/shy", ""))
            scene.volcano.change("shy", {"minResources": {GPU: "2"}})
            await scene.until("shy")
            assert gpol.problems == {}

    run(test)


def test_capacity_from_nodes_with_the_rights_of_the_export(tmp_path: Path) -> None:
    """Nodes give room as they come; all that gpol asks of the API server is what its role allows."""
    scene = VolcanoScene(tmp_path, FROM_NODES)
    graph: PolicyGraph | None = check(FROM_NODES, "live.gpol").graph
    assert graph is not None
    objects = export_live_for_volcano(graph, VolcanoLiveChoices()).objects
    rules = [rule for item in objects if item["kind"] == "ClusterRole" for rule in item["rules"]]
    grants = [Grant(tuple(rule["verbs"]), tuple(rule["resources"]), rule["apiGroups"][0]) for rule in rules]

    async def test() -> None:
        async with scene.at_work("secret", Access({"secret": User("gpol", tuple(grants))})) as gpol:
            scene.volcano.submit("a", 4, "other")
            await holds(lambda: gpol.decider.core.view.workload(f"{SPACE}/a"))
            scene.volcano.schedule("a")
            assert scene.volcano.phase("a") == "Pending"
            ready = {"allocatable": {GPU: "4"}, "conditions": [{"type": "Ready", "status": "True"}]}
            scene.store.create(NODE, {"metadata": {"name": "n1", "labels": {"model": "h100"}}, "status": ready})
            scene.store.merge_patch(NODE, "n1", {"status": ready}, subresource="status")
            await scene.until("a")
            await holds(lambda: ("a", "GpolAdmitted") in scene.events())
        assert scene.refused == []

    run(test)


def test_the_kinds_of_the_guard_are_in_its_rights() -> None:
    """The role to guard names exactly what a guard of Volcano applies."""
    graph = check(POLICY, "live.gpol").graph
    assert graph is not None
    objects = export_live_for_volcano(graph, VolcanoLiveChoices(way="guard")).objects
    [role] = [item for item in objects if item["kind"] == "ClusterRole"]
    allowed = {(rule["apiGroups"][0], resource) for rule in role["rules"] for resource in rule["resources"]}
    assert allowed - {("events.k8s.io", "events")} == {(kind.group, kind.plural) for kind in volcano_guarded().kinds}

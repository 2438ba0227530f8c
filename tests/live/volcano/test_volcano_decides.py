"""gpol decides for Volcano, over HTTP: a gang is admitted, evicted for another one, and nothing is forgotten by a restart."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fake_access import Access, Grant, User
from fake_apiserver import FakeApiServer
from fake_kinds import EVENT, NODE
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.volcano.export.live_for_volcano import VolcanoLiveChoices, export_live_for_volcano
from gpol.adapters.volcano.extender.verbs import VERBS
from gpol.adapters.volcano.live.guarded_queues import volcano_guarded
from gpol.adapters.volcano.live.volcano_decides import VolcanoDecisions
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.engine.policy_graph import PolicyGraph
from gpol.sim.drive.policy import Policy
from kubernetes.aio.client import ApiClient, Configuration
from volcano_player import GPU, SPACE, VolcanoPlayer

Json = dict[str, Any]
SECONDS = 30  # how long anything may take before a test fails
POLICY = """policy "live" { use gpol.fair }
flavor h100 { gpu 8 }
queue wide { owns 4 gpu }
queue other { owns 4 gpu }
deny too-big { where workload.gpu > 8 } because "it never fits"
"""
FROM_NODES = POLICY.replace("gpu 8 }", 'gpu from nodes where model = "h100" }').replace("owns 4 gpu", "owns nothing", 1)


class VolcanoScene:
    """A cluster, a journal, and Volcano's scheduler, which asks whatever gpol is at work."""

    def __init__(self, folder: Path, text: str = POLICY) -> None:
        self.store = FakeStore(namespaces=["default", SPACE])
        self.journal, self.text = str(folder / "journal.db"), text
        self.volcano = VolcanoPlayer(self.store, 8, self._ask)
        self.gpol: VolcanoDecisions | None = None

    def _ask(self, verb: str, body: Json) -> Json:
        assert self.gpol is not None
        answer: Json = json.loads(VERBS[verb](self.gpol.answers, json.dumps(body).encode()).body)
        return answer

    @asynccontextmanager
    async def at_work(self, token: str = "", access: Access | None = None) -> AsyncIterator[VolcanoDecisions]:
        """gpol at work, with the journal as it was left."""
        checked = check(self.text, "live.gpol")
        assert checked.graph is not None, checked.errors
        configuration = Configuration()
        async with FakeApiServer(self.store, access=access) as server:
            configuration.host = server.url
            if token:
                configuration.api_key, configuration.api_key_prefix = {"BearerToken": token}, {"BearerToken": "Bearer"}
            async with Api(ApiClient(configuration)) as api:
                with LiveDecider.open(self.journal, lambda frozen: thaw(*frozen)) as decider:
                    decider.begin(lambda events: None)
                    decider.activate(Policy.of(checked))
                    decider.commit(lambda events: None)
                    self.gpol = VolcanoDecisions(api, decider)
                    working = asyncio.ensure_future(self.gpol.run())
                    try:
                        yield self.gpol
                        self.refused = [(seen.path, seen.status) for seen in server.seen if seen.status in (401, 403)]
                    finally:
                        working.cancel()
                        with suppress(asyncio.CancelledError):
                            await working

    async def until(self, *names: str, phase: str = "Running") -> None:
        """Let the scheduler go on until all these are in a phase."""
        async with asyncio.timeout(SECONDS):
            while any(self.volcano.phase(name) != phase for name in names):
                for name in self.volcano.groups():
                    self.volcano.schedule(name)
                await asyncio.sleep(0.01)

    def events(self) -> set[tuple[str, str]]:
        """Which Events were written: about whom, and why."""
        return {(item["regarding"]["name"], item["reason"]) for item in self.store.list(EVENT)["items"]}


async def holds(condition: Callable[[], object]) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop."""
    asyncio.run(test())  # type: ignore[arg-type]


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
    graph: PolicyGraph | None = check(POLICY, "live.gpol").graph
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

"""gpol decides for Kueue and places pods: an answer sends them to the place that the journal has, and nowhere else.

Beside all that may happen to workloads nodes come, change and go, some without a hostname of their own.
"""

import asyncio
import json
from collections import Counter
from typing import Any

from fake_kinds import NODE
from gpol.adapters.kubernetes.nodes import HOSTNAME
from gpol.adapters.kueue.live.protocol import PLACE
from gpol.engine.events import WorkloadAdmitted
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from kueue_model import POD
from sliced_kueue import SlicedKueue
from test_decides_laws import NAMES, World

Json = dict[str, Any]
GPUS = 4
"""Of each node."""

QUEUES_SAID = """queue wide { owns 8 gpu on h100 }
queue other { owns 8 gpu on h100 }
protect warm-up { where victim.running < 2s }
"""
ON_NODES = f"""policy "live" {{
  use gpol.fair
  when a node is lost evict
}}
topology fabric {{
  level rack from label "rack"
  level host from node
}}
flavor h100 {{
  gpu from nodes where model = "h100"
  placed in fabric
}}
{QUEUES_SAID}"""
IN_RACKS = """policy "live" { use kueue.classical }
topology fabric {
  level block from label "block"
  level rack from label "rack"
}
flavor h100 {
  gpu as owned
  placed in fabric
  label model = "h100"
}
cohort all {
  queue wide {
    owns 8 gpu on h100
    reclaims from anyone
  }
  queue other {
    owns 8 gpu on h100
    reclaims from anyone
  }
}
"""
NODES = ["n1", "n2", "n3", "n4"]


class PlacedKueue(SlicedKueue):
    """Kueue, whose jobs start all their pods."""

    def _start_pod(self, name: str, workload: Json) -> None:
        updates = {each["name"]: each for each in (self._steps().row(workload["status"]) or {}).get("podSetUpdates") or []}
        for pods in workload["spec"]["podSets"]:
            update = updates.get(pods["name"], {})
            metadata = {
                "generateName": f"{name}-",
                "labels": {**update.get("labels", {}), "workload": name},
                "annotations": update.get("annotations", {}),
            }
            spec = {"containers": pods["template"]["spec"]["containers"]}
            for _ in range(pods.get("count", 1)):
                body = {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}
                self.store.create(POD, body, namespace="default", manager="kubelet")


class PlacingWorld(World):
    """Whatever was written last (`judged`: so many writes) is looked at once."""

    policy = ON_NODES
    model = PlacedKueue
    judged = 0

    @initialize(jobs=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2)), min_size=3, max_size=len(NAMES)))
    def begin(self, jobs: list[tuple[int, int, int]]) -> None:
        """A cluster with three nodes in two racks, and some jobs."""
        super().begin()
        for name, rack in zip(NODES, ("r1", "r1", "r2"), strict=False):
            self._put_node(name, {HOSTNAME: f"host-of-{name}", "model": "h100", "block": "b1", "rack": rack}, {})
        for name, job in zip(NAMES, jobs, strict=False):
            self._submit_gang(name, *job)
        self.go_on(3)

    def _start(self) -> None:
        super()._start()
        self.see_nodes()

    # --- what happens

    @rule(
        name=st.sampled_from(NODES),
        host=st.sampled_from(["own", "own", "own", "twin", ""]),
        model=st.sampled_from(["h100", "h100", "h100", "other"]),
        block=st.sampled_from(["b1", "b2"]),
        rack=st.sampled_from(["r1", "r2", ""]),
        spec=st.sampled_from([{}, {}, {}, {"unschedulable": True}, {"taints": [{"key": "broken", "effect": "NoSchedule"}]}]),
    )
    def change_node(self, name: str, host: str, model: str, block: str, rack: str, spec: dict[str, Any]) -> None:
        """A node comes, or is another one from now on."""
        labels = {HOSTNAME: f"host-of-{name}" if host == "own" else host or None, "model": model, "block": block, "rack": rack or None}
        self._put_node(name, labels, spec)

    def _put_node(self, name: str, labels: dict[str, Any], spec: Json) -> None:
        if not any(item["metadata"]["name"] == name for item in self.store.list(NODE)["items"]):
            self.store.create(NODE, {"metadata": {"name": name}})
            status = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"nvidia.com/gpu": str(GPUS), "pods": "10"}}
            self.store.merge_patch(NODE, name, {"status": status}, subresource="status")
        patch = {"metadata": {"labels": labels}, "spec": {"unschedulable": None, "taints": None, **spec}}
        self.store.merge_patch(NODE, name, patch)

    @rule(name=st.sampled_from(NODES), is_certain=st.booleans())
    def lose_node(self, name: str, is_certain: bool) -> None:
        """A node goes, with the pods on it; or it is only not ready."""
        there = any(item["metadata"]["name"] == name for item in self.store.list(NODE)["items"])
        if there and is_certain:
            self.store.delete(NODE, name)
        elif there:
            status = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
            self.store.merge_patch(NODE, name, {"status": status}, subresource="status")

    @rule(name=st.sampled_from(NAMES), gpus=st.integers(1, 3), count=st.integers(1, 3), priority=st.integers(0, 2))
    def submit_gang(self, name: str, gpus: int, count: int, priority: int) -> None:
        """A user creates a job of several pods, if there is none of the name."""
        if name not in self.kueue.names():
            self._submit_gang(name, gpus, count, priority)

    def _submit_gang(self, name: str, gpus: int, count: int, priority: int) -> None:
        assert isinstance(self.kueue, PlacedKueue)
        self.kueue.submit_pods(name, priority, main={"gpus": gpus, "count": count}, driver={"gpus": 1, "count": 1})

    @rule(number=st.integers(1, 3))
    def go_on(self, number: int) -> None:
        """Everybody goes on for a while."""
        for _ in range(number):
            self.clock += 1_000_000_000
            self._all_go_on()

    @rule()
    def see_nodes(self) -> None:
        """gpol hears of the nodes."""
        asyncio.run(self.gpol.cluster.nodes._list())

    def _all_go_on(self) -> None:
        self.see_nodes()
        super()._all_go_on()

    # --- what holds

    def _write(self, key: str, lose: str = "") -> None:
        super()._write(key, lose)
        for body in self.api.writes[self.judged :]:
            self._judge(body)
        self.judged = len(self.api.writes)

    def _judge(self, body: dict[str, Any]) -> None:
        """An answer's selector admits the nodes of the place that was decided, and no others of those that the journal knows of."""
        answer = body["status"]["admissionChecks"][0]
        seen = self.decider.core.view.machines()
        for update in answer["podSetUpdates"]:
            selector = update["nodeSelector"]
            admitted = {name for name in seen if selector.items() <= seen[name].labels.items()}
            domain = json.loads(update["annotations"][PLACE])
            assert admitted
            if self.policy is ON_NODES:
                assert admitted == set(domain)
            else:
                assert {(seen[name].labels["block"], seen[name].labels["rack"]) for name in admitted} == {tuple(domain)}
            assert all(seen[name].labels["model"] == "h100" for name in admitted)
            event = self._decided(body)
            [given] = [each for each in event.assignments if each.pod_set == update["name"]]
            assert [(place.domain, place.pods) for place in given.places] == [(tuple(domain), given.count)]

    def _decided(self, body: dict[str, Any]) -> WorkloadAdmitted:
        seq = int(body["status"]["admissionChecks"][0]["podSetUpdates"][0]["annotations"]["gpol.dev/decision"])
        event = self.decider.journal.at(seq).event
        assert isinstance(event, WorkloadAdmitted)
        return event

    @invariant()
    def those_that_run_fit(self) -> None:
        """The pods that run on a node are never more than there is room, though those that were told to stop take their time."""
        if not hasattr(self, "kueue") or self.policy is not ON_NODES:
            return
        on: Counter[str] = Counter()
        for pod in self.kueue.pods():
            if pod["status"]["phase"] != "Succeeded":
                on[pod["metadata"]["annotations"][PLACE]] += int(pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"])
        assert all(each <= GPUS for each in on.values()), on


class PlacingWorldInRacks(PlacingWorld):
    """The same in cycles, with places that are wider than a node."""

    policy = IN_RACKS


TestPlacesInRacks = PlacingWorldInRacks.TestCase
TestPlacesInRacks.settings = settings(stateful_step_count=60)
TestPlacesOnNodes = PlacingWorld.TestCase
TestPlacesOnNodes.settings = settings(stateful_step_count=60)


def test_a_workload_asks_anew_though_the_clock_stands_still() -> None:
    """Its node is cordoned at the moment at which it was admitted, as the clock was set back; it is not sent there."""
    world = PlacingWorld()
    world.begin(jobs=[])
    world.decide(-5_000_000)
    world.submit_gang("a", 4, 1, 0)
    world.kueue.reserve("a")
    world.watch_some(8)
    world.decide(0)
    known = world.decider.core.view.workload("default/a")
    assert known is not None
    assert known.admitted == known.fact.time
    for name in NODES:
        world._put_node(name, {}, {"unschedulable": True})
    world.see_nodes()
    world.decide(0)
    world._write("default/a")
    world.decide(0)
    known = world.decider.core.view.workload("default/a")
    assert known is not None
    assert known.admitted is None
    assert known.fact.time == world.decider.moment
    world.teardown()

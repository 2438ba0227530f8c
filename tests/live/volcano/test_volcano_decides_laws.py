"""gpol decides for Volcano: what holds whatever happens, in whatever order, and through whatever restart."""

import asyncio
import json
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from cycles_policy import QUEUES_IN_CYCLES
from fake_kinds import POD_GROUP
from fake_store import FakeStore
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.adapters.volcano.extender.verbs import VERBS
from gpol.adapters.volcano.live.volcano_decides import VolcanoDecisions
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from gpol.engine.facts import WorkloadAdopted, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.policy import Policy
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from store_api import StoreApi
from volcano_player import GPU, SPACE, VolcanoPlayer

Json = dict[str, Any]
GPUS = 8
AT_ONCE = f"""
policy "live" {{
  use gpol.fair
}}

flavor h100 {{ gpu {GPUS} }}

priority low 0
priority high 10

queue wide {{ owns 4 gpu }}
queue other {{ owns 4 gpu }}

protect warm-up {{ where victim.running < 2s }}

deny too-big {{ where workload.gpu > {GPUS} }} because "it never fits"
"""
IN_CYCLES = """
policy "live" {
  use kueue.classical
}

flavor h100 { gpu as owned }

priority low 0
priority high 10

"""
NAMES, QUEUES = ["a", "b", "c", "d", "e"], ["wide", "other"]
names = st.sampled_from(NAMES)


class World(RuleBasedStateMachine):
    """A cluster with Volcano and gpol, in which everybody takes one step at a time."""

    policy = AT_ONCE

    @initialize()
    def begin(self) -> None:
        """A cluster without PodGroups, and gpol with a new journal."""
        self.store = FakeStore(namespaces=[SPACE])
        self.volcano = VolcanoPlayer(self.store, GPUS, self._ask)
        self.volcano.enqueued, self.volcano.evicted = self._check_enqueued, self._check_evicted
        self.bypassed: set[str] = set()
        self.place = str(Path(mkdtemp()) / "journal.db")
        self.clock = 1_800_000_000_000_000_000
        self._start()

    def _start(self) -> None:
        self.decider = LiveDecider.open(self.place, lambda frozen: thaw(*frozen), lambda last: Stamps(last, lambda: self.clock))
        checked = check(self.policy, "live.gpol")
        assert checked.graph is not None, checked.errors
        self.decider.activate(Policy.of(checked))
        self.gpol = VolcanoDecisions(StoreApi(self.store), self.decider)  # type: ignore[arg-type]
        for reflector in (self.gpol.cluster.namespaces, self.gpol.cluster.pod_groups):
            asyncio.run(reflector._list())
        self.watch = self.store.watch(POD_GROUP, version=str(self.store.version))
        self.gpol.begin()
        self.events: list[Any] = []

    def teardown(self) -> None:
        """At the end everybody goes on until nothing changes any more; a new decider has nothing to add."""
        if hasattr(self, "decider"):
            self._come_to_rest()
            seq = self.decider.journal.head.seq
            self.restart()
            self._come_to_rest()
            assert self.decider.journal.head.seq == seq
            self.decider.close()

    # --- users and Volcano

    @rule(name=names, gpus=st.integers(1, GPUS + 1), priority=st.sampled_from(["", "low", "high"]), queue=st.sampled_from(QUEUES))
    def submit(self, name: str, gpus: int, priority: str, queue: str) -> None:
        """A user creates a job, if there is none of the name."""
        if not self.volcano.phase(name):
            self.volcano.submit(name, gpus, queue, priority)

    @rule(name=names, what=st.sampled_from(["size", "queue", "priority", "no size", "strange queue"]))
    def change(self, name: str, what: str) -> None:
        """A user changes what a PodGroup asks for; those whose pods run keep their size here, as the player counts pods by it."""
        changes: dict[str, Json] = {
            "size": {"minMember": 3, "minResources": {GPU: "3"}},
            "queue": {"queue": "other"},
            "priority": {"priorityClassName": "high"},
            "no size": {"minResources": None},
            "strange queue": {"queue": "nobody-knows"},
        }
        if self.volcano.phase(name) == "Pending":
            self.volcano.change(name, changes[what])

    @rule(name=names, what=st.sampled_from(["finish", "delete", "lose pods", "run by hand"]))
    def use(self, name: str, what: str) -> None:
        """Something happens to a job."""
        phase = self.volcano.phase(name)
        if what == "delete" and phase:
            self.volcano.delete(name)
        elif what == "finish" and phase == "Running":
            self.volcano.set_phase(name, "Completed")
        elif what == "lose pods" and phase == "Running":
            self.volcano.set_phase(name, "Pending")
        elif what == "run by hand" and phase == "Pending" and self.volcano.size(name) <= self.volcano.free():
            self.volcano.set_phase(name, "Running")
            self.bypassed.add(self.volcano.groups()[name]["metadata"]["uid"])

    @rule(turn=st.permutations(NAMES), number=st.integers(1, 5))
    def let_volcano_schedule(self, turn: list[str], number: int) -> None:
        """Volcano does something for some PodGroups."""
        for name in turn[:number]:
            self.volcano.schedule(name)

    # --- gpol

    @rule(number=st.integers(1, 8))
    def watch_some(self, number: int) -> None:
        """gpol gets some of the events that its watch has for it."""
        self.events += self.watch.take()
        for event in self.events[:number]:
            self.gpol.cluster.pod_groups._on_event(event)
        del self.events[:number]

    @rule(micros=st.sampled_from([0, 0, 1, 1_000_000, 3_000_000, -5_000_000]))
    def decide(self, micros: int) -> None:
        """gpol looks at what it has learned, some time later, or with a clock that was set back."""
        self.clock += micros * 1000
        self.gpol.take_a_look()

    @rule()
    def restart(self) -> None:
        """gpol begins anew, from the journal and the cluster; who asks meanwhile gets no answer."""
        self.decider.close()
        self._start()

    # --- what holds

    def _ask(self, verb: str, body: Json) -> Json:
        answer: Json = json.loads(VERBS[verb](self.gpol.answers, json.dumps(body).encode()).body)
        return answer

    def _committed(self) -> dict[str, tuple[str, str]]:
        """What the journal says of each live workload: its uid, and what was decided about it last."""
        made: dict[str, tuple[str, str]] = {}
        for recorded in self.decider.journal.events():
            event = recorded.event
            if isinstance(event, WorkloadSubmitted):
                made[event.workload] = event.uid, "waits"
            elif isinstance(event, WorkloadAdmitted | WorkloadAdopted):
                made[event.workload] = made[event.workload][0], "runs"
            elif isinstance(event, WorkloadEvicted):
                made[event.workload] = made[event.workload][0], "evicted"
            elif isinstance(event, WorkloadCancelled | WorkloadFinished | WorkloadRejected):
                del made[event.workload]
        return made

    def _check_enqueued(self, name: str) -> None:
        uid = self.volcano.groups()[name]["metadata"]["uid"]
        assert self._committed().get(f"{SPACE}/{name}") == (uid, "runs"), "nobody is enqueued without a committed admission"

    def _check_evicted(self, name: str, by: str) -> None:
        committed = self._committed()
        assert committed[f"{SPACE}/{name}"][1] == "evicted", "victims are only those whom a committed decision has evicted"
        assert committed[f"{SPACE}/{by}"][1] == "runs", "nobody evicts who is not admitted"

    @invariant()
    def nothing_runs_beyond_what_exists(self) -> None:
        """Whatever was decided, pods stand where there is room."""
        if hasattr(self, "volcano"):
            assert self.volcano.free() >= 0

    def _come_to_rest(self) -> None:
        for _ in range(60):
            before = self.store.version, self.decider.journal.head.seq
            self.watch_some(10**6)
            self.decide(3_000_000)
            for name in NAMES:
                self.volcano.schedule(name)
            if (self.store.version, self.decider.journal.head.seq) == before and not self.events:
                break
        else:
            raise AssertionError(f"no rest: {self.volcano.groups()}")
        self._check_rest()

    def _check_rest(self) -> None:
        """The journal's state equals the PodGroups."""
        committed, problems = self._committed(), self.gpol.problems
        groups = {f"{SPACE}/{name}": group for name, group in self.volcano.groups().items() if group["status"]["phase"] != "Completed"}
        assert committed.keys() <= groups.keys()
        view = self.decider.core.view
        assert sorted(view.names()) == sorted(committed)
        for key, group in groups.items():
            spec, phase, name = group["spec"], group["status"]["phase"], key.partition("/")[2]
            is_odd = "minResources" not in spec or spec["queue"] not in QUEUES
            assert (key in problems) == is_odd or "have changed since" in problems.get(key, ""), (key, problems)
            if key not in committed:
                assert is_odd or int(spec["minMember"]) > GPUS or group["metadata"]["uid"] in self.bypassed, key
                continue
            uid, state = committed[key]
            assert uid == group["metadata"]["uid"]
            assert (view.workload(key).admitted is not None) == (state == "runs")  # type: ignore[union-attr]
            if phase == "Running":
                assert state != "waits", f"{name}: who runs is known to run, or was evicted"
            if state == "runs" and not is_odd:
                assert phase == "Running" or self._is_crowded(), f"{name}: who is admitted runs"

    def _is_crowded(self) -> bool:
        """Whether somebody who was let run by others, and was not evicted since, is in the way."""
        running = [group for group in self.volcano.groups().values() if group["status"]["phase"] == "Running"]
        return any(group["metadata"]["uid"] in self.bypassed for group in running)


class WorldInCycles(World):
    """The same under a policy that decides in cycles."""

    policy = IN_CYCLES + QUEUES_IN_CYCLES


TestWorldInCycles = WorldInCycles.TestCase
TestWorldInCycles.settings = settings(stateful_step_count=40)
TestWorld = World.TestCase
TestWorld.settings = settings(stateful_step_count=40)

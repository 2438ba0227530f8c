"""gpol decides for Kueue: what holds whatever happens, in whatever order, and through whatever crash."""

import asyncio
import json
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from cycles_policy import QUEUES_IN_CYCLES
from fake_kinds import KINDS, checks_stay_as_they_were
from fake_store import FakeStore
from gpol.adapters.kueue.live.decides import KueueDecisions
from gpol.adapters.kueue.live.protocol import DECIDED, Mark
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from gpol.engine.facts import WorkloadSubmitted
from gpol.sim.drive.policy import Policy
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from kueue_model import POD, WORKLOADS, KueueModel
from kueue_steps import is_true
from store_api import StoreApi

GPUS = 8
AT_ONCE = f"""
policy "live" {{
  use gpol.fair
}}

flavor h100 {{
  gpu {GPUS}
  label gpu = "h100"
}}

queue wide {{ owns 4 gpu on h100 }}
queue other {{ owns 4 gpu on h100 }}

protect warm-up {{ where victim.running < 2s }}

deny too-big {{ where workload.gpu > {GPUS} }} because "it never fits"
"""
IN_CYCLES = """
policy "live" {
  use kueue.classical
}

flavor h100 {
  gpu as owned
  label gpu = "h100"
}

"""

NAMES, QUEUES = ["a", "b", "c", "d", "e"], ["wide", "other"]


class World(RuleBasedStateMachine):
    """A cluster with Kueue and gpol, in which everybody takes one step at a time."""

    policy = AT_ONCE
    model: type[KueueModel] = KueueModel

    @initialize()
    def begin(self) -> None:
        """A cluster without workloads, and gpol with a new journal."""
        self.store = FakeStore((*KINDS, POD))
        self.store.validate(WORKLOADS, checks_stay_as_they_were)
        self.kueue = self.model(self.store)
        self.api = StoreApi(self.store)
        self.place = str(Path(mkdtemp()) / "journal.db")
        self.clock = 1_800_000_000_000_000_000
        self._start()

    def _start(self) -> None:
        self.decider = LiveDecider.open(self.place, lambda frozen: thaw(*frozen), lambda last: Stamps(last, lambda: self.clock))
        checked = check(self.policy, "live.gpol")
        assert checked.graph is not None, checked.errors
        self.gpol = KueueDecisions(self.api, self.decider, "gpol")  # type: ignore[arg-type]
        self.decider.activate(Policy.of(checked))
        asyncio.run(self.gpol.cluster.namespaces._list())
        asyncio.run(self.gpol.cluster.workloads._list())
        self.watch = self.store.watch(WORKLOADS, version=str(self.store.version))
        self.gpol.begin()
        self.events: list[Any] = []

    def teardown(self) -> None:
        """At the end everybody goes on until nothing changes any more."""
        if hasattr(self, "decider"):
            self._come_to_rest()
            self.decider.close()

    # --- users and Kueue

    @rule(name=st.sampled_from(NAMES), gpus=st.integers(1, GPUS + 1), priority=st.integers(0, 2), queue=st.sampled_from(QUEUES))
    def submit(self, name: str, gpus: int, priority: int, queue: str) -> None:
        """A user creates a job, if there is none of the name."""
        if name not in self.kueue.names():
            self.kueue.submit(name, gpus, priority, queue=queue)

    @rule(
        name=st.sampled_from(NAMES),
        what=st.sampled_from(["finish", "delete", "activate", "deactivate", "not ready", "hold", "end pods", "end pods"]),
    )
    def use(self, name: str, what: str) -> None:
        """A user or an administrator does something, or time has an effect."""
        match what:
            case "finish":
                self.kueue.finish(name)
            case "delete":
                self.kueue.delete(name)
            case "end pods":
                self.kueue.end_pods(name)
            case "hold":
                self.kueue.hold(name)
            case "not ready":
                self.kueue.not_ready(name)
            case _:
                self.kueue.activate(name, what == "activate")

    @rule(first=st.integers(0, 29), number=st.integers(1, 4))
    def let_kueue_write(self, first: int, number: int) -> None:
        """Kueue makes some of the writes that it can make, beginning anywhere."""
        possible = [(step, name) for name in NAMES for step in self.kueue.steps()]
        turned = possible[first:] + possible[:first]
        for _ in range(number):
            any(step(name) for step, name in turned)

    # --- gpol

    @rule(number=st.integers(1, 8))
    def watch_some(self, number: int) -> None:
        """gpol gets some of the events that its watch has for it."""
        self.events += self.watch.take()
        for event in self.events[:number]:
            self.gpol.cluster.workloads._on_event(event)
        del self.events[:number]

    @rule(micros=st.sampled_from([0, 0, 1, 1_000_000, 3_000_000, -5_000_000]))
    def decide(self, micros: int) -> None:
        """gpol looks at what it has learned, some time later, or with a clock that was set back."""
        self.clock += micros * 1000
        self.gpol.take_a_look()

    @rule(first=st.integers(0, 4), lose=st.sampled_from(["", "", "", "before", "after"]))
    def write(self, first: int, lose: str) -> None:
        """gpol makes one of the writes that are to be made; the request or its answer may get lost."""
        keys = sorted(self.gpol.carrying_out.writes._named)
        if keys:
            self._write(keys[first % len(keys)], lose)

    def _write(self, key: str, lose: str = "") -> None:
        self.gpol.carrying_out.writes._named.discard(key)
        self.api.lose = lose
        if asyncio.run(self.gpol.carrying_out.carry_out(key)) is not None:
            self.gpol.carrying_out.writes._named.add(key)
        self.api.lose = ""

    @rule()
    def look_for_pods(self) -> None:
        """gpol looks whether pods of stopped workloads are left."""
        for key in sorted(self.gpol.carrying_out.stops._named):
            self._see_stopped(key)

    def _see_stopped(self, key: str) -> None:
        self.gpol.carrying_out.stops._named.discard(key)
        if asyncio.run(self.gpol.carrying_out.see_stopped(key)) is not None:
            self.gpol.carrying_out.stops._named.add(key)

    @rule(what=st.sampled_from(["crash", "list", "list", "go on", "go on", "go on"]))
    def disturb(self, what: str) -> None:
        """Killed at any instant: nothing but the journal and the cluster is left. Or the watch is cut. Or nothing of the kind."""
        match what:
            case "crash":
                self.decider.close()
                for name in set(NAMES) - set(self.kueue.names()):  # of jobs that are gone from both, nothing is known any more
                    self.kueue.end_pods(name)
                self._start()
            case "list":
                asyncio.run(self.gpol.cluster.workloads._list())
                self.watch, self.events = self.store.watch(WORKLOADS, version=str(self.store.version)), []
            case _:
                self._all_go_on()

    def _all_go_on(self) -> None:
        for event in [*self.events, *self.watch.take()]:
            self.gpol.cluster.workloads._on_event(event)
        self.events = []
        self.gpol.take_a_look()
        for key in sorted(self.gpol.carrying_out.writes._named):
            self._write(key)
        for name in self.kueue.names():
            any(step(name) for step in self.kueue.steps())
        self.look_for_pods()

    def _come_to_rest(self) -> None:
        """Everybody goes on until nothing changes any more."""
        for _ in range(200):
            before = self.store.version, self.decider.core.seq
            self.clock += 1_000_000_000
            self._all_go_on()
            for name in NAMES:
                self.kueue.end_pods(name)
            if before == (self.store.version, self.decider.core.seq) and not (
                self.gpol.carrying_out.writes._named or self.gpol.carrying_out.stops._named
            ):
                break
        else:
            raise AssertionError("nothing comes to rest")
        self._is_as_the_journal_says()

    # --- what holds

    def _is_as_the_journal_says(self) -> None:
        """At rest the cluster is what the journal says: who runs there runs here, and nobody waits of whom gpol does not know."""
        view = self.decider.core.view
        for item in self.store.list(WORKLOADS)["items"]:
            name, status = item["metadata"]["name"], item.get("status", {})
            key = f"default/{name}"
            known = view.workload(key)
            finished = is_true(item, "Finished")
            runs = known is not None and known.admitted is not None
            assert runs == (name in self.kueue.running), (name, known, status)
            assert known is None or known.fact.uid == item["metadata"]["uid"]
            assert not finished or known is None
            seen = self.gpol.cluster.workloads.known[key].value
            assert known is not None or not seen.asks, (name, status)
            assert key not in self.gpol.problems, self.gpol.problems
        assert set(view.names()) <= {f"default/{name}" for name in self.kueue.names()}
        assert not self.gpol.carrying_out.postponed

    @invariant()
    def each_decision_has_one_effect_at_most(self) -> None:
        """Whatever was written is a decision of the journal about that very workload, and was written once."""
        if not hasattr(self, "api"):
            return
        seen = set()
        for body in self.api.writes:
            state = body["status"]["admissionChecks"][0]["state"]
            if state == "Pending":
                continue
            mark = Mark.read(next(row for row in body["status"]["conditions"] if row["type"] == DECIDED)["reason"])
            assert mark is not None
            event = self.decider.journal.at(mark.seq).event
            kinds = {"Ready": WorkloadAdmitted, "Retry": WorkloadEvicted, "Rejected": WorkloadRejected}
            assert isinstance(event, kinds[state]), (state, event)
            assert event.workload == f"default/{body['metadata']['name']}"
            submitted = next(
                recorded.event
                for recorded in self.decider.journal.backwards(upto=mark.seq, stream=f"workload/{event.workload}")
                if isinstance(recorded.event, WorkloadSubmitted)
            )
            assert submitted.uid == body["metadata"]["uid"]
            assert (mark.seq, state) not in seen, json.dumps(body)
            seen.add((mark.seq, state))

    @invariant()
    def those_that_run_fit(self) -> None:
        """The pods that run are never more than there is: who takes the place of others waits until these have stopped."""
        if not hasattr(self, "kueue"):
            return
        containers = [pod["spec"]["containers"][0] for pod in self.kueue.pods() if pod["status"]["phase"] != "Succeeded"]
        asked = sum(int(container["resources"]["requests"]["nvidia.com/gpu"]) for container in containers)
        assert asked <= GPUS


class WorldInCycles(World):
    """The same under a policy that decides in cycles."""

    policy = IN_CYCLES + QUEUES_IN_CYCLES


TestWorldInCycles = WorldInCycles.TestCase
TestWorldInCycles.settings = settings(stateful_step_count=60)
TestWorld = World.TestCase
TestWorld.settings = settings(stateful_step_count=60)

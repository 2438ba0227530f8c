"""A shadow beside a store of objects, without HTTP: what the store has changed is told to it as a watch would, whenever a test wants."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from fake_store import FakeStore
from gpol.adapters.kueue.live.shadow.decision_difference import KueueDifference
from gpol.adapters.kueue.live.shadow.kueue_shadow import KueueShadow
from gpol.adapters.kueue.live.shadow.shadow_settings import ShadowSettings
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.engine.default_core import thaw
from kueue_writer import KueueWriter, SetClock, kind_called
from modelled_kueue import CycleLog
from store_api import StoreApi

Json = dict[str, Any]


def job(name: str, priority: int, created: str, pods: int) -> Json:
    """A workload of LocalQueue `speech` with so many pods of one GPU."""
    container = {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    pod_set = {"name": "main", "count": pods, "template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}
    metadata = {"name": name, "namespace": "ns", "uid": name, "creationTimestamp": created}
    return {"metadata": metadata, "spec": {"queueName": "speech", "priority": priority, "active": True, "podSets": [pod_set]}}


class DecidingKueue(Protocol):
    """A Kueue for one scenario: a recorded or a modelled one."""

    scenario: Json
    start: int
    queues: dict[str, str]

    def step(self, step: Json) -> Iterator[CycleLog]:
        """What it does in a step, cycle by cycle."""


class ShadowBench:
    """A cluster, Kueue's hand in it, and a shadow beside it. `scenario` says how Kueue's manager is configured.

    In recorded histories Kueue looks at those whom it has refused as soon as there is room, and not `requeue_seconds` later.
    """

    def __init__(self, folder: Path, scenario: Json, requeue_seconds: float = 0) -> None:
        self.clock = SetClock()
        self.store = FakeStore(now=self.clock)
        self.kueue = KueueWriter(self.store, self.clock)
        self.api = StoreApi(self.store)
        self.seconds = 0.0
        self.journal, self.file, configuration = folder / "shadow.db", folder / "differences.jsonl", folder / "manager.json"
        configuration.write_text(json.dumps(manager_configuration(scenario)), encoding="utf-8")
        self.settings = ShadowSettings(differences=self.file, config_map="", configuration=configuration, requeue_seconds=requeue_seconds)
        self.open()

    def open(self) -> None:
        """Open the journal, and begin to watch."""
        now = lambda: self.clock.micros * 1000  # noqa: E731
        self.decider = LiveDecider.open(str(self.journal), lambda frozen: thaw(*frozen), lambda last: Stamps(last, now))
        self.shadow = KueueShadow(self.api, self.decider, self.settings, clock=lambda: self.seconds)  # type: ignore[arg-type]
        self.watches = {kind: self.store.watch(kind_called(kind.plural), version="") for kind in self.shadow.cluster.reflectors}
        self.list()

    def close(self) -> None:
        """Let go of the journal."""
        self.decider.close()

    def list(self) -> None:
        """Let all objects be listed, as after a watch that broke."""
        for kind, reflector in self.shadow.cluster.reflectors.items():
            reflector.problem = "the watch broke"
            asyncio.run(reflector._list())
            self.watches[kind] = self.store.watch(kind_called(kind.plural), version=str(self.store.version))

    def watch(self) -> None:
        """Let the shadow learn of what has changed, in the order of the writes."""
        events = [
            (int(event["object"]["metadata"]["resourceVersion"]), kind, event)
            for kind, watch in self.watches.items()
            for event in watch.take()
        ]
        for _, kind, event in sorted(events, key=lambda each: each[0]):
            self.shadow.cluster.reflectors[kind]._on_event(event)

    def look(self, is_quiet: bool = True) -> tuple[KueueDifference, ...]:
        """Learn of all that has changed, and compare."""
        self.watch()
        return self.shadow.look(is_quiet)


class HistoryWriter:
    """Writes a history of submissions and ends into a store, and what a Kueue decides about it. `decisions` counts those."""

    def __init__(self, kueue: KueueWriter, deciding: DecidingKueue) -> None:
        self.kueue, self.deciding = kueue, deciding
        self.decisions = 0
        kueue.clock.at(deciding.start)
        kueue.set_up(deciding.scenario)

    def write(self, step: Json) -> None:
        """Write what happens in a step, and what Kueue does about it."""
        self.kueue.clock.at(step["at"])
        for name in step["finish"]:
            self.kueue.delete(name)
        for plain in step["submit"]:
            self.kueue.submit(plain)
        for log in self.deciding.step(step):
            self.write_cycle(log)

    def write_cycle(self, log: CycleLog) -> None:
        """Write what a cycle did."""
        kueue = self.kueue
        kueue.clock.at(log.time)
        for name, flavors in log.admitted.items():
            queue = self.deciding.queues[kueue.workload(name)["spec"]["queueName"]]
            kueue.admit(name, queue, flavors)
        for name, reason, preemptor in log.evicted:
            kueue.preempt(name, reason, preemptor)
            kueue.stop(name)
        self.decisions += len(log.admitted) + len(log.evicted)


class HistoryPlayer(HistoryWriter):
    """Writes a history into a bench, and lets its shadow look."""

    def __init__(self, bench: ShadowBench, deciding: DecidingKueue) -> None:
        super().__init__(bench.kueue, deciding)
        self.bench = bench

    def play(self, steps: Sequence[Json]) -> list[KueueDifference]:
        """Write step by step, let the shadow look after each, and return the differences."""
        found = list(self.bench.look())
        for step in steps:
            self.write(step)
            found += self.bench.look()
        return found


def manager_configuration(scenario: Json) -> Json:
    """The Configuration of Kueue's manager in a scenario."""
    plain: Json = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    if scenario["fair"]:
        strategies = scenario["strategies"]
        plain["fairSharing"] = {"preemptionStrategies": strategies} if strategies else {}
    return plain

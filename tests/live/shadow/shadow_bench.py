"""A shadow beside a store of objects, without HTTP: what the store has changed is told to it as a watch would, whenever a test wants."""

import asyncio
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_store import FakeStore
from gpol.adapters.kueue.live.shadow.decision_difference import KueueDifference
from gpol.adapters.kueue.live.shadow.kueue_shadow import KueueShadow, ShadowSettings
from gpol.adapters.kueue.read.objects import Configuration
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.engine.default_core import thaw
from kueue_writer import KueueWriter, SetClock, kind_called
from modelled_kueue import CycleLog, ModelledKueue, configuration
from store_api import StoreApi

Json = dict[str, Any]


def recorded_histories(shared: Path) -> dict[str, Json]:
    """Kueue's recorded histories by name; skips where they are absent."""
    file = shared / "conformance" / "kueue" / "timeline.jsonl.gz"
    if not file.is_file():
        pytest.skip("needs Kueue's recorded histories in `shared/conformance`, beside the repository")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return {case["in"]["name"]: case for case in read}


class ShadowBench:
    """A cluster, Kueue's hand in it, and a shadow beside it."""

    def __init__(self, folder: Path, given: Configuration = Configuration(), file: Path | None = None) -> None:
        self.clock = SetClock()
        self.store = FakeStore(now=self.clock)
        self.kueue = KueueWriter(self.store, self.clock)
        self.api = StoreApi(self.store)
        self.seconds = 0.0
        self.journal = folder / "shadow.db"
        self.settings = ShadowSettings(configuration=given, reads_config_map=False, file=file)
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

    def watch(self, most: int | None = None) -> None:
        """Let the shadow learn of what has changed, or of so many of the changes."""
        events = sorted(
            (
                (int(event["object"]["metadata"]["resourceVersion"]), kind, event)
                for kind, watch in self.watches.items()
                for event in watch.take()
            ),
            key=lambda each: each[0],
        )
        for _, kind, event in events:
            self.shadow.cluster.reflectors[kind]._on_event(event)

    def look(self, is_quiet: bool = True) -> tuple[KueueDifference, ...]:
        """Learn of all that has changed, and compare."""
        self.watch()
        return self.shadow.look(is_quiet)


class HistoryPlayer:
    """Plays a history of submissions and ends as a Kueue decides about it, into a bench."""

    def __init__(self, bench: ShadowBench, model: ModelledKueue) -> None:
        self.bench, self.model = bench, model
        self.decisions = 0
        bench.clock.at(model.core.time)
        bench.kueue.set_up(model.scenario)

    def steps(self, steps: Sequence[Json]) -> Iterator[list[CycleLog]]:
        """Write step by step, and yield what Kueue did in each."""
        for step in steps:
            yield self.write(step)

    def write(self, step: Json) -> list[CycleLog]:
        """Write what happens in a step, and what Kueue does about it."""
        bench, logs = self.bench, []
        bench.clock.at(step["at"])
        for name in step["finish"]:
            bench.kueue.delete(name)
        for plain in step["submit"]:
            bench.kueue.submit(plain)
        for log in self.model.step(step):
            logs.append(log)
            self.write_cycle(log)
        return logs

    def write_cycle(self, log: CycleLog) -> None:
        """Write what a cycle did."""
        kueue = self.bench.kueue
        self.bench.clock.at(log.time)
        for name, flavors in log.admitted.items():
            queue = self.model.queues[kueue.workload(name)["spec"]["queueName"]]
            kueue.admit(name, queue, flavors)
        for name, reason, preemptor in log.evicted:
            kueue.preempt(name, reason, preemptor)
            kueue.stop(name)
        self.decisions += len(log.admitted) + len(log.evicted)


def bench_of(folder: Path, scenario: Json) -> ShadowBench:
    """A bench with the configuration of a scenario."""
    return ShadowBench(folder, configuration(scenario))

"""A Kueue that does what the real one was recorded to do: its decisions are those of a record, cycle by cycle.

A record says who was admitted in a cycle, and the flavors of whoever holds quota at the end of a step. For the few who are admitted and
evicted within one step the flavors come from `modelled_kueue.py`, which is asserted to do in each cycle what was recorded.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gpol.engine.units import SECOND, parse_time
from kueue_writer import Flavors
from modelled_kueue import CycleLog, ModelledKueue

Json = dict[str, Any]

OWN_HISTORY = Path(__file__).with_name("own_history.json")


def recorded_histories(shared: Path) -> dict[str, Json]:
    """Kueue's recorded histories by name; skips where they are absent."""
    file = shared / "conformance" / "kueue" / "timeline.jsonl.gz"
    if not file.is_file():
        pytest.skip("needs Kueue's recorded histories in `shared/conformance`, beside the repository")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return {case["in"]["name"]: case for case in read}


def own_history() -> Json:
    """A small history in the same form, worked out by hand."""
    case: Json = json.loads(OWN_HISTORY.read_text(encoding="utf-8"))
    return case


def recorded_steps(case: Json) -> list[Json]:
    """The steps of a history that are compared: of one in which Kueue never comes to rest, those before that step."""
    steps: list[Json] = case["in"]["steps"][: len(case["kueue"]["steps"])]
    return steps[:-1] if case["kueue"]["livelock"] else steps


def recorded_decisions(case: Json) -> int:
    """How many admissions and evictions stand in a record."""
    steps = case["kueue"]["steps"][: len(recorded_steps(case))]
    return sum(len(cycle["admitted"]) + len(cycle["evicted"]) for step in steps for cycle in step["log"])


class RecordedKueue:
    """Kueue in one recorded history."""

    def __init__(self, case: Json) -> None:
        self.model = ModelledKueue(case["in"])
        self.scenario, self.start, self.queues = self.model.scenario, self.model.start, self.model.queues
        self._steps: Iterator[Json] = iter(case["kueue"]["steps"])

    def step(self, step: Json) -> Iterator[CycleLog]:
        """What Kueue did in a step, cycle by cycle."""
        recorded = next(self._steps)
        modelled = {log.time: log for log in self.model.step(step)}
        last = {name: number for number, cycle in enumerate(recorded["log"]) for name in cycle["admitted"]}
        for number, cycle in enumerate(recorded["log"]):
            time = parse_time(step["at"]) + number * SECOND
            if not cycle["admitted"] and not cycle["evicted"]:
                continue
            evicted = [_eviction(each) for each in cycle["evicted"]]
            assert set(modelled[time].admitted) == set(cycle["admitted"]), "the model is to do what was recorded"
            assert sorted(modelled[time].evicted) == sorted(evicted), "the model is to do what was recorded"
            stays = {name for name in cycle["admitted"] if last[name] == number and name in recorded["admitted"]}
            given = {
                name: _flavors(recorded["admitted"][name]) if name in stays else modelled[time].admitted[name] for name in cycle["admitted"]
            }
            yield CycleLog(time, given, evicted)


def _flavors(recorded: dict[str, str]) -> Flavors:
    found: Flavors = {}
    for slot, flavor in recorded.items():
        pod_set, _, resource = slot.partition("/")
        found.setdefault(pod_set, {})[resource] = flavor
    return found


def _eviction(recorded: str) -> tuple[str, str, str]:
    """Who was evicted, why, and for whom, of "ns/name:Reason by ns/preemptor"."""
    name, _, rest = recorded.partition(":")
    reason, _, preemptor = rest.partition(" by ")
    return name, reason, preemptor

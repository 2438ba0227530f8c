"""The import reads all of Kueue's recorded decisions with topologies, and counts what is used there as Kueue does."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.kueue.decide.topology_answers import usage_answer
from gpol.adapters.kueue.import_.facts import Moment, facts
from gpol.adapters.kueue.import_.load import Imported, load, raws_of
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.kinds import Raw, read_objects
from gpol.adapters.kueue.read.objects import Configuration
from gpol.engine.event_parts import Assignment
from gpol.engine.facts import WorkloadAdopted, WorkloadSubmitted
from gpol.engine.units import parse_time

END = parse_time("2030-01-01T00:00:00Z")
"""A moment after every time in the data."""

NOTED = {"Node", "Topology"}
"""Of what kinds anything is noted: nodes that are not ready or of no flavor, topologies that nobody names."""


@pytest.fixture(scope="module")
def corpora(shared: Path) -> Path:
    """The folder of recorded decisions; skips where it is absent."""
    folder = shared / "conformance" / "kueue"
    if not folder.is_dir():
        pytest.skip("needs the reference data in `shared/conformance`, beside the repository")
    return folder


def lines(corpora: Path, name: str) -> Iterator[Any]:
    """The lines of a corpus."""
    with gzip.open(corpora / f"{name}.jsonl.gz", "rt") as file:
        yield from map(json.loads, file)


def imported(scenario: Any, *more: Any) -> Imported:
    """What an import makes of a scenario."""
    raws = [*raws_of(scenario), *(Raw(workload, "", "Workload") for workload in more)]
    return load(raws, END, "kueue.fair", "scenario", Configuration(fair=True), controllers=False)


def usage(made: Imported) -> dict[str, Any]:
    """What those that hold quota use of each lowest domain."""
    submitted = {fact.workload: fact.pod_sets for fact in made.facts if isinstance(fact, WorkloadSubmitted)}
    held = [
        (
            submitted[fact.workload],
            [Assignment(pod_set=each.pod_set, count=each.count, flavors=each.flavors, places=each.places) for each in fact.placements],
        )
        for fact in made.facts
        if isinstance(fact, WorkloadAdopted)
    ]
    return usage_answer(made.objects, held)


def test_single_decisions_are_read(corpora: Path) -> None:
    """All 1,000 of them, the workload to be decided among them; what is used by domain is what Kueue says."""
    count = 0
    for line in lines(corpora, "tas_single"):
        made = imported(line["in"], line["in"]["incoming"])
        assert {note.kind for note in made.notes} <= NOTED
        assert usage(made) == line["kueue"]["usage"], line["in"]["name"]
        count += 1
    assert count == 1000


def test_histories_are_read(corpora: Path) -> None:
    """All 150 of them, with every workload that is submitted."""
    count = submitted = 0
    for line in lines(corpora, "tas_timeline"):
        made, found = imported(line["in"]), Findings()
        read = read_objects([Raw(plain, "", "Workload") for step in line["in"]["steps"] for plain in step["submit"]], found)
        told = facts(replace(made.objects, workloads=read.workloads), Moment(END, in_cycles=True), found)
        assert (found.problems, found.notes()) == ([], [])
        assert {note.kind for note in made.notes} <= NOTED
        submitted += sum(isinstance(fact, WorkloadSubmitted) for fact in told)
        count += 1
    assert (count, submitted) == (150, 4481)

"""The Philly trace on its machines, as docs/placement.md tells of it: a stretch of it, played as `benchmarks/philly_nodes.py` does.

The trace stays outside the project; without it these tests are skipped.
"""

import csv
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import WorkloadFinished
from gpol.journal.journal import Journal

Gpol = Callable[..., Any]

PARTS, JOBS = 4, 3_000
"""A quarter of the machines, and the first jobs."""

HOUR = 3_600_000_000

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]


@pytest.fixture
def philly(root: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What plays the trace."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    module = import_module("philly_nodes")
    if missing := module.missing(shared):
        pytest.skip(f"needs the trace: {missing}")
    return module


def work_of_the_trace(trace: Path) -> Fraction:
    """GPU-seconds of the first jobs."""
    with trace.open(encoding="utf-8") as file:
        jobs = sorted(csv.DictReader(file), key=lambda job: job["timestamp"])[:JOBS]
    return sum((Fraction(job["duration"]) * int(job["num_gpus"]) for job in jobs), Fraction(0))


def test_what_places_change(philly: ModuleType, shared: Path, tmp_path: Path) -> None:
    """Each way does the work of the trace. Totals alone let more pods of 8 GPUs run than machines hold. Packed pods keep machines free for
    them; spread ones do not, and owners wait for days for GPUs that they own and do not use."""
    played = {name: philly.play(tmp_path, shared, PARTS, philly.WAYS[name], JOBS) for name in ("totals only", "packed", "spread")}
    for each in played.values():
        used = sum(queue.used_area for queue in each.queues)
        assert sum(queue.finished for queue in each.queues) == len(each.fates) == JOBS
        assert Fraction(used - sum(fate.lost for fate in each.fates), 1000 * 1_000_000) == work_of_the_trace(shared / philly.JOBS)
    totals, packed, spread = played.values()
    assert totals.large.most > totals.large.machines >= packed.large.most > spread.large.most
    assert totals.large.beyond > 0 == packed.large.beyond == spread.large.beyond
    assert [max(queue.owner_wait_most for queue in each.queues) // (24 * HOUR) for each in played.values()] == [0, 0, 7]
    stranded = [each.of_eight.classes[("pool",), 8000].stranded / each.length / 1000 for each in (packed, spread)]
    assert stranded[0] < 1 < 50 < stranded[1]


def test_the_command_has_the_same_figures(philly: ModuleType, shared: Path, tmp_path: Path, gpol: Gpol) -> None:
    """`gpol simulate` on the files that were written; and by its journal no machine ever holds more than its GPUs."""
    way = philly.WAYS["keeping room"]
    played = philly.play(tmp_path, shared, PARTS, way, JOBS)
    asked = ("--nodes", "nodes.csv", "--journal", "j.db", "--stranded-for", "8 gpu", "--format", "json")
    done = gpol("simulate", "philly.gpol", "workloads.csv", *asked)

    queues = [record for record in done.records if record["kind"] == "queue"]
    assert sum(record["evicted"] for record in queues) == sum(queue.evicted for queue in played.queues) > 0
    [large] = [record for record in done.records if record["kind"] == "nodes" and record["gpu_milli"] == 8000]
    figures = played.of_eight.classes[("pool",), 8000]
    assert (large["nodes"], large["most_stranded_gpu_milli"]) == (played.large.machines, figures.most_stranded)
    assert large["gpu_hours"] == pytest.approx(figures.used / 1000 / HOUR)

    with (tmp_path / "nodes.csv").open(encoding="utf-8") as file:
        exists = {row["node"]: int(row["gpu"]) for row in csv.DictReader(file)}
    with (tmp_path / "workloads.csv").open(encoding="utf-8") as file:
        of_pod = {row["workload"]: int(row["gpu"]) for row in csv.DictReader(file)}
    used, stands = Counter[str](), dict[str, list[tuple[str, int]]]()
    with Journal.open(tmp_path / "j.db") as journal:
        for recorded in journal.events():
            match recorded.event:
                case WorkloadAdmitted() as event:
                    [given] = event.assignments
                    stands[event.workload] = [(each.domain[-1], each.pods * of_pod[event.workload]) for each in given.places]
                    for node, gpus in stands[event.workload]:
                        used[node] += gpus
                        assert used[node] <= exists[node]
                case WorkloadEvicted() | WorkloadFinished() as event:
                    for node, gpus in stands.pop(event.workload):
                        used[node] -= gpus
                case _:
                    pass
    assert not stands
    assert not +used


def test_without_the_trace(philly: ModuleType, tmp_path: Path) -> None:
    """It says which files are missing."""
    assert philly.missing(tmp_path).count(str(tmp_path)) == 3

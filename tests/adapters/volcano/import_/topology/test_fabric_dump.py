"""A dump of a cluster with HyperNodes, as kubectl writes it, by way of the commands: gangs get places as their topologies say."""

import json
from pathlib import Path

import pytest
import yaml
from commands import Gpol

DUMP = Path(__file__).with_name("fabric.yaml")


@pytest.fixture
def imported(gpol: Gpol) -> str:
    """What the import said."""
    done = gpol("import", "volcano", str(DUMP), "-o", "p.gpol", "--facts", "f.jsonl")
    assert done.code == 0, done.err
    return done.out


def test_an_import_says_what_it_read(imported: str) -> None:
    """The objects by kind, and what was left out."""
    assert imported.endswith(
        "imported 4 Queues, 0 PriorityClasses and 4 PodGroups as of 2026-03-05T14:00:00Z\nplaced in 4 HyperNodes on 6 Nodes\n"
    )
    assert "note: Node gpu-6, gpu-7: is in no HyperNode" in imported
    assert "note: Node gpu-3: status.conditions: is not ready" in imported


def test_gangs_get_places(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """One that may go up to no HyperNode with room waits; a soft one stands where there is room."""
    assert gpol("check", "p.gpol").code == 0
    done = gpol("run", "p.gpol", "f.jsonl", "--out", "d.jsonl")
    assert done.code == 0
    events = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    admitted = {event["workload"]: event["assignments"] for event in events if event["kind"] == "WorkloadAdmitted"}
    assert {name: [given["places"] for given in admitted[name]] for name in admitted} == {"ml/sweep": [[{"domain": ["gpu-4"], "pods": 2}]]}
    assert "ml/eval of training can never run" in done.out  # no leaf has two whole nodes: a pod of no gang has a part of one
    assert "ml/finetune of training waiting: TopologyPlacementFailed" in done.out


def test_room_comes_in_the_right_place(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """A gang of four pods of 4 GPUs may cross leaves and not spines: it starts once the one that runs in its spine has ended."""
    facts = (tmp_path / "f.jsonl").read_text()
    last = json.loads(facts.splitlines()[-1])["time"]
    ended = json.dumps({"kind": "WorkloadFinished", "v": 1, "time": last + 1_000_000, "workload": "ml/pretrain"})
    (tmp_path / "more.jsonl").write_text(f"{facts}{ended}\n")
    assert gpol("run", "p.gpol", "more.jsonl", "--out", "d.jsonl").code == 0
    events = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    [given] = [event["assignments"][0]["places"] for event in events if event.get("workload") == "ml/finetune" and "assignments" in event]
    assert {place["domain"][0] for place in given} <= {"gpu-0", "gpu-1", "gpu-2"}
    assert sum(place["pods"] for place in given) == 4


def test_the_hyper_nodes_come_back(gpol: Gpol, imported: str) -> None:
    """An export needs the nodes, which the facts of the import have; its objects and the nodes make the same policy again."""
    refused = gpol("export", "volcano", "p.gpol")
    assert (refused.code, "give the nodes with --nodes, as facts or as a CSV file" in refused.err) == (3, True)
    done = gpol("export", "volcano", "p.gpol", "--nodes", "f.jsonl", "-o", "objects.yaml")
    assert (done.code, done.out) == (0, "exported 3 Queue, 4 HyperNode to objects.yaml\n")
    others = [each for each in yaml.safe_load_all(DUMP.read_text()) if each["kind"] not in ("Queue", "HyperNode")]
    Path("rest.yaml").write_text(yaml.safe_dump_all(others))
    again = gpol("import", "volcano", "objects.yaml", "rest.yaml", "-o", "again.gpol", "--facts", "again.jsonl")
    assert again.code == 0, again.err
    assert Path("again.gpol").read_text() == Path("p.gpol").read_text()
    assert Path("again.jsonl").read_text() == Path("f.jsonl").read_text()

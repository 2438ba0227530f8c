"""export volcano: all or nothing, and what cannot be said in objects is told."""

import json
from pathlib import Path

import pytest
import yaml
from commands import Gpol

OBJECTS = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: p}
spec:
  deserved: {nvidia.com/gpu: "8"}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec:
  parent: p
  deserved: {nvidia.com/gpu: "8"}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""


@pytest.fixture
def imported(gpol: Gpol, tmp_path: Path) -> str:
    """A policy that came from objects."""
    (tmp_path / "dump").write_text(OBJECTS)
    assert gpol("import", "volcano", "dump", "-o", "p.gpol").code == 0
    return "p.gpol"


def test_there_and_back(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """An export says in YAML and in JSON what was imported, and imports again as the same policy."""
    printed, as_list = gpol("export", "volcano", imported), gpol("export", "volcano", imported, "--json")
    written = gpol("export", "volcano", imported, "-o", "objects.yaml")

    assert [item["metadata"]["name"] for item in yaml.safe_load_all(printed.out)] == ["high", "p", "q"]
    assert json.loads(as_list.out)["items"] == list(yaml.safe_load_all(printed.out))
    assert written.out == "exported 1 PriorityClass, 2 Queue to objects.yaml\n"
    assert (tmp_path / "objects.yaml").read_text() == printed.out
    assert gpol("import", "volcano", "objects.yaml").out == (tmp_path / imported).read_text()


def test_an_export_is_written_over_until_somebody_changes_it(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """Then only with --force; what others wrote is never taken for one."""
    for _ in range(2):
        assert gpol("export", "volcano", imported, "-o", "objects.yaml").code == 0
    with (tmp_path / "objects.yaml").open("a") as file:
        file.write("# mine\n")
    done = gpol("export", "volcano", imported, "-o", "objects.yaml")
    assert (done.code, done.out) == (3, "")
    assert "`objects.yaml` is there already, and is not an export of Volcano's objects as gpol writes it" in done.err
    assert gpol("export", "volcano", imported, "-o", "objects.yaml", "--force").code == 0
    assert "# mine" not in (tmp_path / "objects.yaml").read_text()
    for data in (b"", b"\n", b"\xff\xfe", b"x" * 10):
        (tmp_path / "others").write_bytes(data)
        assert gpol("export", "volcano", imported, "-o", "others").code == (0 if not data else 3)
        (tmp_path / "others").unlink()


def test_what_cannot_be_exported_is_refused_whole(gpol: Gpol, lab: Path) -> None:
    """Rules that Volcano does not have are named with their lines, and no file is written, nor anything printed."""
    done = gpol("export", "volcano", "lab.gpol", "-o", "objects.yaml")

    assert (done.code, done.out) == (3, "")
    assert "gpol: lab.gpol:12: protect rule warm-up: " in done.err
    assert "gpol: lab.gpol:14: deny rule too-big: " in done.err
    assert done.err.endswith("gpol: nothing was exported\n")
    assert not (lab / "objects.yaml").exists()


def test_notes_of_an_export(gpol: Gpol, lab: Path) -> None:
    """What the objects don't say goes to stderr, so that stdout can be applied; in json with -o it is data. gpu is called as one says."""
    text = "".join(line for line in (lab / "lab.gpol").read_text().splitlines(keepends=True) if not line.startswith(("protect", "deny")))
    (lab / "plain.gpol").write_text(text.split("test ")[0])

    printed = gpol("export", "volcano", "plain.gpol", "--gpu", "amd.com/gpu")
    [record] = gpol("export", "volcano", "plain.gpol", "-o", "objects.yaml", "--format", "json").records

    assert printed.code == 0
    assert "note: " in printed.err
    assert "amd.com/gpu" in printed.out
    assert "nvidia" not in printed.out
    assert (record["kind"], record["path"], record["objects"]) == ("export", "objects.yaml", 3)
    assert {note["object_kind"] for note in record["notes"]} == {"policy", "preempt rule"}


def test_flavors_are_summed_up_only_where_one_asks(gpol: Gpol, tmp_path: Path) -> None:
    """Volcano has one quota for a resource."""
    flavors = (
        'policy "p" { use gpol.reclaim }\nflavor a { gpu 8 }\nflavor b { gpu 8 }\nqueue q {\n  owns 2 gpu on a\n  owns 3 gpu on b\n}\n'
    )
    (tmp_path / "p.gpol").write_text(flavors)
    refused, summed = gpol("export", "volcano", "p.gpol"), gpol("export", "volcano", "p.gpol", "--sum-flavors")
    assert (refused.code, "sum them up with --sum-flavors" in refused.err) == (3, True)
    assert [item["spec"] for item in yaml.safe_load_all(summed.out)] == [{"deserved": {"nvidia.com/gpu": "5"}}]
    assert "resource gpu: a, b are summed up" in summed.err


def test_no_policy_and_no_place(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """A broken policy, one that is missing, a file that is there and options without a use are refused, and all stays as it was."""
    (tmp_path / "broken.gpol").write_text("queue {")
    for arguments, said in (
        (("broken.gpol",), "`broken.gpol` has "),
        (("missing.gpol",), "`missing.gpol` cannot be read"),
        ((imported, "-o", "dump"), "-o: `dump` is there already"),
        ((imported, "-o", imported), "is what is read"),
        ((imported, "--gpu", "amd.com/gpu"), "--gpu: the policy counts no resource of the name gpu"),
        ((imported, "--sum-flavors"), "--sum-flavors: no resource has several flavors; leave the option out"),
    ):
        done = gpol("export", "volcano", *arguments)
        assert (done.code, done.out) == (3, "")
        assert said in done.err
    assert (tmp_path / "dump").read_text() == OBJECTS


PLACED = """\
policy "p" { use gpol.reclaim }
topology fabric {
  level rack from label "site/rack"
  level host from node
}
flavor h100 {
  gpu from nodes where pool = "h100"
  placed in fabric
}
queue q { owns 8 gpu }
"""


def test_hyper_nodes_of_the_nodes_that_are_given(gpol: Gpol, tmp_path: Path) -> None:
    """As a CSV file, as `gpol simulate` takes it, or as facts, of which the last about each node counts, from a pipe as well."""
    (tmp_path / "p.gpol").write_text(PLACED)
    (tmp_path / "nodes.csv").write_text("node,gpu,label:site/rack,label:pool\nn1,8,a,h100\nn2,8,b,h100\n")
    facts = [
        {"kind": "NodeAdded", "v": 1, "time": 0, "node": name, "labels": {"site/rack": rack, "pool": "h100"}, "capacity": {"gpu": 8}}
        for name, rack in (("n1", "a"), ("n2", "b"), ("n3", "c"))
    ]
    gone = {"kind": "NodeRemoved", "v": 1, "time": 1, "node": "n3"}
    lines = "".join(f"{json.dumps(fact)}\n" for fact in (*facts, gone))

    by_csv, by_facts = (
        gpol("export", "volcano", "p.gpol", "--nodes", "nodes.csv"),
        gpol("export", "volcano", "p.gpol", "--nodes", "-", stdin=lines.encode()),
    )

    assert by_csv.out == by_facts.out
    names = [item["metadata"]["name"] for item in yaml.safe_load_all(by_csv.out) if item["kind"] == "HyperNode"]
    assert names == ["rack-a", "rack-b"]


def test_nodes_that_are_of_no_use(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """Where nothing is placed; facts that are none or cannot be; a file that is not there; and beside --live."""
    (tmp_path / "placed.gpol").write_text(PLACED)
    (tmp_path / "no.jsonl").write_text("{}\n")
    (tmp_path / "gone.jsonl").write_text('{"kind":"NodeRemoved","v":1,"time":0,"node":"n1"}\n')
    (tmp_path / "no.csv").write_text("gpu\n8\n")
    for arguments, said in (
        ((imported, "--nodes", "no.jsonl"), "--nodes: no flavor is placed in a topology with a level above nodes"),
        (("placed.gpol", "--nodes", "no.jsonl"), "--nodes: no.jsonl:1: "),
        (("placed.gpol", "--nodes", "gone.jsonl"), "--nodes: `gone.jsonl`: no node `n1` was added; give all facts about nodes"),
        (("placed.gpol", "--nodes", "no.csv"), "--nodes: no.csv:1: "),
        (("placed.gpol", "--nodes", "missing.csv"), "--nodes: `missing.csv` cannot be read"),
        (("placed.gpol", "--nodes", "missing.jsonl"), "`missing.jsonl` cannot be read"),
        (("placed.gpol", "--nodes", "no.csv", "--live"), "--nodes: has no effect with --live"),
        (("placed.gpol", "--nodes", "no.csv", "-o", "no.csv"), "is what is read"),
    ):
        done = gpol("export", "volcano", *arguments)
        assert (done.code, done.out) == (3, ""), arguments
        assert said in done.err, (arguments, done.err)

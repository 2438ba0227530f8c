"""Topologies on the way out: the objects, what Kueue does not allow, and what it does otherwise; and back again."""

import pytest
from gpol.adapters.kueue.export.export_policy import yaml_documents
from gpol.adapters.kueue.import_.load import load, read_files
from gpol.dsl.print.formatter import print_tree

from ..exports import exported, notes, problems, specs

TOPOLOGY = """
topology fabric {
  level rack from label "cloud/rack"
  level host from node
}
topology unused { level host from node }
"""
FLAVOR = """
resource "nvidia.com/gpu"
flavor h100 {
  "nvidia.com/gpu" as owned
  label model = "h100"
  placed in fabric
}
flavor a100 { "nvidia.com/gpu" as owned }
"""
QUEUE = """
queue q {
  serves "nvidia.com/gpu" from h100, a100
  owns 8 "nvidia.com/gpu" on h100
  local queue "ns/lq"
}
"""
IN_CYCLES = 'policy "p" { use kueue.classical }\n' + TOPOLOGY + FLAVOR + QUEUE
AT_ONCE = (
    'policy "p" { use gpol.fair }\n'
    + TOPOLOGY
    + """
flavor h100 {
  gpu from nodes where model = "h100"
  placed in fabric
}
flavor a100 { gpu 8 }
queue q {
  owns 8 gpu on h100
  local queue "ns/lq"
}
"""
)


def test_the_objects() -> None:
    """A Topology with a label for each level, before the ResourceFlavor that names it; none that nobody is placed in."""
    made = exported(IN_CYCLES).objects
    assert [item["kind"] for item in made[:3]] == ["Topology", "ResourceFlavor", "ResourceFlavor"]
    assert specs(IN_CYCLES, "Topology") == {"fabric": {"levels": [{"nodeLabel": "cloud/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}}
    assert specs(IN_CYCLES, "ResourceFlavor") == {"a100": {}, "h100": {"nodeLabels": {"model": "h100"}, "topologyName": "fabric"}}


def test_placed_on_nodes() -> None:
    """The topology of nodes alone has one level."""
    assert specs(AT_ONCE.replace("placed in fabric", "placed on nodes"), "Topology") == {
        "nodes": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('  label model = "h100"\n', "", "flavor h100: placed: gives places on all nodes, and Kueue wants a label"),
        ("cloud/rack", "kubernetes.io/hostname", "topology fabric: level: takes level rack from label kubernetes.io/hostname"),
        ("cloud/rack", "a b", "topology fabric: level: `a b` is no label that Kubernetes allows"),
        ("fabric", "Fabric", "topology Fabric: is no name that Kubernetes allows"),
        (
            '  level rack from label "cloud/rack"\n',
            "".join(f'  level l{number} from label "l{number}"\n' for number in range(16)),
            "topology fabric: level: has 17 levels, and a Topology of Kueue has at most 16",
        ),
    ],
)
def test_what_kueue_does_not_allow(old: str, new: str, said: str) -> None:
    """It is refused with its line."""
    assert any(said in problem for problem in problems(IN_CYCLES.replace(old, new)))


def test_what_kueue_does_otherwise() -> None:
    """Names of levels are always told; how pods are placed, and who gets places, only where a policy decides at once."""
    levels = "topology fabric: level: workloads name levels by their labels in Kueue: rack is cloud/rack, host is kubernetes.io/hostname"
    assert [note for note in notes(IN_CYCLES) if "place" in note or "level" in note] == [levels]
    told = [note for note in notes(AT_ONCE) if "placed" in note]
    assert [note.partition("; ")[0] for note in told] == [
        "flavor h100: placed: gives all its pods places",
        "flavor h100: placed: packs pods here",
    ]
    assert not any("gives all its pods places" in note for note in notes(AT_ONCE.replace("flavor a100 { gpu 8 }\n", "")))


def test_there_and_back() -> None:
    """An import of the objects gives the same levels, called by their labels."""
    text = yaml_documents(exported(IN_CYCLES).objects)
    again = print_tree(load(read_files([("dump.yaml", text.encode())]), 0).tree)
    assert "topology fabric {" in again
    assert 'level "cloud/rack" from label "cloud/rack"' in again
    assert 'level "kubernetes.io/hostname" from node' in again
    assert specs(again, "Topology") == specs(IN_CYCLES, "Topology")

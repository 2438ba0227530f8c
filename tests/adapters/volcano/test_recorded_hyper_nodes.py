"""HyperNodes of Volcano's own tests and of recorded clusters: which nodes each has, and where its scheduler lets gangs stand."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.kinds import Raw
from gpol.adapters.volcano.import_.topology.gang_places import GangPlaces
from gpol.adapters.volcano.import_.topology.tiers import Tiers, tiers
from gpol.adapters.volcano.read.volcano_kinds import TOPOLOGY_VERSION, VERSION, read_volcano
from gpol.adapters.volcano.read.volcano_objects import VolcanoObjects
from gpol.adapters.volcano.topology_names import tier_label

from .volcano_objects import Json


def read(case: Json) -> tuple[VolcanoObjects, Tiers, Findings]:
    """A cluster of a table, with its tiers; in two tables objects have other names than the table knows them by."""
    hyper_nodes = [(name, each["hyperNode"]) for name, each in case["HyperNodesMap"].items()]
    raws = [{**each, "apiVersion": TOPOLOGY_VERSION, "kind": "HyperNode", "metadata": {"name": name}} for name, each in hyper_nodes]
    raws += [{"apiVersion": "v1", "kind": "Node", **each} for each in case["Nodes"]]
    raws += [{"apiVersion": VERSION, "kind": "PodGroup", **each} for each in case["PodGroups"]]
    found = Findings()
    objects = read_volcano(map(Raw, raws), found)
    made = tiers(objects, found)
    found.check()
    assert made is not None
    return objects, made, found


def recorded(shared: Path) -> Iterator[Json]:
    """The recorded clusters with HyperNodes, and what Volcano decided there."""
    with gzip.open(shared / "conformance" / "volcano" / "recorded.jsonl.gz") as lines:
        yield from (scenario for scenario in map(json.loads, lines) if "HyperNodesMap" in scenario["in"]["case"])


def test_every_hyper_node_has_the_nodes_that_volcano_says(shared: Path) -> None:
    """By the labels that nodes get: those whose HyperNode of its tier it is."""
    cases = [each["case"] for each in json.loads((shared / "conformance" / "volcano" / "volcano_cases.json").read_text())]
    cases += [scenario["in"]["case"] for scenario in recorded(shared)]
    compared = 0
    for case in cases:
        if "HyperNodesMap" in case:
            objects, made, _ = read(case)
            for each in objects.hyper_nodes:
                mine = sorted(name for name, labels in made.labels.items() if labels[tier_label(each.tier)] == each.name)
                assert mine == sorted(case["HyperNodes"].get(each.name, [])), (case["Name"], each.name)
                compared += 1
    assert compared > 300


def test_gangs_stand_within_their_level(shared: Path) -> None:
    """What Volcano binds of a hard gang stands in one domain of the level that the import names, and often not of the one below it."""
    together = apart_below = 0
    for scenario in recorded(shared):
        case = scenario["in"]["case"]
        objects, made, found = read(case)
        places, group_of = GangPlaces(made, {}, found), groups(case)
        for nodes_by_group in decided(scenario["volcano"], group_of):
            for group in objects.pod_groups:
                within, nodes = places.wished(group).within, nodes_by_group.get(group.key, set())
                if within and len(nodes) > 1:
                    at = next(index for index, tier in enumerate(made.tiers) if tier.level == within)
                    assert len(domains(made, nodes, at)) == 1, (scenario["in"]["name"], group.key)
                    together += 1
                    apart_below += at + 1 < len(made.tiers) and len(domains(made, nodes, at + 1)) > 1
    assert together > 200
    assert apart_below > 10


def groups(case: Json) -> Mapping[str, str]:
    """The PodGroup of each pod, by its name with namespace."""
    named = [(each["metadata"]["namespace"], each["metadata"]) for each in case["Pods"]]
    return {
        f"{space}/{metadata['name']}": f"{space}/{metadata.get('annotations', {}).get('scheduling.k8s.io/group-name')}"
        for space, metadata in named
    }


def decided(answer: Json, group_of: Mapping[str, str]) -> Iterator[dict[str, set[str]]]:
    """The nodes on which each PodGroup has pods, after each session; pods that were made again have the names of those before them."""
    for each in answer.get("answers", [answer]):
        for session in each["sessions"]:
            nodes: dict[str, set[str]] = {}
            for pod, (state, *where) in session["pods"].items():
                if state in ("bound", "running"):
                    nodes.setdefault(group_of[pod], set()).update(where)
            yield nodes


def domains(made: Tiers, nodes: set[str], at: int) -> set[str]:
    """The domains of a level in which nodes are."""
    return {made.labels[node][tier_label(made.tiers[at].number)] for node in nodes}

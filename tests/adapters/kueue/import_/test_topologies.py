"""Topologies in a policy, what is held or refused because of them, and which places count."""

from typing import Any

import pytest
from gpol.adapters.kueue.export.export_policy import export
from gpol.adapters.kueue.export.yaml_text import yaml_documents
from gpol.adapters.kueue.import_.load import load, read_files
from gpol.dsl import compile_policy
from gpol.dsl.print.formatter import print_tree
from gpol.dsl.syntax import tree
from gpol.engine.eligibility import labels_of
from gpol.engine.event_parts import PlacedPods, PodSet, Slice
from gpol.engine.facts import WorkloadAdopted, WorkloadSubmitted

from ..conftest import NOW, Json, Maker

HOST = "kubernetes.io/hostname"
BLOCK = "topology.example/block"


def topology(kueue: Maker, name: str = "dc", labels: tuple[str, ...] = (BLOCK, HOST)) -> Json:
    """A Topology of these labels."""
    return kueue.obj("Topology", name, {"levels": [{"nodeLabel": label} for label in labels]})


def placing(kueue: Maker, name: str = "base", topology_name: str = "dc") -> Json:
    """A flavor with a topology."""
    return kueue.flavor(name, topologyName=topology_name, nodeLabels={"pool": "a"})


def items(kueue: Maker, *objects: Json, profile: str = "kueue.classical") -> list[Any]:
    """The items of a policy, as far as they are about topologies and flavors."""
    made = kueue.load(*objects, profile=profile).tree.items
    return [item for item in made if isinstance(item, tree.TopologyItem | tree.FlavorItem)]


def holds(kueue: Maker, *objects: Json) -> list[str]:
    """Why queues are held."""
    return [item.because.text for item in kueue.load(*objects).tree.items if isinstance(item, tree.AdmissionItem) and item.because]


@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair", "gpol.fair"])
def test_a_flavor_is_placed_in_its_topology(profile: str, kueue: Maker) -> None:
    """Levels are called as their labels, from the widest down, and the hostname stands for nodes; topologies come before flavors."""
    objects = (kueue.queue(), placing(kueue), topology(kueue))
    first, second = items(kueue, *objects, profile=profile)
    levels = (tree.LevelStatement(tree.Name(BLOCK), BLOCK), tree.LevelStatement(tree.Name(HOST), None))
    assert first == tree.TopologyItem(tree.Name("dc"), levels)
    label = tree.LabelEquals("pool", tree.Text("a"))
    at_once = (tree.FromNodes((tree.Name("cpu"),), (label,)),)
    in_cycles = (tree.AsOwned((tree.Name("cpu"),)), tree.NodeLabel(label))
    assert second.body == (*(at_once if profile == "gpol.fair" else in_cycles), tree.PlacedIn(tree.Name("dc")))
    graph = kueue.checked(*objects, profile=profile).graph
    assert graph is not None
    assert [(graph.topologies[flavor.topology].name, labels_of(flavor)) for flavor in graph.flavors] == [("dc", {"pool": "a"})]


def test_what_nodes_have_is_there_and_back(kueue: Maker) -> None:
    """A policy that decides at once is exported with the labels of its nodes, and imported again it is the same."""
    objects = (kueue.queue(), kueue.local(), placing(kueue), topology(kueue))
    text = kueue.text(*objects, profile="gpol.fair")
    again = yaml_documents(export(compile_policy(text, "kueue.gpol")).objects)
    made = load(read_files([("again.yaml", again.encode())]), NOW, "gpol.fair").tree
    assert print_tree(made) == text


@pytest.mark.parametrize(
    ("labels", "told"), [({}, "has none, so that nothing says which nodes"), ({"pool": "a"}, "are labels of all nodes of narrow")]
)
def test_labels_that_do_not_tell_flavors_apart(labels: dict[str, str], told: str, kueue: Maker) -> None:
    """Decided at once, a flavor is what its nodes have, and a node is of one flavor; Kueue's own profiles know quotas beside nodes."""
    narrow = kueue.flavor("narrow", topologyName="dc", nodeLabels={"pool": "a", "gpu": "h100"})
    objects = (kueue.queue(), kueue.flavor("base", topologyName="dc", nodeLabels=labels), narrow, topology(kueue))
    (said,) = kueue.problems(*objects, profile="gpol.fair")
    assert said.startswith(f"ResourceFlavor base: spec.nodeLabels: {told}")
    assert said.endswith("import it with a profile of Kueue")
    assert kueue.text(*objects)


def test_a_topology_that_ends_above_nodes(kueue: Maker) -> None:
    """Its lowest level is a label like the others; a policy that decides at once cannot say it."""
    objects = (kueue.queue(), placing(kueue), topology(kueue, labels=(BLOCK, "rack")))
    assert [level.label for level in items(kueue, *objects)[0].levels] == [BLOCK, "rack"]
    (said,) = kueue.problems(*objects, profile="gpol.fair")
    assert said.startswith(f"Topology dc: spec.levels: ends above {HOST}, so that pods get no nodes, which a policy that decides at once")


def test_topologies_that_nobody_names(kueue: Maker) -> None:
    """They are left out of the policy by name, whatever their levels are."""
    objects = (kueue.queue(), kueue.flavor(), topology(kueue, labels=("rack",)))
    assert kueue.notes(*objects) == ["Topology dc: is left out: no ResourceFlavor names it"]
    assert [type(item) for item in items(kueue, *objects, profile="gpol.fair")] == [tree.FlavorItem]


def test_a_topology_that_is_not_there(kueue: Maker) -> None:
    """The ClusterQueues that name a flavor of it are held, as in Kueue, and the flavor places nothing."""
    objects = (kueue.queue(), kueue.queue("b", groups=[kueue.group(other={"nominalQuota": "1"})]), placing(kueue), kueue.flavor("other"))
    assert holds(kueue, *objects) == ["inactive: topology dc of flavor base is not there"]
    assert not any(isinstance(statement, tree.PlacedIn) for item in items(kueue, *objects) for statement in item.body)
    assert kueue.notes(*objects) == [
        "ClusterQueue a: is held, as in Kueue: inactive: topology dc of flavor base is not there",
        "ResourceFlavor base: spec.topologyName: is no Topology of the dump: nothing gets places on it",
    ]


def test_that_kueue_misses_a_topology_follows_from_the_others(kueue: Maker) -> None:
    """Its condition says nothing that the objects do not; with the topology there the queue is not held."""
    condition = kueue.true("Active", "TopologyNotFound", status="False")
    queue = kueue.queue() | {"status": {"conditions": [condition]}}
    assert holds(kueue, queue, placing(kueue), topology(kueue)) == []


@pytest.mark.parametrize(
    ("controller", "flavors", "active", "is_refused"),
    [
        ("kueue.x-k8s.io/provisioning-request", [], "True", False),
        ("kueue.x-k8s.io/provisioning-request", ["base"], "True", False),
        ("kueue.x-k8s.io/provisioning-request", ["plain"], "True", False),
        ("kueue.x-k8s.io/provisioning-request", [], "False", False),
        ("kueue.x-k8s.io/multikueue", ["plain"], "True", True),
        ("example.com/budget", [], "True", False),
    ],
)
def test_checks_after_which_places_are_found(controller: str, flavors: list[str], active: str, is_refused: bool, kueue: Maker) -> None:
    """Kueue finds places on another cluster: refused where it concerns a flavor with a topology. Where machines are made, gpol does."""
    check = kueue.obj("AdmissionCheck", "c", {"controllerName": controller}, status={"conditions": [kueue.true("Active", status=active)]})
    groups = [kueue.group(base={"nominalQuota": "8"}, plain={"nominalQuota": "8"})]
    queue = kueue.queue(groups=groups, admissionChecksStrategy={"admissionChecks": [{"name": "c", "onFlavors": flavors}]})
    objects = (queue, placing(kueue), kueue.flavor("plain"), topology(kueue), check)
    if not is_refused:
        assert kueue.load(*objects).tree
        return
    (said,) = kueue.problems(*objects)
    assert said.startswith(
        "ClusterQueue a: spec.admissionChecksStrategy: has c on base, which has a topology: Kueue finds places after that check"
    )


# --- places


def held(kueue: Maker, levels: list[str], *values: str) -> Json:
    """A workload whose two pods stand in a domain."""
    status = kueue.admitted(count=2)
    given = {"levels": levels, "domains": [{"values": list(values), "count": 2}]}
    status["admission"]["podSetAssignments"][0]["topologyAssignment"] = given
    return kueue.work(sets=[kueue.pods(count=2)], status=status)


def places(kueue: Maker, *objects: Json) -> tuple[tuple[PlacedPods, ...], list[str]]:
    """Where the pods of the one workload stand by the facts, and what is noted of that."""
    made = kueue.load(kueue.queue(), kueue.local(), *objects)
    (adopted,) = (fact for fact in made.facts if isinstance(fact, WorkloadAdopted))
    return adopted.placements[0].places, [note.text for note in made.notes if note.kind == "Workload"]


@pytest.mark.parametrize(
    ("labels", "levels", "values"),
    [((BLOCK, HOST), [HOST], ("n1",)), ((BLOCK, "rack"), [BLOCK, "rack"], ("b1", "r1"))],
)
def test_places_are_told(labels: tuple[str, ...], levels: list[str], values: tuple[str, ...], kueue: Maker) -> None:
    """By the node alone, or by the values of all levels."""
    status = {"allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}
    node = kueue.obj("Node", "n1", labels={"pool": "a", BLOCK: "b1", "rack": "r1", HOST: "n1"}, status=status) | {"apiVersion": "v1"}
    found = places(kueue, placing(kueue), topology(kueue, labels=labels), node, held(kueue, levels, *values))
    assert found == ((PlacedPods(domain=values, pods=2),), [])


def test_places_in_other_levels_take_no_room(kueue: Maker) -> None:
    """As in Kueue, when a topology has other levels now."""
    found = places(kueue, placing(kueue), topology(kueue), held(kueue, [BLOCK, HOST], "b1", "n1"))
    assert found == ((), ["has places in other levels than its topology has now: as in Kueue, they take no room"])


def test_places_without_a_topology_take_no_room(kueue: Maker) -> None:
    """On a flavor that has none, or whose topology is not there."""
    for flavor in (kueue.flavor(), placing(kueue)):
        found = places(kueue, flavor, held(kueue, [HOST], "n1"))
        assert found == ((), ["has places on a flavor without a topology: they take no room"])


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        ({"required": BLOCK}, {"within": BLOCK}),
        ({"preferred": BLOCK}, {"near": BLOCK}),
        ({"unconstrained": True}, {"anywhere": True}),
        ({"podSetSliceRequiredTopology": BLOCK, "podSetSliceSize": 2}, {"slices": (Slice(level=BLOCK, size=2),)}),
    ],
)
def test_wishes_are_told(request_: Json, asked: dict[str, Any], kueue: Maker) -> None:
    """What a pod set asks for of places is in the fact of its submission."""
    work = kueue.work(sets=[kueue.pods(count=2) | {"topologyRequest": request_}])
    (fact,) = kueue.load(kueue.queue(), kueue.local(), placing(kueue), topology(kueue), work).facts
    assert isinstance(fact, WorkloadSubmitted)
    assert fact.pod_sets == (PodSet(name="main", count=2, requests={"cpu": 1000}, **asked),)

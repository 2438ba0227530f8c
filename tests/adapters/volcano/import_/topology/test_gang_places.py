"""Where gangs are to stand, by their networkTopology, and where those that run do stand."""

from typing import Any

import pytest

from ...topology_objects import by_name, fabric, hyper_node, node, pod
from ...volcano_objects import GPU, Json, facts, imported, notes, pod_group, problems, queue

PLACE = ("within", "near", "slices", "group")


def wished(*others: Json, **spec: Any) -> list[Json]:
    """What the pod sets of a PodGroup say of their places, with whatever their amounts are."""
    found = facts(queue(), *fabric(), *others, pod_group(**spec))
    [submitted] = [fact for fact in found if fact["kind"] == "WorkloadSubmitted"]
    return [{key: pods[key] for key in PLACE if key in pods} for pods in submitted["pod_sets"]]


def sub_group(size: int, least: int, **topology: Any) -> Json:
    """A policy for sub-groups."""
    return {"name": "workers", "subGroupSize": size, "minSubGroups": least, **({"networkTopology": topology} if topology else {})}


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"mode": "hard", "highestTierAllowed": 1}, {"within": "tier-1"}),
        ({"highestTierAllowed": 2}, {"within": "spine"}),
        ({"mode": "hard", "highestTierName": "spine"}, {"within": "spine"}),
        ({"mode": "soft", "highestTierAllowed": 2}, {"near": "tier-1"}),
        ({"mode": "soft"}, {"near": "tier-1"}),
        ({"mode": "hard"}, {"near": "tier-1"}),
        ({"mode": "hard", "highestTierName": "leaf"}, {"near": "tier-1"}),
        ({"mode": "hard", "highestTierAllowed": 3}, {"near": "tier-1"}),
        ({"mode": "hard", "highestTierAllowed": 1, "highestTierName": "spine"}, {"within": "tier-1"}),
        (None, {}),
    ],
)
def test_a_topology_says_how_near_pods_stand(said: Json | None, place: Json) -> None:
    """Hard: within a HyperNode of that tier; soft, or of no tier: as near as they can."""
    assert wished(networkTopology=said) == [place]


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ({"mode": "hard"}, ": says no tier: as in Volcano, the pods stand as near one another as they can"),
        (
            {"highestTierName": "leaf"},
            ".highestTierName: is the name of no tier: as in Volcano, the pods stand as near one another as they can",
        ),
        (
            {"highestTierAllowed": 3},
            ".highestTierAllowed: is above all tiers: the pods stand as near one another as they can",
        ),
        (
            {"highestTierAllowed": 1, "highestTierName": "spine"},
            ".highestTierName: stands beside highestTierAllowed: as in Volcano, the number counts",
        ),
        ({"mode": "soft", "color": 1}, ".color: is not imported"),
    ],
)
def test_what_counts_for_less_is_noted(said: Json, note: str) -> None:
    """By name."""
    assert notes(queue(), *fabric(), pod_group(networkTopology=said)) == [f"PodGroup ns/w: spec.networkTopology{note}"]


def test_a_tier_between_those_that_are_there() -> None:
    """Up to tier 2, where there are tiers 1 and 3: one of tier 1. Where no HyperNode is of so low a tier, nothing would ever start."""
    objects = [queue(), hyper_node("t", 3, *by_name("HyperNode", "s")), hyper_node("s", 1, *by_name("Node", "n")), node("n")]
    said = pod_group(networkTopology={"highestTierAllowed": 2})
    assert facts(*objects, said)[-1]["pod_sets"][0]["within"] == "tier-1"
    assert problems(*objects, pod_group(networkTopology={"highestTierAllowed": 0})) == [
        "PodGroup ns/w: spec.networkTopology.highestTierAllowed: is 0, and no HyperNode is of so low a tier: "
        "the PodGroup would never start; write 1 or more"
    ]


def test_a_name_of_two_tiers() -> None:
    """Volcano takes either of them by chance."""
    objects = [
        hyper_node("t", 2, *by_name("HyperNode", "s"), tierName="x"),
        hyper_node("s", 1, *by_name("Node", "n"), tierName="x"),
        node("n"),
    ]
    assert problems(queue(), *objects, pod_group(networkTopology={"highestTierName": "x"})) == [
        "PodGroup ns/w: spec.networkTopology.highestTierName: is `x`, and HyperNodes of the tiers 1 and 2 have this tierName; "
        "give each tier a name of its own, or say highestTierAllowed"
    ]


def test_an_uneven_gang_stands_together() -> None:
    """The pod with the rest is its leader: it stands in the domain of the others."""
    hard = {"networkTopology": {"highestTierAllowed": 1}, "minResources": {GPU: "5"}}
    assert wished(**hard) == [{"within": "tier-1", "group": "gang"}] * 2
    assert wished(minResources={GPU: "5"}) == [{}, {}]


# --- sub-groups


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"subGroupPolicy": [sub_group(2, 2, highestTierAllowed=1)]}, {"slices": [{"level": "tier-1", "size": 2}]}),
        (
            {"subGroupPolicy": [sub_group(2, 2, highestTierAllowed=1)], "networkTopology": {"highestTierAllowed": 2}},
            {"within": "spine", "slices": [{"level": "tier-1", "size": 2}]},
        ),
        ({"subGroupPolicy": [sub_group(2, 2, highestTierAllowed=2)], "networkTopology": {"highestTierAllowed": 1}}, {"within": "tier-1"}),
        ({"subGroupPolicy": [sub_group(2, 2, highestTierAllowed=7)], "networkTopology": {"mode": "soft"}}, {"near": "tier-1"}),
    ],
)
def test_sub_groups_are_slices(spec: Json, place: Json) -> None:
    """Of a gang that consists of them, each stands in one HyperNode; what restricts no more than the whole is left out."""
    assert wished(**spec) == [place]


@pytest.mark.parametrize(
    "parts",
    [
        [sub_group(2, 1, highestTierAllowed=1)],
        [sub_group(2, 2, mode="soft")],
        [sub_group(2, 1, highestTierAllowed=1), sub_group(2, 1)],
    ],
)
def test_sub_groups_that_a_gang_does_not_consist_of(parts: list[Json]) -> None:
    """It cannot be said which of the pods they are."""
    [told] = problems(queue(), *fabric(), pod_group(subGroupPolicy=parts))
    assert told.startswith(
        "PodGroup ns/w: spec.subGroupPolicy[0].networkTopology: says where groups of its pods stand, "
        "and nothing says of the other pods of the gang which they are; let it be hard"
    )


def test_sub_groups_without_places_and_uneven_ones() -> None:
    """The first count as a whole, which is noted; slices are of equal pods."""
    assert notes(queue(), *fabric(), pod_group(subGroupPolicy=[sub_group(2, 2)])) == [
        "PodGroup ns/w: spec.subGroupPolicy: is left out: the gang counts as a whole"
    ]
    uneven = pod_group(subGroupPolicy=[sub_group(2, 2, highestTierAllowed=1)], minResources={GPU: "5"})
    assert problems(queue(), *fabric(), uneven) == [
        "PodGroup ns/w: spec.minResources: is no multiple of minMember, and its sub-groups are to be of pods that ask for the same; "
        "let it be a multiple of minMember"
    ]


# --- those that run


def running(*pods: Json, **spec: Any) -> tuple[Json, dict[str, int]]:
    """The places of a gang that runs by pod set, and how many GPUs its nodes and others have left for gangs, where it is not 8."""
    found = facts(queue(), *fabric(), *pods, pod_group("w", "Running", **spec))
    [adopted] = [fact for fact in found if fact["kind"] == "WorkloadAdopted"]
    places = {given["pod_set"]: {place["domain"][0]: place["pods"] for place in given.get("places", [])} for given in adopted["placements"]}
    left = {fact["node"]: fact["capacity"][GPU] for fact in found if fact["kind"] == "NodeAdded"}
    return places, {name: gpus for name, gpus in left.items() if gpus != 8}


def test_pods_stand_where_they_run() -> None:
    """A gang has its pods on their nodes; all other pods take room there, also those beyond minMember."""
    mine = [pod("w-0", "a1-0", 1, "w"), pod("w-1", "a1-0", 1, "w"), pod("w-2", "a1-1", 1, "w"), pod("w-3", "a2-0", 1, "w")]
    assert running(*mine) == ({"gang": {"a1-0": 2, "a1-1": 1, "a2-0": 1}}, {})
    others = [pod("w-4", "b1-0", 3, "w"), pod("alone", "a1-0", 2), pod("x", "a1-1", 1, "unknown")]
    assert running(*mine, *others) == ({"gang": {"a1-0": 2, "a1-1": 1, "a2-0": 1}}, {"b1-0": 5, "a1-0": 6, "a1-1": 7})


def test_an_uneven_gang_that_runs() -> None:
    """The last of its pods is the one with the rest."""
    mine = [pod(f"w-{number}", f"a1-{number % 2}", 1, "w") for number in range(4)]
    assert running(*mine, minResources={GPU: "5"})[0] == {"gang": {"a1-0": 2, "a1-1": 1}, "rest": {"a1-1": 1}}


def test_a_gang_that_runs_without_its_pods() -> None:
    """Nothing says where it stands, and others would get its nodes."""
    assert problems(queue(), *fabric(), pod_group("w", "Running")) == [
        "PodGroup ns/w: status.phase: runs, and none of its pods is in the dump: nothing says on which nodes they stand; "
        "give what `kubectl get pods -A -o yaml` writes as well, or leave the PodGroup out"
    ]


def test_a_gang_that_runs_otherwise_than_it_says() -> None:
    """Pods that are missing, and pods of other amounts, are noted."""
    found = notes(queue(), *fabric(), pod("w-0", "a1-0", 3, "w"), pod_group("w", "Running"))
    assert found == [
        "PodGroup ns/w: spec.minResources: has pods that ask for other amounts than minResources has for each of minMember: "
        "each counts as one of these",
        "PodGroup ns/w: status.phase: has fewer pods on nodes than minMember: those that are missing take no room",
    ]


def test_nodes_come_first() -> None:
    """So that whoever runs has a node to stand on."""
    made = imported(queue(), *fabric(), pod("w-0", "a1-0", 1, "w"), pod_group("w", "Running", minMember=1, minResources={GPU: "1"}))
    assert [fact.kind for fact in made.facts] == ["NodeAdded"] * 8 + ["WorkloadSubmitted", "WorkloadAdopted"]

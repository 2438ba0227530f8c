"""What pod sets ask for of where their pods are to stand."""

from typing import Any

import pytest
from gpol.adapters.kueue.read.objects import KueuePodSet
from gpol.engine.event_parts import Slice

from ...conftest import Json, Maker

LAYERS = "podsetSliceRequiredTopologyConstraints"


def work(kueue: Maker, count: int = 4, **request: Any) -> Json:
    """A workload of so many pods with a topology request."""
    return kueue.work(sets=[kueue.pods(count=count) | {"topologyRequest": request}])


def read(kueue: Maker, data: Json) -> KueuePodSet:
    """The pod set of a workload as it is read."""
    return kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), data).objects.workloads[0].pod_sets[0]


def notes(kueue: Maker, data: Json) -> list[str]:
    """What is noted of a workload."""
    return kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), data)


@pytest.mark.parametrize(
    ("request_", "within", "near", "anywhere"),
    [
        ({"required": "rack"}, "rack", "", False),
        ({"required": "rack", "unconstrained": False}, "rack", "", False),
        ({"preferred": "block"}, "", "block", False),
        ({"unconstrained": True}, "", "", True),
        ({"podIndexLabel": "i", "subGroupIndexLabel": "j", "subGroupCount": 2}, "", "", False),
    ],
)
def test_how_near_pods_must_stand(request_: Json, within: str, near: str, anywhere: bool, kueue: Maker) -> None:
    """Required is within a level, preferred is near, unconstrained is anywhere; labels of pods ask for nothing."""
    asked = read(kueue, work(kueue, **request_))
    assert (asked.within, asked.near, asked.anywhere, asked.slices) == (within, near, anywhere, ())
    assert asked.asks_for_places is bool(within or near or anywhere)
    assert notes(kueue, work(kueue, **request_)) == []


def test_slices_in_either_way(kueue: Maker) -> None:
    """One level with a size, or up to three layers, the widest first."""
    one, two = {"topology": "block", "size": 4}, {"topology": "rack", "size": 2}
    assert read(kueue, work(kueue, podSetSliceRequiredTopology="rack", podSetSliceSize=2)).slices == (Slice(level="rack", size=2),)
    assert read(kueue, work(kueue, **{LAYERS: [one, two]})).slices == (Slice(level="block", size=4), Slice(level="rack", size=2))


def test_slices_in_both_ways(kueue: Maker) -> None:
    """The layers count; that is noted where the older fields say something else."""
    layers = {LAYERS: [{"topology": "rack", "size": 2}]}
    same = work(kueue, **layers, podSetSliceRequiredTopology="rack", podSetSliceSize=2)
    other = work(kueue, **layers, podSetSliceRequiredTopology="rack", podSetSliceSize=4)
    assert notes(kueue, same) == []
    assert notes(kueue, other) == [f"Workload ns/w: spec.podSets: says slices in two ways: as in Kueue, {LAYERS} counts"]
    assert read(kueue, other).slices == (Slice(level="rack", size=2),)


def test_a_size_without_slices_is_noted(kueue: Maker) -> None:
    """Kueue looks at the size only beside a level of slices."""
    (told,) = notes(kueue, work(kueue, required="rack", podSetSliceSize=3))
    assert told == "Workload ns/w: spec.podSets: has a podSetSliceSize without a level of slices: it counts for nothing, as in Kueue"


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"required": "rack", "preferred": "block"}, "preferred: stands beside required; keep one of them"),
        ({"required": "rack", "unconstrained": True}, "unconstrained: stands beside required"),
        ({"required": ""}, "required: is missing; write a name"),
        ({"unconstrained": False}, "unconstrained: asks for places and names no level: Kueue never finds any for it"),
        ({"podSetSliceSize": 2}, "podSetSliceSize: asks for places and names no level"),
        ({"podSetSliceRequiredTopology": "rack"}, "podSetSliceSize: is missing: Kueue places no slices of unknown size"),
        ({"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 0}, "podSetSliceSize: is 0"),
        (
            {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 3},
            "podSetSliceSize: is 3, and 4 pods are no whole number of such slices",
        ),
        ({LAYERS: [{"topology": "rack"}]}, f"{LAYERS}[0].size: is missing"),
        ({LAYERS: [{"size": 2}]}, f"{LAYERS}[0].topology: is missing"),
        ({LAYERS: [{"topology": "b", "size": 4}, {"topology": "r", "size": 3}]}, f"{LAYERS}: cuts 4 pods into slices of 3"),
        ({LAYERS: [{"topology": "b", "size": 1}] * 4}, f"{LAYERS}: has 4 entries; Kueue allows at most 3"),
    ],
)
def test_what_kueue_never_places_is_refused(request_: Json, why: str, kueue: Maker) -> None:
    """Requests that Kueue allows to no job, or never finds places for, whatever is free."""
    said = kueue.problems(kueue.queue(), kueue.flavor(), work(kueue, **request_))
    assert any(f"topologyRequest.{why}" in problem for problem in said), said


def grouped(kueue: Maker, *sets: tuple[int, Json]) -> Json:
    """A workload whose pod sets are all of one group: their counts and requests."""
    named = [kueue.pods(f"p{number}", count) for number, (count, _) in enumerate(sets)]
    return kueue.work(
        sets=[pods | {"topologyRequest": {"podSetGroupName": "g", **request}} for pods, (_, request) in zip(named, sets, strict=True)]
    )


def test_a_leader_stands_with_its_workers(kueue: Maker) -> None:
    """Two pod sets that ask for the same, one of them of one pod, which is cut into no slices; without a topology any group will do."""
    slices = {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2}
    for good in (((1, {"required": "r"}), (4, {"required": "r"})), ((1, slices), (4, slices)), ((2, {}), (2, {}), (2, {}))):
        assert read(kueue, grouped(kueue, *good)).group == "g"


@pytest.mark.parametrize(
    ("sets", "why"),
    [
        (
            ((2, {"required": "r"}), (4, {"required": "r"})),
            "has group `g`, whose pods are placed together, and which is no leader of one pod",
        ),
        (((1, {"required": "r"}), (4, {"required": "r"}), (4, {"required": "r"})), "which is no leader of one pod"),
        (((1, {"required": "r"}), (4, {"preferred": "r"})), "has group `g`, whose pod sets ask for different places"),
    ],
)
def test_other_groups_are_refused(sets: tuple[tuple[int, Json], ...], why: str, kueue: Maker) -> None:
    """Kueue would leave some of their pods without a place, or look at one request alone."""
    said = kueue.problems(kueue.queue(), kueue.flavor(), grouped(kueue, *sets))
    assert any(why in problem for problem in said), said

"""The places that Kueue gave to pods, in both of its forms."""

from typing import Any

import pytest
from gpol.adapters.kueue.read.objects import PodSetAssignment
from gpol.engine.event_parts import PlacedPods

from ...conftest import Json, Maker

LEVELS = ["block", "rack"]


def work(kueue: Maker, given: Json, finished: bool = False, **status: Any) -> Json:
    """A workload of four pods whose assignment says this beside its quota."""
    more = [kueue.true("Finished")] if finished else []
    held = kueue.admitted("a", "base", None, 4, *more)
    held["admission"]["podSetAssignments"][0] |= given
    return kueue.work(sets=[kueue.pods(count=4)], status={**held, **status})


def read(kueue: Maker, given: Json) -> PodSetAssignment:
    """What a pod set has, as it is read."""
    workload = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), work(kueue, given)).objects.workloads[0]
    assert workload.admission is not None
    return workload.admission.assignments[0]


def places(**domains: int) -> tuple[PlacedPods, ...]:
    """Pods by domain, the values of whose levels stand with `_` between them."""
    return tuple(PlacedPods(domain=tuple(domain.split("_")), pods=pods) for domain, pods in domains.items())


def compact(*slices: Json, levels: list[str] = LEVELS) -> Json:
    """An assignment in the form of v1beta2."""
    return {"topologyAssignment": {"levels": levels, "slices": list(slices)}}


def test_each_domain_by_itself(kueue: Maker) -> None:
    """The form of v1beta1: values and a count for each."""
    domains = [{"values": ["b1", "r1"], "count": 3}, {"values": ["b1", "r2"], "count": 1}]
    given = read(kueue, {"topologyAssignment": {"levels": LEVELS, "domains": domains}})
    assert (given.levels, given.places) == (("block", "rack"), places(b1_r1=3, b1_r2=1))


def test_domains_in_compact_slices(kueue: Maker) -> None:
    """The form of v1beta2: per level one value for all, or parts that each value is put together from, and so the pods."""
    first = {
        "domainCount": 2,
        "valuesPerLevel": [{"universal": "b1"}, {"individual": {"prefix": "r", "suffix": "x", "roots": ["1", "2"]}}],
        "podCounts": {"individual": [2, 1]},
    }
    second = {"domainCount": 1, "valuesPerLevel": [{"universal": "b2"}, {"individual": {"roots": ["r9"]}}], "podCounts": {"universal": 1}}
    assert read(kueue, compact(first, second)).places == places(b1_r1x=2, b1_r2x=1, b2_r9=1)


def test_a_node_alone(kueue: Maker) -> None:
    """In a topology that ends at nodes Kueue names the node and nothing above it; roots may be equal or empty."""
    slice_ = {
        "domainCount": 2,
        "valuesPerLevel": [{"individual": {"prefix": "n", "roots": ["", "1"]}}],
        "podCounts": {"universal": 2},
    }
    given = read(kueue, compact(slice_, levels=["kubernetes.io/hostname"]))
    assert (given.levels, given.places) == (("kubernetes.io/hostname",), places(n=2, n1=2))


def test_pods_that_are_done_keep_their_places(kueue: Maker) -> None:
    """Kueue charges less quota for them, and leaves their places as they are."""
    given = {"topologyAssignment": {"levels": ["rack"], "domains": [{"values": ["r1"], "count": 4}]}}
    data = work(kueue, given, reclaimablePods=[{"name": "main", "count": 3}])
    admission = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), data).objects.workloads[0].admission
    assert admission is not None
    assert [(each.count, each.places) for each in admission.assignments] == [(1, places(r1=4))]


def test_no_places(kueue: Maker) -> None:
    """Most assignments say nothing of places."""
    assert (read(kueue, {}).levels, read(kueue, {}).places) == ((), ())


SLICE: Json = {"domainCount": 2, "valuesPerLevel": [{"universal": "b"}, {"universal": "r"}], "podCounts": {"universal": 2}}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"delayedTopologyRequest": "Soon"}, "delayedTopologyRequest: is `Soon`"),
        ({"topologyAssignment": {"domains": []}}, "topologyAssignment.levels: has 0 levels"),
        ({"topologyAssignment": {"levels": ["l"] * 17}}, "topologyAssignment.levels: has 17 levels"),
        ({"topologyAssignment": {"levels": LEVELS, "domains": [], "slices": []}}, "topologyAssignment.domains: stands beside slices"),
        (
            {"topologyAssignment": {"levels": LEVELS, "domains": [{"values": ["b"], "count": 1}]}},
            "domains[0].values: has 1 values for 2 levels",
        ),
        (
            {"topologyAssignment": {"levels": ["l"], "domains": [{"values": [""], "count": 1}]}},
            "domains[0].values: has 1 values for 1 levels, or",
        ),
        ({"topologyAssignment": {"levels": ["l"], "domains": [{"values": ["r"]}]}}, "domains[0].count: is missing"),
        (
            {"topologyAssignment": {"levels": ["l"], "domains": [{"values": ["r"], "count": 1}] * 2}},
            "topologyAssignment.domains: names `r` twice",
        ),
        (compact(SLICE), "topologyAssignment.slices: names `b/r` twice; name each domain once"),
        (compact(SLICE | {"valuesPerLevel": [{"universal": "b"}]}), "slices[0].valuesPerLevel: has 1 values for 2 levels"),
        (compact(SLICE | {"podCounts": {"individual": [1]}}), "slices[0].podCounts.individual: has 1 entries for 2 domains"),
        (compact(SLICE | {"podCounts": {"individual": [1, 0]}}), "slices[0].podCounts.individual.1: is 0"),
        (compact(SLICE | {"valuesPerLevel": [{"universal": "b"}, {"individual": {"roots": ["r"]}}]}), "roots: has 1 entries for 2 domains"),
        (compact(SLICE | {"domainCount": 0}), "slices[0].domainCount: is 0"),
        (compact(*[SLICE | {"domainCount": 6_000}] * 2), "topologyAssignment.slices: has 12000 domains; gpol reads at most 10000"),
    ],
)
def test_what_kueue_does_not_write_is_refused(given: Json, why: str, kueue: Maker) -> None:
    """Places that do not fit their levels or each other."""
    said = kueue.problems(kueue.queue(), kueue.flavor(), work(kueue, given))
    assert any(why in problem for problem in said), said


def test_places_that_come_later(kueue: Maker) -> None:
    """They are still to be found, unless they are there already."""
    given = {"levels": ["l"], "domains": [{"values": ["r"], "count": 1}]}
    assert read(kueue, {"delayedTopologyRequest": "Pending"}).delayed
    assert not read(kueue, {"delayedTopologyRequest": "Ready"}).delayed
    assert not read(kueue, {"delayedTopologyRequest": "Pending", "topologyAssignment": given}).delayed


def test_of_a_finished_workload_nothing_is_asked(kueue: Maker) -> None:
    """What it had of places, and what Kueue was about to do, counts for nothing any more."""
    data = work(kueue, {"delayedTopologyRequest": "Pending"}, finished=True, unhealthyNodes=[{"name": "n1"}])
    assert kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), data) == []

"""What has to hold between objects."""

import pytest
from gpol.adapters.kueue.import_.validation import refuse_topologies
from gpol.adapters.kueue.problems import Findings

from ..conftest import Json, Maker


def cohorts(kueue: Maker, **parents: str) -> list[Json]:
    """Cohorts by name with their parents."""
    return [kueue.obj("Cohort", name, {"parentName": parent} if parent else {}) for name, parent in parents.items()]


def test_cohorts_that_go_round_in_a_circle_are_refused(kueue: Maker) -> None:
    """Each circle is told once, with all its members; what hangs below it is not blamed."""
    said = kueue.problems(*cohorts(kueue, a="b", b="c", c="a", below="a", x="x", fine=""))
    assert said == [
        "Cohort a: spec.parentName: goes round in a circle: a -> b -> c -> a; let one of them have no parent",
        "Cohort x: spec.parentName: goes round in a circle: x -> x; let one of them have no parent",
    ]


def chain(kueue: Maker, length: int) -> list[Json]:
    """Cohorts each below the one before, with a ClusterQueue at the end."""
    parents = {f"c{number}": f"c{number - 1}" if number else "" for number in range(length)}
    local = kueue.local(stopPolicy="Hold")
    return [*cohorts(kueue, **parents), kueue.queue(cohortName=f"c{length - 1}"), kueue.flavor(), local]


def test_how_deep_a_tree_may_be(kueue: Maker) -> None:
    """Thirty levels can be printed and read again; one more is refused here, and a very long chain at once and once."""
    assert kueue.text(*chain(kueue, 30)).count("cohort ") == 30
    assert kueue.problems(*chain(kueue, 31)) == ["Cohort c30: spec.parentName: has 30 cohorts above it or more; nest at most 30 levels"]
    assert kueue.problems(*chain(kueue, 2000)) == ["Cohort c30: spec.parentName: has 30 cohorts above it or more; nest at most 30 levels"]


@pytest.mark.parametrize("quota", ["9223372036854775807", "1e30"])
def test_one_owner_may_be_without_limit(quota: str, kueue: Maker) -> None:
    """An amount beyond 64 bits is without limit, as in Kueue; with what others own it is more than can be counted."""
    endless = [kueue.group("memory", base={"nominalQuota": quota})]
    assert "owns 9223372036854775807 memory on base" in kueue.text(kueue.queue(groups=endless), kueue.flavor())
    said = kueue.problems(kueue.queue(groups=endless), kueue.queue("b", groups=endless), kueue.queue("c", groups=endless))
    assert len(said) == 1
    assert said[0].startswith("ClusterQueue b: spec.resourceGroups: with it, all together own more memory on base than 64 bits hold")


def test_topologies_are_refused_on_a_live_cluster(kueue: Maker) -> None:
    """A flavor of a topology is a problem there if somebody has a quota of it, and counts for nothing if nobody has."""
    for used, problems in ((kueue.queue(), 1), (kueue.queue(groups=[]), 0)):
        found = Findings()
        refuse_topologies(kueue.load(used, kueue.flavor(topologyName="dc")).objects, found)
        assert len(found.problems) == problems
        assert all("spec.topologyName: asks for topology-aware scheduling" in str(problem) for problem in found.problems)


def test_pods_that_are_held_are_left_out_at_once(kueue: Maker) -> None:
    """A policy that decides at once cannot say a quota of pods, so nobody holds any there; deciding in cycles they are charged."""
    queue = kueue.queue(groups=[kueue.group("cpu pods", base={"nominalQuota": "8"})])
    work = kueue.work(status=kueue.admitted(usage={"cpu": "1", "pods": "1"}))
    for profile, usage in (("gpol.fair", {"cpu": 1000}), ("kueue.classical", {"cpu": 1000, "pods": 1})):
        kueue.text(queue, kueue.flavor(), work, profile=profile)
        admission = kueue.load(queue, kueue.flavor(), work, profile=profile).objects.workloads[0].admission
        assert admission is not None
        assert [given.usage for given in admission.assignments] == [usage]

"""Topologies: their levels, and what Kueue allows of them."""

import pytest

from ...conftest import Json, Maker


def topology(kueue: Maker, *labels: str, version: str = "v1beta2") -> Json:
    """A Topology of these labels, the widest level first."""
    return kueue.obj("Topology", "dc", {"levels": [{"nodeLabel": label} for label in labels]}, version)


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_levels_from_the_widest_down(version: str, kueue: Maker) -> None:
    """In their order; one that ends at the hostname ends at nodes, and there Kueue names the hostname alone."""
    (read,) = kueue.load(topology(kueue, "block", "rack", version=version)).objects.topologies
    assert (read.name, read.levels, read.ends_at_nodes, read.told) == ("dc", ("block", "rack"), False, ("block", "rack"))
    (read,) = kueue.load(topology(kueue, "block", "kubernetes.io/hostname", version=version)).objects.topologies
    assert (read.ends_at_nodes, read.told) == (True, ("kubernetes.io/hostname",))


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ((), "spec.levels: is empty"),
        (("rack", "rack"), "spec.levels: has a label twice"),
        (("kubernetes.io/hostname", "rack"), "spec.levels: has kubernetes.io/hostname above another level"),
        (("",), "spec.levels[0].nodeLabel: is missing"),
        (tuple(f"level{number}" for number in range(17)), "spec.levels: has 17 entries; Kueue allows at most 16"),
    ],
)
def test_what_no_topology_says(labels: tuple[str, ...], why: str, kueue: Maker) -> None:
    """What Kueue's API refuses is refused by name."""
    said = kueue.problems(topology(kueue, *labels))
    assert any(f"Topology dc: {why}" in problem for problem in said), said


def test_what_is_not_known_is_noted(kueue: Maker) -> None:
    """Fields of later versions, of a topology and of a level."""
    later = kueue.obj("Topology", "dc", {"levels": [{"nodeLabel": "rack", "weight": 1}], "of": "tomorrow"})
    assert "Topology dc: spec.levels[0].weight: is not imported" in kueue.notes(later)
    assert "Topology dc: spec.of: is not imported" in kueue.notes(later)

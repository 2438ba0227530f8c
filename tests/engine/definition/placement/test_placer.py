"""The places of a whole workload: pod set by pod set, each beside those before it, and why there is no place."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from gpol.engine.definition.placement.placer import FoundPlaces, find_places
from gpol.engine.definition.placement.places import held
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.conditions import Taint
from gpol.engine.nodes.inventory import Machine
from gpol.engine.outcome.nomination import LayerRoom, NoPlaces
from hypothesis import given
from hypothesis import strategies as st
from placing import FABRIC, RACKS, book, machine, place, pod_set, told, wanted

_FLAVORS = "".join(f"flavor {name} {{\n  gpu as owned\n  placed in fabric\n}}\n" for name in "ab")
TWO = f"{FABRIC}{_FLAVORS}queue q {{\n  owns 9 gpu on a\n  owns 9 gpu on b\n}}\n"
"""Two flavors over the same nodes."""

RACKED = f"{RACKS}flavor a {{\n  gpu as owned\n  placed in racks\n}}\nqueue q {{ owns 1000 gpu }}\n"
"""One flavor whose pods get racks."""


# --- several pod sets -----------------------------------------------------------------------------------------------------


def test_pod_sets_stand_beside_one_another() -> None:
    """The second finds what the first has left; the third finds nothing, and all that came before it has its places."""
    places = book({"n1": machine("b/r", 3), "n2": machine("b/r", 2)})
    found = place(places, pod_set(count=2, name="x"), pod_set(count=2, name="y"), pod_set(count=2, name="z"))
    assert (told(found, "x"), told(found, "y"), told(found, "z")) == ({"n2": 2}, {"n1": 2}, {})
    assert [(failure.pod_sets, failure.fit, failure.of) for failure in found.failures] == [(("z",), 1, 2)]
    assert places.used(0, ("n1",)) == {}, "looking for places takes none"


def test_flavors_over_the_same_nodes() -> None:
    """What a pod set takes on one flavor is taken on the other one, too: flavors come by name, the pod sets of each in order."""
    places = book({"n1": machine("b/r", 3), "n2": machine("b/r", 2)}, TWO)
    on_b, on_a = wanted(pod_set(count=3, name="x"), flavor=1), wanted(pod_set(count=2, name="y"), flavor=0)
    found = find_places(places, [*on_b, *on_a])
    assert (told(found, "y"), told(found, "x")) == ({"n2": 2}, {"n1": 3})
    assert find_places(places, [*wanted(pod_set(count=4, name="x"), flavor=1), *on_a]).failures[0].pod_sets == ("x",)


def test_the_first_failure_of_a_flavor_ends_its_search() -> None:
    """What comes after it on that flavor is not looked at; another flavor is."""
    places = book({"n1": machine("b/r", 3)}, TWO)
    on_a = wanted(pod_set(count=9, name="x"), pod_set(count=1, name="y"), flavor=0)
    found = find_places(places, [*on_a, *wanted(pod_set(count=1, name="z"), flavor=1)])
    assert (sorted(found.places), [failure.pod_sets for failure in found.failures]) == (["z"], [("x",)])


def test_as_if_nobody_used_anything() -> None:
    """With `empty` what runs counts for nothing; what the workload itself takes does."""
    places = book({"n1": machine("b/r", 3)})
    places.add(held(0, pod_set(), place(places, pod_set(count=3)).places["main"]))
    assert place(places, pod_set()).places == {}
    assert told(place(places, pod_set(count=3), empty=True)) == {"n1": 3}
    assert len(place(places, pod_set(count=2, name="x"), pod_set(count=2, name="y"), empty=True).failures) == 1


def test_a_group_of_which_no_pod_set_is_one_pod_is_placed_by_pod_sets() -> None:
    """A leader is one pod: two pod sets of two pods each stand apart, though they are of one group."""
    known = {"n1": machine("b/r", 2), "n2": machine("c/r", 2)}
    asked = {"count": 2, "group": "g", "within": "rack"}
    found = place(book(known), pod_set(name="x", **asked), pod_set(name="y", **asked))
    assert (told(found, "x"), told(found, "y")) == ({"n1": 2}, {"n2": 2})
    led = place(book(known), pod_set(name="x", **{**asked, "count": 1}), pod_set(name="y", **asked))
    assert [failure.pod_sets for failure in led.failures] == [("x", "y")]


def test_places_of_several_nodes() -> None:
    """Where a topology ends above nodes, pods get racks by all their levels, and nothing keeps them off nodes there."""
    spot = Taint("pool", "spot", "NoSchedule")
    known = {"n1": machine("b/r", 2, taints=[spot]), "n2": machine("b/r", 3), "n3": machine("b/s", 4)}
    assert told(place(book(known, RACKED), pod_set(count=5, within="rack"))) == {"b/r": 5}
    assert told(place(book(known), pod_set(count=5, within="block"))) == {"n2": 1, "n3": 4}


# --- why there is no place ------------------------------------------------------------------------------------------------


def failure(known: Mapping[str, Machine], asked: PodSet) -> NoPlaces:
    """Why a pod set has no places."""
    [found] = place(book(known), asked).failures
    return found


def test_no_node() -> None:
    """No node has the labels of the topology's levels: there is no domain of the level asked for."""
    assert failure({}, pod_set(within="rack")) == NoPlaces("no-domains", ("main",), 0, "rack")
    assert failure({}, pod_set(anywhere=True)) == NoPlaces("no-domains", ("main",), 0, "host")


@pytest.mark.parametrize(
    ("asked", "kind", "level", "above"),
    [
        pytest.param({"within": "zone"}, "no-level", "zone", "", id="unknown level"),
        pytest.param({"near": "zone"}, "no-level", "zone", "", id="unknown level to be near"),
        pytest.param({"slices": [{"level": "zone", "size": 1}]}, "no-level", "zone", "", id="unknown level of slices"),
        pytest.param(
            {"within": "rack", "slices": [{"level": "block", "size": 1}]}, "slice-above", "block", "rack", id="slices wider than all"
        ),
        pytest.param(
            {"slices": [{"level": "rack", "size": 2}, {"level": "rack", "size": 1}]},
            "slice-above",
            "rack",
            "rack",
            id="parts not below slices",
        ),
        pytest.param(
            {"slices": [{"level": "host", "size": 2}, {"level": "rack", "size": 1}]},
            "slice-above",
            "host",
            "rack",
            id="parts wider than slices",
        ),
    ],
)
def test_what_a_topology_does_not_have(asked: dict[str, object], kind: str, level: str, above: str) -> None:
    """A level that it lacks, and slices that would be wider than what they are in."""
    found = failure({"n1": machine("b/r", 8)}, pod_set(count=2, **asked))
    assert (found.kind, found.level, found.asked) == (kind, level, above)


def test_what_keeps_nodes_from_taking_pods() -> None:
    """Of all nodes those that take no pod at all are told by cause; one with too little room for all takes some."""
    spot = Taint("pool", "spot", "NoSchedule")
    known = {"n1": machine("b/r", 8, taints=[spot]), "n2": machine("b/r", 1), "n3": machine("b/r", 5), "n4": machine("b/s", 8, pods=0)}
    found = failure(known, pod_set(2, count=3, within="rack"))
    assert (found.kind, found.level, found.fit, found.of, found.size, found.nodes) == ("no-room", "rack", 2, 3, 1, 4)
    assert found.kept_off == (("resource", "gpu", 1), ("resource", "pods", 1), ("taint", "pool=spot:NoSchedule", 1))


def test_room_by_layers() -> None:
    """Of slices within slices it is told how many of each layer fit into the best domain."""
    known = {"n1": machine("b/r", 3), "n2": machine("b/r", 1), "n3": machine("b/s", 5)}
    asked = pod_set(count=8, within="block", slices=[{"level": "rack", "size": 4}, {"level": "host", "size": 2}])
    found = failure(known, asked)
    assert (found.fit, found.of, found.size) == (1, 2, 4)
    assert found.layers == (LayerRoom("rack", 1, 2), LayerRoom("host", 3, 4))


# --- laws -----------------------------------------------------------------------------------------------------------------

LEVELS = ("block", "rack", "host")
sizes = st.lists(st.tuples(st.sampled_from(["a/r", "a/s", "b/r", "b/s"]), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=7)


@st.composite
def asked(draw: st.DrawFn) -> list[PodSet]:
    """A pod set, maybe with a leader; of slices, maybe in parts."""
    wish = draw(st.sampled_from(["within", "near", "anywhere", ""]))
    level = draw(st.integers(0, 2))
    said: dict[str, object] = {"": {}, "anywhere": {"anywhere": True}}.get(wish, {wish: LEVELS[level]})
    part, times, slices = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 4))
    lowest = draw(st.integers(level if wish in ("within", "near") else 0, 2))
    layers = [{"level": LEVELS[lowest], "size": part * times}] if draw(st.booleans()) else []
    if layers and lowest < 2 and draw(st.booleans()):
        layers.append({"level": LEVELS[draw(st.integers(lowest + 1, 2))], "size": part})
    group = "g" if draw(st.booleans()) else ""
    workers = pod_set(draw(st.integers(1, 3)), part * times * slices, group=group, slices=layers, **said)
    return [pod_set(draw(st.integers(0, 4)), name="leader", group=group, slices=layers, **said), workers] if group else [workers]


def nodes_of(drawn: Sequence[tuple[str, int, int]], name: str = "n") -> dict[str, Machine]:
    """Nodes with so many GPUs and pods."""
    return {f"{name}{number}": machine(path, gpu, pods) for number, (path, gpu, pods) in enumerate(drawn)}


def use(found: FoundPlaces, pod_sets: Sequence[PodSet]) -> dict[str, Counter[str]]:
    """What is used on each node."""
    used: dict[str, Counter[str]] = {}
    for each in pod_sets:
        for name, pods in told(found, each.name).items():
            used.setdefault(name, Counter()).update({"gpu": pods * each.requests["gpu"], "pods": pods})
    return used


@given(drawn=sizes, pod_sets=asked())
def test_no_node_gets_more_than_it_has(drawn: list[tuple[str, int, int]], pod_sets: list[PodSet]) -> None:
    """All pods of a pod set stand somewhere or none does, and together they fit wherever they stand."""
    known = nodes_of(drawn)
    found = place(book(known), *pod_sets)
    for each in pod_sets:
        assert sum(told(found, each.name).values()) == (0 if found.failures else each.count)
    for name, used in use(found, pod_sets).items():
        assert all(used[resource] <= known[name].capacity[resource] for resource in used), name


@given(drawn=sizes, pod_sets=asked())
def test_within_a_level_they_stand_in_one_domain(drawn: list[tuple[str, int, int]], pod_sets: list[PodSet]) -> None:
    """So do all pods of a slice in a domain of its level, and those of a part of it in one below: each domain has whole ones."""
    known = nodes_of(drawn)
    stand = told(place(book(known), *pod_sets))
    main = pod_sets[-1]
    paths = {name: (*known[name].labels.values(), name) for name in stand}
    if main.within and stand:
        assert len({path[: LEVELS.index(main.within) + 1] for path in paths.values()}) == 1
    for part in main.slices:
        inside: Counter[tuple[str, ...]] = Counter()
        for name, pods in stand.items():
            inside[paths[name][: LEVELS.index(part.level) + 1]] += pods
        assert all(pods % part.size == 0 for pods in inside.values()), part


@given(drawn=sizes, pod_sets=asked())
def test_near_one_another_is_never_harder(drawn: list[tuple[str, int, int]], pod_sets: list[PodSet]) -> None:
    """Pods that find places within a level find the same where they would only like to."""
    main = pod_sets[-1]
    if main.within:
        within = place(book(nodes_of(drawn)), *pod_sets)
        near = place(book(nodes_of(drawn)), *(each.model_copy(update={"within": "", "near": main.within}) for each in pod_sets))
        assert within.failures or near.places == within.places


@given(drawn=sizes, pod_sets=asked())
def test_other_names_of_nodes_in_the_same_order(drawn: list[tuple[str, int, int]], pod_sets: list[PodSet]) -> None:
    """Change the names in the answer, and nothing else."""
    before, after = place(book(nodes_of(drawn)), *pod_sets), place(book(nodes_of(drawn, "other-")), *pod_sets)
    for each in pod_sets:
        assert told(after, each.name) == {name.replace("n", "other-"): pods for name, pods in told(before, each.name).items()}
    assert [replace(each, closest=()) for each in after.failures] == [replace(each, closest=()) for each in before.failures]

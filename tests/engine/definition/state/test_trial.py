"""Trials: what is tried out is there while it lasts, and put back."""

import pytest
from gpol.engine.definition.placement.places import PlaceBook
from gpol.engine.definition.state.trial import Trial
from hypothesis import given
from hypothesis import strategies as st
from in_cycles import Cycles
from placing import FABRIC, ask, cluster_of

FLAVORS = "".join(f"flavor {name} {{\n  gpu as owned\n  placed in fabric\n}}\n" for name in "ab")
POLICY = f"""policy "p" {{ use kueue.classical }}
{FABRIC}{FLAVORS}queue q {{
  owns 20 gpu on a
  owns 20 gpu on b
}}
"""


def busy() -> Cycles:
    """v1 and v2 run on two nodes under flavor a, v3 under flavor b."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/s 4")
    for name, flavor, gpu in (("v1", "a", 3), ("v2", "a", 2), ("v3", "b", 2)):
        c.submit(name, "q", sets=[{"count": gpu, "requests": {"gpu": "1"}, "flavors": [flavor], "within": "host"}])
        c.rest()
    return c


def use(places: PlaceBook) -> list[int]:
    """The thousandths of GPUs that are used on each node, under each flavor."""
    return [places.used(flavor, (name,)).get("gpu", 0) for flavor in range(2) for name in ("n1", "n2")]


def test_who_is_taken_out_uses_nothing() -> None:
    """Neither quota nor places, and is not among those who run, while the context lasts; under Kueue's profiles its own flavor alone
    sees its places free."""
    c = busy()
    trial, queue = Trial(c.state), c.node("q")
    charges, before = c.charges(), use(c.state.active.places)
    assert before == [3000, 4000, 3000, 4000]
    with trial.without([c.workload("v1")]):
        assert use(c.state.active.places) == [0, 4000, 3000, 4000]
        assert (c.used("q"), [each.name for each in trial.running(queue)]) == ([2000, 2000], ["v2", "v3"])
    assert (use(c.state.active.places), c.charges()) == (before, charges)
    assert [each.name for each in trial.running(queue)] == ["v1", "v2", "v3"]


def test_where_everything_is_decided_at_once() -> None:
    """Every flavor of the same nodes sees their places free."""
    text = FABRIC + "".join(f'flavor {name} {{\n  gpu from nodes where model = "{name}"\n  placed in fabric\n}}\n' for name in "ab")
    policy = f'policy "p" {{ use gpol.fair }}\n{text}queue q {{\n  owns 4 gpu on a\n  owns 4 gpu on b\n}}\n'
    c = Cycles(policy)
    c.fact("NodeAdded", node="n1", labels={"block": "b", "rack": "r", "model": "a"}, capacity={"gpu": "4", "pods": 9})
    ask(c, "v", 3)
    trial = Trial(c.state)
    assert use(c.state.active.places) == [3000, 0, 3000, 0]
    with trial.without([c.workload("v")]):
        assert use(c.state.active.places) == [0, 0, 0, 0]
    assert use(c.state.active.places) == [3000, 0, 3000, 0]


def test_who_is_out_already_stays_so() -> None:
    """A trial within a trial takes nobody out twice, and gives back those alone whom it took."""
    c = busy()
    trial = Trial(c.state)
    v1, v2 = c.workload("v1"), c.workload("v2")
    with trial.without([v1]):
        with trial.without([v1, v2]):
            assert (trial.is_out(v1), trial.is_out(v2)) == (True, True)
            assert use(c.state.active.places)[:2] == [0, 2000]
        assert (trial.is_out(v1), trial.is_out(v2)) == (True, False)
        assert use(c.state.active.places)[:2] == [0, 4000]
    assert use(c.state.active.places)[:2] == [3000, 4000]


def test_an_error_puts_back_as_well() -> None:
    """Whatever ends the context."""
    c = busy()
    trial, before = Trial(c.state), use(c.state.active.places)
    with pytest.raises(KeyError), trial.without([c.workload("v2")]):
        c.state.workloads["nobody"]
    assert (use(c.state.active.places), trial.is_out(c.workload("v2"))) == (before, False)


def test_on_a_copy_of_the_policy() -> None:
    """What is tried out there does not show in the state."""
    c = busy()
    before, charges = use(c.state.active.places), c.charges()
    trial = Trial(c.state, c.state.active.copy())
    trial.take(c.workload("v1"))
    assert (use(c.state.active.places), c.charges()) == (before, charges)
    assert use(trial.places) == [0, 4000, 3000, 4000]


def test_whether_places_are_given() -> None:
    """Where no flavor is placed, nobody looks for any."""
    assert Trial(busy().state).gives_places
    assert not Trial(Cycles("flavor a { gpu as owned }\nqueue q {\n  serves gpu from a\n  owns 1 gpu\n}\n").state).gives_places


@given(order=st.lists(st.sampled_from(["v1", "v2", "v3"]), max_size=6))
def test_in_any_order(order: list[str]) -> None:
    """Whoever is taken out, in whatever order and however deep, the state is as before in the end."""
    c = busy()
    trial, before, charges = Trial(c.state), use(c.state.active.places), c.charges()

    def deeper(names: list[str]) -> None:
        if names:
            with trial.without([c.workload(names[0])]):
                deeper(names[1:])

    deeper(order)
    assert (use(c.state.active.places), c.charges()) == (before, charges)

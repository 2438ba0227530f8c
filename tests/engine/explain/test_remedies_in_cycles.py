"""What would let a workload run: each remedy is carried out, and the next cycle admits it or evicts whom it was said to need."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.explain.standing import Remedy

POLICY = """flavor a {{ gpu as owned }}
flavor b {{
  gpu as owned
  label zone = "east"
  label pool = "b"
  taint pool = "spot" NoSchedule
}}
cohort all {{
  queue q {{
    serves gpu from {serves}
    owns {owned} gpu on a
    reclaims from anyone
    {says}
  }}
  queue x {{
    serves gpu from a, b
    owns 4 gpu on a
    owns 2 gpu on b
  }}
}}
"""
ANYWHERE = [{"operator": "Exists"}]


def policy(owned: int = 4, serves: str = "a, b", says: str = "") -> str:
    """A queue that owns GPUs on a, and one that owns some on a and b; b is tainted and labelled."""
    return POLICY.format(owned=owned, serves=serves, says=says)


def remedies(c: Any, name: str) -> dict[str, Remedy]:
    """The first remedy of each kind."""
    return {remedy.kind: remedy for remedy in reversed(c.standing(name).remedies)}


def submit(c: Any, name: str, gpu: str, **said: object) -> None:
    """A workload of q, of one pod."""
    c.submit(name, "q", sets=[{"requests": {"gpu": gpu}, **said}])


@pytest.mark.parametrize("kind", ["ends", "limits"])
def test_ends_and_limits(cycles: Callable[[str], Any], kind: str) -> None:
    """Four are taken by others of the queue's own: the end of the smallest that is enough admits it, or so does owning two more."""
    c = cycles("flavor a { gpu as owned }\nqueue q { owns 4 gpu }\n")
    c.submit("one", "q", "1")
    c.submit("three", "q", "3")
    c.rest()
    c.submit("w", "q", "2")
    c.rest()
    found = remedies(c, "w")
    assert sorted(found) == ["ends", "limits"]
    if kind == "ends":
        assert found[kind].workloads == ("three",)
        c.finish("three")
    else:
        [limit] = found[kind].limits
        assert (limit.node, limit.deficit) == ("q", 2000)
        c.activate("flavor a { gpu as owned }\nqueue q { owns 6 gpu }\n")

    assert c.rest() == ["run w"]


def test_ends_of_the_fewest_on_any_flavor(cycles: Callable[[str], Any]) -> None:
    """On a two would have to end, on b one is enough."""
    c = cycles(policy(owned=0))
    for name in ("a1", "a2"):
        c.submit(name, "x", "2", on=["a"])
    c.submit("b1", "x", sets=[{"requests": {"gpu": "2"}, "flavors": ["b"], "tolerations": ANYWHERE}])
    c.rest()
    submit(c, "w", "2", tolerations=ANYWHERE)
    c.submit("big", "q", sets=[{"requests": {"gpu": "4"}, "flavors": ["a"]}])
    c.rest()

    assert len(remedies(c, "w")["ends"].workloads) == 1
    assert remedies(c, "big")["ends"].workloads == ("a1", "a2")
    assert [[(limit.node, limit.flavor) for limit in remedy.limits] for remedy in c.standing("w").remedies if remedy.kind == "limits"] == [
        [("all", "a")],
        [("all", "b")],
    ]


def test_a_limit_of_borrowing_and_one_of_what_is_owned(cycles: Callable[[str], Any]) -> None:
    """It may borrow one and needs three, and the cohort has but two more: both limits are told, and both are needed."""
    queue = "queue q {{\n    owns 2 gpu\n    borrows up to {} gpu\n  }}"
    text = f"flavor a {{{{ gpu as owned }}}}\ncohort all {{{{\n  {queue}\n  queue x {{{{ owns {{}} gpu }}}}\n}}}}\n"
    c = cycles(text.format(1, 2))
    c.submit("w", "q", "5")
    c.rest()
    [remedy] = c.standing("w").remedies

    assert [(limit.node, limit.limit, limit.deficit) for limit in remedy.limits] == [("all", "owned", 1000), ("q", "borrowing", 2000)]
    c.activate(text.format(3, 2))
    assert c.rest() == ["park w"]
    c.activate(text.format(3, 3))
    assert c.rest() == ["run w"]


def test_a_flavor_that_its_queue_does_not_serve(cycles: Callable[[str], Any]) -> None:
    """It tolerates b, which would have room, but q does not serve it; with b in its list the workload runs there."""
    c = cycles(policy(owned=0, serves="a"))
    c.submit("v", "x", "4", on=["a"])
    c.rest()
    submit(c, "w", "2", tolerations=ANYWHERE)
    c.rest()

    found = remedies(c, "w")["flavor"]
    assert (found.flavor, found.by, found.needs, found.evicting) == ("b", ("queue",), (), ())
    c.activate(policy(owned=0, serves="a, b"))
    assert c.rest() == ["run w"]
    assert c.flavors("w") == {"gpu": "b"}


@pytest.mark.parametrize(
    ("said", "needs", "cure"),
    [
        ({}, ("main tolerates pool=spot:NoSchedule",), {"tolerations": ANYWHERE}),
        ({"tolerations": ANYWHERE, "flavors": ["a"]}, (), {"flavors": ["a", "b"]}),
        (
            {"tolerations": ANYWHERE, "node_selector": {"zone": "west"}},
            ("main selects zone=east instead of west",),
            {"node_selector": {"zone": "east"}},
        ),
        (
            {"tolerations": ANYWHERE, "affinity": [[{"key": "pool", "operator": "In", "values": ["c"]}]]},
            ("main has an affinity that lets it run on b",),
            {"affinity": [[{"key": "pool", "operator": "In", "values": ["b"]}]]},
        ),
    ],
)
def test_a_flavor_that_it_does_not_accept(
    cycles: Callable[[str], Any], said: dict[str, Any], needs: tuple[str, ...], cure: dict[str, Any]
) -> None:
    """For a taint, a list of flavors, a node selector, an affinity: what has to change is told, and is enough."""
    c = cycles(policy(owned=0))
    c.submit("v", "x", "4", on=["a"])
    c.rest()
    submit(c, "w", "2", **said)
    c.rest()

    found = remedies(c, "w")["flavor"]
    assert (found.flavor, found.by, found.needs) == ("b", ("workload",), needs)
    submit(c, "cured", "2", **{**said, **cure})
    assert c.rest() == ["run cured"]


def test_a_flavor_on_which_others_have_to_go(cycles: Callable[[str], Any]) -> None:
    """Its queue owns b and may take it back from who borrows it: that one is named, and goes."""
    c = cycles(policy(owned=0, says="owns 2 gpu on b"))
    c.submit("other", "x", "4", on=["a"])
    c.submit("v", "x", sets=[{"requests": {"gpu": "4"}, "flavors": ["b"], "tolerations": ANYWHERE}])
    c.rest()
    submit(c, "w", "2")
    c.rest()

    found = remedies(c, "w")["flavor"]
    assert (found.flavor, found.evicting) == ("b", ("v",))
    submit(c, "cured", "2", tolerations=ANYWHERE)
    assert "evict v for cured" in c.rest()


def test_no_flavor_is_named_that_would_not_help(cycles: Callable[[str], Any]) -> None:
    """On b there is room for two, not for three."""
    c = cycles(policy(owned=0))
    c.submit("v", "x", "4", on=["a"])
    c.rest()
    submit(c, "w", "3")
    c.rest()

    assert "flavor" not in remedies(c, "w")
    assert sorted(remedies(c, "w")) == ["ends", "limits"]


def test_nothing_is_named_that_is_not_all(cycles: Callable[[str], Any]) -> None:
    """Its GPUs are taken, and of CPUs its queue has none at all: no end and no limit of GPUs would be enough."""
    c = cycles(policy() + "flavor c { cpu as owned }\nqueue other { owns 1 cpu on c }\n")
    c.submit("v", "x", "8", on=["a"])
    c.rest()
    submit(c, "gpus", "5")
    c.submit("w", "q", sets=[{"requests": {"gpu": "5", "cpu": "1"}}])
    c.rest()

    assert sorted(remedies(c, "gpus")) == ["ends", "limits"]
    assert c.standing("w").remedies == ()


def test_release(cycles: Callable[[str], Any]) -> None:
    """On hold, and with room: the release is enough; it tells whom it would evict then."""
    c = cycles(policy())
    c.submit("v", "x", "8", on=["a"])
    c.rest()
    submit(c, "w", "2")
    c.operator("hold", "w")
    assert c.rest() == []
    [remedy] = c.standing("w").remedies

    assert (remedy.kind, remedy.evicting) == ("release", ("v",))
    c.operator("release", "w")
    assert c.cycle() == ["preempt w", "evict v for w"]


def test_release_of_a_queue(cycles: Callable[[str], Any]) -> None:
    """Nobody goes from a stopped queue; once it is not, its own of lower priority do, and that is foreseen."""
    text = "flavor a {{ gpu as owned }}\nqueue q {{\n  owns 2 gpu\n  evicts its own of lower priority\n  {}\n}}\n"
    c = cycles(text.format(""))
    c.submit("low", "q", "2")
    c.rest()
    c.activate(text.format("stopped"))
    c.submit("w", "q", "1", priority=5)
    [remedy] = c.standing("w").remedies

    assert (remedy.kind, remedy.evicting) == ("release", ("low",))
    c.activate(text.format(""))
    assert c.cycle() == ["preempt w", "evict low for w"]


def test_asking_changes_nothing(cycles: Callable[[str], Any]) -> None:
    """Trying remedies leaves the charges and the shares as they were."""
    c = cycles('policy "f" { use kueue.fair }\n' + policy(owned=2))
    c.submit("v", "x", "6", on=["a"])
    c.rest()
    submit(c, "w", "3", tolerations=ANYWHERE)
    before = c.charges()
    assert c.standing("w").remedies

    assert c.charges() == before

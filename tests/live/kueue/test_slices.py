"""Which slice of a job comes after which, also where Workloads say what cannot be."""

from types import SimpleNamespace
from typing import Any

from gpol.adapters.kueue.live.slices import Slices


def slices(finished: str = "", **replaces: str) -> Slices:
    """Workloads by name, each with the one whose place it takes; those in `finished` are over, and nobody took their place."""
    known: Any = {}
    for name, earlier in replaces.items():
        asked = SimpleNamespace(replaces=earlier)
        known[name] = SimpleNamespace(value=SimpleNamespace(asked=asked, is_finished=name in finished, is_replaced=False))
    made = Slices(known)
    for name in known:
        made.see(name)
    return made


def test_the_last_slice_has_the_pods() -> None:
    """However many there were; where it is over, nobody has them."""
    chain = {"a": "", "b": "a", "c": "b"}
    assert [slices(**chain).last(name) for name in "abc"] == ["c", "c", None]
    assert slices(**chain).earlier("c") == ["b", "a"]
    assert slices("c", **chain).last("a") is None


def test_slices_in_a_circle_have_no_last_one() -> None:
    """Anybody who may edit Workloads can name them so; nothing waits for an end."""
    circle = slices(a="c", b="a", c="b")
    assert [circle.last(name) for name in "abc"] == [None, None, None]
    assert sorted(circle.earlier("a")) == ["a", "b", "c"]

"""A node that changes moves nobody: what runs there stays, and counts where the node is now."""

from collections.abc import Callable
from typing import Any

import pytest
from placing import add_nodes
from policy_texts import FABRIC

AT_ONCE = (
    'policy "p" { use test.bare }\n'
    + FABRIC
    + """flavor a {
  gpu from nodes where pool = "a"
  placed in fabric
}
flavor b {
  gpu from nodes where pool = "b"
  placed in fabric
}
queue q {
  owns 32 gpu on a
  owns 32 gpu on b
}
"""
)


def _change(c: Any, node: str, **labels: str) -> None:
    c.fact("NodeChanged", node=node, labels={"pool": "a", **labels}, capacity={"gpu": "8"})


def _places(c: Any, name: str) -> list[tuple[str, ...]]:
    return [place.domain for place in c.standing(name).assignments[0].places]


@pytest.fixture
def gang(cluster: Callable[[str], Any]) -> Any:
    """A gang of two pods that stand within one rack, on `n1` and `n2`."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1", "n2"], r2=["n3"])
    c.submit("w", "q", sets=[{"count": 2, "requests": {"gpu": "5"}, "within": "rack"}])
    assert _places(c, "w") == [("n1",), ("n2",)]
    return c


def test_another_rack(gang: Any) -> None:
    """Half of a gang is in another rack now, and stays; what it uses there keeps others from it, also within that rack."""
    _change(gang, "n2", rack="r2")

    assert _places(gang, "w") == [("n1",), ("n2",)]
    gang.submit("two", "q", sets=[{"count": 2, "requests": {"gpu": "7"}, "within": "rack"}])
    assert gang.standing("two").places.fit == 1
    gang.finish("w")
    assert _places(gang, "two") == [("n2",), ("n3",)]


def test_another_flavor(gang: Any) -> None:
    """Its node is of another flavor now: it stays, is charged to its own one, and the room that it uses is nobody else's."""
    before = gang.standing("w").usage
    _change(gang, "n2", rack="r1", pool="b")

    assert (_places(gang, "w"), gang.standing("w").usage) == ([("n1",), ("n2",)], before)
    assert [charge.flavor for charge in before] == ["a"]
    gang.submit("whole", "q", "8", on=("b",))
    assert gang.standing("whole").places.fit == 0
    gang.submit("beside", "q", "3", on=("b",))
    assert _places(gang, "beside") == [("n2",)]

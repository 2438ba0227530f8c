"""Whose end would give a waiting workload places."""

from collections.abc import Callable
from typing import Any

POLICY = """policy "p" { use test.bare }
topology fabric {
  level rack from label "rack"
  level host from node
}
flavor a {
  gpu from nodes where pool = "a"
  placed in fabric
}
flavor b { gpu 8 }
queue q {
  owns 64 gpu on a
  only a
}
queue other {
  owns 8 gpu on b
  only b
}
"""


def small_cluster(cluster: Callable[[str], Any], *racks: int, policy: str = POLICY) -> Any:
    """Racks of so many nodes with 8 GPUs."""
    c = cluster(policy)
    for number, count in enumerate(racks):
        for node in range(count):
            c.fact("NodeAdded", node=f"r{number}n{node}", labels={"pool": "a", "rack": f"r{number}"}, capacity={"gpu": "8"})
    return c


def submit(c: Any, name: str, gpu: str, pods: int = 1, **wish: object) -> list[str]:
    """A workload with a wish for places."""
    return c.submit(name, "q", sets=[{"count": pods, "requests": {"gpu": gpu}, **wish}])


def ends(c: Any, name: str) -> list[tuple[str, ...]]:
    """Who would have to end."""
    return [remedy.workloads for remedy in c.standing(name).remedies if remedy.kind == "ends"]


def test_the_rack_with_the_fewest(cluster: Callable[[str], Any]) -> None:
    """Two racks are half full: of all who stand in one, only those who have to; the remedy is true."""
    c = small_cluster(cluster, 2, 2)
    for name in ("a", "b", "c"):
        assert submit(c, name, "5") == [f"run {name}"]
    submit(c, "w", "8", 2, within="rack")
    [[only]] = ends(c, "w")
    assert only in ("a", "b", "c")
    assert c.finish(only) == ["run w"]


def test_nobody_of_another_flavor(cluster: Callable[[str], Any]) -> None:
    """Who stands elsewhere frees no places; on one node both who share it have to go for a pod that needs all of it."""
    c = small_cluster(cluster, 1)
    c.submit("elsewhere", "other", "1")
    submit(c, "a", "2")
    submit(c, "b", "2")
    submit(c, "w", "8")
    assert ends(c, "w") == [("a", "b")]


def test_several_racks_together(cluster: Callable[[str], Any]) -> None:
    """Where pods may stand anywhere, those of several racks may have to end."""
    c = small_cluster(cluster, 1, 1)
    for name in ("a", "b"):
        submit(c, name, "5")
    submit(c, "w", "8", 2)
    assert ends(c, "w") == [("a", "b")]
    submit(c, "near", "4", 2)
    assert len(ends(c, "near")) == 1


def test_nothing_helps_what_is_too_large(cluster: Callable[[str], Any]) -> None:
    """No end helps a gang that no rack can ever hold."""
    c = small_cluster(cluster, 1, 1)
    submit(c, "a", "5")
    submit(c, "w", "8", 2, within="rack")
    assert ends(c, "w") == []


def test_a_crowd_is_left_out(cluster: Callable[[str], Any]) -> None:
    """Of more workloads than are tried nobody is named."""
    c = small_cluster(cluster, 18)
    for number in range(18):
        assert submit(c, f"s{number}", "5") == [f"run s{number}"]
    submit(c, "w", "8", 2, within="rack")
    assert ends(c, "w") == []

"""Flavors: tried in the queue's order, one for all resources of a group, and when the next one is looked at."""

from collections.abc import Callable
from typing import Any

import pytest

THREE = """policy "flavors" { preempt by nothing }
flavor a { gpu 2 }
flavor b { gpu 2 }
flavor c { gpu 2 }
queue q {
  PREFERENCE
}
"""


@pytest.mark.parametrize(
    ("preference", "tried"),
    [("owns nothing", "a b c"), ("prefer c", "c a b"), ("prefer b, a", "b a c"), ("only c, a", "c a")],
)
def test_flavors_are_tried_in_order(cluster: Callable[[str], Any], preference: str, tried: str) -> None:
    """Preferred flavors first, then the others by name; `only` leaves out the others."""
    c = cluster(THREE.replace("PREFERENCE", preference))
    for name in ("w1", "w2", "w3"):
        c.submit(name, "q", "2")

    assert [c.flavors(name)["gpu"] for name in c.running()] == tried.split()


def test_a_smaller_one_takes_the_gap(cluster: Callable[[str], Any]) -> None:
    """The first flavor that fits is taken, not the one that fits best."""
    c = cluster(THREE.replace("PREFERENCE", "owns nothing"))
    c.submit("w1", "q", "1")
    c.submit("w2", "q", "2")
    c.submit("w3", "q", "1")

    assert [c.flavors(name)["gpu"] for name in ("w1", "w2", "w3")] == ["a", "b", "a"]


def test_a_workload_names_flavors_in_any_order(cluster: Callable[[str], Any]) -> None:
    """What a workload accepts is a set: the queue's preference decides among it."""
    c = cluster(THREE.replace("PREFERENCE", "prefer c"))
    c.submit("w", "q", "1", on=("b", "a"))

    assert c.flavors("w") == {"gpu": "a"}


def test_a_gang_is_not_split_over_flavors(cluster: Callable[[str], Any]) -> None:
    """Four pods of one GPU do not fit on flavors of two each, though four GPUs are idle."""
    c = cluster(THREE.replace("PREFERENCE", "owns nothing"))

    assert c.submit("w", "q", "1", pods=4) == []
    assert c.standing("w").reason == "ExceedsMaxQuota"


BORROW = """policy "borrow" {
  when borrowing CHOICE
  preempt by nothing
}
flavor a { gpu 4 }
flavor b { gpu 4 }
queue q {
  owns 2 gpu on b
  prefer a
}
"""


@pytest.mark.parametrize(("choice", "flavor"), [("take flavor", "a"), ("try next flavor", "b")])
def test_when_borrowing(cluster: Callable[[str], Any], choice: str, flavor: str) -> None:
    """A flavor in which the queue has to borrow is good enough, or a later one in which it need not is better."""
    c = cluster(BORROW.replace("CHOICE", choice))
    c.submit("w", "q", "2")

    assert c.flavors("w") == {"gpu": flavor}


def test_when_all_flavors_are_borrowed(cluster: Callable[[str], Any]) -> None:
    """Where no flavor fits without borrowing, the first is taken after all."""
    c = cluster(BORROW.replace("CHOICE", "try next flavor"))
    c.submit("w", "q", "3")

    assert c.flavors("w") == {"gpu": "a"}


@pytest.mark.parametrize(
    ("choice", "decided", "flavor"),
    [("take flavor", ["evict guest", "run owner", "run guest"], "a"), ("try next flavor", ["run owner"], "b")],
)
def test_when_evicting(cluster: Callable[[str], Any], choice: str, decided: list[str], flavor: str) -> None:
    """The first flavor where eviction helps is taken, and the victim moves to the free one; or the free one is taken and nobody moves."""
    c = cluster(
        f"""policy "evict" {{ when evicting {choice} }}
flavor a {{ gpu 4 }}
flavor b {{ gpu 4 }}
queue owner {{ owns 4 gpu on a }}
queue guest {{ owns nothing }}
"""
    )
    c.submit("guest", "guest", "4")
    c.at("1s")

    assert c.submit("owner", "owner", "4") == decided
    assert c.flavors("owner") == {"gpu": flavor}


def test_evicting_where_nothing_is_free(cluster: Callable[[str], Any]) -> None:
    """Looking at the next flavor first does not save anybody where that one is full as well: the first is taken."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nflavor b { gpu 4 }\nqueue owner { owns 4 gpu on a }\nqueue guest { owns nothing }\n')
    c.submit("on-a", "guest", "4")
    c.submit("on-b", "guest", "4")
    c.at("1s")

    assert c.submit("owner", "owner", "4") == ["evict on-a", "run owner"]


def pod_sets(*gpus: str) -> list[dict[str, object]]:
    """Pod sets of one pod each."""
    return [{"name": f"p{number}", "requests": {"gpu": gpu}} for number, gpu in enumerate(gpus)]


def test_pod_sets_add_up(cluster: Callable[[str], Any]) -> None:
    """What earlier pod sets took counts for the later ones: 1 + 1 fill flavor a, the third pod set goes to b."""
    c = cluster(THREE.replace("PREFERENCE", "owns nothing"))
    c.submit("w", "q", sets=pod_sets("1", "1", "1"))

    assert [c.flavors("w", number)["gpu"] for number in range(3)] == ["a", "a", "b"]
    assert [(charge.flavor, charge.amount) for charge in c.decided[0].usage] == [("a", 2000), ("b", 1000)]


def test_pod_sets_together_need_more_victims(cluster: Callable[[str], Any]) -> None:
    """Each pod set alone would need one victim; both are evicted, since the workload runs whole or not at all."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue owner { owns 4 gpu }\nqueue guest { owns nothing }\n')
    c.submit("g1", "guest", "2")
    c.submit("g2", "guest", "2")
    c.at("1s")

    assert c.submit("w", "owner", sets=pod_sets("2", "2")) == ["evict g2", "evict g1", "run w"]


GROUPS = """policy "groups" {
  IGNORE
  preempt by nothing
}
resource license
flavor small {
  gpu 4
  cpu 8
}
flavor tall {
  gpu 4
  cpu 100
}
flavor pool { license 3 }
queue q { owns nothing }
"""


@pytest.mark.parametrize(
    ("requests", "flavors"),
    [
        ({"gpu": "1", "cpu": "8"}, {"cpu": "small", "gpu": "small"}),
        ({"gpu": "1", "cpu": "9"}, {"cpu": "tall", "gpu": "tall"}),
        ({"gpu": "1", "license": "2"}, {"gpu": "small", "license": "pool"}),
        ({"cpu": "50"}, {"cpu": "tall"}),
        ({"gpu": "1", "cpu": "0"}, {"gpu": "small"}),
        ({}, {}),
    ],
)
def test_resources_of_a_group(cluster: Callable[[str], Any], requests: dict[str, str], flavors: dict[str, str]) -> None:
    """GPUs and CPUs share flavors, so both come from one; licenses are a group of their own; what is not asked for is not assigned."""
    c = cluster(GROUPS.replace("IGNORE", "ignore memory"))

    assert c.submit("w", "q", sets=[{"requests": requests}]) == ["run w"]
    assert c.flavors("w") == flavors


OWNED_GROUPS = """policy "owned" { }
resource license
flavor a { gpu 4 }
flavor pool { license 3 }
queue owner {
  owns 1 gpu
  owns LICENSES license
}
queue guest { owns nothing }
"""


@pytest.mark.parametrize(("licenses", "decided"), [("2", ["evict g", "evict l", "run w"]), ("1", [])])
def test_groups_together_need_more_victims(cluster: Callable[[str], Any], licenses: str, decided: list[str]) -> None:
    """GPUs and licenses are each held by somebody else: both are taken back, or neither where one of them is not owned."""
    c = cluster(OWNED_GROUPS.replace("LICENSES", licenses))
    c.submit("g", "guest", "4")
    c.submit("l", "guest", sets=[{"requests": {"license": "3"}}])
    c.at("1s")

    assert sorted(c.submit("w", "owner", sets=[{"requests": {"gpu": "1", "license": "2"}}])) == decided


def test_unknown_resources(cluster: Callable[[str], Any]) -> None:
    """A resource that no flavor has keeps a workload waiting; one that the policy ignores is neither looked at nor charged."""
    c = cluster(GROUPS.replace("IGNORE", "ignore memory"))

    assert c.submit("odd", "q", sets=[{"requests": {"gpu": "1", "tpu": "1"}}]) == []
    assert c.standing("odd").reason == "NoMatchingFlavor"
    assert c.submit("w", "q", sets=[{"requests": {"gpu": "1", "memory": "80Gi"}}]) == ["run w"]
    assert [(charge.flavor, charge.resource, charge.amount) for charge in c.decided[0].usage] == [("small", "gpu", 1000)]


def test_no_flavor_that_both_accept(cluster: Callable[[str], Any]) -> None:
    """A workload that accepts only flavors that its queue does not use waits for good."""
    c = cluster(THREE.replace("PREFERENCE", "only a, b"))

    assert c.submit("w", "q", "1", on=("c",)) == []
    assert c.standing("w").reason == "NoMatchingFlavor"

"""Which flavor a workload gets: grades, when a queue looks further, which of two is better, groups and pod sets."""

from collections.abc import Callable
from typing import Any

import pytest

LENT = """flavor a {{ gpu as owned }}
flavor b {{ gpu as owned }}
cohort all {{
  queue q {{
    serves gpu from a, b
    owns {on_a} gpu on a
    owns {on_b} gpu on b
    {says}
  }}
  queue other {{
    serves gpu from a, b
    owns {other_a} gpu on a
    owns {other_b} gpu on b
  }}
}}
"""


def policy(on_a: int, on_b: int, other_a: int, other_b: int, *says: str) -> str:
    """Queue `q` tries a, then b; `other` owns the rest of both."""
    return LENT.format(on_a=on_a, on_b=on_b, other_a=other_a, other_b=other_b, says="\n    ".join(says))


@pytest.mark.parametrize(
    ("says", "flavor"),
    [([], "a"), (["when borrowing try next flavor"], "b"), (["when borrowing take flavor"], "a")],
)
def test_when_borrowing(cycles: Callable[[str], Any], says: list[str], flavor: str) -> None:
    """On a the queue would have to borrow, on b it owns enough: it settles for a unless it says to look further."""
    c = cycles(policy(0, 4, 4, 0, *says))
    c.submit("w", "q", "4")
    c.rest()

    assert c.flavors("w") == {"gpu": flavor}


@pytest.mark.parametrize(
    ("says", "decided"),
    [
        ([], ["run w"]),
        (["when evicting take flavor"], ["preempt w", "evict v for w"]),
    ],
)
def test_when_evicting(cycles: Callable[[str], Any], says: list[str], decided: list[str]) -> None:
    """On a somebody would have to go, b is free: by default the search goes on, else it ends where evicting helps."""
    c = cycles(policy(4, 4, 0, 0, "reclaims from anyone", *says))
    c.submit("v", "other", "4", on=["a"])
    c.rest()
    c.submit("w", "q", "4")

    assert c.cycle() == decided


@pytest.mark.parametrize(("says", "decided"), [([], ["run w"]), (["rather evict than borrow"], ["preempt w", "evict v for w"])])
def test_what_a_queue_would_rather_do(cycles: Callable[[str], Any], says: list[str], decided: list[str]) -> None:
    """Evicting within what it owns on a, or borrowing on b: a fit is better, unless the queue would rather evict than borrow."""
    c = cycles(policy(4, 0, 0, 4, "reclaims from anyone", "when borrowing try next flavor", *says))
    c.submit("v", "other", "4", on=["a"])
    c.rest()
    c.submit("w", "q", "4")

    assert c.cycle() == decided


def test_reclaiming_is_better_than_evicting_ones_own(cycles: Callable[[str], Any]) -> None:
    """Both flavors are full: a of the queue's own, b of a borrower; the second is chosen, though it is tried later."""
    c = cycles(policy(4, 4, 0, 0, "reclaims from anyone", "evicts its own of lower priority"))
    c.submit("own", "q", "4", on=["a"])
    c.submit("guest", "other", "4", on=["b"])
    c.rest()
    c.submit("w", "q", "4", priority=1)

    assert c.cycle() == ["preempt w", "evict guest for w"]


def test_the_most_there_could_be(cycles: Callable[[str], Any]) -> None:
    """More than the tree ever has is refused as such, with the limit; more than is free just now is waited for."""
    c = cycles(policy(2, 0, 2, 0))
    c.submit("v", "other", "3", on=["a"])
    c.rest()
    c.submit("big", "q", "5", on=["a"])
    assert c.cycle() == ["park big"]
    assert c.why("big") == "ExceedsMaxQuota"
    assert (c.decided[0].why.limit.available, c.decided[0].why.limit.deficit) == (4000, 1000)

    c.submit("later", "q", "2", on=["a"])
    assert c.cycle() == ["park later"]
    assert c.why("later") == "WaitingForQuota"
    assert (c.decided[0].why.limit.available, c.decided[0].why.limit.deficit) == (1000, 1000)


def test_the_mildest_reason_of_a_group_counts(cycles: Callable[[str], Any]) -> None:
    """Too much for a and not free on b: the workload waits for quota. Kept off both, nothing matches."""
    c = cycles(policy(2, 4, 0, 0))
    c.submit("v", "q", "1", on=["b"])
    c.rest()
    c.submit("w", "q", "4")
    c.cycle()
    assert c.why("w") == "WaitingForQuota"

    c.submit("x", "q", "1", on=["c"])
    c.cycle()
    assert c.why("x") == "NoMatchingFlavor"


OVERLAPPING = """flavor a { gpu, cpu as owned }
flavor b { gpu, cpu as owned }
queue q {
  serves cpu from a, b
  serves cpu, gpu from b, a
  owns 4 cpu on a
  owns 4 cpu on b
  owns 4 gpu on b
}
"""


def test_a_group_serves_all_that_it_names(cycles: Callable[[str], Any]) -> None:
    """cpu alone comes from the first group that names it; together with gpu it comes from where gpu does (GP058)."""
    c = cycles(OVERLAPPING)
    c.submit("w", "q", sets=[{"requests": {"cpu": "1"}}])
    c.submit("v", "q", sets=[{"requests": {"cpu": "1", "gpu": "1"}}])
    c.rest()

    assert (c.flavors("w"), c.flavors("v")) == ({"cpu": "a"}, {"cpu": "b", "gpu": "b"})


def test_a_flavor_in_two_groups_tells_both_why(cycles: Callable[[str], Any]) -> None:
    """For cpu w would wait for quota of b; gpu would have to come from a, which w does not select, so nothing matches (GP058)."""
    c = cycles(
        """flavor a { gpu, cpu as owned }
flavor b { gpu, cpu as owned }
cohort all {
  queue q {
    serves cpu from a, b
    serves gpu from a
    owns 4 gpu on a
  }
  queue r { owns 4 cpu on b }
}
"""
    )
    c.submit("v", "r", sets=[{"requests": {"cpu": "4"}, "flavors": ["b"]}])
    c.rest()
    c.submit("w", "q", sets=[{"requests": {"cpu": "1", "gpu": "1"}, "flavors": ["b"]}])
    c.cycle()
    assert c.why("w") == "NoMatchingFlavor"

    c.submit("x", "q", sets=[{"requests": {"cpu": "1"}, "flavors": ["b"]}])
    c.cycle()
    assert c.why("x") == "WaitingForQuota"


def test_a_resource_that_nobody_serves(cycles: Callable[[str], Any]) -> None:
    """CPUs are in no group of the queue: the workload is told so; asking for none of them is no matter."""
    c = cycles(policy(4, 0, 0, 0))
    c.submit("w", "q", sets=[{"requests": {"gpu": "1", "cpu": "1"}}])
    assert c.cycle() == ["park w"]
    assert c.why("w") == "NoMatchingFlavor"

    c.submit("none", "q", sets=[{"requests": {"gpu": "1", "cpu": "0"}}])
    assert c.cycle() == ["run none"]


def test_what_is_ignored_is_not_asked_for(cycles: Callable[[str], Any]) -> None:
    """A resource that the policy ignores stands in nobody's way, though no queue serves it; and nobody is charged for it."""
    c = cycles(
        """policy "t" {
  use kueue.classical
  ignore cpu, license
}
resource license
flavor a { gpu as owned }
queue q { owns 4 gpu }
"""
    )
    c.submit("w", "q", sets=[{"requests": {"gpu": "1", "cpu": "64", "license": "1"}}])

    assert c.cycle() == ["run w"]
    assert c.flavors("w") == {"gpu": "a"}


TWO_GROUPS = """resource pods
resource license
flavor a { gpu, cpu as owned }
flavor b { gpu, cpu as owned }
flavor any { license, pods as owned }
queue q {
  serves gpu, cpu from a, b
  serves license, pods from any
  owns 4 gpu on a
  owns 2 cpu on a
  owns 4 gpu on b
  owns 8 cpu on b
  owns 2 license on any
  owns 5 pods on any
}
"""


def test_resources_of_a_group_come_from_one_flavor(cycles: Callable[[str], Any]) -> None:
    """Of a there are GPUs enough but not CPUs, so both come from b; licenses come from their own group."""
    c = cycles(TWO_GROUPS)
    c.submit("w", "q", sets=[{"requests": {"gpu": "4", "cpu": "4", "license": "2"}}])
    c.rest()

    assert c.flavors("w") == {"cpu": "b", "gpu": "b", "license": "any", "pods": "any"}


def test_pods_are_counted(cycles: Callable[[str], Any]) -> None:
    """Where a queue has the resource `pods`, every pod uses one: of five, three and two fit, and on neither flavor a sixth."""
    c = cycles(TWO_GROUPS)
    c.submit("three", "q", sets=[{"count": 3, "requests": {"gpu": "1"}}])
    c.submit("two", "q", sets=[{"count": 2, "requests": {"gpu": "1"}}])
    c.submit("one", "q", sets=[{"count": 1, "requests": {"gpu": "0"}}])

    assert c.rest() == ["run three", "run two", "next one", "park one"]
    assert sum(amount for slot, amount in c.workload("three").usage if c.graph.slots[slot].resource == "pods") == 3


def test_pod_sets_get_flavors_one_after_the_other(cycles: Callable[[str], Any]) -> None:
    """Three GPUs fit on a; the second pod set counts on top of the first, so its two go to b."""
    c = cycles(TWO_GROUPS)
    c.submit("w", "q", sets=[{"name": "x", "requests": {"gpu": "3"}}, {"name": "y", "requests": {"gpu": "2"}}])
    c.rest()

    assert (c.flavors("w", 0)["gpu"], c.flavors("w", 1)["gpu"]) == ("a", "b")


def test_pod_sets_of_one_group_get_theirs_together(cycles: Callable[[str], Any]) -> None:
    """As one group the three and the two do not fit on either flavor together, so both wait."""
    c = cycles(TWO_GROUPS)
    sets = [{"name": "x", "requests": {"gpu": "3"}, "group": "g"}, {"name": "y", "requests": {"gpu": "2"}, "group": "g"}]
    c.submit("w", "q", sets=sets)

    assert c.rest() == ["park w"]
    assert c.why("w") == "ExceedsMaxQuota"


def test_taints_and_labels_choose(cycles: Callable[[str], Any]) -> None:
    """A pod set that does not tolerate a's taint gets b; one that does but selects b's label gets b as well."""
    c = cycles(
        """flavor a {
  gpu as owned
  taint pool = "spot" NoSchedule
  label pool = "spot"
}
flavor b {
  gpu as owned
  label pool = "owned"
}
queue q {
  serves gpu from a, b
  owns 4 gpu on a
  owns 4 gpu on b
}
"""
    )
    tolerations = [{"key": "pool", "operator": "Exists"}]
    c.submit("plain", "q", sets=[{"requests": {"gpu": "1"}}])
    c.submit("tolerant", "q", sets=[{"requests": {"gpu": "1"}, "tolerations": tolerations}])
    c.submit("choosy", "q", sets=[{"requests": {"gpu": "1"}, "tolerations": tolerations, "node_selector": {"pool": "owned"}}])
    c.rest()

    assert [c.flavors(name)["gpu"] for name in ("plain", "tolerant", "choosy")] == ["b", "a", "b"]

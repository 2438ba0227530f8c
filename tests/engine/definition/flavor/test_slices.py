"""A workload that takes the place of another one: it stays on its flavors, and needs room for the difference alone."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.events import WorkloadAdmitted, WorkloadReplaced
from gpol.engine.intake.slices import Held, held_by

GPU = 1000
"""A GPU in its smallest unit."""

ONE = """flavor a { gpu as owned }
cohort all {
  owns 0 gpu
  queue q { owns 4 gpu }
  queue r { owns 2 gpu }
}
"""


RECLAIMING = """flavor a { gpu as owned }
cohort all {
  owns 0 gpu
  queue q {
    owns 4 gpu
    reclaims from anyone
  }
  queue x { owns 1 gpu }
}
"""


def held(c: Any, name: str) -> Held:
    """What a workload holds, by pod set; nothing where there is none of this name."""
    return held_by(c.state.graph, c.state.active.slot_index, c.state.workloads.get(name))


def test_it_needs_room_for_the_difference(cycles: Callable[[str], Any]) -> None:
    """Three of six are taken; five fit if the three count among them: the old one is over before the new one runs with all five."""
    c = cycles(ONE)
    c.submit("old", "q", "3")
    c.rest()
    c.submit("new", "q", "5", replaces="old")

    assert c.cycle() == ["end old for new", "run new"]
    replaced, admitted = c.decided
    assert isinstance(replaced, WorkloadReplaced)
    assert isinstance(admitted, WorkloadAdmitted)
    assert [(charge.flavor, charge.amount) for charge in replaced.usage] == [("a", 3 * GPU)]
    assert [(charge.flavor, charge.amount) for charge in admitted.usage] == [("a", 5 * GPU)]
    assert [charge.amount for charge in admitted.borrowed] == [GPU]
    assert admitted.replaces == "old"
    said = [(operand.name, operand.value) for operand in admitted.why.operands]
    assert said == [
        ("asks", "5 gpu on a"),
        ("queue uses", "0 gpu on a"),
        ("queue owns", "4 gpu on a"),
    ]
    assert c.running() == ["new"]
    assert c.used("q") == [5 * GPU]


def test_what_does_not_fit_leaves_the_old_one(cycles: Callable[[str], Any]) -> None:
    """Seven are one more than there are: the new one is refused, with what it lacks beyond the old one, which runs on."""
    c = cycles(ONE)
    c.submit("old", "q", "3")
    c.rest()
    c.submit("new", "q", "7", replaces="old")

    assert c.rest() == ["park new"]
    assert c.running() == ["old"]
    limit = c.last("new").why.limit
    assert (limit.asked, limit.deficit) == (4 * GPU, GPU)


def test_it_stays_on_its_flavors(cycles: Callable[[str], Any]) -> None:
    """Flavor b has room for all of it, but the old one runs on a: the new one waits, and is told why for b."""
    c = cycles(
        """flavor a { gpu as owned }
flavor b { gpu as owned }
queue q {
  owns 3 gpu on a
  owns 9 gpu on b
}
"""
    )
    c.submit("old", "q", "2", on=["a"])
    c.rest()
    c.submit("new", "q", "5", replaces="old")

    assert c.rest() == ["park new"]
    [on_a, on_b] = c.last("new").attempts
    assert [(each.kind, each.asked, each.limit) for each in on_a.obstacles] == [("short", 3 * GPU, GPU)]
    assert [(each.kind, each.resource, each.detail) for each in on_b.obstacles] == [("other-flavor", "gpu", "a")]
    assert c.standing("new").flavors[1].because == ("the workload that it replaces runs on a for gpu",)


@pytest.mark.parametrize(
    ("old", "new"),
    [({"queue": "r"}, {}), ({"namespace": "other"}, {}), ({}, {"replaces": "nobody"})],
    ids=["another queue", "another namespace", "nobody"],
)
def test_otherwise_it_is_as_any_other(cycles: Callable[[str], Any], old: dict[str, str], new: dict[str, str]) -> None:
    """It takes the place of one of its own queue and namespace; of no other, and then it needs room for all of it."""
    c = cycles(ONE)
    c.submit("old", **{"queue": "q", "gpu": "2", **old})
    c.rest()
    c.submit("new", "q", "5", **{"replaces": "old", **new})

    assert c.rest() == ["park new"]
    assert c.running() == ["old"]
    c.finish("old")
    assert c.rest() == ["run new"]


def test_it_evicts_others_for_the_difference(cycles: Callable[[str], Any]) -> None:
    """The borrower of three has to go for two more; the old one runs until its place is taken."""
    c = cycles(RECLAIMING)
    c.submit("old", "q", "2")
    c.submit("v", "x", "3")
    c.rest()
    c.submit("new", "q", "4", replaces="old")

    assert c.cycle() == ["preempt new", "evict v for new"]
    assert c.running() == ["old"]
    assert c.cycle() == ["end old for new", "run new", "next v"]


def test_nobody_evicts_whose_place_is_taken(cycles: Callable[[str], Any]) -> None:
    """Second in turn is one that would evict the old one: its place is taken by then, and its room not free a second time."""
    c = cycles(
        """flavor a { gpu as owned }
cohort all {
  owns 3 gpu
  queue q {
    owns 1 gpu
    borrows by evicting lower priority
  }
  queue x { owns 0 gpu }
}
"""
    )
    c.submit("old", "x", "2")
    c.rest()
    c.submit("new", "x", "3", replaces="old", priority=10)
    c.submit("w", "q", "3", priority=1)

    assert c.cycle() == ["end old for new", "run new", "park w"]
    assert c.used("all") == [3 * GPU]
    assert c.rest() == ["park w"]


def test_whose_place_is_gone_is_judged_again(cycles: Callable[[str], Any]) -> None:
    """The owner, first in turn, evicts the old one; the new one, which would have taken its place, needs room for all of it now."""
    c = cycles(RECLAIMING)
    c.submit("old", "x", "2")
    c.rest()
    c.submit("new", "x", "3", replaces="old")
    c.submit("w", "q", "4", priority=1)

    assert c.cycle() == ["preempt w", "park new", "evict old for w"]
    assert c.cycle()[0] == "run w"
    assert c.running() == ["w"]


def test_nobody_evicts_whom_it_replaces(cycles: Callable[[str], Any]) -> None:
    """It is of higher priority and its queue evicts its own of lower: the old one is no victim, since its room counts already."""
    c = cycles(
        """flavor a { gpu as owned }
queue q {
  owns 8 gpu
  evicts its own of lower priority
}
"""
    )
    c.submit("old", "q", "6")
    c.rest()
    c.submit("new", "q", "9", replaces="old", priority=5)

    assert c.rest() == ["park new"]
    assert [(each.workload, each.outcome) for each in c.standing("new").candidates] == [("old", "replaced")]


def test_alike_is_only_what_takes_one_place(cycles: Callable[[str], Any]) -> None:
    """One that needs all its room is parked with its like; another of the same shape that takes a place is none of them."""
    c = cycles(ONE)
    c.submit("old", "q", "3")
    c.rest()
    c.submit("plain", "q", "5")
    assert c.rest() == ["park plain"]
    c.submit("new", "q", "5", replaces="old")
    assert c.rest()[:2] == ["end old for new", "run new"]


def test_several_pod_sets(cycles: Callable[[str], Any]) -> None:
    """Each pod set is held to what it holds itself; the driver stays as it is, the workers grow by two."""
    c = cycles("flavor a { gpu as owned }\nqueue q { owns 7 gpu }\n")

    def sets(workers: int) -> list[dict[str, object]]:
        return [{"name": "driver", "requests": {"gpu": "1"}}, {"name": "worker", "count": workers, "requests": {"gpu": "2"}}]

    c.submit("old", "q", sets=sets(2))
    c.rest()
    assert held(c, "old") == {
        "driver": {"gpu": (0, GPU)},
        "worker": {"gpu": (0, 4 * GPU)},
    }
    c.submit("new", "q", sets=sets(3), replaces="old")
    assert c.rest()[:2] == ["end old for new", "run new"]
    assert c.used("q") == [7 * GPU]


def test_all_that_is_held_is_what_is_charged(cycles: Callable[[str], Any]) -> None:
    """An outside system may charge more than the pods ask for; the last pod set on the slot holds the rest."""
    c = cycles("flavor a { gpu as owned }\nqueue q { owns 9 gpu }\n")
    c.submit("old", "q", sets=[{"name": name, "requests": {"gpu": "1"}} for name in ("one", "two")])
    placements = [{"pod_set": name, "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "3"}} for name in ("one", "two")]
    c.fact("WorkloadAdopted", workload="old", queue="q", since=0, placements=placements)

    assert held(c, "old") == {
        "one": {"gpu": (0, GPU)},
        "two": {"gpu": (0, 5 * GPU)},
    }
    assert held(c, "nobody") == {}


def test_policies_that_decide_at_once_know_of_it_too(cycles: Callable[[str], Any]) -> None:
    """Where nothing waits for a cycle it needs room for the difference as well, and waits on under another policy of either kind."""
    at_once = 'policy "p" { use gpol.fair }\nflavor a { gpu 4 }\nqueue q { owns 4 gpu }\n'
    c = cycles(at_once)
    c.submit("old", "q", "3")
    assert c.submit("new", "q", "4", replaces="old") == ["end old for new", "run new"]
    assert c.used("q") == [4 * GPU]

    c = cycles("flavor a { gpu as owned }\nqueue q { owns 4 gpu }\n")
    c.submit("old", "q", "3")
    c.rest()
    c.submit("new", "q", "9", replaces="old")
    assert c.activate(at_once) == []
    assert c.running() == ["old"]
    assert c.activate(at_once.replace("4", "9")) == ["end old for new", "run new"]

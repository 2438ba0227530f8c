"""When cycles are due and what is recorded of them."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.definition.admission.cycle import MOST_IDLE

SECOND = 1_000_000

ONE = """flavor a { gpu as owned }
queue q { owns 4 gpu }
"""

SEVERAL_FLAVORS = "f0", "f1", "f2", "f3", "f4", "f5"


def test_facts_of_one_moment_are_taken_in_together(cycles: Callable[[str], Any]) -> None:
    """A fact decides nothing; the cycle of its moment comes after all facts of it, so the later and more important workload goes first."""
    c = cycles(ONE)
    c.at("5s")

    assert c.submit("low", "q", "4") == []
    assert c.submit("high", "q", "4", priority=1) == []
    assert c.core.next_wake() == 5 * SECOND
    assert c.cycle() == ["run high"]


def test_cycles_follow_by_the_period(cycles: Callable[[str], Any]) -> None:
    """Each cycle looks at one workload of a queue; while something waits, the next is due one period later."""
    c = cycles('policy "p" {\n  use kueue.classical\n  decide in cycles of 250ms\n}\n' + ONE)
    c.submit("a", "q")
    c.submit("b", "q")

    assert c.cycle() == ["run a"]
    assert c.core.next_wake() == SECOND // 4
    assert c.cycle() == ["run b"]
    assert c.core.next_wake() is None, "nothing waits"


def test_idle_cycles_end(cycles: Callable[[str], Any]) -> None:
    """A head of a strict queue that stays there unchanged is looked at three times and recorded once; the next fact begins anew."""
    c = cycles("flavor a { gpu as owned }\nqueue q {\n  owns 4 gpu\n  queueing strict fifo\n}\n")
    c.submit("big", "q", "5")
    decided = [c.cycle() for _ in range(MOST_IDLE)]

    assert decided == [["next big"], [], []]
    assert c.core.next_wake() is None
    c.submit("small", "q", "1")
    assert c.core.next_wake() == c.now


def test_a_search_goes_on_through_all_flavors(cycles: Callable[[str], Any]) -> None:
    """On each of five flavors the GPUs could be reclaimed but not together with borrowed CPUs: the sixth is found, a cycle for each."""
    text = "".join(f"flavor {flavor} {{ gpu, cpu as owned }}\n" for flavor in SEVERAL_FLAVORS)
    text += f"cohort all {{\n  queue me {{\n    serves gpu, cpu from {', '.join(SEVERAL_FLAVORS)}\n    reclaims from anyone\n"
    text += "    when evicting take flavor\n" + "".join(f"    owns 4 gpu on {flavor}\n" for flavor in SEVERAL_FLAVORS)
    text += f"  }}\n  queue other {{\n    serves gpu, cpu from {', '.join(SEVERAL_FLAVORS)}\n"
    text += "".join(f"    owns 4 cpu on {flavor}\n" for flavor in SEVERAL_FLAVORS) + "  }\n}\n"
    c = cycles(text)
    for flavor in SEVERAL_FLAVORS[:5]:
        c.submit(f"on-{flavor}", "other", "4", on=[flavor])
    c.rest()
    c.submit("w", "me", sets=[{"requests": {"gpu": "4", "cpu": "4"}}])

    assert c.rest() == ["next w"] * 5 + ["run w"]
    assert c.flavors("w") == {"cpu": "f5", "gpu": "f5"}


def test_decisions_of_a_cycle_are_in_order(cycles: Callable[[str], Any]) -> None:
    """Admissions come first, then what is deferred, then evictions by name; all carry the number of the fact that is the cycle."""
    c = cycles(
        """flavor a { gpu as owned }
cohort all {
  queue x {
    owns 4 gpu
    reclaims from anyone
  }
  queue y { owns nothing }
}
queue z { owns 1 gpu }
"""
    )
    c.submit("y2", "y", "2")
    c.submit("y1", "y", "2")
    c.rest()
    c.submit("w", "x", "4")
    c.submit("v", "z", "1")

    assert c.cycle() == ["run v", "preempt w", "evict y1 for w", "evict y2 for w"]
    assert {decision.cause for decision in c.decided} == {c.core.seq - 4}
    assert c.cycle() == ["run w", "next y2"]


def test_recorded_cycles_leave_the_same_queues(cycles: Callable[[str], Any]) -> None:
    """A core to which all events were applied has its next cycle due at the same moment, and decides the same then."""
    c = cycles(ONE)
    for name in ("a", "b", "c"):
        c.submit(name, "q", "2")
    c.cycle()
    other = new_core()
    for event, graph in c.history:
        other.apply(event, graph)

    assert other.next_wake() == c.core.next_wake()
    assert other.probe.line(c.node("q")) == ["b", "c"]


@pytest.mark.parametrize("gpu", ["1", "2"])
def test_what_is_borrowed_is_recorded(cycles: Callable[[str], Any], gpu: str) -> None:
    """An admission tells how much of it is beyond what the queue owns: of one GPU owned, one of two is borrowed."""
    c = cycles("flavor a { gpu as owned }\ncohort all {\n  queue q { owns 1 gpu }\n  queue r { owns 1 gpu }\n}\n")
    c.submit("w", "q", gpu)
    c.cycle()
    [admitted] = c.decided

    assert sum(charge.amount for charge in admitted.borrowed) == (int(gpu) - 1) * 1000
    assert admitted.reason == ("FitsBorrowing" if gpu == "2" else "FitsOwned")

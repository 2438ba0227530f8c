"""Admission: gangs whole, strict and best-effort queues, quota at every level, and facts that free room."""

from collections.abc import Callable
from typing import Any

import pytest

QUEUE = """policy "admission" { preempt by nothing }
flavor a100 { gpu 8 }
queue q { queueing best effort }
queue other { owns nothing }
"""


def test_a_gang_starts_whole(cluster: Callable[[str], Any]) -> None:
    """Four pods of two GPUs wait while seven are free, and start together when eight are."""
    c = cluster(QUEUE)
    c.submit("one", "q", "1")

    assert c.submit("gang", "q", "2", pods=4) == []
    assert c.finish("one") == ["run gang"]
    assert c.decided[0].assignments[0].count == 4
    assert [charge.amount for charge in c.decided[0].usage] == [8000]


def test_a_gang_is_evicted_whole(cluster: Callable[[str], Any]) -> None:
    """An owner that needs one GPU of a gang of four takes all four."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue owner { owns 1 gpu }\nqueue guest { owns nothing }\n')
    c.submit("gang", "guest", "1", pods=4)
    c.at("1s")

    assert c.submit("w", "owner", "1") == ["evict gang", "run w"]
    assert [charge.amount for charge in c.decided[0].usage] == [4000]


@pytest.mark.parametrize(("queueing", "small"), [("best effort", ["run small"]), ("strict fifo", [])])
def test_whether_a_waiting_head_lets_others_pass(cluster: Callable[[str], Any], queueing: str, small: list[str]) -> None:
    """Behind a head that does not fit a small one runs in a best-effort queue, and waits in a strict one."""
    c = cluster(QUEUE.replace("best effort", queueing))
    c.submit("run", "q", "4")
    c.submit("head", "q", "6")

    assert c.submit("small", "q", "1") == small
    assert c.submit("elsewhere", "other", "1") == ["run elsewhere"]


def test_a_strict_queue_moves_on_once_its_head_is_gone(cluster: Callable[[str], Any]) -> None:
    """The next is served when the head is withdrawn, held by its owner, or runs."""
    c = cluster(QUEUE.replace("best effort", "strict fifo"))
    c.submit("run", "q", "4")
    for name in ("h1", "h2", "h3"):
        c.submit(name, "q", "6")
    c.submit("small", "q", "1")

    assert c.cancel("h1") == []
    assert c.update("h2", hold=True) == []
    assert c.update("h3", hold=True) == ["run small"]
    assert c.update("h2", hold=False) == []
    assert c.finish("run") == ["run h2"]


def test_the_whole_policy_can_be_strict(cluster: Callable[[str], Any]) -> None:
    """`queueing` in the header holds for queues that say nothing themselves."""
    c = cluster(QUEUE.replace("{ preempt by nothing }", "{\n  preempt by nothing\n  queueing strict fifo\n}"))
    c.submit("run", "q", "4")
    for queue in ("q", "other"):
        c.submit(f"{queue}-head", queue, "6")

    assert c.submit("q-small", "q", "1") == ["run q-small"]
    assert c.submit("other-small", "other", "1") == []


def test_one_end_serves_many(cluster: Callable[[str], Any]) -> None:
    """All that fits into the room of one end is admitted because of that one fact."""
    c = cluster(QUEUE)
    c.submit("all", "q", "8")
    for number in range(9):
        c.submit(f"w{number}", "q", "1")

    assert c.finish("all") == [f"run w{number}" for number in range(8)]
    assert {decision.cause for decision in c.decided} == {c.core.seq - 8}
    assert c.waiting() == ["w8"]


LEVELS = """policy "levels" { preempt by nothing }
flavor a100 { gpu 10 }
cohort lab {
  borrows up to 1 gpu
  queue mine {
    owns 3 gpu
    borrows up to 2 gpu
  }
  queue peer {
    owns 3 gpu
    guarantees 2 gpu
  }
}
queue out { owns 4 gpu }
"""


@pytest.mark.parametrize(
    ("queue", "most"),
    [
        ("mine", 5),  # owns 3, borrows 2: 1 of peer's, which keeps 2 of 3, and 1 that the lab may borrow
        ("peer", 7),  # its 3, mine's 3, and the 1 that the lab may borrow
        ("out", 8),  # its 4, and 4 that the lab lends: mine's 3 and 1 of peer's
    ],
)
def test_how_far_a_queue_reaches(cluster: Callable[[str], Any], queue: str, most: int) -> None:
    """Borrowing ends at the tightest limit on the way up, and at what others keep, at once as well as one by one."""
    c = cluster(LEVELS)

    assert c.submit("too-much", queue, str(most + 1)) == []
    assert c.submit("most", queue, str(most)) == ["run most"]
    assert c.submit("one-more", queue, "1") == []


def test_lent_room_is_gone_for_its_owner_until_it_is_free(cluster: Callable[[str], Any]) -> None:
    """While out runs on all that the lab lends, peer has its guarantee and no more."""
    c = cluster(LEVELS)
    c.submit("out", "out", "8")
    c.submit("third", "peer", "3")

    assert c.running() == ["out"]
    assert c.submit("kept", "peer", "2") == ["run kept"]
    assert c.submit("none", "mine", "1") == []
    assert c.finish("out") == ["run none", "run third"]  # none owns its 1; third borrows 2 of mine's


def test_nobodys_gpus_are_for_everybody(cluster: Callable[[str], Any]) -> None:
    """What exists and nobody owns can be borrowed by each queue."""
    c = cluster('policy "p" { preempt by nothing }\nflavor a { gpu 6 }\nqueue x { owns 2 gpu }\nqueue y { owns nothing }\n')

    assert c.submit("x", "x", "3") == ["run x"]
    assert [charge.amount for charge in c.decided[0].borrowed] == [1000]
    assert c.submit("y", "y", "3") == ["run y"]
    assert [charge.amount for charge in c.decided[0].borrowed] == [3000]

"""Beside each who waits stands the least wish of all below in the line's tree, however often workloads come, leave and wish anew."""

from collections import Counter
from typing import Any

from draws import Dice
from fuzzing import queue_after_each, queues_after
from gpol.engine.core import columns as c
from gpol.engine.core.tables import Tables

Plain = dict[str, Any]

HISTORIES = 14
FACTS = 80
LONG_LINES = 40
IN_LONG_LINE = 12

STRICT = """policy "p" {
  use gpol.fair
  queueing strict fifo
}
flavor pool {
  gpu as owned
  cpu as owned
}
queue mine {
  owns 4 gpu
  owns 4 cpu
}
"""


def test_the_least_wish_of_each_tree_is_known() -> None:
    """After every fact of some histories, in cycles and at once."""
    seen = Counter[int]()
    for tables, queue in queues_after("least wishes", HISTORIES, FACTS):
        seen[len(checked(tables, int(tables.node[queue, c.LINE])))] += 1
    assert sum(often for many, often in seen.items() if many > 3) > 50, seen


def test_whoever_leaves_a_long_line_takes_no_wish_along() -> None:
    """In a strict line some were looked at, who wish for what they lack, and others never were. All are cancelled one after another."""
    for number in range(LONG_LINES):
        draw = Dice(f"long line/{number}")
        names = [f"w{each}" for each in range(IN_LONG_LINE)]
        facts: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}, submitted("runs", IN_LONG_LINE, 2, 4)]
        priorities = [draw.number(1, each) for each in range(1, IN_LONG_LINE + 1)]  # so that many come to the front, and are looked at
        facts += [submitted(*each, draw.number(1, 4), draw.number(1, 4)) for each in zip(names, priorities, strict=True)]
        facts += [{"kind": "WorkloadCancelled", "time": 0, "workload": name} for name in draw.shuffled(names)]
        for count, (t, queue) in enumerate(queue_after_each(STRICT, facts, "mine")):
            assert len(checked(t, int(t.node[queue, c.LINE]))) == max(0, min(count - 1, len(facts) - 1 - count))


def submitted(name: str, priority: int, gpus: int, cpus: int) -> Plain:
    """A submission of some GPUs and processors."""
    pods = [{"requests": {"gpu": str(gpus), "cpu": str(cpus)}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": "mine", "priority": priority, "pod_sets": pods}


def checked(t: Tables, row: int) -> list[list[int]]:
    """The wishes of all at or below a row, where the least ones are right."""
    if row == c.NONE:
        return []
    at = t.work[row, c.WAIT]
    wishes = [t.wish[at, :, c.WISH].tolist()]
    for side in (c.EARLIER, c.LATER):
        wishes += checked(t, int(t.work[row, side]))
    assert t.wish[at, :, c.LEAST].tolist() == [min(of_slot) for of_slot in zip(*wishes, strict=True)]
    return wishes

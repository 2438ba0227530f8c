"""The children of each cohort that borrow stand in its list, and a search for victims asks a queue no more once it does not borrow."""

from collections import Counter
from typing import Any

import pytest
from cores_by_name import CORES
from fuzzing import tables_after
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels.preemption import classical
from gpol.engine.core.tables import Tables
from player import Case, difference, fact_of

Plain = dict[str, Any]

HISTORIES = 12
FACTS = 80

POLICY = """policy "p" { use kueue.classical }
flavor pool { gpu as owned }
cohort all {
  queue lab {
    owns 8 gpu
    reclaims from anyone
  }
  queue vision { owns 4 gpu }
  queue nlp { owns 4 gpu }
}
"""


def test_each_child_that_borrows_stands_in_the_list_of_its_cohort() -> None:
    """And nobody else does, after every fact of some histories."""
    seen = Counter[str]()
    for number in range(HISTORIES):
        for tables in tables_after(f"borrowers/{number}", True, number % 2 == 0, FACTS):
            seen.update(checked(tables))
    assert min(seen["one"], seen["several"]) > 20, seen


def checked(t: Tables) -> list[str]:
    """How many children of each cohort borrow, where all lists are right."""
    found = []
    for parent in range(int(t.state[c.NODES])):
        children = [node for node in range(int(t.state[c.NODES])) if t.node[node, c.PARENT] == parent]
        borrowed = {node: int((t.quota[node, :, c.USED] > t.quota[node, :, c.OWNED]).sum()) for node in children}
        assert [int(t.node[node, c.SLOTS_BORROWED]) for node in children] == list(borrowed.values())
        listed, before, node = list[int](), c.NONE, int(t.node[parent, c.FIRST_BORROWER])
        while node != c.NONE:
            assert t.node[node, c.BORROWER_BEFORE] == before
            listed.append(node)
            before, node = node, int(t.node[node, c.BORROWER_AFTER])
        assert sorted(listed) == [node for node in children if borrowed[node]]
        found += ["several" if len(listed) > 1 else "one"] if listed else []
    return found


def submitted(name: str, queue: str, gpus: int) -> Plain:
    """A submission of some GPUs."""
    pods = [{"requests": {"gpu": str(gpus)}}]
    return {"kind": "WorkloadSubmitted", "time": 0, "workload": name, "queue": queue, "pod_sets": pods}


def test_a_queue_that_no_longer_borrows_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """`vision` runs six and `nlp` four, so two of `vision` may go and nobody else; five are idle, so two are not enough for eight.

    The first attempt asks for one more after each of the two. In the second one `lab` would borrow, and it may evict nobody to borrow.
    """
    facts: list[Plain] = [{"kind": "PolicyActivated", "time": 0, "policy": 0}]
    running = [
        *(submitted(f"vision{number}", "vision", 1) for number in range(6)),
        *(submitted(f"nlp{number}", "nlp", 1) for number in range(4)),
    ]
    for each in [*running, submitted("kept", "lab", 1), submitted("more", "lab", 8)]:
        facts += [each, {"kind": "TimeAdvanced", "time": 0}]
    assert difference(Case((POLICY,), tuple(facts)), CORES["definition"], CORES["array"], 1000) is None
    core, asked = ArrayCore(), list[str]()
    next_candidate = classical.next_candidate

    def noted(t: Any, row: int, need: int, queue: int, last: int) -> int:
        found = next_candidate(t, row, need, queue, last)
        if last != c.NONE:
            asked.append(core.graph.nodes[queue].name)
        return found

    monkeypatch.setattr(classical, "next_candidate", noted)
    decided = [core.step(*fact_of(fact, (POLICY,))) for fact in facts]
    assert [each.kind for each in decided[-1]] == ["WorkloadDeferred"]
    assert Counter(asked) == {"vision": 2}

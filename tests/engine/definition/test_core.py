"""The core as a driver meets it: numbers of events, checks that change nothing, recorded events applied without deciding."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.errors import FactError
from gpol.engine.explain.pending import standing
from gpol.engine.facts import FACT, PolicyActivated, WorkloadFinished

POLICY = """policy "core" { }
flavor a { gpu 4 }
priority batch 5
queue owner { owns 4 gpu }
queue guest { owns nothing }
"""


def history(cluster: Callable[[str], Any]) -> Any:
    """An owner takes its GPUs back, a guest waits, an operator evicts, time passes."""
    c = cluster(POLICY)
    c.submit("g", "guest", "4")
    c.at("1s")
    c.submit("o", "owner", "2", priority="batch")
    c.submit("w", None, "1")
    c.at("2s")
    c.operator("evict", "o")
    return c


def test_events_are_numbered_without_gaps(cluster: Callable[[str], Any]) -> None:
    """The fact first, then its decisions, each of which carries the number of the fact."""
    c = history(cluster)

    assert c.core.seq == len(c.history)
    fact = 0
    for number, (event, _) in enumerate(c.history, start=1):
        fact = fact if event.is_decision else number
        assert not event.is_decision or event.cause == fact


def test_a_check_changes_nothing(cluster: Callable[[str], Any]) -> None:
    """What is possible passes, what is not is refused, and neither counts as having happened."""
    c = history(cluster)
    seq, time = c.core.seq, c.core.time

    c.core.check(FACT.validate_python({"kind": "WorkloadCancelled", "time": time + 5, "workload": "o"}))
    with pytest.raises(FactError, match="no live workload is called `nobody`"):
        c.core.check(WorkloadFinished(time=time, workload="nobody"))

    assert (c.core.seq, c.core.time) == (seq, time)


def test_recorded_events_give_the_same_state(cluster: Callable[[str], Any]) -> None:
    """A core to which all events are applied, decisions as recorded, stands as the one that decided them, and decides on alike."""
    c = history(cluster)
    again = new_core()
    for event, graph in c.history:
        again.apply(event, graph)

    assert (again.seq, again.time, again.graph) == (c.core.seq, c.core.time, c.core.graph)
    assert [standing(again, name) for name in ("g", "o")] == [standing(c.core, name) for name in ("g", "o")]
    fact = FACT.validate_python({"kind": "OperatorAction", "time": again.time, "by": "olga", "action": "release", "workload": "o"})
    assert again.step(fact) == c.core.step(fact)


def test_a_recorded_decision_about_nobody_is_refused(cluster: Callable[[str], Any]) -> None:
    """A decision can only be applied to a workload that is there."""
    c = history(cluster)
    admitted = next(event for event, _ in c.history if event.kind == "WorkloadAdmitted")

    with pytest.raises(FactError, match="no live workload is called `ghost`"):
        c.core.apply(admitted.model_copy(update={"workload": "ghost"}))


def test_before_any_policy() -> None:
    """A new core has no policy, no time, nobody, and nothing to wake for."""
    core = new_core()

    assert (core.seq, core.time, core.graph, core.next_wake(), standing(core, "w")) == (0, 0, None, None, None)


def test_a_policy_comes_with_its_graph(cluster: Callable[[str], Any]) -> None:
    """An activation without a graph, or with another policy's, is refused, and the old policy goes on."""
    c, other = history(cluster), cluster(POLICY.replace("gpu 4", "gpu 8"))
    activated = c.history[0][0]
    later = PolicyActivated.model_validate({**activated.model_dump(), "time": c.core.time})

    with pytest.raises(FactError, match="without its policy graph"):
        c.core.step(later)
    with pytest.raises(FactError, match="digest"):
        c.core.step(later, other.core.graph)

    assert c.core.graph == c.history[0][1]


def test_a_policy_keeps_the_priorities_that_run(cluster: Callable[[str], Any]) -> None:
    """A policy without the priority of a running workload is refused; once that has another priority, it is not."""
    c = history(cluster)
    c.operator("release", "o")
    without = POLICY.replace("priority batch 5\n", "")

    with pytest.raises(FactError, match="no priority `batch`, but `o` runs with it"):
        c.activate(without)
    c.update("o", priority=5)
    c.activate(without)
    assert "o" in c.running()

"""What live workloads take in the tables: what is the same of many is kept once, and what only the pending need is theirs alone."""

from typing import Any

from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.store import TableStore
from player import fact_of

POLICY = """
policy "p" { use gpol.fair }
flavor a { gpu as owned }
flavor b { gpu as owned }
queue q {
  owns 4 gpu on a
  owns 4 gpu on b
}
"""
BOOSTED = 2**31 - 1

Plain = dict[str, Any]


def submission(name: str, time: int = 0, gpus: int = 1, **said: Any) -> Plain:
    """A submission to queue q."""
    pods = [{"requests": {"gpu": "1"}, "count": gpus}]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": "q", "pod_sets": pods, **said}


def played(*facts: Plain) -> ArrayCore:
    """A core after some facts."""
    core = ArrayCore()
    for plain in ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *facts):
        core.step(*fact_of(plain, (POLICY,)))
    return core


def store_of(core: ArrayCore) -> TableStore:
    """Its tables."""
    assert core._store is not None
    return core._store


def held(core: ArrayCore, *names: str) -> list[int]:
    """The numbers of the holdings of some workloads."""
    store = store_of(core)
    return [int(store.tables.work[store.row(name), c.HOLDING]) for name in names]


def test_who_holds_the_same_has_the_same_holding() -> None:
    """Four of one GPU get flavor a, one of them at another priority, and the fifth gets b; v asks for two of b."""
    core = played(*(submission(f"w{number}", priority=int(number == 3)) for number in range(5)), submission("v", gpus=2))
    a, b, other = held(core, "w0", "w4", "v")
    assert held(core, "w1", "w2", "w3") == [a, a, a]
    assert len({a, b, other}) == 3
    store = store_of(core)
    assert [store.usage(name) for name in ("w0", "w4", "v")] == [((0, 1000),), ((1, 1000),), ((1, 2000),)]


def test_a_holding_outlives_who_held_it() -> None:
    """w ends, and v that asks for the same takes no more cells than there are."""
    core = played(submission("w"))
    (before,), free = held(core, "w"), int(store_of(core).tables.state[c.FREE_CELLS])
    for plain in ({"kind": "WorkloadFinished", "time": 1, "workload": "w"}, submission("v", 2)):
        core.step(*fact_of(plain, (POLICY,)))
    assert held(core, "v") == [before]
    assert store_of(core).tables.state[c.FREE_CELLS] == free


def test_only_the_pending_have_a_row_for_what_they_wait_for() -> None:
    """Eight run, and two more find no room; once w0 ends the first of them runs."""
    core = played(*(submission(f"w{number}") for number in range(10)))
    tables, rows = store_of(core).tables, [store_of(core).row(f"w{number}") for number in range(10)]
    assert [int(tables.work[row, c.WAIT]) for row in rows] == [c.NONE] * 8 + [0, 1]
    core.step(*fact_of({"kind": "WorkloadFinished", "time": 1, "workload": "w0"}, (POLICY,)))
    assert [int(tables.work[row, c.WAIT]) for row in rows[1:]] == [c.NONE] * 8 + [1]
    assert tables.state[c.FREE_WAIT] == 0


def test_a_boost_may_bring_a_priority_beyond_32_bits() -> None:
    """The highest that can be asked for, with the highest boost."""
    core = played(submission("w", priority=BOOSTED, boost=BOOSTED))
    store = store_of(core)
    assert store.tables.when[store.row("w"), c.PRIORITY] == 2 * BOOSTED


def test_what_a_closed_loop_needed_is_given_back_with_the_next_fact() -> None:
    """Jobs and their ends are the loop's, and no part of live workloads."""
    core = played()
    loop = core.closed_loop([fact_of(submission(f"w{number}"), (POLICY,))[0] for number in range(8)], [10] * 8, False)  # type: ignore[misc]
    assert loop is not None
    loop.play(8)
    assert len(store_of(core).tables.job) == 8
    core.step(*fact_of(submission("v", 5), (POLICY,)))
    assert len(store_of(core).tables.job) == len(store_of(core).tables.ends) == 0

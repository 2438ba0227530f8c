"""Those who run in a queue stand in the order in which searches for victims take them."""

from collections import Counter
from itertools import pairwise
from typing import Any

from cores_by_name import CORES
from draws import Dice
from fuzzing import drawn_play
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernels.line import next_in_tree
from gpol.engine.definition.preemption.candidates import precedence
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.workload import Workload
from gpol.sim.drive.policy import Policy
from player import fact_of

HISTORIES = 20
FACTS = 80

Plain = dict[str, Any]


def submitted(name: str, time: int, **said: Any) -> Plain:
    """A submission of one GPU to the queue q."""
    pod_sets = [{"name": "p", "requests": {"gpu": "1"}}]
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": "q", "pod_sets": pod_sets, **said}


def adopted(name: str, time: int) -> Plain:
    """It runs already."""
    placement = {"pod_set": "p", "count": 1, "flavors": {"gpu": "f"}, "usage": {"gpu": "1"}}
    return {"kind": "WorkloadAdopted", "time": time, "workload": name, "queue": "q", "since": time, "placements": [placement]}


def running(core: ArrayCore, queue: int) -> list[str]:
    """The names of those who run in a queue, in the order of the tables."""
    store, found = core._tables, list[str]()
    row = int(store.tables.node[queue, c.FIRST_RUNNING])
    while row != c.NONE:
        found.append(store.names[store.tables.work[row, c.NAME]])
        row = next_in_tree(store.tables, row)
    return found


def after(policy: str, facts: list[Plain]) -> list[str]:
    """Those who run in the only queue of a policy after these facts, in the order of the tables."""
    active, core = Policy.of(check(policy, "p.gpol")), ArrayCore()
    core.step(active.activation(0), active.graph)
    for plain in facts:
        core.step(fact_of(plain, ())[0])
    assert core.graph is not None
    return running(core, core.graph.queues[0].node)


def test_by_rules_they_stand_in_the_order_of_the_first_one() -> None:
    """By priority, then who was admitted last, then who was submitted last; and who is over stands there no more."""
    policy = 'policy "p" { use gpol.fair }\nflavor f { gpu 8 }\nqueue q { owns 8 gpu }\n'
    facts = [submitted(name, time, priority=priority) for name, time, priority in (("a", 0, 5), ("b", 1, 0), ("c", 2, 0))]
    facts += [submitted(name, 3, priority=5) for name in ("d", "e")]
    assert after(policy, facts) == ["c", "b", "e", "d", "a"]
    assert after(policy, [*facts, {"kind": "WorkloadFinished", "time": 4, "workload": "c"}]) == ["b", "e", "d", "a"]


def test_in_cycles_they_stand_in_kueues_order() -> None:
    """Whoever goes anyway first, then by priority, then who was admitted last, then by uid, then who was submitted first."""
    policy = 'policy "p" { use kueue.classical }\nflavor f { gpu as owned }\nqueue q { owns 8 gpu }\n'
    facts = [submitted("a", 0, priority=5), submitted("b", 0, priority=1), submitted("c", 0)]
    facts += [submitted(name, 0, uid=uid, hold=True) for name, uid in (("d", "y"), ("e", "x"), ("f", "x"), ("g", ""))]
    times = {"a": 0, "b": 0, "c": 0, "g": 1, "d": 2, "e": 2, "f": 2}
    facts += [{**adopted(name, time), "evicting": name == "b"} for name, time in times.items()]
    assert after(policy, facts) == ["b", "e", "f", "d", "g", "c", "a"]


def in_order(graph: PolicyGraph, workload: Workload) -> tuple[object, ...]:
    """Where a workload stands among those who run in its queue, worked out from what it says: the least comes first."""
    if graph.settings.victims != "rules":
        return precedence(workload, workload.queue)
    own = {"pods": workload.pods, "evictions": workload.evictions, "submitted": workload.submitted, "admitted": workload.admitted or 0}
    own["priority"] = workload.priority
    keys = []
    for key in graph.preempt[0].order if graph.preempt else ():
        field = key.field.removeprefix("victim.")
        if field != "queue.share":
            value = own[field] if field in own else workload.total(field)
            keys.append(-value if key.descending else value)
    return *keys, -workload.number


def test_the_order_stands_after_every_fact() -> None:
    """In drawn histories: the order, how many neighbors in it are unlike, and the last fact that let somebody run in each queue."""
    seen, unlike_by_shares = 0, 0
    for number in range(HISTORIES):
        draw, cores = Dice(f"running/{number}"), (CORES["definition"], CORES["careful"])
        play, facts = drawn_play(draw, number % 2 == 1, *cores, Counter(), ("small",), crowded=True)
        for _ in range(FACTS):
            play.step(facts.next(play.core, play.wake))
            core = play.cores[1][1]
            assert isinstance(core, ArrayCore)
            if core._store is not None:
                tables, queues = core._store.tables, core._store.graph.queues
                seen += sum(check_order(core, queue.node) > 1 for queue in queues)
                if tables.state[c.FAIR]:
                    unlike_by_shares += sum(tables.node[queue.node, c.UNLIKE] > 0 for queue in queues)
    assert seen > 50
    assert unlike_by_shares > 50


def check_order(core: ArrayCore, queue: int) -> int:
    """Check those who run in a queue; return how many there are."""
    store, names = core._tables, running(core, queue)
    node, rows = store.tables.node[queue], [store.row(name) for name in names]
    those = [each for each in core.running() if each.queue == queue]
    assert names == [each.name for each in sorted(those, key=lambda each: in_order(store.graph, each))]
    kinds = [(int(store.tables.work[row, c.HOLDING]), int(store.tables.when[row, c.PRIORITY])) for row in rows]
    keeps = store.tables.state[c.BY_RULES] or store.tables.state[c.FAIR]
    assert node[c.UNLIKE] == (sum(left != right for left, right in pairwise(kinds)) if keeps else 0)
    assert node[c.LAST_STARTED_BY] >= max((each.started_by for each in those), default=0)
    return len(names)

"""The core over arrays at its edges: long lists of a row, numbers near the bounds of the tables, books of local queues."""

from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.core import columns as c
from gpol.engine.core import core as core_module
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.snapshot import frozen
from gpol.engine.definition.state.state import State
from gpol.engine.events import WorkloadAdmitted
from player import Case, difference, fact_of

SECOND = 1_000_000
TODAY = 1_770_000_000 * SECOND

Plain = dict[str, Any]


def submitted(time: int, name: str, gpus: int = 1, **said: Any) -> Plain:
    """A submission of some GPUs."""
    requests = {"requests": {"gpu": "1"}, "count": gpus}
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "pod_sets": [requests], **said}


def fact(kind: str, time: int, **said: Any) -> Plain:
    """A fact of another kind."""
    return {"kind": kind, "time": time, **said}


def same(policy: str, facts: list[Plain], seldom: int = 1000) -> bool:
    """Whether the definition and the core over arrays do the same; both go on from copies after so many facts."""
    case = Case((policy,), ({"kind": "PolicyActivated", "time": facts[0]["time"], "policy": 0}, *facts))
    found = difference(case, CORES["definition"], CORES["careful"], seldom)
    assert found is None, str(found[0])
    return True


def test_a_head_may_have_told_more_victims_than_there_are_workloads_before_it() -> None:
    """big evicts 60 workloads, and both cores go on from a copy while it waits for them."""
    policy = (
        'policy "p" { use kueue.classical }\nflavor a { gpu as owned }\nqueue q {\n  owns 60 gpu\n  evicts its own of lower priority\n}\n'
    )
    facts = [submitted(0, "big", 60, queue="q", priority=5, hold=True), *(submitted(0, f"s{number:02}", queue="q") for number in range(60))]
    facts += [fact("TimeAdvanced", turn * SECOND) for turn in range(1, 61)]
    facts += [fact("WorkloadUpdated", 60 * SECOND, workload="big", hold=False), fact("TimeAdvanced", 61 * SECOND)]
    seldom = len(facts) + 1
    facts += [submitted(61 * SECOND, "x", queue="q"), fact("TimeAdvanced", 62 * SECOND)]
    assert same(policy, facts, seldom)


def test_an_adoption_may_name_any_number_of_flavors() -> None:
    """An outside system says flavors for 61 resources, of which the policy knows one; no cell is in two lists, and none is lost."""
    flavors = {f"r{number:02}": "a" for number in range(60)} | {"gpu": "a"}
    placement = {"pod_set": "main", "count": 1, "flavors": flavors, "usage": {"gpu": "1"}}
    facts = [submitted(0, "w1", queue="q"), submitted(0, "w2", queue="q", hold=True)]
    facts.append(fact("WorkloadAdopted", 1, workload="w2", queue="q", since=1, placements=[placement]))
    facts += [submitted(2, "w3", queue="q"), fact("WorkloadFinished", 3, workload="w2"), submitted(4, "w4", 2, queue="q")]
    policy, core = 'policy "p" { use gpol.fair }\nflavor a { gpu 8 }\nqueue q { owns 8 gpu }\n', ArrayCore()
    assert same(policy, facts)
    for each in ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *facts):
        core.step(*fact_of(each, (policy,)))
    assert core._store is not None
    tables, free = core._store.tables, []
    cell = tables.state[c.FREE_CELL]
    while cell != len(tables.cell):
        free.append(int(cell))
        cell += 1 + tables.cell[cell, c.NEXT]
    assert len(free) == len(set(free)) == tables.state[c.FREE_CELLS]


def test_a_protection_may_last_for_ever() -> None:
    """The wake lies 292,000 years ahead: the definition decides."""
    protect = "protect z { where victim.running < 106751990d }\n"
    policy = f'policy "p" {{ use gpol.fair }}\nflavor a {{ gpu 8 }}\nqueue q {{ owns 8 gpu }}\n{protect}'
    assert same(policy, [submitted(TODAY, "w", 8, queue="q"), submitted(TODAY, "v", 8, queue="q", priority=5)])


def test_a_period_may_be_as_long_as_64_bits_allow() -> None:
    """The next cycle lies beyond what 64 bits hold: the definition decides."""
    header = 'policy "p" {\n  use kueue.classical\n  decide in cycles of 106751990d\n}\n'
    policy = f"{header}flavor a {{ gpu as owned }}\nqueue q {{\n  owns 8 gpu\n  queueing strict fifo\n}}\n"
    facts = [
        submitted(TODAY, "w", 8, queue="q"),
        fact("TimeAdvanced", TODAY),
        submitted(TODAY, "v", queue="q"),
        fact("TimeAdvanced", TODAY),
    ]
    assert same(policy, facts)


def test_rounded_shares_of_all_that_a_double_counts() -> None:
    """The cohort owns 2**53 bytes, and what is used and asked for together comes to more."""
    queue = (
        "  queue {} {{\n    serves memory from f\n    owns nothing\n    evicts its own of lower priority\n    reclaims from anyone\n  }}\n"
    )
    policy = (
        'policy "p" { use kueue.fair }\nflavor f { memory as owned }\ncohort c {\n'
        f"  owns {2**53} memory on f\n{queue.format('p')}{queue.format('q')}}}\n"
    )

    def asks(time: int, name: str, part: float, queue: str, priority: int = 0) -> Plain:
        pods = [{"requests": {"memory": str(int(2**53 * part))}}]
        return submitted(time, name, queue=queue, priority=priority) | {"pod_sets": pods}

    facts = [asks(0, "a1", 0.2, "p", 9), asks(0, "b1", 0.25, "q"), fact("TimeAdvanced", 0)]
    facts += [asks(SECOND, "a2", 0.3, "p"), asks(SECOND, "b2", 0.25, "q"), fact("TimeAdvanced", SECOND)]
    facts += [asks(2 * SECOND, "d", 0.549, "p", 3), fact("TimeAdvanced", 2 * SECOND), fact("TimeAdvanced", 3 * SECOND)]
    assert same(policy, facts)


def test_who_runs_in_another_queue_is_not_in_the_books_of_its_local_queue() -> None:
    """x came by ns/a and was adopted into r: evicting it there takes nothing from what ns/a holds in q."""
    policy = (
        'policy "p" {\n  use kueue.classical\n  usage halves every 1h, sampled every 1h\n}\nflavor a { gpu as owned }\ncohort c {\n'
        '  queue q {\n    owns 4 gpu\n    admits by usage\n    local queue "ns/a" { weight 1 }\n    evicts its own of lower priority\n  }\n'
        "  queue r {\n    owns 4 gpu\n    evicts its own of lower priority\n  }\n}\n"
    )
    placement = {"pod_set": "main", "count": 4, "flavors": {"gpu": "a"}, "usage": {"gpu": "4"}}
    facts = [submitted(0, "x", 4, local_queue="ns/a", hold=True)]
    facts.append(fact("WorkloadAdopted", 0, workload="x", queue="r", since=0, placements=[placement]))
    facts += [submitted(0, "k", 4, local_queue="ns/a"), fact("TimeAdvanced", 0), submitted(600 * SECOND, "y", 4, queue="r", priority=9)]
    facts += [fact("TimeAdvanced", 600 * SECOND), fact("TimeAdvanced", 601 * SECOND), fact("WorkloadFinished", 1200 * SECOND, workload="y")]
    assert same(policy, [*facts, fact("TimeAdvanced", 1200 * SECOND)])


def test_a_recorded_admission_may_be_beyond_what_tables_hold() -> None:
    """Another program decided it: the definition goes on from there, and the tables again some facts after it is over."""
    policy = 'policy "p" { use gpol.fair }\nflavor a { gpu 8 }\nqueue q { owns 8 gpu }\n'
    first, second = (fact_of(each, (policy,)) for each in (fact("PolicyActivated", 0, policy=0), submitted(1, "w", queue="q")))
    definition, array = DefinitionCore(), ArrayCore()
    definition.step(*first)
    [admitted] = definition.copy().step(*second)
    assert isinstance(admitted, WorkloadAdmitted)
    beyond = admitted.model_copy(update={"usage": (admitted.usage[0].model_copy(update={"amount": 2**62}),)})
    array.step(*first)
    for core in (definition, array):
        for event in (second[0], beyond):
            core.apply(event)
        core.step(*fact_of(submitted(2, "x", queue="q"), (policy,)))
    assert array._definition is not None
    assert frozen(array.state()) == frozen(definition.state)
    for each in (fact("WorkloadFinished", 3, workload="w"), fact("TimeAdvanced", 4)):
        for core in (definition, array):
            core.step(*fact_of(each, (policy,)))
    assert array._store is not None
    assert frozen(array.state()) == frozen(definition.state)


def test_tables_are_tried_again_after_as_many_facts_as_there_are_workloads_and_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing all workloads and nodes (here two) into tables takes long: one who asks for too much must not cost that at each fact."""
    tried = list[int]()
    load = core_module.loaded

    def counted(state: State, kernels: KernelSet) -> Any:
        tried.append(state.seq)
        return load(state, kernels)

    monkeypatch.setattr(core_module, "loaded", counted)
    policy, core = ('policy "p" { use gpol.fair }\nflavor a { gpu 8 }\nqueue q { owns 8 gpu }\n',), ArrayCore()
    facts = [fact("PolicyActivated", 0, policy=0), *(submitted(0, f"w{number}", 3, queue="q", hold=True) for number in range(50))]
    facts.append(submitted(0, "huge", queue="q", hold=True) | {"pod_sets": [{"requests": {"gpu": str(2**61 // 1000)}}]})
    for each in [*facts, *(fact("TimeAdvanced", number * SECOND) for number in range(1, 200))]:
        core.step(*fact_of(each, policy))
    assert core._store is None
    assert tried == [1, 52, 52 + 53, 52 + 2 * 53, 52 + 3 * 53]
    core.step(*fact_of(fact("WorkloadCancelled", 200 * SECOND, workload="huge"), policy))
    core.step(*fact_of(fact("PolicyActivated", 201 * SECOND, policy=0), policy))
    assert core._store is not None, "a new policy is tried at once"


@pytest.mark.parametrize(("way", "end"), [("step", "WorkloadFinished"), ("apply", "WorkloadCancelled")])
def test_what_is_over_is_forgotten_fact_by_fact(monkeypatch: pytest.MonkeyPatch, way: str, end: str) -> None:
    """Names and requests of those who are gone do not fill the memory of a core that decides, or follows another one, for months."""
    monkeypatch.setattr(core_module, "FORGET_AFTER", 20)
    policy, core = ('policy "p" { use gpol.fair }\nflavor a { gpu 8 }\nqueue q { owns 8 gpu }\n',), ArrayCore()
    core.step(*fact_of(fact("PolicyActivated", 0, policy=0), policy))
    for number in range(100):
        for each in (submitted(number, f"w{number}", queue="q"), fact(end, number, workload=f"w{number}")):
            getattr(core, way)(*fact_of(each, policy))
    assert core._store is not None
    assert len(core._store.names) < 20

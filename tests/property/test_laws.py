"""The laws of the core (docs/architecture.md), each over generated policies and histories."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from core_states import shuffle, state_of
from generators import SECOND, Case, activation, cases, fact_of
from gpol.engine.cores import Core
from gpol.engine.default_core import freeze, new_core
from gpol.engine.events import AnyEvent, WorkloadAdmitted, WorkloadEvicted
from gpol.engine.explain.pending import standing
from gpol.engine.facts import TimeAdvanced
from hash_seeds import outputs
from hypothesis import given
from hypothesis import strategies as st


def play(case: Case, scale: int = 1) -> tuple[Core, list[list[AnyEvent]]]:
    """Play a case; return the core and the batches."""
    core = new_core()
    fact: AnyEvent = activation(case)
    batches = [[fact, *core.step(fact, case.graph)]]  # type: ignore[arg-type]
    for number, step in enumerate(case.steps):
        fact = fact_of(core, case, number, step, scale)
        batches.append([fact, *core.step(fact)])
    return core, batches


def bytes_of(batches: list[list[AnyEvent]]) -> list[bytes]:
    """All payloads in order."""
    return [event.payload() for batch in batches for event in batch]


@given(cases())
def test_deterministic(case: Case) -> None:
    """Law 1: the same policy and facts give byte-identical decisions."""
    assert bytes_of(play(case)[1]) == bytes_of(play(case)[1])


@given(cases())
def test_exact_and_conserved(case: Case) -> None:
    """Laws 2 and 4: after every fact each node's total is the sum of what runs below it, in integers, and no admission exceeds capacity."""
    core = new_core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        decisions = core.step(fact_of(core, case, number, step))
        tree = state_of(core).active.tree
        for slot in range(len(case.graph.slots)):
            running = [workload for workload in core.view.workloads() if workload.admitted is not None]
            for node in range(len(case.graph.nodes)):
                below = [workload for workload in running if node in tree.paths[workload.queue]]
                amount = sum(dict(workload.usage).get(slot, 0) for workload in below)
                assert type(tree.total[node][slot]) is int
                assert tree.total[node][slot] == amount
            for decision in decisions:
                if isinstance(decision, WorkloadAdmitted) and any(
                    charge.flavor == case.graph.flavors[case.graph.slots[slot].flavor].name for charge in decision.usage
                ):
                    assert tree.total[0][slot] <= tree.capacity[slot]
        for node in range(1, len(case.graph.nodes)):
            for decision in decisions:
                if isinstance(decision, WorkloadAdmitted):
                    assert_within_limits(core, decision)
            carried = sum(max(0, tree.usage[child][slot] - tree.local[child][slot]) for child in case.graph.nodes[node].children)
            assert case.graph.nodes[node].is_queue or tree.usage[node][slot] == carried


def assert_within_limits(core: Core, decision: WorkloadAdmitted) -> None:
    """No node above an admitted workload uses more than it owns and may borrow."""
    workload = state_of(core).workloads[decision.workload]
    tree = state_of(core).active.tree
    for node in tree.paths[workload.queue][:-1]:
        for slot, _ in workload.usage:
            limit = tree.nodes[node].quotas[slot].borrowing_limit
            assert limit is None or tree.usage[node][slot] <= tree.subtree[node][slot] + limit


@given(cases(), st.randoms(use_true_random=False))
def test_total_order(case: Case, random: Random) -> None:
    """Law 3: nothing hangs on the order in which a dict happens to be filled: shuffled before every fact, a state decides alike."""
    first, batches = play(case)
    second = new_core()
    again = [[activation(case), *second.step(activation(case), case.graph)]]
    for number, step in enumerate(case.steps):
        fact = fact_of(second, case, number, step)
        shuffle(second, random)
        again.append([fact, *second.step(fact)])
    assert bytes_of(again) == bytes_of(batches)
    shuffle(second, random)
    later = TimeAdvanced(time=first.time + 60_000_000)
    assert [event.payload() for event in first.step(later)] == [event.payload() for event in second.step(later)]


@given(cases())
def test_atomic_and_no_waste(case: Case) -> None:
    """Laws 5 and 6: gangs start with as many pods as will do, and stop whole; whoever is evicted is so for an admission that needs it."""
    core = new_core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        decisions = core.step(fact_of(core, case, number, step))
        for place, decision in enumerate(decisions):
            if isinstance(decision, WorkloadEvicted) and decision.preemption != "operator":
                served = next(later for later in decisions[place:] if isinstance(later, WorkloadAdmitted))
                assert served.workload == decision.beneficiary
            if isinstance(decision, WorkloadAdmitted):
                workload = state_of(core).workloads[decision.workload]
                if workload.admitted is not None and workload.usage:
                    given = {assignment.pod_set: assignment.count for assignment in decision.assignments}
                    for pods in workload.fact.pod_sets:
                        assert (pods.count if pods.min_count is None else pods.min_count) <= given[pods.name] <= pods.count
                    asked = sum(given[pods.name] * pods.requests["gpu"] for pods in workload.fact.pod_sets)
                    assert sum(charge.amount for charge in decision.usage) == asked


@given(cases())
def test_every_victim_is_needed(case: Case) -> None:
    """Law 6: put any one victim back, and the workload it made room for would not fit (where no room was reserved for others)."""
    core = new_core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        running = {workload.name: (workload.queue, workload.usage) for workload in core.view.workloads() if workload.admitted is not None}
        decisions = core.step(fact_of(core, case, number, step))
        admitted = [decision for decision in decisions if isinstance(decision, WorkloadAdmitted)]
        if len(admitted) != 1 or core.next_wake() is not None:
            continue
        tree, workload = state_of(core).active.tree, state_of(core).workloads[admitted[0].workload]
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted) and decision.beneficiary is not None:
                tree.remove(workload.queue, workload.usage)
                tree.add(*running[decision.workload])
                assert not tree.fits(workload.queue, workload.usage)
                tree.remove(*running[decision.workload])
                tree.add(workload.queue, workload.usage)


@given(cases())
def test_no_loops(case: Case) -> None:
    """Law 7: one fact admits and evicts each workload at most once, even under rules by which workloads could take turns."""
    for batch in play(case)[1]:
        admitted = [event.workload for event in batch if isinstance(event, WorkloadAdmitted)]
        evicted = [event.workload for event in batch if isinstance(event, WorkloadEvicted)]
        assert len(admitted) == len(set(admitted))
        assert len(evicted) == len(set(evicted))


def at_rest(core: Core) -> bool:
    """Look again at the same moment until nothing is decided any more; say whether that ends."""
    return any(not core.step(TimeAdvanced(time=core.time)) for _ in range(len(core.view.names()) + 2))


@given(cases(ranked_only=True))
def test_looking_again_comes_to_rest(case: Case) -> None:
    """Law 7: under rules that rank, looking again at the same moment soon decides nothing more."""
    core, _ = play(case)
    assert at_rest(core)


@given(cases(), st.integers(0, 1_000))
def test_wakes_miss_nothing(case: Case, part: int) -> None:
    """Law 7: at rest, time alone decides nothing before the next wake, and nothing ever where there is none."""
    core, _ = play(case)
    if not at_rest(core):
        return
    wake = core.next_wake()
    until = core.time + 1_000_000 * SECOND if wake is None else wake - 1
    assert until >= core.time
    assert core.step(TimeAdvanced(time=core.time + (until - core.time) * part // 1_000)) == []
    assert core.step(TimeAdvanced(time=until)) == []
    assert core.next_wake() == wake


@given(cases(), st.data())
def test_replay_in_parts(case: Case, data: st.DataObject) -> None:
    """Law 8: recorded events applied up to a point, then facts decided, give what deciding everything gives."""
    core, batches = play(case)
    cut = data.draw(st.integers(1, len(batches)))
    resumed, decided = new_core(), new_core()
    for batch in batches[:cut]:
        for event in batch:
            resumed.apply(event, case.graph if event.kind == "PolicyActivated" else None)
        decided.step(batch[0], case.graph if batch[0].kind == "PolicyActivated" else None)  # type: ignore[arg-type]
    assert resumed.next_wake() == decided.next_wake()
    again = [[batch[0], *resumed.step(batch[0])] for batch in batches[cut:]]  # type: ignore[arg-type]
    assert bytes_of(again) == bytes_of(batches[cut:])
    assert (resumed.seq, resumed.next_wake()) == (core.seq, core.next_wake())


@given(cases())
def test_renaming(case: Case) -> None:
    """Law 9: queues and cohorts renamed consistently change nothing but names."""
    renamed = {node.name: f"zz-{len(case.graph.nodes) - number}-{node.name}" for number, node in enumerate(case.graph.nodes) if number}
    nodes = tuple(replace(node, name=renamed.get(node.name, node.name)) for node in case.graph.nodes)
    other = replace(case, graph=replace(case.graph, nodes=nodes))

    def neutral(batches: list[list[AnyEvent]], names: dict[str, str]) -> list[object]:
        return [
            (event.kind, event.workload, names.get(event.queue, event.queue), event.usage)
            for batch in batches
            for event in batch
            if isinstance(event, WorkloadAdmitted | WorkloadEvicted)
        ]

    back = {new: old for old, new in renamed.items()}
    assert neutral(play(case)[1], {}) == neutral(play(other)[1], back)


@given(cases(), st.integers(2, 1_000_000))
def test_scaling(case: Case, scale: int) -> None:
    """Law 9: all quantities multiplied by k change nothing but amounts."""
    graph = case.graph
    nodes = tuple(
        replace(
            node,
            quotas=tuple(
                replace(
                    quota,
                    nominal=quota.nominal * scale,
                    borrowing_limit=None if quota.borrowing_limit is None else quota.borrowing_limit * scale,
                    lending_limit=None if quota.lending_limit is None else quota.lending_limit * scale,
                )
                for quota in node.quotas
            ),
        )
        for node in graph.nodes
    )
    flavors = tuple(replace(flavor, capacity=tuple((name, amount * scale) for name, amount in flavor.capacity)) for flavor in graph.flavors)
    protect = tuple(rule for rule in graph.protect if rule.name != "big")  # its constant is an amount of the policy's own
    other = replace(case, graph=replace(graph, nodes=nodes, flavors=flavors, protect=protect))
    plain = replace(case, graph=replace(graph, protect=protect))
    scaled = [
        (event.kind, event.workload, tuple((charge.flavor, Fraction(charge.amount, scale)) for charge in event.usage))
        for batch in play(other, scale)[1]
        for event in batch
        if isinstance(event, WorkloadAdmitted | WorkloadEvicted)
    ]
    expected = [
        (event.kind, event.workload, tuple((charge.flavor, Fraction(charge.amount)) for charge in event.usage))
        for batch in play(plain)[1]
        for event in batch
        if isinstance(event, WorkloadAdmitted | WorkloadEvicted)
    ]
    assert scaled == expected


@given(cases())
def test_explained(case: Case) -> None:
    """Law 10: every decision names a rule and line and what it compared; where quota is short a waiting workload has limit and deficit."""
    core, batches = play(case)
    for batch in batches:
        for event in batch[1:]:
            assert isinstance(event, WorkloadAdmitted | WorkloadEvicted)
            operators = isinstance(event, WorkloadEvicted) and event.preemption == "operator"
            assert event.why.operands or isinstance(event, WorkloadEvicted)
            assert operators or (event.why.rule is not None and event.why.rule.line >= 1)
            if isinstance(event, WorkloadEvicted) and not operators:
                assert event.why.limit is not None
                assert event.why.limit.deficit == event.why.limit.asked - event.why.limit.available > 0
    tree = state_of(core).active.tree
    before = (freeze(core), deepcopy((tree.usage, tree.total)))
    for name in sorted(core.view.names()):
        told = standing(core, name)
        assert told is not None
        if told.reason in ("WaitingForQuota", "ExceedsMaxQuota"):
            assert told.limit is not None
            assert told.limit.deficit > 0
    assert (freeze(core), (tree.usage, tree.total)) == before


@pytest.mark.parametrize("examples", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_hash_seed(examples: int) -> None:
    """Law 1: the hash seed of the interpreter changes no byte."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from hypothesis import given, settings, seed, Phase; import hashlib;"
        "from test_laws import play, bytes_of; from generators import cases\n"
        "digest = hashlib.sha256()\n"
        f"@seed(1)\n@settings(max_examples={examples}, database=None, deadline=None, phases=[Phase.generate])\n@given(cases())\n"
        "def run(case): digest.update(b''.join(bytes_of(play(case)[1])))\n"
        "run(); print(digest.hexdigest())"
    )
    assert len(outputs(script, "0", "1", "4711")) == 1

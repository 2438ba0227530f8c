"""What is said of workloads in policies that decide in cycles: every decision has its reasons, and remedies help (docs/architecture.md)."""

from copy import deepcopy
from dataclasses import replace

from cycle_cases import AT_REST, Case, activation, cycle_cases, played
from gpol.engine.events import (
    Limit,
    TimeAdvanced,
    WorkloadAdmitted,
    WorkloadCancelled,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadFinished,
)
from gpol.engine.graph import PolicyGraph
from gpol.engine.reference import Core
from gpol.engine.reference.apply import active
from hypothesis import given


def alone(core: Core, name: str) -> Core:
    """The same cluster with no other workload waiting, a cycle later."""
    other = deepcopy(core)
    for workload in list(other.state.workloads.values()):
        if workload.admitted is None and workload.name != name:
            other.step(WorkloadCancelled(time=other.time, workload=workload.name))
    return cycled(other)


def cycled(core: Core) -> Core:
    """Run cycles until none is due, within a bound."""
    for _ in range(AT_REST):
        if (wake := core.next_wake()) is not None:
            core.step(TimeAdvanced(time=wake))
    return core


def runs(core: Core, name: str) -> bool:
    """Whether a live workload runs."""
    return core.state.workloads[name].admitted is not None


@given(cycle_cases())
def test_remedies_help(case: Case) -> None:
    """Law 10: what is said to admit a waiting workload does so when it is carried out and nobody else waits."""
    core, _ = played(case)
    assert core.graph is not None
    for workload in [workload for workload in core.state.workloads.values() if workload.admitted is None][:3]:
        lonely = alone(core, workload.name)
        standing = lonely.standing(workload.name)
        assert standing is not None
        for remedy in () if runs(lonely, workload.name) else standing.remedies:
            cured = deepcopy(lonely)
            if remedy.kind == "ends":
                for name in remedy.workloads:
                    cured.step(WorkloadFinished(time=cured.time, workload=name))
            else:
                assert remedy.kind == "limits"
                graph = raised(core.graph, remedy.limits)
                cured.step(activation(graph, cured.time), graph)
            assert runs(cycled(cured), workload.name), remedy


def raised(graph: PolicyGraph, limits: tuple[Limit, ...]) -> PolicyGraph:
    """The policy with limits raised by their deficits."""
    nodes = list(graph.nodes)
    for limit in limits:
        index = next(index for index, node in enumerate(nodes) if node.name == limit.node)
        quotas = list(nodes[index].quotas)
        for slot, place in enumerate(graph.slots):
            if (graph.flavors[place.flavor].name, place.resource) == (limit.flavor, limit.resource):
                quota, deficit = quotas[slot], limit.deficit
                if limit.limit == "borrowing":
                    quotas[slot] = replace(quota, borrowing_limit=(quota.borrowing_limit or 0) + deficit)
                else:
                    quotas[slot] = replace(quota, nominal=quota.nominal + deficit)
        nodes[index] = replace(nodes[index], quotas=tuple(quotas))
    return replace(graph, nodes=tuple(nodes))


@given(cycle_cases())
def test_explained(case: Case) -> None:
    """Law 10: decisions name a line or what was lacking, and asking where everybody stands leaves the state as it was."""
    core, batches = played(case)
    for batch in batches:
        for event in batch:
            if isinstance(event, WorkloadAdmitted | WorkloadEvicted) and getattr(event, "preemption", "") != "operator":
                assert event.why.rule is not None
                assert event.why.rule.line > 1
            if isinstance(event, WorkloadDeferred):
                assert event.why.reason
                assert event.why.operands
                limit = event.why.limit
                assert limit is None or limit.deficit == limit.asked - limit.available > 0
    tree = active(core.state).tree
    before = deepcopy((tree.usage, tree.total))
    for name in sorted(core.state.workloads):
        standing = core.standing(name)
        assert standing is not None
        assert (standing.state == "running") == runs(core, name)
        assert standing.position is None or 1 <= standing.position <= (standing.waiting or 0)
    assert (tree.usage, tree.total) == before
    assert decided_alike(core, deepcopy(core))


def decided_alike(left: Core, right: Core) -> bool:
    """Whether two cores decide the same in the next cycle."""
    moment = TimeAdvanced(time=left.time + 1_000_000)
    return [event.payload() for event in left.step(moment)] == [event.payload() for event in right.step(moment)]

"""What is said of workloads in policies that decide in cycles: every decision has its reasons, and remedies help (docs/architecture.md)."""

from copy import deepcopy
from dataclasses import replace

from core_states import state_of
from cycle_cases import AT_REST, SECOND, Case, activation, cycle_cases, played
from gpol.engine.cores import Core
from gpol.engine.default_core import freeze
from gpol.engine.definition.queue.line import stir
from gpol.engine.event_parts import CheckState, Limit
from gpol.engine.events import WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted
from gpol.engine.explain.pending import standing
from gpol.engine.explain.standing import Remedy, Standing
from gpol.engine.facts import OperatorAction, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadUpdated
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.workload import Workload
from hypothesis import given


def live(core: Core, name: str) -> Workload:
    """A live workload by name."""
    workload = core.view.workload(name)
    assert workload is not None
    return workload


def alone(core: Core, name: str) -> Core:
    """The same cluster with no other workload waiting."""
    other = core.copy()
    for workload in other.view.workloads():
        if workload.admitted is None and workload.name != name:
            other.step(WorkloadCancelled(time=other.time, workload=workload.name))
    return other


def cycled(core: Core) -> Core:
    """Run cycles until none is due, within a bound."""
    for _ in range(AT_REST):
        if (wake := core.next_wake()) is not None:
            core.step(TimeAdvanced(time=wake))
    return core


def runs(core: Core, name: str) -> bool:
    """Whether a live workload runs."""
    return live(core, name).admitted is not None


def fate(core: Core, name: str) -> str | set[str] | None:
    """What the next cycle does for a workload: `runs`, the names of those who go for it, or None where it waits on."""
    for event in core.step(TimeAdvanced(time=core.time + SECOND)):
        if isinstance(event, WorkloadAdmitted) and event.workload == name:
            return "runs"
        if isinstance(event, WorkloadDeferred) and event.workload == name and event.preempting:
            return set(event.victims) or None
    return None


def standing_of(core: Core, name: str) -> Standing:
    """Where a live workload stands."""
    told = standing(core, name)
    assert told is not None
    return told


def forget(core: Core, name: str) -> Core:
    """The same cluster with a search for flavors begun anew and nothing said yet, so that the next cycle looks at all and tells it."""
    state = state_of(core)
    workload = state.workloads[name]
    workload.scan = workload.deferred = None
    stir(state, workload)
    return core


def cured(core: Core, name: str, remedy: Remedy) -> Core:
    """A copy of a cluster in which a remedy for a workload has been carried out."""
    other = core.copy()
    graph, workload = other.graph, live(other, name)
    assert graph is not None
    match remedy.kind:
        case "ends":
            for ended in remedy.workloads:
                other.step(WorkloadFinished(time=other.time, workload=ended))
        case "limits":
            graph = raised(graph, remedy.limits)
            other.step(activation(graph, other.time), graph)
        case "release":
            graph = running_on(graph, workload.queue)
            other.step(activation(graph, other.time), graph)
            checks: dict[str, CheckState] = dict.fromkeys(workload.checks, "Ready")
            other.step(WorkloadUpdated(time=other.time, workload=name, hold=False, checks=checks))
            other.step(OperatorAction(time=other.time, by="op", action="release", workload=name))
        case "flavor":
            assert remedy.by == ("workload",)  # every queue of these policies serves all flavors
            assert remedy.flavor is not None
            accepting(other, name, remedy.flavor)
    return other


def accepting(core: Core, name: str, flavor: str) -> None:
    """Let a workload come anew, at the same moment as before, with pod sets that accept one flavor more."""
    workload, time = live(core, name), core.time
    pod_sets = tuple(
        pod_set.model_copy(update={"flavors": (*pod_set.flavors, flavor), "count": count})
        for pod_set, count in zip(workload.fact.pod_sets, workload.remaining, strict=True)
    )
    changed = {"time": time, "created": workload.queued, "pod_sets": pod_sets, "priority": workload.asked_priority}
    core.step(WorkloadCancelled(time=time, workload=name))
    core.step(workload.fact.model_copy(update=changed))


@given(cycle_cases())
def test_remedies_help(case: Case) -> None:
    """Law 10: once what is said to help is carried out, the next cycle admits the workload, or evicts for it whom it was said to need."""
    core, _ = played(case)
    for workload in [workload for workload in core.view.workloads() if workload.admitted is None][:4]:
        name = workload.name
        lonely = cycled(alone(core, name))
        for remedy in () if runs(lonely, name) else standing_of(lonely, name).remedies:
            assert fate(forget(cured(lonely, name, remedy), name), name) == (set(remedy.evicting) or "runs"), remedy


@given(cycle_cases())
def test_as_things_stand(case: Case) -> None:
    """Law 10: what is said to come of a workload, were it next, is what the next cycle makes of it when nobody else waits."""
    core, _ = played(case)
    for workload in [workload for workload in core.view.workloads() if workload.admitted is None][:4]:
        name = workload.name
        lonely = forget(alone(core, name), name)
        told = standing_of(lonely, name)
        taken = {candidate.workload for candidate in told.candidates if candidate.outcome == "taken"}
        comes: dict[str | None, str | set[str] | None] = {"fits": "runs", "evicts": taken, "waits": None, None: None}
        assert fate(lonely, name) == comes[told.now], told


def raised(graph: PolicyGraph, limits: tuple[Limit, ...]) -> PolicyGraph:
    """The policy with limits raised by their deficits."""
    nodes = list(graph.nodes)
    for limit in limits:
        index = next(index for index, node in enumerate(nodes) if node.name == limit.node)
        quotas = list(nodes[index].quotas)
        for slot, name in enumerate(graph.slot_names):
            if name == (limit.flavor, limit.resource):
                quota, deficit = quotas[slot], limit.deficit
                if limit.limit == "borrowing":
                    quotas[slot] = replace(quota, borrowing_limit=(quota.borrowing_limit or 0) + deficit)
                else:
                    quotas[slot] = replace(quota, nominal=quota.nominal + deficit)
        nodes[index] = replace(nodes[index], quotas=tuple(quotas))
    return replace(graph, nodes=tuple(nodes))


def running_on(graph: PolicyGraph, node: int) -> PolicyGraph:
    """The policy with a queue that is not stopped."""
    return replace(graph, queues=tuple(replace(queue, stopped="") if queue.node == node else queue for queue in graph.queues))


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
                assert event.reason
                assert event.attempts or event.outcome == "turned away"
                assert bool(event.victims) == (event.outcome == "preempting")
                limit = event.why.limit
                assert limit is None or limit.deficit == limit.asked - limit.available > 0
    tree = state_of(core).active.tree
    before, undisturbed = (freeze(core), deepcopy((tree.usage, tree.total))), core.copy()
    for name in sorted(core.view.names()):
        told = standing_of(core, name)
        assert (told.state == "running") == runs(core, name)
        assert told.position is None or 1 <= told.position <= (told.waiting or 0)
    assert (freeze(core), (tree.usage, tree.total)) == before
    assert decided_alike(core, undisturbed)


def decided_alike(left: Core, right: Core) -> bool:
    """Whether two cores decide the same in the next cycle."""
    moment = TimeAdvanced(time=left.time + 1_000_000)
    return [event.payload() for event in left.step(moment)] == [event.payload() for event in right.step(moment)]

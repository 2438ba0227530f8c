"""Which facts are possible in a state. A fact that is not is refused whole, with what is wrong and what to do."""

from ..errors import FactError
from ..events import (
    CapacityChanged,
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    UsageReported,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ..graph import PolicyGraph
from .activate import flavors_of_node
from .apply import active
from .route import entered_by, rank
from .state import State
from .workload import Workload


def check_fact(state: State, fact: Fact, graph: PolicyGraph | None) -> None:
    """Raise FactError unless the fact can have happened now."""
    if fact.time < state.time:
        raise FactError(f"time runs backwards: the fact is at {fact.time}, {state.time - fact.time} us before the last one at {state.time}")
    if isinstance(fact, PolicyActivated):
        _check_policy(state, fact, graph)
        return
    if state.active is None:
        raise FactError(f"{fact.kind} comes before any policy; start with PolicyActivated")
    match fact:
        case TimeAdvanced():
            return
        case WorkloadSubmitted():
            if fact.workload in state.workloads:
                raise FactError(f"workload `{fact.workload}` is already submitted; finish or cancel it first, or use another name")
            if fact.replaces is not None and active(state).queues is None:
                raise FactError(f"the policy decides at once, and lets no workload take the place of `{fact.replaces}`: end that one first")
            _check_entry(active(state).graph, fact)
        case CapacityChanged():
            _check_capacity(state, fact)
        case UsageReported():
            _check_usage(state, fact)
        case NodeAdded() | NodeChanged() | NodeRemoved():
            _check_node(state, fact)
        case _:
            _check_live(state, fact)


def _check_entry(graph: PolicyGraph, fact: WorkloadSubmitted) -> None:
    """A submission may name its queue and the local queue by which it came, but not that of another queue."""
    entry = next(iter(entered_by(graph, fact.local_queue)), None)
    if fact.queue is not None and entry is not None and graph.nodes[entry.node].name != fact.queue:
        leads = f"local queue `{fact.local_queue}` leads to queue `{graph.nodes[entry.node].name}`"
        raise FactError(f"workload `{fact.workload}` names queue `{fact.queue}`, but its {leads}; leave one of the two out")


def _check_policy(state: State, fact: PolicyActivated, graph: PolicyGraph | None) -> None:
    if graph is None:
        raise FactError("PolicyActivated came without its policy graph")
    if graph.digest != fact.digest:
        raise FactError(f"the policy's digest is {graph.digest}, the fact says {fact.digest}")
    if state.active is None:
        return
    old = state.active.graph
    queues = {graph.nodes[queue.node].name for queue in graph.queues}
    slots = {(graph.flavors[slot.flavor].name, slot.resource) for slot in graph.slots}
    for workload in sorted(state.workloads.values(), key=lambda workload: workload.number):
        if workload.admitted is None:
            if workload.fact.replaces in state.workloads and graph.settings.cycles is None:
                cause = f"`{workload.name}` waits for the place of `{workload.fact.replaces}`, and the policy decides at once"
                raise FactError(f"{cause}; cancel or finish one of the two first")
            continue
        if workload.evicting and graph.settings.cycles is None:
            cause = f"`{workload.name}` is told to stop and still holds its place, and the policy decides at once"
            raise FactError(f"{cause}; report first that it has stopped (WorkloadUpdated with `requeued`), or its end")
        queue = old.nodes[workload.queue].name
        if queue not in queues:
            raise FactError(f"the policy has no queue `{queue}`, but `{workload.name}` runs there; let it end or evict it first")
        for slot, _ in workload.usage:
            used = (old.flavors[old.slots[slot].flavor].name, old.slots[slot].resource)
            if used not in slots:
                raise FactError(
                    f"the policy has no {used[1]} on flavor `{used[0]}`, but `{workload.name}` uses it; let it end or evict it first"
                )
        node = next(index for index, node in enumerate(graph.nodes) if node.name == queue)
        if rank(graph, node, workload.asked_priority) is None:
            raise FactError(
                f"the policy has no priority `{workload.asked_priority}`, but `{workload.name}` runs with it; update its priority first"
            )
    for name in sorted(state.machines):
        _check_one_flavor(graph, name, state.machines[name].labels)


def _check_capacity(state: State, fact: CapacityChanged) -> None:
    graph = active(state).graph
    flavor = next((flavor for flavor in graph.flavors if flavor.name == fact.flavor), None)
    if flavor is None:
        raise FactError(f"the policy has no flavor `{fact.flavor}`; it has {_listed([flavor.name for flavor in graph.flavors])}")
    if graph.settings.cycles is not None:
        raise FactError("the policy decides in cycles, by what is owned alone: change what queues own instead")
    if flavor.nodes is not None:
        raise FactError(f"flavor `{fact.flavor}` takes its capacity from nodes; report nodes instead")
    known = [name for name, _ in flavor.capacity]
    for resource in sorted(fact.capacity):
        if resource not in known:
            raise FactError(f"flavor `{fact.flavor}` has no {resource}; it has {_listed(known)}")


def _check_usage(state: State, fact: UsageReported) -> None:
    graph = active(state).graph
    if graph.settings.cycles is None or graph.settings.cycles.usage is None:
        raise FactError("the policy does not go by usage; add `usage halves every ...`, or leave this fact out")
    if fact.as_of is not None and fact.as_of > fact.time:
        raise FactError("usage cannot have been counted at a later time than that of the fact")
    if not entered_by(graph, fact.local_queue):
        raise FactError(f"the policy has no local queue `{fact.local_queue}`")


def _check_node(state: State, fact: NodeAdded | NodeChanged | NodeRemoved) -> None:
    if active(state).graph.settings.cycles is not None:
        raise FactError("the policy decides in cycles, by what is owned alone, and counts no nodes: change what queues own instead")
    known = fact.node in state.machines
    if isinstance(fact, NodeAdded) and known:
        raise FactError(f"node `{fact.node}` is already there; use NodeChanged")
    if not isinstance(fact, NodeAdded) and not known:
        raise FactError(f"no node `{fact.node}` was added")
    if not isinstance(fact, NodeRemoved):
        _check_one_flavor(active(state).graph, fact.node, fact.labels)


def _check_one_flavor(graph: PolicyGraph, node: str, labels: dict[str, str]) -> None:
    flavors = flavors_of_node(graph, labels)
    if len(flavors) > 1:
        names = _listed([graph.flavors[flavor].name for flavor in flavors])
        raise FactError(f"node `{node}` matches several flavors: {names}; a node may belong to one only")


def _check_adopted(state: State, fact: WorkloadAdopted, workload: Workload) -> None:
    policy = active(state)
    if workload.admitted is not None:
        raise FactError(f"workload `{fact.workload}` runs already")
    node = policy.name_index.get(fact.queue, 0)
    if not policy.graph.nodes[node].is_queue:
        raise FactError(f"the policy has no queue `{fact.queue}`")
    if fact.since > fact.time:
        raise FactError(f"workload `{fact.workload}` cannot run since a later time than that of the fact")
    if fact.evicting and policy.queues is None:
        raise FactError(f"workload `{fact.workload}` is told to stop; a policy that decides at once has nobody who stops later")
    if rank(policy.graph, node, workload.asked_priority) is None:
        raise FactError(f"the policy has no priority `{workload.asked_priority}`")
    counts = {pod_set.name: pod_set.count for pod_set in workload.fact.pod_sets}
    for placement in fact.placements:
        if sum(other.pod_set == placement.pod_set for other in fact.placements) > 1:
            raise FactError(f"workload `{fact.workload}` is placed twice in pod set `{placement.pod_set}`; give each pod set once")
        if placement.count > counts.get(placement.pod_set, -1):
            raise FactError(f"workload `{fact.workload}` has no {placement.count} pods in a pod set `{placement.pod_set}`")
        for resource in sorted(placement.usage):
            flavor = placement.flavors.get(resource)
            if flavor is None:
                raise FactError(f"workload `{fact.workload}` is charged for {resource} of no flavor in pod set `{placement.pod_set}`")
            if (flavor, resource) not in policy.slot_index:
                raise FactError(f"the policy has no {resource} on flavor `{flavor}`, which `{fact.workload}` uses")


def _check_live(state: State, fact: WorkloadAdopted | WorkloadUpdated | WorkloadFinished | WorkloadCancelled | OperatorAction) -> None:
    workload = state.workloads.get(fact.workload)
    if workload is None:
        raise FactError(f"no live workload is called `{fact.workload}`")
    runs = workload.admitted is not None
    match fact:
        case WorkloadFinished() if not runs:
            raise FactError(f"workload `{fact.workload}` does not run, so it cannot finish; cancel it instead")
        case OperatorAction(action="evict") if not runs:
            raise FactError(f"workload `{fact.workload}` does not run, so it cannot be evicted; hold it instead")
        case OperatorAction(action="hold") if runs:
            raise FactError(f"workload `{fact.workload}` runs, so it cannot be held; evict it instead")
        case WorkloadUpdated():
            _check_update(state, fact, workload)
        case WorkloadAdopted():
            _check_adopted(state, fact, workload)
        case _:
            return


def _check_update(state: State, fact: WorkloadUpdated, workload: Workload) -> None:
    if fact.priority is not None and workload.queue >= 0 and rank(active(state).graph, workload.queue, fact.priority) is None:
        raise FactError(f"the policy has no priority `{fact.priority}`")
    if fact.hold and workload.admitted is not None:
        raise FactError(f"workload `{fact.workload}` runs, so it cannot be held")
    if fact.checks and active(state).queues is None:
        raise FactError("the policy decides at once, and waits for no admission check; leave `checks` out, or hold the workload")
    counts = {pod_set.name: (pod_set.count, left) for pod_set, left in zip(workload.fact.pod_sets, workload.remaining, strict=True)}
    for name in sorted(fact.reclaimable or {}):
        done = (fact.reclaimable or {})[name]
        if name not in counts:
            raise FactError(f"workload `{fact.workload}` has no pod set `{name}`; it has {_listed(sorted(counts))}")
        count, left = counts[name]
        if not count - left <= done <= count:
            raise FactError(f"pod set `{name}` has {count} pods of which {count - left} are already done; reclaimable cannot be {done}")


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"

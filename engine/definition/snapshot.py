"""The state of a core as bytes, and a core from such bytes: a snapshot, from which a journal is opened without all that came before.

It holds what events said and what came of it; what follows from that, such as charges and lines, is made anew. What a core has only
worked out, such as the next wake, is left out; no decision depends on it. Nodes and slots stand as
indices into the policy graph. The policy itself is not in it, only the digest of its meaning, and the names in the order of the indices.
"""

from typing import Annotated, Literal

from pydantic import Field, ValidationError

from ..event_parts import Int64, NameText, Part, as_json
from ..intake.capacity import machine
from ..intake.decayed_usage import Consumed
from ..nodes.inventory import Inventory, Machine
from ..nodes.lost_nodes import all_nodes_of
from ..policy_graph import PolicyGraph
from ..workload import NOWHERE, Shape, Workload
from .state.state import State
from .transition.apply import enter, take_over

FORMAT: Literal[6] = 6
"""The version of the form, and of what events do to a state: a change of either raises it, and older snapshots are made anew."""

Count = Annotated[int, Field(ge=0, strict=True)]


class SnapshotError(ValueError):
    """Bytes that hold no state of a core under the policy that is given: cut off, altered, of another version or another policy."""


class _Queue(Part):
    """What a cycle knows of one queue; `hopeless` are the shapes that are parked as such."""

    hopeless: tuple[Shape, ...]
    stirred: bool
    preemptor: NameText | None
    generation: Count


class _Content(Part):
    """A whole state. `policy` is the digest of the policy's meaning, None before the first policy; `queues` are there where it defers."""

    format: Literal[6] = FORMAT
    seq: Count
    cause: Count
    time: Count
    submissions: Count
    policy: str | None
    nodes: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]
    overrides: tuple[tuple[NameText, NameText, Int64], ...]
    machines: dict[NameText, Machine]
    consumed: dict[NameText, Consumed]
    gave_way: dict[NameText, tuple[NameText, ...]]
    workloads: tuple[Workload, ...]
    cycle: Count
    idle: Count
    fresh: bool
    queues: tuple[_Queue, ...]


_PLAIN = ("seq", "cause", "time", "submissions", "cycle", "idle", "fresh")
"""What of a state stands in its snapshot as it is."""


# --- to bytes -------------------------------------------------------------------------------------------------------


def frozen(state: State) -> bytes:
    """The state of a core as bytes: JSON in one form, so that equal states give equal bytes."""
    graph = state.policy.graph if state.policy is not None else None
    nodes, slots = _names(graph)
    content = _Content.model_construct(  # what is in it was checked when it came to be
        policy=graph.digest if graph is not None else None,
        nodes=nodes,
        slots=slots,
        overrides=tuple((flavor, resource, state.overrides[flavor, resource]) for flavor, resource in sorted(state.overrides)),
        machines={name: state.machines[name] for name in sorted(state.machines)},
        consumed={name: _in_order(state.consumed[name]) for name in sorted(state.consumed)},
        gave_way={name: tuple(sorted(state.gave_way[name])) for name in sorted(state.gave_way)},
        workloads=tuple(state.in_order()),
        **{name: getattr(state, name) for name in _PLAIN},
        queues=tuple(_queue(state, queue.node) for queue in graph.queues) if graph is not None and graph.settings.defers else (),
    )
    return as_json(content, exclude={"workloads": {"__all__": {"place", "shape"}}})


def _names(graph: PolicyGraph | None) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The names of nodes and of slots, in the order of their indices."""
    if graph is None:
        return (), ()
    return tuple(node.name for node in graph.nodes), graph.slot_names


def _in_order(consumed: Consumed) -> Consumed:
    return Consumed({resource: consumed.amounts[resource] for resource in sorted(consumed.amounts)}, consumed.updated)


def _queue(state: State, node: int) -> _Queue:
    queue = state.queues[node]
    preemptor = queue.preemptor.name if queue.preemptor is not None else None
    hopeless = tuple(sorted(queue.hopeless))
    return _Queue(hopeless=hopeless, stirred=state.is_stirred(node), preemptor=preemptor, generation=queue.generation)


# --- from bytes -----------------------------------------------------------------------------------------------------


def thawed(content: bytes, graph: PolicyGraph | None) -> State:
    """The state that was frozen, under the policy that was active then (None before the first one).

    Raises SnapshotError for all else than the bytes of such a state.
    """
    try:
        state = _state(_Content.model_validate_json(content), graph)
        again = frozen(state)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise SnapshotError(": ".join((".".join(map(str, first["loc"])), first["msg"]))) from None
    except (LookupError, ValueError, TypeError, AssertionError, RecursionError) as error:  # it contradicts itself or the policy
        raise SnapshotError(f"it is no state of this policy: {error}") from None
    if again != content:
        raise SnapshotError("it is not written in its one form, or contradicts itself")
    return state


def _state(content: _Content, graph: PolicyGraph | None) -> State:
    if content.policy != (graph.digest if graph is not None else None) or (content.nodes, content.slots) != _names(graph):
        raise SnapshotError("it is of another policy")
    state = State(
        overrides={(flavor, resource): amount for flavor, resource, amount in content.overrides},
        gave_way={name: set(content.gave_way[name]) for name in content.gave_way},
    )
    if any(not 0 <= usage.updated <= content.time for usage in content.consumed.values()):
        raise SnapshotError("usage of a local queue was counted at no moment until now")
    if graph is not None:
        state.machines = Inventory({name: machine(graph, known) for name, known in content.machines.items()})
        take_over(state, graph)
        for workload in content.workloads:
            _check(graph, workload)
            _enter(state, workload)
    state.consumed = content.consumed  # not earlier: entering brings it up to date
    for name in _PLAIN:
        setattr(state, name, getattr(content, name))
    for queue, each in zip(graph.queues if graph is not None and graph.settings.defers else (), content.queues, strict=True):
        place = state.queues[queue.node]
        place.hopeless, place.generation = set(each.hopeless), each.generation
        if each.stirred:  # a tree is marked whole: bytes that mark a part of it are refused, as they are written differently
            state.stirred.add(state.active.root(queue.node))
        place.preemptor = state.workloads[each.preemptor] if each.preemptor is not None else None
    return state


def _check(graph: PolicyGraph, workload: Workload) -> None:
    """Refuse a workload that cannot be in the state of a policy."""
    counts = [pod_set.count for pod_set in workload.fact.pod_sets]
    if any(not 0 <= left <= count for left, count in zip(workload.remaining, counts, strict=True)):
        raise SnapshotError(f"of `{workload.name}` more pods are left than it asked for")
    if min(workload.number, workload.evictions, workload.started_by, workload.entered, workload.admitted or 0) < 0:
        raise SnapshotError(f"a count or a moment of `{workload.name}` is below 0")
    if not set(workload.lost_nodes) <= set(all_nodes_of(workload)):
        raise SnapshotError(f"`{workload.name}` has lost nodes on which it has no pods")
    if workload.admitted is not None and workload.queue == NOWHERE:
        raise SnapshotError(f"`{workload.name}` runs in no queue")
    if workload.queue != NOWHERE and not (0 <= workload.queue < len(graph.nodes) and graph.nodes[workload.queue].is_queue):
        raise SnapshotError(f"`{workload.name}` is in none of the policy's queues")
    if any(not 0 <= slot < len(graph.slots) for slot, _ in workload.usage):
        raise SnapshotError(f"`{workload.name}` uses what the policy does not have")


def _enter(state: State, workload: Workload) -> None:
    """Give a workload its place in the policy, as it had it."""
    state.workloads[workload.name] = workload
    parked, workload.parked = workload.parked, False
    enter(state, workload)
    workload.parked = parked and workload.in_line and state.graph.settings.defers

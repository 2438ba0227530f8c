"""The state of a core as bytes, and a core from such bytes: a snapshot, from which a journal is opened without all that came before.

It holds what events said and what came of it, by the names of the policy: what follows from that, such as charges and lines, is made
anew. What a core has only worked out, such as refusals and the next wake, is left out; no decision hangs on it. The policy itself is not in
it, only the digest of its meaning.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from ..events import Assignment, Charge, Checks, Int64, Labels, Name, Part, Resources, Time, WorkloadDeferred, WorkloadSubmitted
from ..graph import PolicyGraph
from .activate import activated, machine
from .apply import NOWHERE, as_request, list_running, list_waiting
from .core import Core
from .cycles.queues import Place, Queues
from .cycles.usage import Consumed
from .state import Active, Shape, State
from .why import charges
from .workload import Scan, Workload

FORMAT: Literal[1] = 1
"""The version of the form, and of what events do to a state: a change of either raises it, and older snapshots are made anew."""

Count = Annotated[int, Field(ge=0, strict=True)]


class SnapshotError(ValueError):
    """Bytes that hold no state of a core under the policy that is given: cut off, altered, of another version or another policy."""


class _Overrides(Part):
    """A capacity that a fact has set."""

    flavor: Name
    resource: Name
    amount: Int64


class _Machine(Part):
    node: Name
    labels: Labels
    capacity: Resources


class _Consumed(Part):
    """What a local queue has used, by resource in smallest units times 2**64."""

    local_queue: Name
    amounts: dict[str, int]
    updated: Count


class _GaveWay(Part):
    workload: str
    others: tuple[str, ...]


class _Workload(Part):
    """A live workload; `queue` is None for one that belongs to none, `place` is empty for one that runs or that no cycle looks at.

    `scan` is the cycle and the generation in which its last deferral was decided, where its search for flavors goes on.
    """

    fact: WorkloadSubmitted
    number: Count
    queue: Name | None
    asked_priority: int | str | None
    priority: int
    pinned: bool
    remaining: tuple[Count, ...]
    held_by_owner: bool
    held_by_operator: str | None
    evictions: Count
    admitted: Time | None
    started_by: Count
    usage: tuple[Charge, ...]
    assignments: tuple[Assignment, ...]
    evicting: bool
    boost: int
    checks: Checks
    requeued: Time | None
    deferral: WorkloadDeferred | None
    scan: tuple[Count, Count] | None
    place: Place | Literal[""]


class _Queue(Part):
    """What a cycle knows of one queue; `hopeless` are the shapes that are parked as such."""

    queue: Name
    hopeless: tuple[tuple[JsonValue, ...], ...]
    stirred: bool
    preemptor: Name | None
    generation: Count


class _Cycles(Part):
    cycle: Count
    idle: Count
    fresh: bool
    queues: tuple[_Queue, ...]


class _Content(Part):
    """A whole state. `policy` is the digest of the policy's meaning, None before the first policy; `cycles` is there where it has some."""

    format: Literal[1] = FORMAT
    seq: Count
    cause: Count
    time: Count
    submissions: Count
    policy: str | None
    overrides: tuple[_Overrides, ...]
    machines: tuple[_Machine, ...]
    consumed: tuple[_Consumed, ...]
    gave_way: tuple[_GaveWay, ...]
    workloads: tuple[_Workload, ...]
    cycles: _Cycles | None


_SHAPE: TypeAdapter[tuple[JsonValue, ...]] = TypeAdapter(tuple[JsonValue, ...])


# --- to bytes -------------------------------------------------------------------------------------------------------


def freeze(core: Core) -> bytes:
    """The state of a core as bytes: JSON in one form, so that equal states give equal bytes."""
    state = core.state
    policy = state.active
    return (
        _Content(
            seq=state.seq,
            cause=state.cause,
            time=state.time,
            submissions=state.submissions,
            policy=policy.graph.digest if policy is not None else None,
            overrides=tuple(
                _Overrides(flavor=flavor, resource=resource, amount=state.overrides[flavor, resource])
                for flavor, resource in sorted(state.overrides)
            ),
            machines=tuple(
                _Machine(node=name, labels=state.machines[name].labels, capacity=state.machines[name].capacity)
                for name in sorted(state.machines)
            ),
            consumed=tuple(_consumed(name, state.consumed[name]) for name in sorted(state.consumed)),
            gave_way=tuple(_GaveWay(workload=name, others=tuple(sorted(state.gave_way[name]))) for name in sorted(state.gave_way)),
            workloads=tuple(_workload(policy, each) for each in _by_number(state)) if policy is not None else (),
            cycles=_cycles(policy.queues) if policy is not None and policy.queues is not None else None,
        )
        .model_dump_json()
        .encode()
    )


def _by_number(state: State) -> list[Workload]:
    return sorted(state.workloads.values(), key=lambda workload: workload.number)


def _consumed(name: str, consumed: Consumed) -> _Consumed:
    amounts = {resource: consumed.amounts[resource] for resource in sorted(consumed.amounts)}
    return _Consumed(local_queue=name, amounts=amounts, updated=consumed.updated)


def _workload(policy: Active, workload: Workload) -> _Workload:
    placed = workload.queue != NOWHERE
    queued = placed and policy.queues is not None and workload.admitted is None
    return _Workload.model_construct(  # what is in it was checked when it came to be
        fact=workload.fact,
        number=workload.number,
        queue=policy.graph.nodes[workload.queue].name if placed else None,
        asked_priority=workload.asked_priority,
        priority=workload.priority,
        pinned=workload.pinned,
        remaining=tuple(workload.remaining),
        held_by_owner=workload.held_by_owner,
        held_by_operator=workload.held_by_operator,
        evictions=workload.evictions,
        admitted=workload.admitted,
        started_by=workload.started_by,
        usage=charges(policy, workload.usage),
        assignments=workload.assignments,
        evicting=workload.evicting,
        boost=workload.boost,
        checks=workload.checks,
        requeued=workload.requeued,
        deferral=workload.deferral,
        scan=(workload.scan.cycle, workload.scan.generation) if workload.scan is not None else None,
        place=policy.queues.place_of(workload) if queued and policy.queues is not None else "",
    )


def _cycles(queues: Queues) -> _Cycles:
    return _Cycles(
        cycle=queues.cycle,
        idle=queues.idle,
        fresh=queues.fresh,
        queues=tuple(_queue(queues, queue.node) for queue in queues.graph.queues),
    )


def _queue(queues: Queues, node: int) -> _Queue:
    state = queues.states[node]
    return _Queue(
        queue=queues.graph.nodes[node].name,
        hopeless=tuple(sorted((_listed(shape) for shape in state.hopeless), key=_SHAPE.dump_json)),
        stirred=state.stirred,
        preemptor=state.preemptor.name if state.preemptor is not None else None,
        generation=state.generation,
    )


def _listed(shape: Iterable[object]) -> tuple[JsonValue, ...]:
    """A shape as JSON has it: lists in place of the tuples in it."""
    return tuple(list(_listed(part)) if isinstance(part, tuple) else part for part in shape)  # type: ignore[misc]


# --- from bytes -----------------------------------------------------------------------------------------------------


def thaw(content: bytes, graph: PolicyGraph | None) -> Core:
    """A core in the state that was frozen, under the policy that was active then (None before the first one).

    It decides on as the frozen one would have. Raises SnapshotError for all else than the bytes of such a state.
    """
    try:
        core = Core(_state(_Content.model_validate_json(content), graph))
        again = freeze(core)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise SnapshotError(": ".join((".".join(map(str, first["loc"])), first["msg"]))) from None
    except (LookupError, ValueError, TypeError, AssertionError, RecursionError) as error:  # it contradicts itself or the policy
        raise SnapshotError(f"it is no state of this policy: {error}") from None
    if again != content:
        raise SnapshotError("it is not written in its one form, or contradicts itself")
    return core


def _state(content: _Content, graph: PolicyGraph | None) -> State:
    if content.policy != (graph.digest if graph is not None else None):
        raise SnapshotError("it is of another policy")
    state = State(
        time=content.time,
        seq=content.seq,
        cause=content.cause,
        submissions=content.submissions,
        settled=False,
        overrides={(each.flavor, each.resource): each.amount for each in content.overrides},
        consumed={each.local_queue: Consumed(dict(each.amounts), each.updated) for each in content.consumed},
        gave_way={each.workload: set(each.others) for each in content.gave_way},
    )
    if graph is None:
        return state
    state.machines = {each.node: machine(graph, each.labels, each.capacity) for each in content.machines}
    policy = state.active = activated(state, graph)
    for each in content.workloads:
        state.workloads[each.fact.workload] = workload = _thawed(policy, each)
        _put(policy, workload, each.place)
    if policy.queues is not None:
        assert content.cycles is not None
        _resume(state, policy.queues, content.cycles)
    return state


def _thawed(policy: Active, frozen: _Workload) -> Workload:
    counts = [pod_set.count for pod_set in frozen.fact.pod_sets]
    if any(left > count for left, count in zip(frozen.remaining, counts, strict=True)):
        raise SnapshotError(f"of `{frozen.fact.workload}` more pods are left than it asked for")
    workload = Workload(
        fact=frozen.fact,
        number=frozen.number,
        queue=policy.name_index[frozen.queue] if frozen.queue is not None else NOWHERE,
        asked_priority=frozen.asked_priority,
        priority=frozen.priority,
        pinned=frozen.pinned,
        remaining=list(frozen.remaining),
        held_by_owner=frozen.held_by_owner,
        held_by_operator=frozen.held_by_operator,
        evictions=frozen.evictions,
        admitted=frozen.admitted,
        started_by=frozen.started_by,
        usage=as_request(policy, frozen.usage),
        assignments=frozen.assignments,
        evicting=frozen.evicting,
        boost=frozen.boost,
        checks=frozen.checks,
        requeued=frozen.requeued,
        deferral=frozen.deferral,
    )
    if frozen.scan is not None and frozen.deferral is not None:
        tried = {(tried.pod_set, tried.resource): tried.index for tried in frozen.deferral.tried}
        workload.scan = Scan(tried, *frozen.scan)
    return workload


def _put(policy: Active, workload: Workload, place: Place | Literal[""]) -> None:
    """Give a workload its place in the policy, as it had it."""
    if workload.queue == NOWHERE:
        if workload.admitted is not None:
            raise SnapshotError(f"`{workload.name}` runs in no queue")
        return
    if not policy.graph.nodes[workload.queue].is_queue:
        raise SnapshotError(f"`{workload.name}` is in a cohort, and not in a queue")
    if workload.admitted is not None:
        list_running(policy, workload)
    elif policy.queues is None:
        list_waiting(policy, workload)
    elif place:
        policy.queues.put(workload, place)


def _resume(state: State, queues: Queues, frozen: _Cycles) -> None:
    queues.cycle, queues.idle, queues.fresh = frozen.cycle, frozen.idle, frozen.fresh
    for queue, known in zip(queues.graph.queues, frozen.queues, strict=True):
        place = queues.states[queue.node]
        place.hopeless = {_tupled(shape) for shape in known.hopeless}
        place.stirred, place.generation = known.stirred, known.generation
        place.preemptor = state.workloads[known.preemptor] if known.preemptor is not None else None


def _tupled(shape: Iterable[object]) -> Shape:
    return tuple(_tupled(part) if isinstance(part, list) else part for part in shape)

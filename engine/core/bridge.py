"""From the state of the definition to tables, and back: what the two cores share when one goes on where the other was."""

from dataclasses import dataclass, field

from ..definition.queue.line import line_key
from ..definition.state.state import ActivePolicy, QueueState, State
from ..intake.capacity import capacity, node_sizes
from ..intake.local_usage import Books
from ..nodes.inventory import Inventory
from ..workload import NOWHERE
from . import columns as c
from .kernel_set import KernelSet
from .kernels.places import epoch_of, is_stirred, park, stir_tree
from .placed.place_tables import resources_of_places
from .policy.policy_tables import NO_MACHINES
from .store import TableStore
from .tables import BeyondBoundsError

_COUNTS = {"seq": c.SEQ, "cause": c.CAUSE, "time": c.TIME, "submissions": c.SUBMISSIONS, "cycle": c.CYCLE, "idle": c.IDLE, "fresh": c.FRESH}


@dataclass(slots=True)
class Around:
    """What a core knows beside its tables."""

    overrides: dict[tuple[str, str], int] = field(default_factory=dict)
    machines: Inventory = field(default_factory=Inventory)
    consumed: Books = field(default_factory=dict)


def loaded(state: State, kernels: KernelSet) -> tuple[TableStore, Around]:
    """A state in tables; the state is used no more, unless that is refused. Raises BeyondBoundsError."""
    if state.time > c.MOST_TIME:
        raise BeyondBoundsError("a moment is too late")
    around = Around(dict(state.overrides), state.machines.copy(), state.consumed)
    exists = capacity(state.graph, state.machines, state.overrides)
    machines = state.machines if state.graph.gives_places else NO_MACHINES
    asked = (pod_set for workload in state.in_order() for pod_set in workload.fact.pod_sets)
    counted = resources_of_places(state.graph, machines, asked)
    store = TableStore(state.graph, exists, node_sizes(state.graph, state.machines), kernels, machines, counted)
    for name in sorted(_COUNTS):
        store.tables.state[_COUNTS[name]] = getattr(state, name)
    for workload in state.in_order():
        store.add(workload)
    for name in sorted(state.gave_way):
        for other in sorted(state.gave_way[name]):
            store.grow()
            store.note_who_gave_way(name, other)
    if state.graph.settings.defers:
        for top in sorted(state.stirred):
            stir_tree(store.tables, top)
        for queue in state.graph.queues:
            _load_queue(store, queue.node, state.queues[queue.node])
    return store, around


def _load_queue(store: TableStore, node: int, queue: QueueState) -> None:
    row = store.tables.node[node]
    row[c.GENERATION] = queue.generation
    row[c.PREEMPTOR] = c.NONE if queue.preemptor is None else store.row(queue.preemptor.name)
    for shape in sorted(queue.hopeless):
        number = store.shape_id(node, shape)
        store.tables.shape[number, c.HOPELESS] = epoch_of(store.tables, node)
    for workload in queue.members:
        if workload.parked:
            park(store.tables, store.row(workload.name))


def unloaded(store: TableStore, around: Around) -> State:
    """The state that tables hold, as the definition has it; it goes its own way."""
    t, graph = store.tables, store.graph
    policy = ActivePolicy.of(graph, store.capacity, store.policy.sizes, around.machines)
    state = State(policy=policy, overrides=dict(around.overrides), machines=around.machines.copy())
    state.consumed = {name: around.consumed[name].copy() for name in sorted(around.consumed)}
    for name in sorted(_COUNTS):
        setattr(state, name, int(t.state[_COUNTS[name]]))
    state.fresh = bool(state.fresh)
    state.queues = [QueueState() for _ in graph.nodes]
    for workload in store.in_order():
        state.workloads[workload.name] = workload
        if workload.queue == NOWHERE:
            continue
        queue = state.queues[workload.queue]
        if workload.admitted is not None:
            policy.tree.add(workload.queue, workload.usage)
            policy.places.add(policy.places.holdings(workload))
        elif store.is_in_line(workload.name):
            workload.place = line_key(graph, workload)
        queue.join(workload)
    state.gave_way = store.who_gave_way()
    if graph.settings.defers:
        for each in graph.queues:
            _unload_queue(store, each.node, state)
        parked = store.shapes_parked()
        for node in sorted(parked):
            state.queues[node].hopeless = parked[node]
    return state


def _unload_queue(store: TableStore, node: int, state: State) -> None:
    row, queue = store.tables.node[node], state.queues[node]
    queue.generation = int(row[c.GENERATION])
    if is_stirred(store.tables, node):
        state.stirred.add(int(row[c.TOP]))
    if row[c.PREEMPTOR] != c.NONE:
        queue.preemptor = state.workloads[store.names[store.tables.work[row[c.PREEMPTOR], c.NAME]]]

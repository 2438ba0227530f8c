"""The core over arrays: one fact in, its decisions out. See `gpol.engine.cores.Core`.

It decides over tables (`store.py`) by kernels (`kernels/`). What changes the policy, or how large nodes are, is applied by the definition,
and the tables are made anew. Where numbers are too large for the tables, the definition decides as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..cores import View
from ..definition.core import DefinitionCore
from ..definition.snapshot import frozen, thawed
from ..definition.state.state import State
from ..errors import FactError
from ..events import AnyDecision, AnyEvent
from ..explain.decisions import tell
from ..facts import (
    AboutSupply,
    Fact,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    UsageReported,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)  # fmt: skip
from ..guard import Field
from ..guard_truth import own_value
from ..intake.at_once import decided_at_once
from ..intake.capacity import capacity, node_sizes, take_in
from ..intake.changes import act, adopt, stops, submitted, update
from ..intake.check import check_fact
from ..intake.holds import turned_away
from ..intake.local_usage import report_usage
from ..intake.routing import route
from ..nodes.inventory import Machine
from ..outcome.decision import Hold, Outcome
from ..outcome.history import Columns
from ..policy_graph import PolicyGraph
from ..questions.probe import DefinitionProbe
from ..units import LAST_MOMENT
from ..workload import Workload
from . import columns as c
from .bridge import Around, loaded, unloaded
from .jobs.given_loop import GivenLoop
from .jobs.job_rows import JobRows
from .jobs.table_loop import TableLoop
from .kernel_set import PLAIN, KernelSet
from .kernels.places import count_fact, forget_who_gave_way, stir
from .outcomes import Tape
from .recorded import apply_decision, carry_out
from .store import TableStore
from .supply import change_supply
from .tables import BeyondBoundsError, Ints
from .usage_books import UsageBooks
from .view import TableView

_IN_TABLES = (
    TimeAdvanced, UsageReported, WorkloadAdopted, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted, WorkloadUpdated, OperatorAction,
)  # fmt: skip
"""The facts that change rows and no more; the others change the policy or what exists."""

FORGET_AFTER = 100_000
"""After how many facts (and eight more for each live workload) the tables are made anew, so that what is over is forgotten."""


class ArrayCore:
    """A cluster under a policy, decided over tables.

    `_store` has the tables and `_around` what is beside them; or there is `_definition`: before the first policy, and beyond the bounds of
    the tables; `tell_beyond` is told the reason. Writing tables takes as long as many facts, so it is tried again after as many facts as
    there were live workloads and nodes (`_tries_at`). What is over is forgotten by it now and then (`_applied` facts after the last time).
    `_asked` is the submission that `only_waits` was asked for last, as a job of one row: drivers ask for one again and again.
    """

    def __init__(self, state: State | None = None, kernels: KernelSet = PLAIN, tell_beyond: Callable[[str], None] | None = None) -> None:
        self._kernels, self._tell_beyond = kernels, tell_beyond
        self._definition: DefinitionCore | None = None
        self._store: TableStore | None = None
        self._around = Around()
        self._given: GivenLoop | None = None
        self._asked: tuple[TableStore, WorkloadSubmitted, Ints] | None = None
        self._load(DefinitionCore(state))

    def _load(self, core: DefinitionCore) -> None:
        """Decide over tables from now on where they are wide enough."""
        self._definition, self._store, self._given = core, None, None
        self._applied = self._tries_at = 0
        if core.state.policy is not None:
            try:
                self._store, self._around = loaded(core.state, self._kernels)
            except BeyondBoundsError as error:
                self._tries_at = core.seq + len(core.state.workloads) + len(core.state.policy.graph.nodes)
                if self._tell_beyond is not None:
                    self._tell_beyond(str(error))
                return
            self._definition = None
            self._usage = UsageBooks(self._store, self._around.consumed)

    def state(self) -> State:
        """The state as the definition has it, to be read."""
        return self._plain.state if self._store is None else unloaded(self._store, self._around)

    @property
    def _plain(self) -> DefinitionCore:
        assert self._definition is not None
        return self._definition

    @property
    def _tables(self) -> TableStore:
        assert self._store is not None
        return self._store

    def copy(self) -> "ArrayCore":
        return ArrayCore(thawed(self.freeze(), self.graph), self._kernels, self._tell_beyond)

    @property
    def view(self) -> View:
        return TableView(self._store, self.state) if self._store is not None else self._plain.view

    def freeze(self) -> bytes:
        return frozen(self.state())

    @property
    def probe(self) -> DefinitionProbe:
        return DefinitionProbe(self.state(), may_reserve=None if self._store is None or self.decides_in_cycles else self._may_reserve)

    def _may_reserve(self) -> set[str]:
        """All who reserve room in a pass that carries nothing out, by name, and some who are refused in it."""
        store = self._tables
        self._look_ahead()
        t, stamp = store.tables, store.tables.state[c.PASS]
        waits = ((name, t.work[store.row(name), c.WAIT]) for name in store.live_names())
        return {name for name, at in waits if at != c.NONE and t.passed[at] == stamp}

    def _look_ahead(self) -> None:
        """Run a pass that carries nothing out: who reserves room, and when time alone may decide something."""
        store = self._tables
        store.grow()
        while store.kernels.settle(store.tables, 1) == c.MORE:
            store.grow_further()
        store.tables.state[c.WAKE_IS_KNOWN] = 1

    @property
    def seq(self) -> int:
        return self._plain.seq if self._store is None else int(self._store.tables.state[c.SEQ])

    @property
    def time(self) -> int:
        return self._plain.time if self._store is None else int(self._store.tables.state[c.TIME])

    @property
    def graph(self) -> PolicyGraph | None:
        return self._plain.graph if self._store is None else self._store.graph

    @property
    def decides_in_cycles(self) -> bool:
        return self.graph is not None and self.graph.settings.in_cycles

    # --- what check_fact asks -------------------------------------------------------------------------------------------

    @property
    def machines(self) -> Mapping[str, Machine]:
        """See `gpol.engine.intake.check.Known`."""
        return self._around.machines

    def workload(self, name: str) -> Workload | None:
        """See `gpol.engine.intake.check.Known`."""
        return self._tables.read(name)[0] if self._tables.row(name) != c.NONE else None

    def running(self) -> Iterable[Workload]:
        """See `gpol.engine.intake.check.Known`."""
        return [workload for workload in self._tables.in_order() if workload.admitted is not None]

    def live(self) -> Iterable[Workload]:
        """See `gpol.engine.intake.check.Known`."""
        return self._tables.in_order()

    # --- facts ----------------------------------------------------------------------------------------------------------

    def check(self, fact: Fact, graph: PolicyGraph | None = None) -> None:
        if self._definition is not None:
            self._definition.check(fact, graph)
        else:
            check_fact(self, fact, graph)

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> list[AnyDecision]:
        self.apply(fact, graph)
        if self._definition is not None:
            return self._definition.decide(fact)
        outcomes = decided_at_once(self._tables.graph, fact, lambda name: self._tables.read(name)[0], self._tables.in_order)
        for outcome in outcomes:
            carry_out(self._tables, self._usage, outcome)
        outcomes += self._decided(fact)
        state = self._tables.tables.state
        return tell(self._tables.graph, outcomes, int(state[c.TIME]), int(state[c.CAUSE]))

    def _forget_what_is_over(self) -> None:
        """Make the tables anew now and then."""
        facts = self._applied + (0 if self._given is None else self._given.facts)
        if self._store is not None and facts > FORGET_AFTER + 8 * int(self._store.tables.state[c.LIVE]):
            self._load(DefinitionCore(self.state()))

    def apply(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
        if isinstance(event, Fact):
            self._forget_what_is_over()
        if self._definition is not None:
            core = self._definition
        elif isinstance(event, _IN_TABLES) and event.time <= c.MOST_TIME:
            self.check(event)
            try:
                self._apply_fact(event)
                self._tables.tables.state[c.WAKE_IS_KNOWN] = 0
                self._applied += 1
                return
            except BeyondBoundsError:
                core = DefinitionCore(self.state())
        elif isinstance(event, AboutSupply) and event.time <= c.MOST_TIME and self._applied_to_supply(event):
            return
        elif not isinstance(event, Fact) and self._tables.row(event.workload) != c.NONE:
            try:
                apply_decision(self._tables, self._usage, event)
                self._tables.tables.state[c.WAKE_IS_KNOWN] = 0
                return
            except BeyondBoundsError:
                core = DefinitionCore(self.state())
        else:
            core = DefinitionCore(self.state())
        core.apply(event, graph)
        if isinstance(event, AboutSupply) and core.graph is not None and core.graph.gives_places:
            # Places follow from all nodes, and often more facts about some come: tables are made at the next other fact.
            self._definition, self._store, self._given = core, None, None
            self._tries_at = core.seq + 1
            return
        again = isinstance(event, PolicyActivated) or (isinstance(event, Fact) and core.seq >= self._tries_at)
        if self._definition is None or again:
            self._load(core)

    def _applied_to_supply(self, fact: AboutSupply) -> bool:
        """Change what exists, where rows may stay: no places change, nodes are as large as before, and all is within bounds."""
        self.check(fact)
        if self._tables.graph.gives_places:
            return False
        store, machines, overrides = self._tables, self._around.machines.copy(), dict(self._around.overrides)
        take_in(fact, store.graph, machines, overrides)
        if node_sizes(store.graph, machines) != store.policy.sizes:
            return False
        exists = capacity(store.graph, machines, overrides)
        if exists != store.capacity:
            try:
                change_supply(store, exists)
            except BeyondBoundsError:
                return False
            if self._given is not None:
                self._applied, self._given = self._applied + self._given.facts, None
        self._around.machines, self._around.overrides = machines, overrides
        self._count(fact)
        self._tables.tables.state[c.WAKE_IS_KNOWN] = 0
        self._applied += 1
        return True

    def _apply_fact(self, fact: Fact) -> None:
        """Change rows by a fact. Raises BeyondBoundsError, with nothing changed."""
        store, graph = self._tables, self._tables.graph
        store.forget_jobs()
        match fact:
            case WorkloadSubmitted():
                workload = submitted(fact, int(store.tables.state[c.SUBMISSIONS]) + 1)
                route(graph, workload)
                store.add(workload)
                store.tables.state[c.SUBMISSIONS] += 1
            case WorkloadAdopted():
                seq = int(store.tables.state[c.SEQ]) + 1
                with self._usage.changing(fact.workload, fact.time):
                    store.change(fact.workload, lambda workload: adopt(graph, store.slot_of, workload, fact, seq, self.machines))
            case WorkloadUpdated():
                self._update(fact)
            case OperatorAction(action="hold" | "release"):
                with self._usage.changing(fact.workload, fact.time):
                    store.change(fact.workload, lambda workload: act(graph, workload, fact))
            case WorkloadFinished() | WorkloadCancelled():
                self._usage.settle(fact.workload, fact.time)
                store.end(fact.workload)
            case UsageReported():
                report_usage(self._around.consumed, fact)
        self._count(fact)
        if isinstance(fact, TimeAdvanced):
            self._usage.sample(fact.time)
            store.kernels.begin_cycle(store.tables)

    def _count(self, fact: Fact) -> None:
        """Note that there was a fact."""
        tables = self._tables.tables
        if not isinstance(fact, TimeAdvanced | WorkloadSubmitted):
            forget_who_gave_way(tables)
        count_fact(tables, fact.time, int(not isinstance(fact, TimeAdvanced)))

    def _update(self, fact: WorkloadUpdated) -> None:
        store, graph = self._tables, self._tables.graph
        before, row = store.read(fact.workload)
        queue, stopped = before.queue, stops(before, fact)
        waits_for_victims = queue >= 0 and store.tables.node[queue, c.PREEMPTOR] == row
        with self._usage.changing(fact.workload, fact.time):
            store.change(fact.workload, lambda workload: update(graph, store.slot_of, workload, fact))
        for freed in (stopped, fact.reclaimable is not None):
            if freed:
                stir(store.tables, row)
        after, _ = store.read(fact.workload)
        if waits_for_victims and store.is_in_line(fact.workload) and not after.parked:
            store.tables.node[after.queue, c.PREEMPTOR] = row

    # --- decisions ------------------------------------------------------------------------------------------------------

    def _decided(self, fact: Fact) -> list[Outcome]:
        """What is decided once a fact has changed the tables; all of it is carried out already."""
        store = self._tables
        state = store.tables.state
        state[c.TAPE_END], state[c.FIRST_BLOCK], state[c.LAST_BLOCK] = 0, c.NONE, c.NONE
        store.grow()
        if not self.decides_in_cycles:
            while store.kernels.settle(store.tables, 0) == c.MORE:
                store.grow_further()
            state[c.WAKE_IS_KNOWN] = 1
            outcomes = list(self._tape().at_once(int(state[c.FIRST_BLOCK])))
            store.forget_ended(outcomes)
            return outcomes
        if not isinstance(fact, TimeAdvanced):  # other facts wait for the next cycle, so that all of one moment are taken in together
            return []
        self._usage.rank()
        while store.kernels.run_cycle(store.tables) == c.MORE:
            store.grow_further()
        outcomes = self._tape().in_cycle(int(state[c.FIRST_BLOCK]), self._turned_away)
        self._usage.follow(outcomes, fact.time)
        store.forget_ended(outcomes)
        return outcomes

    def _tape(self) -> Tape:
        store = self._tables
        tape = store.tables.tape[: store.tables.state[c.TAPE_END]].tolist()
        return Tape(store.graph, tape, store.names, store.demands.at, self._text, store.place_records)

    def _text(self, name: str, field: Field) -> str:
        return str(own_value(self._tables.graph, self._tables.read(name)[0], field))

    def _turned_away(self, name: str) -> Hold:
        return next(turned_away(self._tables.graph, self._tables.read(name)[0]))

    def next_wake(self) -> int | None:
        if self._definition is not None:
            return self._definition.next_wake()
        store = self._tables
        if self.decides_in_cycles:
            due = store.kernels.next_cycle(store.tables)
            return None if due == c.NONE else due
        if not store.tables.state[c.WAKE_IS_KNOWN]:
            self._look_ahead()
        wake = int(store.tables.state[c.WAKE])
        return None if wake == c.NONE else wake

    def only_waits(self, fact: WorkloadSubmitted) -> bool:
        if self._store is None or self.decides_in_cycles or fact.time > c.MOST_TIME:
            return DefinitionCore(self.state()).only_waits(fact)
        try:
            self.check(fact)
        except FactError:
            return False
        store = self._store
        if self._asked is None or self._asked[0] is not store or self._asked[1] is not fact:
            self._asked = store, fact, JobRows.of(store, [fact], [0]).table
        job = self._asked[2]
        if job[0, c.J_REFUSED]:  # it is possible, but beyond the bounds of the tables
            return DefinitionCore(self.state()).only_waits(fact)
        if store.tables.state[c.FREE_ROW] == c.NONE:
            store.more_rows()
        store.grow()
        jobs = store.tables.job
        store.tables = store.tables._replace(job=job)
        waits = store.kernels.only_waits(store.tables, 0)
        store.tables = store.tables._replace(job=jobs)
        return waits

    def closed_loop(
        self, jobs: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns, resume: bool, until: int = LAST_MOMENT
    ) -> TableLoop | None:
        """See `gpol.engine.cores.Core`. Queues by usage, whose order time changes, and places are for the definition of the loop."""
        if self._store is None or self._store.tables.state[c.LIVE] or self._usage.nodes or self._store.graph.gives_places:
            return None
        self.next_wake()
        return TableLoop(self._store, jobs, lengths, resume, until)

    def given_loop(self) -> GivenLoop | None:
        """See `gpol.engine.cores.Core`. Where queues go by usage, each fact may change orders: that is for `step`, as are places."""
        self._forget_what_is_over()
        if self._store is None or self._usage.nodes or self._store.graph.gives_places:
            return None
        self.next_wake()  # so that the tables know it
        self._given = self._given or GivenLoop(self._store)
        return self._given

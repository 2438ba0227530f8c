"""The tables of a policy, and the rows of live workloads in them: how workloads come in, go out, and are read."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..eligibility import groups_of
from ..event_parts import Assignment
from ..intake.capacity import NodeSizes
from ..intake.holds import is_queued, turned_away
from ..intake.sayings import KeptSaying, Sayings, kept, workload_of
from ..intake.shapes import shape_of, tells_apart
from ..nodes.inventory import Machine
from ..outcome.decision import LastDeferral, Outcome, Replacement
from ..outcome.nomination import Request
from ..policy_graph import PolicyGraph
from ..workload import NOWHERE, Shape, Workload
from . import columns as c
from .demands import Demands, as_ints, packed
from .kernel_set import KernelSet
from .kernels.heads import defer_row
from .kernels.places import epoch_of, forget_cycle, is_parked, note_who_gave_way, stop, take_row
from .names import Names
from .outcomes import DEFERRALS, ENDS
from .placed.place_records import PlaceRecords
from .policy.first_tables import first_tables
from .policy.policy_tables import NO_MACHINES, PolicyTables, compile_policy
from .rows import Rows
from .tables import BeyondBoundsError, Tables, longer, used_rows, zeros

_TURNED_AWAY = {"check": c.BY_CHECK, "namespace": c.BY_NAMESPACE, "misconfigured": c.BY_PODS}


class RowNumbers(NamedTuple):
    """What follows for a workload from what it asks for and how it stands in its queue: numbers for its row."""

    demand: int
    shape: int
    held: int
    turned_away: int
    local_queue: int


class TableStore(Rows):
    """The tables under one policy. `kept` has what is kept of live workloads beside their rows, by row: of those that a kernel has just
    ended as well, until they are forgotten. A workload as such is made when it is read."""

    def __init__(
        self,
        graph: PolicyGraph,
        capacity: list[int],
        sizes: NodeSizes,
        kernels: KernelSet,
        machines: Mapping[str, Machine] = NO_MACHINES,
        counted: Sequence[str] = (),
    ) -> None:
        self.graph, self.capacity, self.kernels, self.tells_apart = graph, capacity, kernels, tells_apart(graph)
        self.policy: PolicyTables = compile_policy(graph, capacity, sizes, machines, counted)
        self.demands = Demands(self.policy)
        self.place_records = PlaceRecords(self.policy.places, self.demands.parts) if graph.gives_places else None
        self._most_flavors = max((len(group.flavors) for queue in graph.queues for group in groups_of(graph, queue)), default=0)
        self.names = Names()
        self.kept: list[KeptSaying | None] = []
        self.sayings = Sayings()
        self._shape_ids: dict[tuple[int, Shape], int] = {}
        self._shapes: list[Shape] = [""]
        self._texts: list[int] = [0]
        self._demands_written = len(self.demands.spec)
        self.given: dict[str, tuple[int, tuple[Assignment, ...]]] = {}
        self.assigned: dict[tuple[object, ...], tuple[Assignment, ...]] = {}
        self.slot_of = {name: slot for slot, name in enumerate(graph.slot_names)}
        self.locals = sorted(local.name for queue in graph.queues for local in queue.local_queues)
        self.tables = self.first_tables(self.policy)

    def first_tables(self, policy: PolicyTables) -> Tables:
        """Tables of this policy without workloads."""
        return first_tables(policy, as_ints(self.demands.spec), len(self.locals))

    # --- room -----------------------------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Make room for whatever one decision may need; more than enough, so that kernels seldom ask for it."""
        t, live, queues = self.tables, len(self.tables.work), len(self.graph.queues)
        sets, resources = self.demands.most_pod_sets, self.demands.most_resources
        if t.choice.shape[1] < sets or t.choice.shape[2] < resources:
            t.state[c.MOST_POD_SETS], t.state[c.MOST_RESOURCES] = sets, resources
            t = t._replace(
                nom=zeros(queues + 1, c.N_PODS + sets),
                choice=zeros(queues + 1, sets, resources, c.CHOICE_WIDTH),
                pods=zeros(sets),
                demand=zeros(resources, c.DEMAND_WIDTH),
                held=zeros(sets, resources, c.HELD_WIDTH),
                placed=zeros(sets),
            )
        flavors, slots = self._most_flavors, len(self.graph.slots)
        one = c.FLAVORS_AT + sets * (
            4 + 5 * resources + resources * (c.SEARCH_WIDTH + flavors * (c.ATTEMPT_WIDTH + (2 * resources + 1) * c.OBSTACLE_WIDTH))
        )
        if t.state[c.PLACES]:
            one += self._places_recorded()
            t = self._more_stands(t)
        victims = (live + 1) * (20 + t.victim.shape[1] + 2 * slots)
        t.state[c.RECORD_NEED] = one
        t.state[c.TAPE_NEED] = one + victims + (queues + 1) * (7 * slots + c.FLAVORS_AT + 1)
        heads = queues if t.state[c.IN_CYCLES] else 1  # in a cycle nobody is a victim of two
        t.state[c.CELLS_NEED] = (live + 1) * 2 + heads * (sets * (resources + 1) * 2 + 3 * slots + 2 + int(t.state[c.STAND_NEED]))
        if len(t.tape) - t.state[c.TAPE_END] < t.state[c.TAPE_NEED]:
            written = int(max(t.state[c.TAPE_END], t.state[c.PEN]))
            t = t._replace(tape=longer(t.tape, 2 * int(t.state[c.TAPE_END] + t.state[c.TAPE_NEED]), written))
        if len(t.victim) <= live:
            t = t._replace(victim=longer(t.victim, live + 1, int(t.state[c.VICTIMS])))
        if t.state[c.IN_CYCLES] and len(t.taken) - t.state[c.TAKEN] < live + 1:
            t = t._replace(taken=longer(t.taken, int(t.state[c.TAKEN]) + live + 1, int(t.state[c.TAKEN])))
        if t.state[c.FREE_CELLS] < t.state[c.CELLS_NEED]:
            t = self._more_cells(t, int(t.state[c.CELLS_NEED]))
        self.tables = t

    def grow_further(self) -> None:
        """Make room for a kernel that asked for it: for one decision more, or, if there is that much, for twice as many."""
        before = self.tables
        self.grow()
        if self.tables is before:
            more = self._more_cells(before, len(before.cell) + 1)
            self.tables = more._replace(tape=longer(more.tape, 2 * len(more.tape)), taken=longer(more.taken, 2 * len(more.taken)))
            self.grow()

    def _places_recorded(self) -> int:
        """How long the record of a search for places may be at most: twice why there are none, and the places."""
        return 2 * (14 + 3 * c.MOST_LAYERS + 2 * len(self.tables.tally[0])) + 1 + 3 * self.demands.most_standing

    def _more_stands(self, t: Tables) -> Tables:
        """With room for the places of one nomination more; where not in cycles, for those of every queue."""
        t.state[c.STAND_NEED] = needed = self.demands.most_standing
        rows = int(t.state[c.STAND_END]) + needed if t.state[c.IN_CYCLES] else (len(self.graph.queues) + 1) * needed
        return t if len(t.stand) >= rows else t._replace(stand=longer(t.stand, rows, int(t.state[c.STAND_END])))

    def _more_cells(self, t: Tables, needed: int) -> Tables:
        """With more free cells: those of zeros at the end, each of which says that the next one is free, too (`cells.py`)."""
        old = len(t.cell)
        grown = longer(t.cell, old + needed, used_rows(t.cell))
        t.state[c.FREE_CELLS] += len(grown) - old
        return t._replace(cell=grown)

    def _make_room_for_lists(self, workload: Workload) -> None:
        """Make room for the lists of a row, however long they are: an outside system may have named any number of flavors or victims."""
        given = sum(max(1, len(assignment.flavors)) for assignment in workload.assignments)
        told = 0 if workload.deferred is None else len(workload.deferred.tried) + len(workload.deferred.victims)
        given += sum(len(assignment.places) for assignment in workload.assignments)
        needed = int(self.tables.state[c.CELLS_NEED]) + len(workload.usage) + given + told + 2  # a holding; when a search was
        if self.tables.state[c.FREE_CELLS] < needed:
            self.tables = self._more_cells(self.tables, needed)

    def more_rows(self) -> None:
        """Make room for more live workloads; all rows are in use."""
        t, old = self.tables, len(self.tables.work)
        grown = longer(t.work, old + 16)
        grown[-1, c.ABOVE] = c.NONE - len(grown)  # a row of zeros is free, and the next one is, too (`places.py`)
        t.state[c.FREE_ROW] = old
        rows, waited = len(grown), used_rows(t.wait)
        wait, passed, wish = longer(t.wait, rows, waited), longer(t.passed, rows, waited), longer(t.wish, rows, waited)
        self.tables = t._replace(work=grown, when=longer(t.when, rows), wait=wait, passed=passed, wish=wish)
        self.kept += [None] * (len(grown) - old)

    def forget_jobs(self) -> None:
        """Give back what a closed loop needed: a row for each job, and when it ends."""
        if len(self.tables.job) and not self.tables.state[c.IS_GIVEN]:
            self.tables = self.tables._replace(job=zeros(0, c.JOB_WIDTH), ends=zeros(0, c.END_WIDTH))

    def _new_row(self) -> int:
        if self.tables.state[c.FREE_ROW] == c.NONE:
            self.more_rows()
        return int(take_row(self.tables))

    # --- workloads ------------------------------------------------------------------------------------------------------

    def add(self, workload: Workload) -> None:
        """Take in a workload, with all that is known of it, and give it its places. Raises BeyondBoundsError, with nothing changed."""
        self._vet_sum(workload, 0)
        row, name = self._new_row(), self.name_id(workload.name)
        self.tables.work[row, c.NAME], self.tables.when[row, c.NUMBER] = name, workload.number
        self.tables.name[name, c.ROW] = row
        self.tables.work[row, c.REPLACES] = c.NONE if workload.fact.replaces is None else self.name_id(workload.fact.replaces)
        self.tables.work[row, c.UID] = self.text(workload.fact.uid)
        self._write(workload, row)
        self.kernels.enter(self.tables, row)

    def change(self, name: str, change: Callable[[Workload], None]) -> int:
        """Change a workload between its old places and its new ones; return its row. Raises BeyondBoundsError, with nothing changed."""
        workload, row = self.read(name)
        change(workload)
        self._vet_sum(workload, int(self.tables.spec[self.tables.work[row, c.SPEC] + c.S_MOST]))
        self.kernels.leave(self.tables, row)
        if self.tables.work[row, c.WAIT] == c.NONE:
            stop(self.tables, row)
        forget_cycle(self.tables, row)
        self._write(workload, row)
        self.kernels.enter(self.tables, row)
        return row

    def end(self, name: str) -> None:
        """Let a workload be over."""
        self.kernels.end(self.tables, self.row(name))
        self._forget(name)

    def forget_ended(self, outcomes: list[Outcome]) -> None:
        """Forget the workloads whose place others took: their rows are free already."""
        for outcome in outcomes:
            if isinstance(outcome, Replacement):
                self._forget(outcome.workload)

    def _forget(self, name: str) -> None:
        self.kept[self.last_row(name)] = None
        self.given.pop(name, None)

    def defer(self, name: str, last: LastDeferral) -> None:
        """Let a waiting workload wait as it was decided."""
        workload, row = self.read(name)
        workload.deferred, workload.scan = last, None
        self.grow()
        self._make_room_for_lists(workload)
        forget_cycle(self.tables, row)
        self.write_deferral(workload, row)
        reason, ended, parked = DEFERRALS.index(last.reason, 1), ENDS.index(last.outcome), int(last.parked)
        defer_row(self.tables, row, reason, ended, parked, int(last.preempting), int(last.alike))

    # --- who gave way ---------------------------------------------------------------------------------------------------

    def note_who_gave_way(self, name: str, beneficiary: str) -> None:
        """Note for whom a workload had to go."""
        number, other = self.name_id(name), self.name_id(beneficiary)
        note_who_gave_way(self.tables, number, other)

    def who_gave_way(self) -> dict[str, set[str]]:
        """For whom each workload had to go."""
        found: dict[str, set[str]] = {}
        number = int(self.tables.state[c.FIRST_GAVE])
        while number != c.NONE:
            found[self.names[number]] = {self.names[cell[c.W_NAME]] for cell in self.cells(int(self.tables.name[number, c.GAVE]))}
            number = int(self.tables.name[number, c.NEXT_GAVE])
        return found

    def text(self, text: str) -> int:
        """Where a text stands, for `text_order`; 0 is the empty one."""
        if not text:
            return 0
        at = len(self._texts)
        self._texts += packed(text)
        grown = self.tables.text
        if len(self._texts) > len(grown):
            grown = longer(grown, len(self._texts))
        grown[at : len(self._texts)] = self._texts[at:]
        self.tables = self.tables._replace(text=grown)
        return at

    def shape_id(self, queue: int, shape: Shape) -> int:
        """The number of a shape in a queue."""
        known = self._shape_ids.setdefault((queue, shape), len(self._shapes))
        if known == len(self._shapes):
            self._shapes.append(shape)
        if known >= len(self.tables.shape):
            self.tables = self.tables._replace(shape=longer(self.tables.shape, known + 1))
        return known

    def shapes_parked(self) -> dict[int, set[Shape]]:
        """The shapes that are parked as such, by the node of their queue."""
        found: dict[int, set[Shape]] = {}
        for (queue, shape), number in sorted(self._shape_ids.items()):
            if self.tables.shape[number, c.HOPELESS] == epoch_of(self.tables, queue):
                found.setdefault(queue, set()).add(shape)
        return found

    def _demand(self, workload: Workload) -> int:
        demand = self.demands.of(workload)
        if len(self.demands.spec) > self._demands_written:
            spec, before = self.tables.spec, self._demands_written
            if len(self.demands.spec) > len(spec):
                spec = longer(spec, len(self.demands.spec))
            spec[before : len(self.demands.spec)] = self.demands.spec[before:]
            self._demands_written = len(self.demands.spec)
            self.tables = self.tables._replace(spec=spec)
        return demand.at

    def standing(self, workload: Workload) -> RowNumbers:
        """What follows for a workload from what it asks for and how it stands in its queue; its demand must have been vetted."""
        if workload.queue == NOWHERE:
            return RowNumbers(0, 0, 0, 0, c.NONE)
        hold = next(turned_away(self.graph, workload), None)
        local = self.graph.queue_at(workload.queue).local_queue(workload.fact.local_queue)
        return RowNumbers(
            demand=self._demand(workload),
            shape=self.shape_id(workload.queue, shape_of(workload, self.tells_apart)),
            held=int(not is_queued(self.graph, workload)),
            turned_away=0 if hold is None else _TURNED_AWAY[hold.kind],
            local_queue=c.NONE if local is None else self.locals.index(local.name),
        )

    def _write(self, workload: Workload, row: int) -> None:
        """Write what is known of a workload into its row, which holds no lists."""
        standing, fact = self.standing(workload), workload.fact
        self.kept[row] = kept(self.sayings.of(workload), fact.time, fact.created, fact.uid)
        self.grow()
        self._make_room_for_lists(workload)
        w, when, spec, state = self.tables.work[row], self.tables.when[row], self.tables.spec, self.tables.state
        state[c.ASKED_IN_ALL] += spec[standing.demand + c.S_MOST] - spec[w[c.SPEC] + c.S_MOST]
        w[c.SPEC], w[c.SHAPE], w[c.QUEUE] = standing.demand, standing.shape, workload.queue
        when[c.PRIORITY], w[c.PINNED] = workload.priority, workload.pinned
        w[c.EVICTIONS], w[c.EVICTING] = workload.evictions, workload.evicting
        when[c.SUBMITTED], when[c.QUEUED], when[c.ENTERED] = workload.submitted, workload.queued, workload.entered
        when[c.ADMITTED] = c.NONE if workload.admitted is None else workload.admitted
        when[c.STARTED_BY] = workload.started_by
        w[c.HELD], w[c.TURNED_AWAY], w[c.LOCAL_QUEUE] = standing.held, standing.turned_away, standing.local_queue
        if workload.admitted is not None:
            self.write_usage(workload, row)
        else:
            self.write_deferral(workload, row)

    def vet(self, workload: Workload) -> int:
        """Raise BeyondBoundsError for numbers that the tables are not proven for; return what it counts for in `ASKED_IN_ALL`."""
        if max(workload.queued, workload.submitted, workload.entered, workload.admitted or 0) > c.MOST_TIME or workload.number >= 2**31:
            raise BeyondBoundsError("a moment or a number of a workload is too large")
        asked = 0 if workload.queue == NOWHERE else self.demands.spec[self.demands.of(workload).at + c.S_MOST]
        if max(len(self.demands.spec), len(self._texts), len(self.names)) >= c.MOST_NARROW:
            raise BeyondBoundsError("too much was said of workloads")
        if workload.queue == NOWHERE and any(given.places for given in workload.assignments):
            raise BeyondBoundsError("pods of a workload without a queue stand somewhere")
        self.vet_places(workload)
        if workload.lost_nodes:
            raise BeyondBoundsError("a workload that runs has lost a node on which its pods stood")
        if any(given.delayed for given in workload.assignments):
            raise BeyondBoundsError("pods of a workload that runs are to get places later")
        if any(amount + int(self.tables.quota[:, slot, c.TOTAL].max()) > self.policy.most for slot, amount in workload.usage):
            raise BeyondBoundsError("more is used than the tables are proven for")
        return asked

    def _vet_sum(self, workload: Workload, before: int) -> None:
        """As `vet`, and for what all who are live ask for together, of which `before` is for this workload up to now."""
        if int(self.tables.state[c.ASKED_IN_ALL]) - before + self.vet(workload) > self.tables.state[c.MOST_IN_ALL]:
            raise BeyondBoundsError("live workloads ask for too much together")

    # --- reading --------------------------------------------------------------------------------------------------------

    def kept_of(self, name: str) -> KeptSaying:
        """What is kept of a live workload beside its row."""
        return self._kept_of(self.last_row(name))

    def _kept_of(self, row: int) -> KeptSaying:
        found = self.kept[row]
        assert found is not None
        return found

    def read(self, name: str) -> tuple[Workload, int]:
        """A live workload as it is now, and its row."""
        row = self.last_row(name)
        t, w, when = self.tables, self.tables.work[row].tolist(), self.tables.when[row].tolist()
        standing = when[c.SUBMITTED], when[c.NUMBER], w[c.QUEUE], when[c.PRIORITY], bool(w[c.PINNED])
        workload = workload_of(self._kept_of(row), name, *standing)
        workload.evictions, workload.started_by, workload.evicting = w[c.EVICTIONS], when[c.STARTED_BY], bool(w[c.EVICTING])
        workload.entered, workload.shape = when[c.ENTERED], self._shapes[w[c.SHAPE]]
        if when[c.ADMITTED] != c.NONE:
            workload.admitted, workload.usage = when[c.ADMITTED], self.request_of_row(row)
            workload.assignments = self.assignments(workload, row)
        elif w[c.WAIT] != c.NONE:
            self.read_deferral(workload, row)
            workload.parked = bool(t.state[c.IN_CYCLES] and t.wait[w[c.WAIT], c.IN_LINE] and is_parked(t, row))
        return workload, row

    def live_names(self) -> list[str]:
        """The names of all live workloads, in the order of their submissions."""
        submitted = self.tables.when[:, c.NUMBER]
        rows = np.flatnonzero(submitted)
        return [self.names[name] for name in self.tables.work[rows[np.argsort(submitted[rows])], c.NAME].tolist()]

    def in_order(self) -> list[Workload]:
        """All live workloads, in the order of their submissions."""
        return [self.read(name)[0] for name in self.live_names()]

    def is_in_line(self, name: str) -> bool:
        """Whether a workload stands in its queue's line."""
        at = self.tables.work[self.row(name), c.WAIT]
        return bool(at != c.NONE and self.tables.wait[at, c.IN_LINE])

    def usage(self, name: str) -> Request:
        """What a workload uses, by slot."""
        return self.request_of_row(self.row(name))

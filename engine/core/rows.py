"""What a live workload's row holds in lists: what it uses, the flavors it was given, how its last cycle ended."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..event_parts import Assignment, PlacedPods, as_json
from ..nodes.domains import DomainPath, of_one_topology
from ..outcome.decision import LastDeferral, SearchState
from ..outcome.nomination import Request
from ..policy_graph import PolicyGraph
from ..workload import NOWHERE, Scan, Workload
from . import columns as c
from .demands import Demands
from .kernels.cells import cell_before
from .kernels.heads import how_deferred
from .kernels.places import row_of, start
from .kernels.quota.holdings import charges_of, given_to
from .names import Names
from .outcomes import DEFERRALS, ENDS, deferral_reason
from .policy.policy_tables import PolicyTables
from .tables import BeyondBoundsError, Ints, Tables, longer

MOST_ASSIGNED = 4_096
"""How many assignments are remembered to be shared; then all are forgotten, and it begins anew."""


class Rows:
    """The lists of rows, and the names in them.

    `given` are the assignments of an outside system that say something else than their rows, such as flavors that the policy does not have,
    each with the fact that made it. `assigned` are those that rows say, by what stands there.
    """

    graph: PolicyGraph
    policy: PolicyTables
    demands: Demands
    tables: Tables
    names: Names
    given: dict[str, tuple[int, tuple[Assignment, ...]]]
    assigned: dict[tuple[object, ...], tuple[Assignment, ...]]

    def name_id(self, name: str) -> int:
        """The number of a name."""
        return self.numbered((name,))[0]

    def numbered(self, names: Sequence[str]) -> list[int]:
        """The numbers of names."""
        found, known = self.names.numbers(names), len(self.tables.name)
        if len(self.names) > known:
            grown = longer(self.tables.name, len(self.names) + 16)
            grown[known:] = c.NONE
            self.tables = self.tables._replace(name=grown)
        return found

    def row(self, name: str) -> int:
        """The row of a live workload; NONE where none has this name."""
        number = self.names.find(name)
        return c.NONE if number == c.NONE else int(row_of(self.tables, number))

    def are_live(self, names: Ints) -> NDArray[np.bool_]:
        """Whether names, given by their numbers, are those of live workloads."""
        t, rows = self.tables, self.tables.name[names, c.ROW]
        found: NDArray[np.bool_] = rows != c.NONE
        found[found] = (t.work[rows[found], c.NAME] == names[found]) & (t.when[rows[found], c.NUMBER] > 0)
        return found

    def last_row(self, name: str) -> int:
        """The row of a workload that is live, or that a kernel has just ended."""
        return int(self.tables.name[self.names.find(name), c.ROW])

    def cells(self, cell: int) -> Iterator[list[int]]:
        """The cells of a list, from its first one on."""
        while cell != c.NONE:
            values = self.tables.cell[cell].tolist()
            yield values
            cell = values[c.NEXT]

    def request(self, cell: int) -> Iterator[tuple[int, int]]:
        """What a list of cells charges, by slot."""
        for values in self.cells(cell):
            yield values[c.SLOT], values[c.AMOUNT]

    def request_of_row(self, row: int) -> Request:
        """What the workload of a row uses, by slot."""
        return tuple(self.request(int(charges_of(self.tables, row))))

    def write_usage(self, workload: Workload, row: int) -> None:
        """Let a workload run that is pending as yet: write what it uses, and the flavors that its pod sets were given."""
        t, charges, given = self.tables, c.NONE, c.NONE
        for slot, amount in reversed(workload.usage):
            charges = cell_before(t, charges)
            t.cell[charges, c.SLOT], t.cell[charges, c.AMOUNT] = slot, amount
        sets, known = [pod_set.name for pod_set in workload.fact.pod_sets], self.policy.resources
        flavors = {flavor.name: index for index, flavor in enumerate(self.graph.flavors)}
        for assignment in reversed(workload.assignments):
            for resource in reversed(sorted(assignment.flavors) or [""]):
                given = cell_before(t, given)
                cell = t.cell[given]
                cell[c.W_POD_SET], cell[c.W_COUNT] = sets.index(assignment.pod_set), assignment.count
                cell[c.W_RESOURCE] = known.index(resource) if resource in known else c.NONE
                cell[c.W_FLAVOR] = flavors.get(assignment.flavors.get(resource, ""), c.NONE)
        start(t, row, charges, given)
        t.work[row, c.PLACES_OF] = self._places_written(workload, sets)
        self.given.pop(workload.name, None)
        said = self.assignments(workload, row)
        if [as_json(each) for each in said] != [as_json(each) for each in workload.assignments]:
            self.given[workload.name] = workload.started_by, workload.assignments

    def _places_written(self, workload: Workload, sets: Sequence[str]) -> int:
        """The places of a running workload as a new list of cells, as far as the policy's flavors have them."""
        t, found = self.tables, c.NONE
        for assignment in reversed(workload.assignments):
            leaves, strays = self._leaves(assignment)
            for placed in reversed(assignment.places):
                if placed.domain in leaves:
                    found = cell_before(t, found)
                    t.cell[found, c.W_POD_SET], t.cell[found, c.W_LEAF] = sets.index(assignment.pod_set), leaves[placed.domain]
                    t.cell[found, c.W_PODS], t.cell[found, c.W_STRAY] = placed.pods, leaves[placed.domain] in strays
        return found

    def vet_places(self, workload: Workload) -> None:
        """Raise BeyondBoundsError where pods stand in a domain above nodes that their own flavor has no more, and another one has."""
        known = self.policy.places
        for given in (each for each in workload.assignments if each.places):
            own = [number for number, flavor in enumerate(self.graph.flavors) if flavor.name in given.flavors.values()]
            for flavor, other in ((mine, other) for mine in own for other in of_one_topology(known.trees, mine)):
                if any((flavor, each.domain) not in known.leaves and (other, each.domain) in known.leaves for each in given.places):
                    raise BeyondBoundsError("pods stand in a domain that their flavor has no more")

    def _leaves(self, assignment: Assignment) -> tuple[dict[DomainPath, int], set[int]]:
        """The row of each place that an assignment names, of the flavor that gives it places; and those that it has of another flavor, as
        the node belongs to its own no more."""
        indices, known = {flavor.name: index for index, flavor in enumerate(self.graph.flavors)}, self.policy.places
        named = [indices[name] for name in sorted(set(assignment.flavors.values())) if name in indices]
        giving = [flavor for flavor in named if known.trees[flavor] is not None]
        leaves: dict[DomainPath, int] = {}
        strays: set[int] = set()
        for place in (placed.domain for placed in assignment.places):
            for flavor in [*giving, *(other for each in giving for other in known.sharing(each))]:
                if (flavor, place) in known.leaves and place not in leaves:
                    leaves[place] = known.leaves[flavor, place]
                    strays |= set() if flavor in giving else {leaves[place]}
        return leaves, strays

    def assignments(self, workload: Workload, row: int) -> tuple[Assignment, ...]:
        """The flavors that a running workload was given."""
        given = self.given.get(workload.name)
        if given is not None and given[0] == workload.started_by:
            return given[1]
        sets, holding = tuple(pod_set.name for pod_set in workload.fact.pod_sets), int(self.tables.work[row, c.HOLDING])
        found = self.assigned.get((sets, holding))
        if found is None:
            if len(self.assigned) >= MOST_ASSIGNED:
                self.assigned.clear()
            found = self.assigned[sets, holding] = tuple(self._assigned(sets, int(given_to(self.tables, row))))
        places = int(self.tables.work[row, c.PLACES_OF])
        return found if places == c.NONE else tuple(self._with_places(found, sets, places))

    def _with_places(self, found: Sequence[Assignment], sets: Sequence[str], places: int) -> Iterator[Assignment]:
        """Assignments with the places that a list of cells says."""
        placed: dict[str, list[PlacedPods]] = {}
        for cell in self.cells(places):
            _, domain = self.policy.places.places[cell[c.W_LEAF]]
            placed.setdefault(sets[cell[c.W_POD_SET]], []).append(PlacedPods(domain=domain, pods=cell[c.W_PODS]))
        for each in found:
            yield each.model_copy(update={"places": tuple(placed.get(each.pod_set, ()))})

    def _assigned(self, sets: tuple[str, ...], given: int) -> Iterator[Assignment]:
        """The assignments that a list of cells says, in the order in which pod sets come in it."""
        flavors: dict[int, dict[str, str]] = {}
        counts: dict[int, int] = {}
        for cell in self.cells(given):
            pod_set, resource, flavor = cell[c.W_POD_SET], cell[c.W_RESOURCE], cell[c.W_FLAVOR]
            counts[pod_set] = cell[c.W_COUNT]
            known = flavors.setdefault(pod_set, {})
            if resource >= 0 and flavor >= 0:
                known[self.policy.resources[resource]] = self.graph.flavors[flavor].name
        for at in [*flavors]:
            yield Assignment(pod_set=sets[at], count=counts[at], flavors=flavors[at])

    def write_deferral(self, workload: Workload, row: int) -> None:
        """Write how the last cycle that looked at a workload ended."""
        t, last = self.tables, workload.deferred
        if last is None:
            return
        w = t.wait[t.work[row, c.WAIT]]
        w[c.DEFERRED] = DEFERRALS.index(last.reason, 1)
        w[c.DEFERRED_HOW] = how_deferred(ENDS.index(last.outcome), int(last.parked), int(last.preempting), int(last.alike))
        if workload.queue != NOWHERE and last.tried:
            demand = self.demands.at(int(t.work[row, c.SPEC]))
            for pod_set, resource, index in reversed(last.tried):
                w[c.TRIED] = cell_before(t, int(w[c.TRIED]))
                cell = t.cell[w[c.TRIED]]
                cell[c.W_POD_SET], cell[c.W_RESOURCE] = demand.pod_sets.index(pod_set), demand.resources.index(resource)
                cell[c.W_INDEX] = index
            w[c.TRIED] = cell_before(t, int(w[c.TRIED]))
            when = (0, 0) if workload.scan is None else (workload.scan.cycle, workload.scan.generation)
            t.cell[w[c.TRIED], c.SCAN_CYCLE], t.cell[w[c.TRIED], c.SCAN_GENERATION] = when
        for name in reversed(last.victims):
            w[c.SHOWN_VICTIMS] = cell_before(t, int(w[c.SHOWN_VICTIMS]))
            t.cell[w[c.SHOWN_VICTIMS], c.W_NAME] = self.name_id(name)

    def read_deferral(self, workload: Workload, row: int) -> None:
        """Read how the last cycle that looked at a workload ended, if one did."""
        w: list[int] = self.tables.wait[self.tables.work[row, c.WAIT]].tolist()
        if not w[c.DEFERRED]:
            return
        how, ended = w[c.DEFERRED_HOW], ENDS[w[c.DEFERRED_HOW] >> 3]
        assert ended
        tried: SearchState = ()
        if w[c.TRIED] != c.NONE:
            demand, (scan, *cells) = self.demands.at(int(self.tables.work[row, c.SPEC])), self.cells(w[c.TRIED])
            tried = tuple((demand.pod_sets[cell[c.W_POD_SET]], demand.resources[cell[c.W_RESOURCE]], cell[c.W_INDEX]) for cell in cells)
            workload.scan = Scan(tried, scan[c.SCAN_CYCLE], scan[c.SCAN_GENERATION])
        victims = tuple(self.names[cell[c.W_NAME]] for cell in self.cells(w[c.SHOWN_VICTIMS]))
        parked, preempting, alike = bool(how & 4), bool(how & 2), bool(how & 1)
        workload.deferred = LastDeferral(deferral_reason(w[c.DEFERRED]), ended, parked, preempting, alike, tried, victims)

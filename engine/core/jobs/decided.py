"""What decisions decide, as numbers that can be compared, whatever policy decided: read from the tape, all decisions at once.

The tape is nested. All rows walk it in step: each keeps the place where it reads, and those that have nothing more to read stand still.
"""

from collections.abc import Iterator

import numpy as np

from ...outcome.history import NOTHING, Columns, Decided, NumberOf
from .. import columns as c
from ..store import TableStore
from ..tables import Ints


class _Content:
    """Rows of numbers, each filled from the left."""

    def __init__(self, rows: int) -> None:
        self.numbers = np.full((rows, 8), NOTHING, np.int64)
        self._filled = np.zeros(rows, np.int64)

    def put(self, rows: Ints, numbers: Ints) -> None:
        """Append one number to each of some rows."""
        if len(rows) and self._filled[rows].max() == self.numbers.shape[1]:
            self.numbers = np.concatenate([self.numbers, np.full_like(self.numbers, NOTHING)], axis=1)
        self.numbers[rows, self._filled[rows]] = numbers
        self._filled[rows] += 1


def _in_step(counts: Ints) -> Iterator[tuple[int, Ints]]:
    """0, 1, and so on, each with the places that count beyond it."""
    for number in range(int(counts.max(initial=0))):
        yield number, np.flatnonzero(counts > number)


def what_was_decided(store: TableStore, events: Ints, tape: Ints, number: NumberOf) -> Decided:
    """See `gpol.engine.cores.PlayedChunk`."""
    rows = np.flatnonzero(events[:, c.E_KIND] > c.ADVANCING)
    return _Reader(store, events[rows], tape, number).read(rows)


class _Reader:
    """Reads the decisions of a chunk."""

    def __init__(self, store: TableStore, decisions: Columns, tape: Ints, number: NumberOf) -> None:
        graph = store.graph
        self._decisions, self._tape, self._spec = decisions, tape, store.tables.spec
        self._job_names = store.tables.job[:, c.J_NAME]
        self._queues = np.array([number(("queue", node.name)) for node in graph.nodes])
        self._flavors = np.array([number(("flavor", flavor.name)) for flavor in graph.flavors])
        self._slots = np.array([number(("slot", *graph.slot_name(slot))) for slot in range(len(graph.slots))])
        self._resources = np.array([number(("resource", resource)) for resource in store.policy.resources])
        self._content = _Content(len(decisions))

    def read(self, rows: Columns) -> Decided:
        kinds = self._decisions[:, c.E_KIND]
        self._admissions(np.flatnonzero(kinds == c.ADMITTING))
        self._evictions(np.flatnonzero(kinds == c.EVICTING_ONE))
        self._replacements(np.flatnonzero(kinds == c.REPLACING))
        self._deferrals(np.flatnonzero(kinds == c.DEFERRING))
        queues = np.where(kinds == c.REJECTING, c.NONE, self._queues[self._decisions[:, c.E_QUEUE]])
        return Decided(rows, queues, self._content.numbers)

    def _block(self, some: Ints) -> Ints:
        found: Ints = self._decisions[some, c.E_BLOCK]
        return found

    def _admissions(self, some: Ints) -> None:
        tape, at, count = self._tape, self._decisions[some, c.E_CHARGES], self._decisions[some, c.E_CHARGED]
        self._content.put(some, count)
        for number, now in _in_step(count):
            charge = at[now] + number * c.CHARGE_WIDTH
            self._content.put(some[now], self._slots[tape[charge + c.CHARGE_SLOT]])
            self._content.put(some[now], tape[charge + c.CHARGE_AMOUNT])
            self._content.put(some[now], np.maximum(0, tape[charge + c.CHARGE_BORROWED]))
        self._walk_flavors(some, tells_places=True)

    def _evictions(self, some: Ints) -> None:
        tape, block = self._tape, self._block(some)
        name, at = self._job_names[self._decisions[some, c.E_JOB]], tape[block + c.B_VICTIMS]
        others = np.flatnonzero(tape[at] != name)
        while len(others):
            at[others] += 7 + 3 * tape[at[others] + 6]
            at[others] += 6 + 2 * tape[at[others] + 5]
            others = others[tape[at[others]] != name[others]]
        self._content.put(some, tape[block + c.B_NAME])
        self._content.put(some, tape[at + 2])
        at += 7 + 3 * tape[at + 6]
        self._charges(some, at + 6, tape[at + 5])

    def _replacements(self, some: Ints) -> None:
        tape, block = self._tape, self._block(some)
        self._content.put(some, tape[block + c.B_NAME])
        self._charges(some, tape[block + c.B_HOLDS], tape[block + c.B_HELD])

    def _charges(self, some: Ints, at: Ints, count: Ints) -> None:
        for number, now in _in_step(count):
            self._content.put(some[now], self._slots[self._tape[at[now] + 2 * number]])
            self._content.put(some[now], self._tape[at[now] + 2 * number + 1])

    def _deferrals(self, some: Ints) -> None:
        tape, block = self._tape, self._block(some)
        for column in (c.B_PARKED, c.B_PREEMPTING, c.B_ALIKE):
            self._content.put(some, (tape[block + column] != 0).astype(np.int64))
        searched = (tape[block + c.B_TRIED] != 0) & (tape[block + c.B_ENDED] != c.ENDS_TURNED_AWAY)
        self._walk_flavors(some[searched], tells_places=False)

    def _walk_flavors(self, some: Ints, tells_places: bool) -> None:
        """Say which flavors pod sets are given, and how many of their pods; or how far the searches came that are remembered."""
        tape, block, spec = self._tape, self._block(some), self._spec
        groups, at, resources = tape[block + c.FLAVORS_AT], block + c.FLAVORS_AT + 1, spec[tape[block + c.B_SPEC] + c.S_LIST]
        for _, now in _in_step(groups):
            first, members = at[now] + 1, tape[at[now]]
            reads = first + members
            searches, reads = tape[reads + 1], reads + 2
            for _, searched in _in_step(searches):
                reads = self._pass_search(reads, searched)
            for number, member in _in_step(members):
                count, chosen = tape[reads[member]], tape[reads[member] + 1]
                who, pod_set = some[now[member]], tape[first[member] + number]
                reads[member] += 2
                if tells_places:
                    for told in (pod_set, count, chosen):
                        self._content.put(who, told)
                for _, given in _in_step(chosen):
                    place = reads[member[given]]
                    resource = self._resources[spec[resources[now[member[given]]] + c.RESOURCE_WIDTH * tape[place] + c.R_ID]]
                    if tells_places:
                        self._content.put(who[given], resource)
                        self._content.put(who[given], self._flavors[tape[place + 1]])
                    else:
                        tried = tape[place + 4] >= 0
                        for told in (pod_set[given], resource, tape[place + 4]):
                            self._content.put(who[given][tried], told[tried])
                    reads[member[given]] += 5
            at[now] = reads

    def _pass_search(self, reads: Ints, searched: Ints) -> Ints:
        """Where those read on who come behind a search."""
        tape, tries = self._tape, self._tape[reads[searched] + c.Q_ATTEMPTS]
        reads[searched] += c.SEARCH_WIDTH
        for _, tried in _in_step(tries):
            attempt = searched[tried]
            reads[attempt] += c.ATTEMPT_WIDTH + c.OBSTACLE_WIDTH * tape[reads[attempt] + c.T_OBSTACLES]
        return reads

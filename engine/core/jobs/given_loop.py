"""Given facts, such as recorded ones, played by the kernel a stretch at a time; decisions are handed back as the bytes of a journal."""

import numpy as np

from ...cores import GivenFacts, PlayedFacts
from ...facts import WorkloadSubmitted
from ...intake.changes import submitted
from ...intake.routing import route
from ...intake.sayings import MOST_SAYINGS, KeptSaying, Saying, kept
from ...workload import Workload
from .. import columns as c
from ..store import TableStore
from ..tables import Ints, longer, zeros
from .before import Before
from .job_rows import JobRows, may_share
from .kernel_loop import KernelLoop
from .payloads import MOST_FORMS, Payloads
from .story import Story

_ENOUGH, _MOST_WITH_WAKES = 2**62, 100_000
"""After how many events a go ends. Without wakes that is more than there are: the given facts alone are the end. With wakes nobody knows
how many there are, and the rest is for the next go."""


class GivenLoop(KernelLoop):
    """Plays given facts through tables. The row of a job is the number of its name: in one go a name is submitted once at most.

    The next wake must be known where the policy decides at once. `facts` were played so far: with each of them tables may grow.
    """

    def __init__(self, store: TableStore) -> None:
        super().__init__(store)
        self.facts = 0
        self._shares = may_share(store.graph) and not store.tells_apart
        self._payloads = Payloads(store)
        self._alike: dict[object, int] = {}
        self._said: dict[object, Saying] = {}
        self._rows = zeros(64, c.JOB_WIDTH)
        """A row for submissions that are alike but for their names and times."""

    def play(self, given: GivenFacts, with_wakes: bool = False) -> PlayedFacts:
        """Play facts up to the first that is not for the kernel: one that is refused, or whose name is used again."""
        store = self.store
        first, before, in_cycles = int(store.tables.state[c.SEQ]) + 1, Before.of(store), store.tables.state[c.IN_CYCLES]
        facts, places = self._take_in(given)
        self.begin(store.tables.job, facts, True)
        store.tables.state[c.PLAYS_WAKES], store.tables.state[c.EVICTING_WAKES] = with_wakes, 0
        _, events, tape = self.run(_MOST_WITH_WAKES if with_wakes else _ENOUGH, lambda job: self._kept(given, places[store.names[job]]))

        def workload(name: str, at: int) -> Workload:
            place = places.get(name)
            return before.workload(name) if place is None else self._submitted(given.submission(place))

        played = int(store.tables.state[c.NEXT_JOB])
        self.facts += played
        if len(events) and not in_cycles:
            store.tables.state[c.WAKE_IS_KNOWN] = 1
        decisions = self._payloads.decisions(Story(store, events, tape, first, workload))
        at = np.flatnonzero(events[:, c.E_KIND] <= c.ADVANCING)
        return PlayedFacts(played, at.tolist(), decisions, events, tape, store.names)

    def _submitted(self, fact: WorkloadSubmitted) -> Workload:
        """The workload of a submission, in its queue."""
        workload = submitted(fact, 0)
        route(self.store.graph, workload)
        return workload

    def _kept(self, given: GivenFacts, place: int) -> KeptSaying:
        """What the store keeps of a submission while it is live."""
        alike = given.alike[place]
        if alike is not None and alike in self._said:
            return self._said[alike]
        fact = given.submission(place)
        known = kept(self.store.sayings.of(submitted(fact, 0)), fact.time, fact.created, fact.uid)
        if alike is not None and isinstance(known, Saying):
            if len(self._said) >= MOST_SAYINGS:
                self._said.clear()
            self._said[alike] = known
        return known

    # --- rows -------------------------------------------------------------------------------------------------------------

    def _take_in(self, given: GivenFacts) -> tuple[Ints, dict[str, int]]:
        """Facts as rows, up to the first that is too late or whose name is used again; and where each name is submitted. Makes the rows of
        jobs."""
        store, places, end = self.store, dict[str, int](), len(given.kinds)
        if max(given.times, default=0) > c.MOST_TIME:
            end = next(place for place, moment in enumerate(given.times) if moment > c.MOST_TIME)
        named, rows = np.array([bool(name) for name in given.workloads[:end]], bool), zeros(end, c.GIVEN_WIDTH)
        rows[:, c.GIVEN_KIND], rows[:, c.GIVEN_TIME], rows[:, c.GIVEN_JOB] = given.kinds[:end], given.times[:end], c.NONE
        rows[named, c.GIVEN_JOB] = store.numbered([name for name in given.workloads[:end] if name])
        submissions = np.flatnonzero(rows[:, c.GIVEN_KIND] == c.SUBMITTING)
        are_live = store.are_live(rows[submissions, c.GIVEN_JOB])
        for place, is_live in zip(submissions.tolist(), are_live.tolist(), strict=True):
            if is_live or given.workloads[place] in places:
                rows = rows[:place]
                break
            places[given.workloads[place]] = place
        self._make_jobs(given, sorted(places[name] for name in sorted(places)), rows)
        return rows, places

    def _make_jobs(self, given: GivenFacts, places: list[int], rows: Ints) -> None:
        """The rows of jobs that are submitted at these places, and of those that are live."""
        jobs = self.store.tables.job
        if len(jobs) < len(self.store.names):
            jobs = longer(jobs, len(self.store.names))
            self.store.tables = self.store.tables._replace(job=jobs)
        at, ids = np.array(places, np.int64), rows[places, c.GIVEN_JOB]
        if self._shares:
            kinds = self._kinds(given, places)  # may replace the rows by longer ones
            jobs[ids] = self._rows[kinds]
            jobs[ids, c.J_TIME] = jobs[ids, c.J_SUBMITTED] = rows[at, c.GIVEN_TIME]
        unlike = [place for place in places if given.alike[place] is None or not self._shares]
        if unlike:
            jobs[rows[unlike, c.GIVEN_JOB]] = self._new_rows(given, unlike)
        jobs[:, c.J_NAME] = numbers = np.arange(len(jobs))
        self.store.tables.name[: len(numbers), c.JOB] = numbers[: len(self.store.tables.name)]
        if self.store.tables.state[c.IN_CYCLES]:
            self._rank([*self.store.live_names(), *(given.workloads[place] for place in places)])

    def _kinds(self, given: GivenFacts, places: list[int]) -> list[int]:
        """The rows of submissions that are alike to others; 0 of one that is alike to none."""
        alike = given.alike
        if len(self._alike) >= MOST_FORMS:
            self._alike.clear()
        new, begin = list[int](), len(self._alike) + 1
        for place in places:
            if alike[place] is not None and alike[place] not in self._alike:
                self._alike[alike[place]] = begin + len(new)
                new.append(place)
        if new:
            self._rows = longer(self._rows, begin + len(new)) if begin + len(new) > len(self._rows) else self._rows
            self._rows[begin : begin + len(new)] = self._new_rows(given, new)
        return [self._alike.get(alike[place], 0) for place in places]

    def _new_rows(self, given: GivenFacts, places: list[int]) -> Ints:
        """Rows of submissions, each looked at by itself."""
        facts = [given.submission(place) for place in places]
        return JobRows.of(self.store, facts, [0] * len(facts)).table

    def _rank(self, names: list[str]) -> None:
        """Number names in their order."""
        ranked = self.store.numbered(sorted(names))
        self.store.tables.job[ranked, c.J_RANK] = range(len(ranked))

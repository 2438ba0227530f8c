"""What given facts ask for, as rows that are added as they come, those of who was live before in front. See `JobAsks` for the tables."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from ....engine.facts import WorkloadSubmitted
from ....engine.intake.routing import matching_queues
from ....engine.outcome.history import SUBMITTING, Columns
from ....engine.policy_graph import PolicyGraph
from ...drive.given_facts import PlayedStretch
from ..measure import MOST_REMEMBERED
from . import count_columns as c
from .job_asks import PodSetAsk, ask_tables, asks_of


class GivenAsks:
    """Submissions in their order: each has its own row in `job`, also where its name is used again; `last` has the newest of each name.

    That is enough, as in a stretch no name is used again that is live when the stretch begins, or comes in it. `numbers` has the number of
    each queue by its node, and that of no queue by NONE.
    """

    def __init__(self, graph: PolicyGraph, numbers: Mapping[int, int], live: Iterable[WorkloadSubmitted]) -> None:
        self._graph, self._numbers = graph, numbers
        self.facts, self.last = list[WorkloadSubmitted](), dict[str, int]()
        self._kinds, self._alike = dict[tuple[PodSetAsk, ...], int](), dict[Hashable, tuple[int, int]]()
        self.gpus = list[int]()
        self.job = np.zeros((0, c.JOB_WIDTH), np.int64)
        self.kind, self.ask = ask_tables([], graph)
        self._add([(fact, None) for fact in live])

    @property
    def names(self) -> int:
        """How many rows there are: each stands for a name."""
        return len(self.job)

    def take(self, stretch: PlayedStretch) -> Columns:
        """Add the submissions of a stretch; return the row of each of its events (NONE: it is of no workload)."""
        kinds, given = stretch.events[stretch.fact_rows, c.E_KIND], stretch.given
        places: list[int] = stretch.places[kinds == SUBMITTING].tolist()
        self._add([(given.submission(place), given.alike[place]) for place in places])
        return np.array([c.NONE if name is None else self.last[name] for name in stretch.workloads], np.int64)

    def _add(self, submissions: Sequence[tuple[WorkloadSubmitted, Hashable]]) -> None:
        first, kinds = len(self.job), len(self._kinds)
        self.job = np.concatenate([self.job, np.zeros((len(submissions), c.JOB_WIDTH), np.int64)])
        for row, (fact, alike) in enumerate(submissions, first):
            self.job[row, [c.JOB_NAME, c.JOB_QUEUE, c.JOB_KIND]] = row, *self._asked(fact, alike)
            self.last[fact.workload] = row
        self.facts += [fact for fact, _ in submissions]
        kind, ask = ask_tables(list(self._kinds)[kinds:], self._graph)
        kind[:, c.FIRST_ASK] += len(self.ask)
        self.kind, self.ask = np.concatenate([self.kind, kind]), np.concatenate([self.ask, ask])

    def _asked(self, fact: WorkloadSubmitted, alike: Hashable) -> tuple[int, int]:
        """The numbers of the queue of a submission, and of what it asks for; worked out once for all that are alike."""
        found = None if alike is None else self._alike.get(alike)
        if found is None:
            nodes, asks = matching_queues(self._graph, fact), asks_of(fact)
            kind = self._kinds.setdefault(asks, len(self._kinds))
            if kind == len(self.gpus):
                self.gpus.append(sum(gpus for gpus, _ in asks))
            found = self._numbers[nodes[0] if len(nodes) == 1 else c.NONE], kind
            if alike is not None:
                if len(self._alike) >= MOST_REMEMBERED:
                    self._alike.clear()
                self._alike[alike] = found
        return found

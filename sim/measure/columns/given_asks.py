"""What given facts ask for, as rows that are added as they come, those of who was live before in front. See `JobAsks` for the tables."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice

import numpy as np

from ....engine.facts import WorkloadSubmitted
from ....engine.intake.routing import only_queue
from ....engine.outcome.history import Columns
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
        given = stretch.given
        self._add([(given.submission(place), given.alike[place]) for place in stretch.submitted])
        return np.array([c.NONE if name is None else self.last[name] for name in stretch.workloads], np.int64)

    def _add(self, submissions: Sequence[tuple[WorkloadSubmitted, Hashable]]) -> None:
        first, added = len(self.job), np.zeros((len(submissions), c.JOB_WIDTH), np.int64)
        for place, (fact, alike) in enumerate(submissions):
            added[place, c.JOB_QUEUE], added[place, c.JOB_KIND] = self._asked(fact, alike)
            self.last[fact.workload] = first + place
        added[:, c.JOB_NAME] = range(first, first + len(added))
        self.job = np.concatenate([self.job, added])
        self.facts += [fact for fact, _ in submissions]
        if new := list(islice(self._kinds, len(self.gpus), None)):
            kind, ask = ask_tables(new, self._graph)
            kind[:, c.FIRST_ASK] += len(self.ask)
            self.kind, self.ask = np.concatenate([self.kind, kind]), np.concatenate([self.ask, ask])
            self.gpus += [sum(gpus for gpus, _ in asks) for asks in new]

    def _asked(self, fact: WorkloadSubmitted, alike: Hashable) -> tuple[int, int]:
        """The numbers of the queue of a submission, and of what it asks for; worked out once for all that are alike."""
        found = None if alike is None else self._alike.get(alike)
        if found is None:
            found = self._numbers[only_queue(self._graph, fact)], self._kinds.setdefault(asks_of(fact), len(self._kinds))
            if alike is not None:
                if len(self._alike) >= MOST_REMEMBERED:
                    self._alike.clear()
                self._alike[alike] = found
        return found

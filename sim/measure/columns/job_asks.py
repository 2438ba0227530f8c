"""What jobs ask for, as rows: worked out once for all whose submissions say the same. See `WorkloadAccount.asks`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....engine.facts import WorkloadSubmitted
from ....engine.intake.jobs import KIND, NAME, Jobs
from ....engine.intake.routing import only_queue
from ....engine.outcome.history import Columns
from ....engine.policy_graph import PolicyGraph
from ..gpu_amounts import thousandths
from . import count_columns as c

PodSetAsk = tuple[int, tuple[str, ...]]
"""The GPUs that a pod set asks for, and the flavors that will do (none: any)."""


@dataclass(frozen=True, slots=True)
class JobAsks:
    """Jobs in the order of their submissions: a row for each in `job`, with the number of its queue, of its kind and of its name.

    Jobs of a kind have pod sets that ask for the same; `kind` says where these begin in `ask`, which leaves out those that ask for no GPUs.
    `gpus` has what each kind asks for in all, however large; `names` is how many different names there are.
    """

    facts: Sequence[WorkloadSubmitted]
    gpus: tuple[int, ...]
    names: int
    job: Columns
    kind: Columns
    ask: Columns

    @classmethod
    def of(cls, graph: PolicyGraph, numbers: Mapping[int, int], facts: Sequence[WorkloadSubmitted]) -> "JobAsks":
        """The rows of jobs; `numbers` has the number of each queue by its node, and that of no queue by NONE."""
        jobs = Jobs.of(facts)
        kinds: dict[tuple[PodSetAsk, ...], int] = {}
        asked, queue_of = list[int](), list[int]()
        for fact in jobs.kinds:
            asked.append(kinds.setdefault(asks_of(fact), len(kinds)))
            queue_of.append(numbers[only_queue(graph, fact)])
        job, kind = np.zeros((len(jobs), c.JOB_WIDTH), np.int64), jobs.columns[:, KIND]
        job[:, c.JOB_NAME] = jobs.columns[:, NAME]
        job[:, c.JOB_KIND], job[:, c.JOB_QUEUE] = np.array(asked, np.int64)[kind], np.array(queue_of, np.int64)[kind]
        kind_table, ask_table = ask_tables(list(kinds), graph)
        return cls(facts, tuple(sum(gpus for gpus, _ in asks) for asks in kinds), len(jobs.names), job, kind_table, ask_table)


def asks_of(fact: WorkloadSubmitted) -> tuple[PodSetAsk, ...]:
    """What the pod sets of a submission ask for."""
    return tuple([(sum(thousandths(*asked) for asked in each.requests.items()) * each.count, each.flavors) for each in fact.pod_sets])


def ask_tables(kinds: Sequence[tuple[PodSetAsk, ...]], graph: PolicyGraph) -> tuple[Columns, Columns]:
    """The rows of kinds and of their pod sets. An amount beyond all bounds fits nowhere, as one at the bound does."""
    flavors = [flavor.name for flavor in graph.flavors]
    kind, asks = np.zeros((len(kinds), c.KIND_WIDTH), np.int64), list[list[int]]()
    for number, pod_sets in enumerate(kinds):
        some = [(gpus, names) for gpus, names in pod_sets if gpus]
        kind[number] = len(asks), len(some), min(c.MOST, sum(gpus for gpus, _ in some))
        asks += [[min(c.MOST, gpus), *(not names or flavor in names for flavor in flavors)] for gpus, names in some]
    return kind, np.array(asks, np.int64).reshape(len(asks), c.MAY_USE + len(flavors))

"""Jobs played under one of several policies: its figures and, where it did not come to an end, why, and who takes turns."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from ...engine.cores import Core
from ...engine.errors import FactError
from ...engine.event_parts import RuleRef
from ...engine.facts import NodeAdded
from ...journal.errors import JournalError
from ...journal.journal import Journal
from ...journal.records import Progress
from ..drive.driver import OnEvict
from ..drive.job import Job, JobSource
from ..drive.player import EndlessError, Player
from ..drive.policy import Policy
from ..drive.simulation import Simulation
from ..measure.columns.history_measure import HistoryMeasure
from ..measure.figures import History
from ..measure.gpu_amounts import thousandths
from ..measure.measure import NO_QUEUE
from ..measure.never_ran import never_admitted
from ..measure.series import Series
from .policy_record import EvictionPath, JobOutcome, PolicyRecord


class Turn(NamedTuple):
    """An eviction that repeats itself: who goes for whom, of which queues, by which line of the policy, and when it did so last.

    `times` is how often the workload has been evicted since anything but time happened, for whomever.
    """

    workload: str
    queue: str
    beneficiary: str
    beneficiary_queue: str
    rule: RuleRef | None
    time: int
    times: int


@dataclass(frozen=True, slots=True)
class EarlyEnd:
    """Why a history ends before its jobs do, at a moment.

    `loop`: the policy does not come to rest, as from `since` on nothing but time made workloads take `turns`; `remedy` would end that.
    `calendar`: a job would run beyond all calendars. `impossible`: a job cannot be submitted under this policy.
    """

    kind: Literal["loop", "calendar", "impossible"]
    time: int
    message: str
    since: int = 0
    turns: tuple[Turn, ...] = ()
    remedy: str = ""


@dataclass(slots=True)
class JobCounts:
    """Counts of jobs: how many `ran`, were evicted, and `never` can run as things stand at the end; the most evictions of one.

    `in_turns` are evictions of jobs that time alone had evicted before, without anything else in between.
    `lined_up` were not rejected, and `wait` is all their time in line, in microseconds: every wait, also those that have not ended.
    `lost` is GPU-time that evictions made vain: thousandths of a GPU times microseconds.
    """

    ran: int = 0
    evicted: int = 0
    most_evictions: int = 0
    in_turns: int = 0
    never: int = 0
    lined_up: int = 0
    wait: int = 0
    lost: int = 0

    def add(self, job: JobOutcome) -> None:
        """Count a job."""
        self.ran += job.ran
        self.evicted += job.evictions > 0
        self.most_evictions = max(self.most_evictions, job.evictions)
        self.lost += job.lost
        if job.state != "rejected":
            self.lined_up += 1
            self.wait += job.wait

    @property
    def mean_wait(self) -> Fraction:
        """How long a job was in line, in all, on average; 0 where there is none."""
        return Fraction(self.wait, self.lined_up) if self.lined_up else Fraction(0)


@dataclass(frozen=True, slots=True)
class PlayedPolicy:
    """A policy and the history that it made, up to the `early` end where there is one.

    `own_queues` are those that the policy has, `queues` counts by queue, `total` those of all. `used` and `existed` are GPU-time, in
    thousandths of a GPU times microseconds, `exists` the GPUs at the end, in thousandths. `journal` has all events.
    """

    name: str
    policy: Policy
    history: History
    own_queues: frozenset[str]
    queues: dict[str, JobCounts]
    total: JobCounts
    jobs: dict[str, JobOutcome]
    evictions: Counter[EvictionPath]
    series: Series
    existed: int
    exists: int
    journal: Journal
    early: EarlyEnd | None

    @property
    def used(self) -> int:
        """GPU-time that was used: thousandths of a GPU times microseconds."""
        return self.history.total.used_area

    def has_queue(self, name: str) -> bool:
        """Whether the policy has a queue; under every policy workloads may be of none."""
        return name == NO_QUEUE or name in self.own_queues

    def counts_of(self, queue: str) -> JobCounts:
        """The counts of a queue; zeros where it had no jobs."""
        return self.queues.get(queue, JobCounts())

    def eviction_paths(self) -> list[tuple[EvictionPath, int]]:
        """Whose workloads were evicted for whose and how often, the most frequent first."""
        return sorted(self.evictions.items(), key=lambda each: (-each[1], each[0]))


@dataclass(frozen=True, slots=True)
class FailedPolicy:
    """A policy under which gpol itself failed: there are no figures that could be trusted."""

    name: str
    policy: Policy
    message: str


def play_policy(
    name: str,
    policy: Policy,
    jobs: Sequence[Job],
    source: JobSource,
    on_evict: OnEvict,
    core: Core,
    journal: Journal,
    *,
    nodes: Iterable[NodeAdded] = (),
    progress: Progress | None = None,
) -> PlayedPolicy | FailedPolicy:
    """Play jobs under a policy as `gpol simulate` does, by a core to which nothing has happened, into an empty journal.

    What is wrong under this policy is part of what is returned: others are played all the same. Raises JournalError.
    """
    record = PolicyRecord(on_evict, policy.graph)
    figures, player, early = HistoryMeasure(record), Player(core, journal), None
    simulation = Simulation(policy, jobs, player, on_evict, source, nodes)
    try:
        try:
            with closing(simulation.chunks()) as chunks:
                for played in chunks:
                    figures.take(played, policy.graph)
                    if progress is not None:
                        progress(core.view.submissions)
        except (EndlessError, FactError) as error:
            early = _early_end(error, core, record)
        measure = figures.measure()
        measure.check_accounts()
        record.run.rest()
        queues, total = _counts(record, _never(core, measure.queues))
        return PlayedPolicy(
            name=name,
            policy=policy,
            history=History.of(measure),
            own_queues=frozenset(policy.graph.nodes[queue.node].name for queue in policy.graph.queues),
            queues=queues,
            total=total,
            jobs=record.jobs,
            evictions=record.evictions,
            series=record.run.series,
            existed=_gpus(record.run.series.existed),
            exists=_gpus(measure.capacity),
            journal=journal,
            early=early,
        )
    except JournalError:
        raise
    except Exception as error:  # a defect under one policy must not end the others
        return FailedPolicy(name, policy, f"{type(error).__name__}: {error}")


def _early_end(error: EndlessError | FactError, core: Core, record: PolicyRecord) -> EarlyEnd:
    """What ended a history before its jobs did."""
    if isinstance(error, FactError):
        return EarlyEnd("impossible", core.time, str(error))
    if not error.evictions:
        return EarlyEnd("calendar", core.time, str(error))
    turns = tuple(
        Turn(
            each.workload,
            each.queue,
            each.beneficiary or "",
            _queue(core, each.beneficiary),
            each.why.rule,
            each.time,
            record.turns[each.workload],
        )
        for each in error.evictions
    )
    return EarlyEnd("loop", core.time, str(error), record.since, turns, error.remedy)


def _queue(core: Core, workload: str | None) -> str:
    found, graph = core.view.workload(workload) if workload is not None else None, core.graph
    return graph.nodes[found.queue].name if found is not None and graph is not None and found.queue >= 0 else ""


def _never(core: Core, queues: Collection[str]) -> Counter[str]:
    """How many jobs of each queue can never run as things stand."""
    found = Counter[str]()
    for group in never_admitted(core):
        if group.never:
            found[group.queue if group.queue in queues else NO_QUEUE] += group.count
    return found


def _counts(record: PolicyRecord, never: Counter[str]) -> tuple[dict[str, JobCounts], JobCounts]:
    queues, total = dict[str, JobCounts](), JobCounts(never=never.total(), in_turns=record.in_turns.total())
    for job in record.jobs.values():
        total.add(job)
        if job.queue not in queues:
            queues[job.queue] = JobCounts(never=never[job.queue], in_turns=record.in_turns[job.queue])
        queues[job.queue].add(job)
    return queues, total


def _gpus(amounts: dict[tuple[str, str], int]) -> int:
    """The sum of amounts by flavor and resource, in thousandths of a GPU."""
    return sum(thousandths(resource, amount) for (_, resource), amount in amounts.items())

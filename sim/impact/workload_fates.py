"""The fate of each workload in two histories, and the workloads that are affected most. Exact integers."""

from dataclasses import dataclass, field
from heapq import heappush, heappushpop

from ...engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced, WorkloadResized
from ...engine.facts import Fact, WorkloadAdopted, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted, WorkloadUpdated
from ..drive.driver import OnEvict
from ..drive.run_lengths import Submission
from ..measure.gpu_amounts import charged, requested, thousandths
from ..measure.measure import NO_QUEUE

MOST_AFFECTED = 10
"""How many workloads are reported one by one."""


@dataclass(slots=True)
class Fate:
    """A workload in one history. `wait`, `lost` and `got` are sums up to now: microseconds in line, GPU-time (thousandths of a GPU times
    microseconds) of runs that an eviction made vain, and of the others.

    `longest` is the longest time in line, which began with the batch that ends at event `longest_from` and ended with `admission`
    (None: it has not ended); `eviction` is the one that cost most.
    """

    submission: Submission
    queue: str
    gpus: int
    since: int
    state: str = "waiting"
    stopping: bool = False
    wait: int = 0
    lost: int = 0
    got: int = 0
    evictions: int = 0
    waits_from: int = 0
    longest: int = -1
    longest_from: int = 0
    costliest: int = -1
    admission: WorkloadAdmitted | None = None
    eviction: WorkloadEvicted | None = None
    rejection: WorkloadRejected | None = None
    usage: int = 0
    ran: int = 0

    def held(self, now: int) -> int:
        """The GPU time of its run up to a moment: before it was last resized, and since then."""
        return self.ran + self.usage * (now - self.since)

    def waited(self, now: int) -> int:
        """Its time in line up to a moment, that which has not ended included."""
        return self.wait + (now - self.since if self.state == "waiting" else 0)


@dataclass(slots=True)
class Fates:
    """Follows the workloads of one history; those that are over are kept apart until they are collected."""

    on_evict: OnEvict
    live: dict[str, Fate] = field(default_factory=dict)
    over: dict[Submission, Fate] = field(default_factory=dict)
    now: int = 0

    def take(self, fact: Fact, decisions: list[AnyDecision], last: int, submission: int) -> None:
        """Follow a batch that ends at event `last`; `submission` counts those of the name that a submission has."""
        self.now = fact.time
        touched = [getattr(fact, "workload", "")]
        self._fact(fact, submission)
        for decision in decisions:
            self._decision(decision)
            touched.append(decision.workload)
        for name in touched:
            fate = self.live.get(name)
            if fate is not None and fate.state == "waiting" and fate.since == fact.time:
                fate.waits_from = last

    def _fact(self, fact: Fact, submission: int) -> None:
        match fact:
            case WorkloadSubmitted():
                gpus = requested(fact.pod_sets)
                self.live[fact.workload] = Fate((fact.workload, submission), fact.queue or NO_QUEUE, gpus, fact.time)
            case WorkloadFinished():
                self._end(fact.workload, "finished")
            case WorkloadCancelled():
                self._end(fact.workload, "cancelled")
            case WorkloadAdopted():
                fate = self.live[fact.workload]
                fate.wait += max(0, fact.since - fate.since)
                usage = sum(thousandths(resource, amount) for each in fact.placements for resource, amount in each.usage.items())
                fate.state, fate.queue, fate.since, fate.usage, fate.stopping = "running", fact.queue, fact.since, usage, fact.evicting
            case WorkloadUpdated() if fact.requeued is not None and self.live[fact.workload].stopping:
                self._stop(self.live[fact.workload], fact.time)
            case _:
                return

    def _decision(self, decision: AnyDecision) -> None:
        fate = self.live[decision.workload]
        match decision:
            case WorkloadAdmitted():
                wait = decision.time - fate.since
                if wait > fate.longest:
                    fate.longest, fate.longest_from, fate.admission = wait, fate.waits_from, decision
                fate.wait += wait
                fate.state, fate.queue, fate.since, fate.usage = "running", decision.queue, decision.time, charged(decision.usage)
            case WorkloadEvicted():
                fate.evictions += 1
                if (cost := fate.held(decision.time)) > fate.costliest:
                    fate.costliest, fate.eviction = cost, decision
                self._stop(fate, decision.time)
            case WorkloadResized():
                fate.ran += fate.usage * (decision.time - fate.since)
                fate.since, fate.usage = decision.time, charged(decision.usage)
            case WorkloadRejected():
                fate.rejection = decision
                self._end(decision.workload, "rejected")
            case WorkloadReplaced():
                self._end(decision.workload, "replaced")
            case _:
                return

    def _stop(self, fate: Fate, time: int) -> None:
        if self.on_evict == "restart":
            fate.lost += fate.held(time)
        else:
            fate.got += fate.held(time)
        fate.state, fate.since, fate.usage, fate.ran, fate.stopping = "waiting", time, 0, 0, False

    def _end(self, workload: str, how: str) -> None:
        fate = self.live.pop(workload)
        self._settle(fate)
        fate.state = how
        self.over[fate.submission] = fate

    def rest(self) -> None:
        """At the end of the history: those that still wait have waited up to now."""
        for fate in self.live.values():
            self._settle(fate)
            self.over[fate.submission] = fate

    def _settle(self, fate: Fate) -> None:
        """Count what goes on up to now: its time in line, or its run."""
        length = self.now - fate.since
        if fate.state == "running":
            fate.got, fate.ran = fate.got + fate.held(self.now), 0
        elif length > fate.longest:
            fate.longest, fate.longest_from, fate.admission = length, fate.waits_from, None
        fate.wait, fate.since = fate.waited(self.now), self.now


@dataclass(frozen=True, slots=True)
class Affected:
    """A workload whose fate differs between the recorded history and the other one.

    A workload that still waits at the end of a history waits until `until`, the later of both ends. So a longer history is not a worse one.
    """

    before: Fate
    after: Fate
    until: int = 0

    @property
    def extra_wait(self) -> int:
        """How much longer it waits, in microseconds; negative if it waits less."""
        return self.after.waited(self.until) - self.before.waited(self.until)

    @property
    def refused(self) -> int:
        """1 if it is rejected only in the other history, -1 if only in the recorded one, else 0."""
        return (self.after.state == "rejected") - (self.before.state == "rejected")

    @property
    def cost(self) -> int:
        """GPU-time that it waits for, and that evictions take from it, beyond the recorded: thousandths of a GPU times microseconds.

        Of one that is rejected and was not, what it got. Of one that no longer is, nobody knows what it would have got: 0.
        """
        if self.refused:
            return self.before.got if self.refused > 0 else 0
        return self.extra_wait * self.after.gpus + self.after.lost - self.before.lost

    @property
    def harm(self) -> int:
        """Positive if its fate is worse, negative if better. Rejection counts first, then the cost, then the wait."""
        return self.refused or self.cost or self.extra_wait

    @property
    def rank(self) -> tuple[int, int, str, int]:
        """The order: most GPU-time gained or lost first, then most change of wait, then name and submission."""
        name, submission = self.after.submission
        return (-abs(self.cost), -abs(self.extra_wait), name, submission)


class _Backwards:
    """The rank in reverse, so that the first entry of a heap is the least affected workload."""

    __slots__ = ("rank",)

    def __init__(self, rank: tuple[int, int, str, int]) -> None:
        self.rank = rank

    def __lt__(self, other: "_Backwards") -> bool:
        return self.rank > other.rank


@dataclass(slots=True)
class FateComparison:
    """Two histories of the same workloads. A workload that is over in both is compared and let go."""

    before: Fates
    after: Fates
    worse: int = 0
    better: int = 0
    compared: int = 0
    _most: list[tuple[_Backwards, Affected]] = field(default_factory=list)

    def collect(self, until: int = 0) -> None:
        """Compare the workloads that are over in both histories; those that still wait, at the end of both, wait `until` then."""
        fewer, more = sorted((self.before.over, self.after.over), key=len)
        for submission in [submission for submission in fewer if submission in more]:
            self._compare(Affected(self.before.over.pop(submission), self.after.over.pop(submission), until))

    def finish(self) -> tuple[Affected, ...]:
        """Compare all that is left, and return who is affected most; workloads that were submitted in one history only are left out."""
        self.before.rest()
        self.after.rest()
        self.collect(max(self.before.now, self.after.now))
        return tuple(affected for _, affected in sorted(self._most, key=lambda each: each[1].rank))

    def _compare(self, affected: Affected) -> None:
        self.compared += 1
        harm = affected.harm
        self.worse += harm > 0
        self.better += harm < 0
        if harm == 0 and affected.before.state == affected.after.state:
            return
        entry = (_Backwards(affected.rank), affected)
        if len(self._most) < MOST_AFFECTED:
            heappush(self._most, entry)
        else:
            heappushpop(self._most, entry)

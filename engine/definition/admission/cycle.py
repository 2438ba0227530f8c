"""One cycle: every queue puts up one workload, all are judged against what there is now, then each in turn takes its place.

Kueue: pkg/scheduler/scheduler.go, schedule and processEntry. Whoever is admitted or waits for its victims is charged for the rest of the
cycle, so that nobody behind it takes the same room; nobody is evicted for two workloads in one cycle.

A workload that takes the place of another one is charged on top of it. Kueue takes the old one's room away as if it were a victim, and so
may give it to others a second time within the cycle; here it is free for the new one alone.
"""

from dataclasses import dataclass, field
from enum import Enum

from ..workload import Workload
from .candidates import Cluster, Target, as_request
from .levels import Amounts
from .nominate import Nomination, Nominator
from .plan import WAITING, Mode
from .turns import in_turn


class End(Enum):
    """What came of a head in a cycle."""

    ADMITTED = "admitted"
    PREEMPTING = "preempting"
    NO_FIT = "no fit"
    NO_CANDIDATES = "no candidates"
    OVERTAKEN = "overtaken"
    OVERLAPPING = "overlapping"
    DEFERRED = "deferred"


@dataclass(slots=True)
class Outcome:
    """What came of a head: the end, the plan it was judged by, whom it evicts, and the reason token where it is not admitted."""

    nomination: Nomination
    end: End
    reason: str = ""

    @property
    def workload(self) -> Workload:
        """The head."""
        return self.nomination.workload

    @property
    def targets(self) -> list[Target]:
        """Whom it evicts."""
        return self.nomination.targets if self.end is End.PREEMPTING else []


@dataclass(slots=True)
class Cycle:
    """One cycle over the heads of the queues. The tree is as before afterwards."""

    cluster: Cluster
    height: list[int]
    evicted: list[Workload] = field(default_factory=list)
    replaced: list[Workload] = field(default_factory=list)
    _charged: list[tuple[int, Amounts]] = field(default_factory=list)

    def run(self, heads: list[tuple[Workload, dict[tuple[str, str], int]]]) -> list[Outcome]:
        """Judge heads, each with where its search for flavors goes on; the outcomes are in the order of their turns."""
        nominator = Nominator(self.cluster, self.height)
        nominations = [nominator.nominate(workload, tried) for workload, tried in heads]
        outcomes = [self._process(nominator, nomination) for nomination in in_turn(self.cluster, nominations)]
        for queue, amounts in self._charged:
            self.cluster.tree.remove(queue, as_request(amounts))
        for workload in self.replaced:
            self.cluster.give_back(workload)
            self.cluster.running[workload.queue][workload.name] = workload
        return outcomes

    def _process(self, nominator: Nominator, nomination: Nomination) -> Outcome:
        if self._overlaps(nomination):
            nomination = self._again(nominator, nomination)
        plan, workload = nomination.plan, nomination.workload
        if plan.mode is Mode.NO_FIT:
            return Outcome(nomination, End.NO_FIT, plan.reason)
        if plan.mode is Mode.PREEMPT and not nomination.targets:
            if self.cluster.preemption(workload.queue).reclaims != "any":
                self._charge(workload.queue, to_reserve(self.cluster, nomination))
            return Outcome(nomination, End.NO_CANDIDATES, WAITING)
        if self._overlaps(nomination):
            return Outcome(nomination, End.OVERLAPPING, WAITING)
        going = [*self.evicted, *(target.workload for target in nomination.targets)]
        with self.cluster.without(going):
            fits = self.cluster.fits(workload.queue, plan.usage)
        if not fits:
            return Outcome(nomination, End.OVERTAKEN, WAITING)
        if plan.mode is Mode.FIT:
            self._replace(nomination.replaced)
            self._charge(workload.queue, plan.whole)
            return Outcome(nomination, End.ADMITTED)
        self._charge(workload.queue, plan.usage)
        self.evicted += [target.workload for target in nomination.targets]
        end = End.PREEMPTING if plan.mode is Mode.PREEMPT else End.DEFERRED
        return Outcome(nomination, end, "WaitingForPreemptedWorkloads")

    def _overlaps(self, nomination: Nomination) -> bool:
        """Whether somebody whom it would evict, or whose place it would take, is gone already."""
        wanted = [target.workload for target in nomination.targets]
        if nomination.replaced is not None:
            wanted.append(nomination.replaced)
        return any(workload is other for workload in wanted for other in (*self.evicted, *self.replaced))

    def _again(self, nominator: Nominator, nomination: Nomination) -> Nomination:
        """Judge a workload again, on its flavors, as if those who go for others were gone; if it fits then, it waits for them."""
        gone = list(self.evicted)
        for workload in gone:
            del self.cluster.running[workload.queue][workload.name]
        with self.cluster.without(gone):
            again = nominator.nominate(nomination.workload, {}, nomination.plan.nominated())
        for workload in gone:
            self.cluster.running[workload.queue][workload.name] = workload
        if again.plan.mode is Mode.FIT:
            again.plan = again.plan.deferred()
        return again

    def _replace(self, workload: Workload | None) -> None:
        """Take a workload out whose place another one takes now."""
        if workload is not None:
            self.cluster.take(workload)
            del self.cluster.running[workload.queue][workload.name]
            self.replaced.append(workload)

    def _charge(self, queue: int, amounts: Amounts) -> None:
        self.cluster.tree.add(queue, as_request(amounts))
        self._charged.append((queue, amounts))


def to_reserve(cluster: Cluster, nomination: Nomination) -> Amounts:
    """What a workload that needs victims and has none keeps others from taking: what it may have within its queue's limits.

    Kueue: quotaResourcesToReserve.
    """
    queue, plan = nomination.workload.queue, nomination.plan
    if plan.mode is not Mode.PREEMPT:
        return plan.usage
    reserved = {}
    for slot in sorted(plan.usage):
        quota, used, amount = cluster.graph.nodes[queue].quotas[slot], cluster.tree.usage[queue][slot], plan.usage[slot]
        if plan.level == 0:
            reserved[slot] = max(0, min(amount, quota.nominal - used))
        elif quota.borrowing_limit is None:
            reserved[slot] = amount
        else:
            reserved[slot] = min(amount, quota.nominal + quota.borrowing_limit - used)
    return reserved

"""Fair victims: of the node with the greatest share, level by level, as long as a strategy says that its share stays fair.

Kueue: pkg/scheduler/preemption/fairsharing and fair_strategy.go. The workload is charged while victims are looked for, so that shares
are those it would leave behind. Where cohorts tie Kueue takes the one that its map yields last; here it is the last by name.
"""

from fractions import Fraction

from ...event_parts import EvictionKind
from ...outcome.nomination import ComparedShares, Share, Victim
from ...policy_settings import Strategy
from ...workload import Workload, victim
from ..state.trial import Trial
from .candidates import Precedence, candidates, precedence
from .rules import Found, Preemptor, fill_back

Left = dict[int, list[Workload]]
"""The candidates that are left, by queue, best victim first."""


def passes(strategy: Strategy, preemptor_new: Share, victim_old: Share, victim_new: Share) -> bool:
    """Whether a strategy lets a victim go, by the shares of the two sides below the cohort where their paths meet."""
    return preemptor_new <= victim_new if strategy == "final-share" else preemptor_new < victim_old


def search(trial: Trial, preemptor: Preemptor) -> Found:
    """The victims without whom a workload fits; none where there are not enough. The trial is as before afterwards."""
    return _Search(trial, preemptor).run()


class _Search:
    """One search. `taken` are those who are out, `retry` those whom the first strategy refused."""

    def __init__(self, trial: Trial, preemptor: Preemptor) -> None:
        self.trial, self.tree, self.shares, self.preemptor = trial, trial.tree, trial.shares, preemptor
        self.queue, self.found = preemptor.workload.queue, Found()
        self.taken: list[Victim] = []
        self.retry: list[Workload] = []

    def run(self) -> Found:
        first, *second = self.trial.graph.settings.strategies
        left = self._candidates()
        with self.trial.undone():
            with self.trial.charged(self.queue, self.preemptor.request):
                enough = self._first(first, left) or any(self._second(strategy) for strategy in second)
            if enough:
                self.found.succeed(fill_back(self.trial, self.taken, self._fits, self.found), self.queue)
        return self.found

    def _candidates(self) -> Left:
        """Those of the own queue, and of the queues of its tree that borrow."""
        policy = self.trial.policy
        queues = [each.node for each in policy.graph.queues if policy.root(each.node) == policy.root(self.queue)]
        giving = [queue for queue in queues if queue == self.queue or self.tree.borrows(queue, self.preemptor.slots)]
        return {queue: candidates(self.trial, queue, self.preemptor) for queue in giving}

    def _fits(self) -> bool:
        """Whether the workload fits without those who are out; the workload itself must not be charged."""
        return self.preemptor.fits(self.trial)

    def _take(self, candidate: Workload, kind: EvictionKind, shares: ComparedShares | None = None) -> bool:
        """Take a victim out, and say whether that is enough."""
        self.trial.take(candidate)
        self.found.note(candidate.name, "taken", shares)
        self.taken.append(victim(candidate, kind, shares=shares))
        with self.trial.uncharged(self.queue, self.preemptor.request):
            return self._fits()

    # --- strategies -------------------------------------------------------------------------------------------------

    def _first(self, strategy: Strategy, left: Left) -> bool:
        """Take victims by the first strategy, wherever the share is greatest; say whether they are enough."""
        within = not self.tree.borrows(self.queue, self.preemptor.slots)
        while (target := next_queue(self.trial, self.queue, left)) is not None:
            if target == self.queue or within:
                if self._take(left[target].pop(0), "in-queue" if target == self.queue else "reclaim"):
                    return True
            elif self._try(strategy, left[target]):
                return True
        return False

    def _try(self, strategy: Strategy, victims: list[Workload]) -> bool:
        """Take the first victim of a queue whose going is fair; those before it are left for the second strategy."""
        while victims:
            candidate = victims.pop(0)
            compared = self._compared(candidate)
            if passes(strategy, *compared):
                return self._take(candidate, "fair-sharing", compared)
            self.found.note(candidate.name, "share", compared)
            self.retry.append(candidate)
        return False

    def _second(self, strategy: Strategy) -> bool:
        """Take at most one victim of each queue that is left, by the second strategy."""
        left: Left = {}
        for candidate in self.retry:
            left.setdefault(candidate.queue, []).append(candidate)
        while (target := next_queue(self.trial, self.queue, left)) is not None:
            candidate = left[target][0]
            compared = self._compared(candidate)
            if not passes(strategy, *compared):
                self.found.note(candidate.name, "share", compared)
            elif self._take(candidate, "fair-sharing", compared):
                return True
            left[target] = []
        return False

    def _compared(self, candidate: Workload) -> ComparedShares:
        mine, theirs = self.tree.sides(self.queue, candidate.queue)
        return self.shares.of(mine), self.shares.of(theirs), self.shares.after(theirs, candidate.queue, candidate.usage)


_Standing = tuple[int, Fraction, bool, Precedence | int, int]
"""Where a node stands among the children of its cohort, the first to go down to is the least; the node itself comes last."""


def next_queue(trial: Trial, queue: int, left: Left) -> int | None:
    """The queue to take the next victim of for a workload of `queue`: down from the root, each time to the child with the greatest share.

    None where nobody is left.
    """
    root = trial.policy.root(queue)
    if root == queue:
        return root if left.get(root) else None
    return _descend(trial, queue, left, root)


def _descend(trial: Trial, queue: int, left: Left, cohort: int) -> int | None:
    children = (_standing(trial, queue, left, child) for child in trial.graph.nodes[cohort].children)
    for standing in sorted(each for each in children if each is not None):
        child = standing[-1]
        target = child if trial.graph.nodes[child].is_queue else _descend(trial, queue, left, child)
        if target is not None:
            return target
    return None


def _standing(trial: Trial, queue: int, left: Left, child: int) -> _Standing | None:
    """Where a child stands, the greatest share first; None where it has nothing to give.

    A cohort wins a tie with a queue, and the last by name a tie of cohorts; of queues it is the one whose best victim goes first.
    """
    is_queue = trial.graph.nodes[child].is_queue
    if is_queue and not left.get(child):
        return None
    if not trial.tree.borrows(child, range(len(trial.graph.slots))) and child not in trial.tree.paths[queue]:
        return None
    level, share = trial.shares.of(child)
    return -level, -share, is_queue, precedence(left[child][0], queue) if is_queue else -child, child

"""Fair victims: of the node with the greatest share, level by level, as long as a strategy says that its share stays fair.

Kueue: pkg/scheduler/preemption/fairsharing and fair_strategy.go. The workload is charged while victims are looked for, so that shares
are those it would leave behind. Where cohorts tie Kueue takes the one that its map yields last; here it is the last by name.
"""

from ...graph import Strategy
from ..shares import Share
from ..workload import Workload
from .candidates import Cluster, Kind, Target, Wish, as_request, spare


def passes(strategy: Strategy, preemptor_new: Share, victim_old: Share, victim_new: Share) -> bool:
    """Whether a strategy lets a victim go, by the shares of the two sides below the cohort where their paths meet."""
    return preemptor_new <= victim_new if strategy == "final-share" else preemptor_new < victim_old


def targets(cluster: Cluster, wish: Wish) -> list[Target]:
    """The victims without whom a workload fits; none where there are not enough. The tree is as before afterwards."""
    cycles = cluster.graph.settings.cycles
    assert cycles is not None
    found = _Search(cluster, wish)
    if not found.left:
        return []
    request = as_request(wish.amounts)
    cluster.tree.add(wish.workload.queue, request)
    fits = found.first(cycles.strategies[0])
    if not fits and len(cycles.strategies) > 1:
        fits = found.second(cycles.strategies[1])
    cluster.tree.remove(wish.workload.queue, request)
    kept = spare(cluster, wish, found.taken, found.has_room) if fits else found.taken
    for target in kept:
        cluster.give_back(target.workload)
    return kept if fits else []


class _Search:
    """One search. `left` are the candidates by queue, best victim first; `taken` those who are out."""

    def __init__(self, cluster: Cluster, wish: Wish) -> None:
        self.cluster, self.tree, self.shares, self.wish = cluster, cluster.tree, cluster.policy.shares, wish
        self.queue = wish.workload.queue
        self.taken: list[Target] = []
        self.retry: list[Workload] = []
        self.left = self._candidates()

    def _candidates(self) -> dict[int, list[Workload]]:
        own = self.cluster.candidates(self.queue, self.wish)
        found = {self.queue: own} if own else {}
        for queue in self.cluster.graph.queues:
            if queue.node != self.queue and self._in_tree(queue.node) and self.tree.borrows(queue.node, self.wish.slots):
                victims = self.cluster.candidates(queue.node, self.wish)
                if victims:
                    found[queue.node] = victims
        return found

    def _in_tree(self, node: int) -> bool:
        return self.tree.parent[self.queue] >= 0 and self.tree.paths[node][-1] == self.tree.paths[self.queue][-1]

    def has_room(self) -> bool:
        """Whether the workload fits without those who are out; the workload itself must not be charged."""
        return self.cluster.fits(self.queue, self.wish.amounts)

    def _take(self, victim: Workload, kind: Kind, operands: tuple[tuple[str, str], ...] = ()) -> bool:
        """Take a victim out, and say whether that is enough."""
        self.cluster.take(victim)
        self.wish.note(victim, "taken", operands)
        self.taken.append(Target(victim, kind, operands))
        request = as_request(self.wish.amounts)
        self.tree.remove(self.queue, request)
        fits = self.has_room()
        self.tree.add(self.queue, request)
        return fits

    # --- strategies -------------------------------------------------------------------------------------------------

    def first(self, strategy: Strategy) -> bool:
        """Take victims by the first strategy, wherever the share is greatest; say whether they are enough."""
        within = not self.tree.borrows(self.queue, self.wish.slots)
        walk = Walk(self.cluster, self.wish, self.left)
        while (target := walk.next()) is not None:
            victims = walk.left[target]
            if target == self.queue:
                if self._take(victims.pop(0), "in-queue"):
                    return True
                continue
            if within:
                if self._take(victims.pop(0), "reclaim"):
                    return True
                continue
            if self._try(strategy, target, victims):
                return True
        return False

    def _try(self, strategy: Strategy, target: int, victims: list[Workload]) -> bool:
        """Take the first victim of a queue whose going is fair; those before it are left for the second strategy."""
        mine, theirs = self.tree.sides(self.queue, target)
        new, old = self.shares.of(mine), self.shares.of(theirs)
        while victims:
            victim = victims.pop(0)
            after = self.shares.after(theirs, target, victim.usage)
            if passes(strategy, new, old, after):
                return self._take(victim, "fair-sharing", self._compared(new, old, after))
            self.wish.note(victim, "share", self._compared(new, old, after))
            self.retry.append(victim)
        return False

    def second(self, strategy: Strategy) -> bool:
        """Take at most one victim of each queue that is left, by the second strategy."""
        left: dict[int, list[Workload]] = {}
        for victim in self.retry:
            left.setdefault(victim.queue, []).append(victim)
        walk = Walk(self.cluster, self.wish, left)
        while (target := walk.next()) is not None:
            mine, theirs = self.tree.sides(self.queue, target)
            new, old = self.shares.of(mine), self.shares.of(theirs)
            victim = walk.left[target].pop(0)
            after = self.shares.after(theirs, target, victim.usage)
            if not passes(strategy, new, old, after):
                self.wish.note(victim, "share", self._compared(new, old, after))
            elif self._take(victim, "fair-sharing", self._compared(new, old, after)):
                return True
            walk.drop(target)
        return False

    def _compared(self, new: Share, old: Share, after: Share) -> tuple[tuple[str, str], ...]:
        return (
            ("preemptor's share, with it running", self.shares.show(new)),
            ("victim's share, before", self.shares.show(old)),
            ("victim's share, without it", self.shares.show(after)),
        )


class Walk:
    """Where the next victim is looked for: again and again from the root down to the queue whose share is the greatest.

    `left` are the candidates by queue, best victim first; whoever walks takes them out, or drops the queue, before the next step.
    """

    def __init__(self, cluster: Cluster, wish: Wish, left: dict[int, list[Workload]]) -> None:
        self.cluster, self.tree, self.shares, self.wish, self.left = cluster, cluster.tree, cluster.policy.shares, wish, left
        self.queue = wish.workload.queue
        self._path = self.tree.paths[self.queue]
        self._pruned: set[int] = set()
        """What never has a victim again."""

    def next(self) -> int | None:
        """The queue to take the next victim of; None where nobody is left."""
        root = self._path[-1]
        if root == self.queue:
            return root if self.left.get(root) and root not in self._pruned else None
        while root not in self._pruned:
            target = self._descend(root)
            if target is not None:
                return target
        return None

    def drop(self, queue: int) -> None:
        """Take no victim of a queue any more."""
        self._pruned.add(queue)

    def _descend(self, cohort: int) -> int | None:
        """Go down to the child with the greatest share; prune what has nothing to give. A cohort wins a tie with a queue."""
        queue: tuple[Share, int] | None = None
        below: tuple[Share, int] | None = None
        for child in self.cluster.graph.nodes[cohort].children:
            if child in self._pruned:
                continue
            share, borrows = self.shares.of(child), self.tree.borrows(child, range(len(self.cluster.graph.slots)))
            if self.cluster.graph.nodes[child].queue >= 0:
                if (not borrows and child != self.queue) or not self.left.get(child):
                    self._pruned.add(child)
                elif queue is None or share > queue[0] or (share == queue[0] and self._goes_first(child, queue[1])):
                    queue = (share, child)
            elif not borrows and child not in self._path:
                self._pruned.add(child)
            elif below is None or share >= below[0]:
                below = (share, child)
        if queue is None and below is None:
            self._pruned.add(cohort)
            return None
        if below is not None and (queue is None or below[0] >= queue[0]):
            return self._descend(below[1])
        return queue[1] if queue is not None else None

    def _goes_first(self, left: int, right: int) -> bool:
        """Of two queues with equal shares, whether the first one's best victim goes before the other's."""
        heads = [self.left[left][0], self.left[right][0]]
        return self.cluster.ordered(heads, self.wish)[0] is heads[0]

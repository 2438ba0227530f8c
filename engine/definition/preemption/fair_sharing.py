"""Fair victims: of the node with the greatest share, level by level, as long as a strategy says that its share stays fair.

Kueue: pkg/scheduler/preemption/fairsharing and fair_strategy.go. The workload is charged while victims are looked for, so that shares
are those it would leave behind. Where cohorts tie Kueue takes the one that its map yields last; here it is the last by name.
"""

from fractions import Fraction
from heapq import heapify, heappop, heapreplace

from ...graph import Strategy
from ..shares import Share
from ..workload import Workload
from .candidates import Cluster, Kind, Precedence, Target, Wish, as_request, precedence, spare


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
            self._refuse(victim, new, old, after)
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
                self._refuse(victim, new, old, after)
            elif self._take(victim, "fair-sharing", self._compared(new, old, after)):
                return True
            walk.drop(target)
        return False

    def _refuse(self, victim: Workload, new: Share, old: Share, after: Share) -> None:
        if self.wish.notes is not None:  # shares as text are the dearest part of a search
            self.wish.note(victim, "share", self._compared(new, old, after))

    def _compared(self, new: Share, old: Share, after: Share) -> tuple[tuple[str, str], ...]:
        return (
            ("preemptor's share, with it running", self.shares.show(new)),
            ("victim's share, before", self.shares.show(old)),
            ("victim's share, without it", self.shares.show(after)),
        )


_Place = tuple[int, Fraction, bool, Precedence | int, int]
"""Where a node stands among the children of its cohort, the first to go down to is the least; the node itself comes last."""


class Walk:
    """Where the next victim is looked for: again and again from the root down to the queue whose share is the greatest.

    `left` are the candidates by queue, best victim first; whoever walks takes them out, or drops the queue, before the next step, and
    changes nothing else. So whatever is not on the way down to that queue stands where it stood, and each cohort keeps its children in
    a heap of which only the first can have changed since.
    """

    def __init__(self, cluster: Cluster, wish: Wish, left: dict[int, list[Workload]]) -> None:
        self.cluster, self.tree, self.shares, self.wish, self.left = cluster, cluster.tree, cluster.policy.shares, wish, left
        self.queue = wish.workload.queue
        self._path = self.tree.paths[self.queue]
        self._slots = range(len(cluster.graph.slots))
        self._children: dict[int, list[_Place]] = {}
        self._dropped: set[int] = set()

    def next(self) -> int | None:
        """The queue to take the next victim of; None where nobody is left."""
        root = self._path[-1]
        if root == self.queue:
            return root if self.left.get(root) and root not in self._dropped else None
        return self._descend(root)

    def drop(self, queue: int) -> None:
        """Take no victim of a queue any more."""
        self._dropped.add(queue)

    def _descend(self, cohort: int) -> int | None:
        """Go down to the child with the greatest share; what has nothing to give leaves for good."""
        children = self._children.get(cohort)
        if children is None:
            children = self._children[cohort] = self._placed(cohort)
        while children:
            first = children[0][-1]
            place = self._place(first)
            if place is None:
                heappop(children)
            elif place != children[0]:
                heapreplace(children, place)
            else:
                target = first if self.cluster.graph.nodes[first].is_queue else self._descend(first)
                if target is not None:
                    return target
                heappop(children)
        return None

    def _placed(self, cohort: int) -> list[_Place]:
        places = [place for child in self.cluster.graph.nodes[cohort].children if (place := self._place(child)) is not None]
        heapify(places)
        return places

    def _place(self, child: int) -> _Place | None:
        """Where a child stands, the greatest share first; None where it has nothing to give.

        A cohort wins a tie with a queue, and the last by name a tie of cohorts; of queues it is the one whose best victim goes first.
        """
        queue = self.cluster.graph.nodes[child].is_queue
        if queue and (child in self._dropped or not self.left.get(child)):
            return None
        if not self.tree.borrows(child, self._slots) and child not in self._path:
            return None
        level, share = self.shares.of(child)
        tie = precedence(self.left[child][0], self.queue) if queue else -child
        return -level, -share, queue, tie, child

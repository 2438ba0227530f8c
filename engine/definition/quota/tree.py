"""The quota tree: who owns, borrows and lends how much, at every level.

Each node has, per slot, a nominal quota, a borrowing limit and a lending limit. What a node does not lend is its local
quota, invisible to its parent; use beyond it is carried by the parent. The formulas are Kueue's
(pkg/cache/scheduler/resource_node.go), with one root above all: it owns whatever exists and no node below owns.
Recursion is per slot; its depth is bounded by the nesting limit of the language.
"""

from collections.abc import Iterable

from ...event_parts import LimitKind
from ...outcome.decision import BindingLimit
from ...outcome.nomination import Request
from ...policy_graph import PolicyGraph, sides


class QuotaTree:
    """Quotas of a policy and the use of them. Arrays are indexed [node][slot]; amounts are in the smallest unit.

    `usage` is what a node carries: for a queue all use, for a cohort only what its children could not keep local.
    `total` is all use below a node. `capacity` is what exists, by slot. `paths` lists the nodes from each node up to the
    root, both included; `height` is how far each node is from its furthest leaf. In a policy that decides in cycles every node
    below the root is the root of a tree of its own (`forest`), and what exists is what nodes own.
    """

    def __init__(self, graph: PolicyGraph, capacity: list[int]) -> None:
        slots = range(len(graph.slots))
        self.nodes = graph.nodes
        self.forest = graph.settings.forest
        self.paths = [graph.path(node) for node in range(len(graph.nodes))]
        self.parent = [path[1] if len(path) > 1 else -1 for path in self.paths]
        self.height = [0 for _ in graph.nodes]
        for path in self.paths:
            for above, node in enumerate(path):
                self.height[node] = max(self.height[node], above)
        self.capacity = list(capacity)
        self.usage = [[0 for _ in slots] for _ in graph.nodes]
        self.total = [[0 for _ in slots] for _ in graph.nodes]
        self.subtree = [[0 for _ in slots] for _ in graph.nodes]
        self.local = [[0 for _ in slots] for _ in graph.nodes]
        self.potential = [[0 for _ in slots] for _ in graph.nodes]
        for slot in slots:
            self._sum_up(0, slot)
            self._reach_down(0, slot)

    def _sum_up(self, node: int, slot: int) -> int:
        """Set what each subtree owns and keeps local; return what `node`'s subtree owns beyond that, for its parent."""
        quota = self.nodes[node].quotas[slot]
        below = sum(self._sum_up(child, slot) for child in self.nodes[node].children)
        owned = below + (quota.nominal if node else self._unowned(slot))
        local = 0 if quota.lending_limit is None else max(0, owned - quota.lending_limit)
        self.subtree[node][slot], self.local[node][slot] = owned, local
        return owned - local

    def _unowned(self, slot: int) -> int:
        """What exists and nobody owns; negative while less exists than is owned."""
        if self.forest:
            return 0
        return self.capacity[slot] - sum(node.quotas[slot].nominal for node in self.nodes[1:])

    def _reach_down(self, node: int, slot: int) -> None:
        """Set what each node could use at most, were everything else idle (potentialAvailable)."""
        reach = self.subtree[node][slot]
        if self.parent[node] >= 0:
            reach = self.local[node][slot] + self.potential[self.parent[node]][slot]
            limit = self.nodes[node].quotas[slot].borrowing_limit
            if limit is not None:
                reach = min(reach, self.subtree[node][slot] + limit)
        self.potential[node][slot] = reach
        for child in self.nodes[node].children:
            self._reach_down(child, slot)

    # --- use ----------------------------------------------------------------------------------------------------

    def add(self, queue: int, request: Request) -> None:
        """Charge a queue's node for a request; each ancestor carries what the one below cannot keep local."""
        for slot, amount in request:
            node, carried = queue, amount
            while node >= 0:
                self.total[node][slot] += amount
                if carried:
                    kept = self.local_available(node, slot)
                    self.usage[node][slot] += carried
                    carried = max(0, carried - kept)
                node = self.parent[node]

    def remove(self, queue: int, request: Request) -> None:
        """Take a charge back; what ancestors carried for it goes first. Undoes `add` of the same request in any order."""
        for slot, amount in request:
            node, carried = queue, amount
            while node >= 0:
                self.total[node][slot] -= amount
                if carried:
                    beyond_local = self.usage[node][slot] - self.local[node][slot]
                    self.usage[node][slot] -= carried
                    carried = min(carried, max(0, beyond_local))
                node = self.parent[node]

    def local_available(self, node: int, slot: int) -> int:
        """What is left of the quota that a node never lends."""
        return max(0, self.local[node][slot] - self.usage[node][slot])

    def available(self, node: int, slot: int) -> int:
        """What a node may still use by quota. May be negative: an over-admitted ancestor is a debt of all below it."""
        return self._by_quota(node, slot)[0]

    def _by_quota(self, node: int, slot: int) -> tuple[int, int, LimitKind]:
        """What a node may still use by quota, and the limit that decides it: its node and its kind."""
        parent = self.parent[node]
        if parent < 0:
            return self.subtree[node][slot] - self.usage[node][slot], node, "owned"
        above, at, kind = self._by_quota(parent, slot)
        kept, allowed = self.local_available(node, slot), self._may_take(node, slot)
        return (kept + above, at, kind) if allowed is None or above < allowed else (kept + allowed, node, "borrowing")

    def _may_take(self, node: int, slot: int) -> int | None:
        """What a node may still take from its parent: what it owns there, and its borrowing limit. None: no limit."""
        limit = self.nodes[node].quotas[slot].borrowing_limit
        if limit is None:
            return None
        lent_to_parent = self.subtree[node][slot] - self.local[node][slot]
        used_in_parent = max(0, self.usage[node][slot] - self.local[node][slot])
        return lent_to_parent - used_in_parent + limit

    def free(self, slot: int) -> int:
        """What exists and is not in use; negative while less exists than is used."""
        return self.capacity[slot] - self.total[0][slot]

    def room(self, queue: int, slot: int) -> int:
        """What a queue may still use, by quota and by what exists; may be negative."""
        available = self.available(queue, slot)
        return available if self.forest else min(available, self.free(slot))

    def most(self, queue: int, slot: int) -> int:
        """What a queue could use at most, were everything else idle."""
        return self.potential[queue][slot] if self.forest else min(self.potential[queue][slot], self.capacity[slot])

    def fits(self, queue: int, request: Request) -> bool:
        """Whether a queue may take a request now, by quota and by what exists."""
        return all(amount <= self.room(queue, slot) for slot, amount in request)

    def short(self, queue: int, request: Request) -> list[int]:
        """The slots of a request that a queue cannot take now."""
        return [slot for slot, amount in request if not self.fits(queue, ((slot, amount),))]

    def binding(self, queue: int, slot: int, asked: int) -> BindingLimit:
        """The limit that decides how much of a slot a queue may still take; what exists, where that is no more than quota allows."""
        available, node, kind = self._by_quota(queue, slot)
        if not self.forest and self.free(slot) <= max(0, available):
            available, node, kind = self.free(slot), 0, "capacity"
        return BindingLimit(node, kind, slot, asked, max(0, available))

    def binding_at_most(self, queue: int, slot: int, asked: int) -> BindingLimit:
        """The limit on what a queue could use of a slot were everything else idle."""
        most = max(0, self.most(queue, slot))
        if not self.forest and self.capacity[slot] <= self.potential[queue][slot]:
            return BindingLimit(0, "capacity", slot, asked, most)
        for node in self.paths[queue][:-1]:
            limit = self.nodes[node].quotas[slot].borrowing_limit
            if limit is not None and self.potential[node][slot] == self.subtree[node][slot] + limit:
                return BindingLimit(node, "borrowing", slot, asked, most)
        return BindingLimit(self.paths[queue][-1], "owned", slot, asked, most)

    def borrows(self, node: int, slots: Iterable[int]) -> bool:
        """Whether a node uses more than its subtree owns of some slot."""
        return any(self.usage[node][slot] > self.subtree[node][slot] for slot in slots)

    def exceeds_owned(self, node: int, slot: int, amount: int) -> bool:
        """Whether a node would use more than its subtree owns, with this amount on top."""
        return self.usage[node][slot] + amount > self.subtree[node][slot]

    def level_that_fits(self, queue: int, slot: int, amount: int) -> tuple[int, bool]:
        """The level from which an amount could come, and whether something above it could still lend more to it.

        It is the height of the node that has enough, 0 for the queue itself; of the top of the tree where none has.
        """
        node = queue
        while self.exceeds_owned(node, slot, amount) and self.parent[node] >= 0:
            amount -= self.local_available(node, slot)
            node = self.parent[node]
        return self.height[node], self.parent[node] >= 0

    # --- places in the tree -------------------------------------------------------------------------------------

    def sides(self, left: int, right: int) -> tuple[int, int]:
        """The children of the lowest common ancestor on the paths to two different queues."""
        return sides(self.paths[left], self.paths[right])

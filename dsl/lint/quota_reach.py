"""What each queue could use of each slot while nobody else runs: by what all nodes own, lend and borrow, as the policy declares it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...engine import policy_graph as graph
from ...engine.units import INT64_MAX


@dataclass(frozen=True)
class Reach:
    """How far the queues of a policy reach. `tests/dsl/lint/test_quota_reach.py` compares it with the core's quota tree."""

    policy: graph.PolicyGraph

    @cached_property
    def most(self) -> tuple[tuple[int, ...], ...]:
        """The most that each node can use, by node and slot, in the smallest unit. Where nodes say what exists, that is no limit."""
        by_slot = [self._most(slot) for slot in range(len(self.policy.slots))]
        return tuple(tuple(amounts[node] for amounts in by_slot) for node in range(len(self.policy.nodes)))

    @cached_property
    def _downwards(self) -> list[int]:
        """The nodes, each before those below it."""
        found = [0]
        for node in found:
            found += self.policy.nodes[node].children
        return found

    def exists(self, slot: int) -> int | None:
        """How much there is of a slot; None where nodes say it."""
        flavor = self.policy.flavors[self.policy.slots[slot].flavor]
        return None if flavor.nodes is not None else dict(flavor.capacity)[self.policy.slots[slot].resource]

    def _most(self, slot: int) -> list[int]:
        nodes = self.policy.nodes
        owned = [node.quotas[slot].nominal for node in nodes]
        there = self.exists(slot)
        forest = self.policy.settings.forest
        owned[0] = 0 if forest else INT64_MAX if there is None else max(0, there - sum(owned[1:]))
        local = [0] * len(nodes)
        for node in reversed(self._downwards[1:]):
            limit, parent = nodes[node].quotas[slot].lending_limit, nodes[node].parent
            local[node] = 0 if limit is None else max(0, owned[node] - limit)
            if parent > 0 or not forest:
                owned[parent] += owned[node] - local[node]
        most = list(owned)
        for node in self._downwards[1:]:
            parent, limit = nodes[node].parent, nodes[node].quotas[slot].borrowing_limit
            if parent > 0 or not forest:
                most[node] = local[node] + most[parent]
                if limit is not None:
                    most[node] = min(most[node], owned[node] + limit)
        return most if there is None or forest else [min(amount, there) for amount in most]

    def usable(self, queue: graph.Queue) -> list[int]:
        """The slots of the flavors that a queue may use."""
        return [number for number, slot in enumerate(self.policy.slots) if slot.flavor in queue.flavors]

    def rivals(self, names: Sequence[str], rule: graph.PreemptRule) -> tuple[str, str] | None:
        """The first two of some queues that can be each other's victims by a rule: they use one slot, and may borrow of it if they must."""
        wanted = set(names)
        firsts: dict[tuple[int, int], str] = {}
        queues = {self.policy.nodes[queue.node].name: queue for queue in self.policy.queues}
        for name in sorted(wanted):
            queue = queues[name]
            node = self.policy.nodes[queue.node]
            for slot in self.usable(queue):
                owned = node.quotas[slot].nominal if rule.scope == "borrowing-queues" else 0
                if self.most[queue.node][slot] > owned:
                    place = (node.parent if rule.range == "same-cohort" else 0), slot
                    if place in firsts:
                        return firsts[place], name
                    firsts[place] = name
        return None

"""Where a preempt rule may look for victims: whether it is triggered, for whose ownership, and in which queues."""

from ..graph import PreemptRule
from .quota import Request
from .state import Active


class Scope:
    """The reach of preempt rules for a workload of one queue, whose request is charged and short of some slots.

    What was found about borrowing is remembered until `changed` is called.
    """

    def __init__(self, policy: Active, queue: int, short: list[int]) -> None:
        self.policy, self.tree, self.queue, self.short = policy, policy.tree, queue, short
        self._borrows: dict[int, bool] = {}

    def changed(self) -> None:
        """Forget what was found: use has changed."""
        self._borrows.clear()

    def owner(self, rule: PreemptRule) -> int | None:
        """The node on whose ownership a rule rests: the queue, or the lowest cohort that owns enough; None: not triggered."""
        path = self.tree.paths[self.queue]
        candidates = path[1:-1] if rule.trigger == "fits-cohort" else path[:1]
        if rule.trigger is None:
            return self.queue
        return next((node for node in candidates if not self.tree.borrows(node, self.short)), None)

    def queues(self, rule: PreemptRule) -> list[int]:
        """The queues, by node, where a rule may find victims; none where it is not triggered.

        A queue that does not borrow now will not borrow later in a hunt: taking victims only lowers use.
        """
        owner = self.owner(rule)
        return [] if owner is None else self._beyond(rule, owner)

    def reach(self, rule: PreemptRule) -> list[int]:
        """The queues where a rule might find victims once those of earlier rules are gone, triggered now or not."""
        return self._beyond(rule, self.queue)

    def _beyond(self, rule: PreemptRule, owner: int) -> list[int]:
        if rule.scope == "same-queue":
            return [self.queue]
        top = self.tree.parent[self.queue] if rule.range == "same-cohort" else 0
        others = [queue.node for queue in self.policy.graph.queues if queue.node != self.queue]
        within = [node for node in others if top in self.tree.paths[node]]
        beyond = [node for node in within if owner == self.queue or owner not in self.tree.paths[node]]
        return [node for node in beyond if self.covers(rule, node)]

    def covers(self, rule: PreemptRule, node: int) -> bool:
        """Whether use being as it is, a rule still reaches a queue in its range."""
        return rule.scope != "borrowing-queues" or self.borrows(node)

    def borrows(self, node: int) -> bool:
        """Whether a queue and every cohort between it and the common ancestor use more than they own of what is short."""
        if node not in self._borrows:
            theirs = self.tree.sides(self.queue, node)[1]
            path = self.tree.paths[node]
            self._borrows[node] = all(self.tree.borrows(above, self.short) for above in path[: path.index(theirs) + 1])
        return self._borrows[node]


def triggers(policy: Active, queue: int, request: Request) -> list[tuple[PreemptRule, bool]]:
    """Each preempt rule in the policy's order, and whether a queue may use it for a request that does not fit."""
    short = policy.tree.short(queue, request)
    policy.tree.add(queue, request)
    scope = Scope(policy, queue, short)
    found = [(rule, scope.owner(rule) is not None) for rule in policy.graph.preempt]
    policy.tree.remove(queue, request)
    return found

"""Where preempt rules may look for victims: which are triggered, on whose ownership they rest, in which queues, who could help there."""

from ...intake.slices import takes_place_of
from ...policy_graph import PreemptRule, ProtectRule, covers
from ...workload import Workload
from ..state.trial import Trial


class RuleScope:
    """The scope of preempt rules for a workload whose request is charged and short of some slots. It is the same at every moment."""

    def __init__(self, trial: Trial, workload: Workload, short: list[int]) -> None:
        self.graph, self.tree, self.trial, self.workload, self.short = trial.graph, trial.tree, trial, workload, short
        self.queue = workload.queue
        self._helpers: dict[int, list[Workload]] = {}

    def helpers(self, queue: int) -> list[Workload]:
        """Those who run in a queue, use what is short, and are not kept for good."""
        if queue not in self._helpers:
            users = [each for each in self.trial.running(queue) if any(slot in self.short for slot, _ in each.usage)]
            self._helpers[queue] = [each for each in users if not each.pinned and not takes_place_of(self.workload, each)]
        return [each for each in self._helpers[queue] if not self.trial.is_out(each)]

    def protecting(self, queue: int) -> list[ProtectRule]:
        """The protect rules that cover a queue, whether they hold now or not."""
        return [rule for rule in self.graph.protect if covers(rule, self.tree.paths[queue])]

    def owner(self, rule: PreemptRule) -> int | None:
        """The node on whose ownership a rule rests: the queue, or the lowest cohort that owns enough; None: not triggered."""
        path = self.tree.paths[self.queue]
        if rule.trigger is None:
            return self.queue
        owners = path[1:-1] if rule.trigger == "fits-cohort" else path[:1]
        return next((node for node in owners if not self.tree.borrows(node, self.short)), None)

    def queues(self, rule: PreemptRule) -> list[int]:
        """The queues, by node, where a rule may find victims; none where it is not triggered.

        A queue that does not borrow now will not borrow later in a search: taking victims only lowers use.
        """
        owner = self.owner(rule)
        return [] if owner is None else self._beyond(rule, owner)

    def reach(self) -> list[tuple[PreemptRule, list[int]]]:
        """The queues where each rule may find victims in a search: what goes by one rule may be what triggers the next."""
        found: list[tuple[PreemptRule, list[int]]] = []
        for rule in self.graph.preempt:
            something_goes = any(queues for _, queues in found)
            found.append((rule, self._beyond(rule, self.queue) if something_goes else self.queues(rule)))
        return found

    def in_range(self, rule: PreemptRule) -> list[int]:
        """The queues where a rule looks, by node, whether they borrow or not; none where it is not triggered."""
        owner = self.owner(rule)
        if owner is None:
            return []
        return [self.queue] if rule.scope == "same-queue" else self._within(rule, owner, self._others())

    def _beyond(self, rule: PreemptRule, owner: int) -> list[int]:
        if rule.scope == "same-queue":
            return [self.queue]
        others = self._others()
        if rule.scope == "borrowing-queues":  # seen at once, and most of many queues do not
            others = self.tree.borrowing(others, self.short)
        return [node for node in self._within(rule, owner, others) if self.reaches(rule, node)]

    def _others(self) -> list[int]:
        return [queue.node for queue in self.graph.queues if queue.node != self.queue]

    def _within(self, rule: PreemptRule, owner: int, queues: list[int]) -> list[int]:
        """Those of some queues that are in the range of a rule, and not below the owner on whom it rests."""
        top = self.tree.parent[self.queue] if rule.range == "same-cohort" else 0
        within = [node for node in queues if top in self.tree.paths[node]]
        return [node for node in within if owner == self.queue or owner not in self.tree.paths[node]]

    def reaches(self, rule: PreemptRule, node: int) -> bool:
        """Whether a rule still reaches a queue of its range, as use is now: it borrows, if the rule wants that."""
        if rule.scope != "borrowing-queues":
            return True
        theirs, path = self.tree.sides(self.queue, node)[1], self.tree.paths[node]
        return all(self.tree.borrows(above, self.short) for above in path[: path.index(theirs) + 1])

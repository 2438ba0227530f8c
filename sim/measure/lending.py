"""What queues borrow from and lend to each other, for each flavor, in exact integers that add up."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class FlavorLending:
    """One flavor's GPUs, in thousandths, or other devices of one sort, over all queues.

    A queue borrows what it uses beyond what it owns. What exists and no queue owns is used first; the rest is lent by all
    queues that own more than they use, in proportion to what they leave idle.
    INVARIANT: what is borrowed is what is used of the unowned, and what is lent, and what is used beyond what exists.
    """

    exists: int = 0
    owned: int = 0
    borrowed: int = 0
    idle: int = 0
    lent: int = 0
    lends: dict[str, int] = field(default_factory=dict)
    queues: dict[str, tuple[int, int]] = field(default_factory=dict)

    def borrows(self, queue: str) -> int:
        """What a queue borrows."""
        owned, used = self.queues.get(queue, (0, 0))
        return max(0, used - owned)

    def put(self, queue: str, owned: int, used: int) -> bool:
        """Set what a queue owns and uses; whether that is something new."""
        if self.queues.get(queue) == (owned, used):
            return False
        self._count(queue, -1)
        self.queues[queue] = owned, used
        self._count(queue, 1)
        return True

    def _count(self, queue: str, sign: int) -> None:
        owned, used = self.queues.get(queue, (0, 0))
        self.owned += sign * owned
        self.borrowed += sign * max(0, used - owned)
        self.idle += sign * max(0, owned - used)

    def share_out(self) -> dict[str, int]:
        """Set what each queue lends now; return by how much that changed, by queue. The parts add up to `lent` exactly."""
        unowned = max(0, self.exists - self.owned)
        before, self.lent = self.lent, min(self.idle, max(0, self.borrowed - unowned))
        if not before and not self.lent:
            return {}
        changes, idle, given = {}, 0, 0
        for queue, (owned, used) in self.queues.items():
            idle += max(0, owned - used)
            upto = idle * self.lent // self.idle if self.lent else 0
            changes[queue] = upto - given - self.lends.get(queue, 0)
            self.lends[queue], given = upto - given, upto
        return changes

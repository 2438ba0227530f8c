"""The figures of one queue: workloads and waits, and of GPUs and every other device what it owns, uses, borrows and lends."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from .gpu_amounts import GPUS


@dataclass(slots=True, kw_only=True)
class ResourceFigures:
    """What a queue owns and uses of what is counted together. Areas are amounts times microseconds.

    `owns` and `uses` are by flavor; `owned` and `used` are sums. `borrowed` is what the queue uses beyond what it owns of the very
    flavor, `lent` what others use of what it owns and does not use (`lending.py`).
    """

    owns: dict[str, int] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)
    owned: int = 0
    used: int = 0
    borrowed: int = 0
    lent: int = 0
    used_area: int = 0
    borrowed_area: int = 0
    lent_area: int = 0

    def pass_time(self, elapsed: int) -> None:
        """Add what holds now to the areas, for so long."""
        if self.used:
            self.used_area += self.used * elapsed
            self.borrowed_area += self.borrowed * elapsed
        if self.lent:
            self.lent_area += self.lent * elapsed


@dataclass(slots=True)
class QueueFigures(ResourceFigures):
    """One queue's figures. What it owns and uses are thousandths of a GPU; `others` has every other device by its own name and unit.

    `order` has the flavors it may use, best first. `entitled` holds the waiting workloads that fit what the queue owns and does not
    use, each with the time since when it does; `owner_wait_most` is the longest that one waited like that until it no longer did.
    Waits are from submission or eviction to the next admission; `waits` counts them by length in whole seconds, rounded up.
    """

    name: str
    order: tuple[str, ...] = ()
    others: dict[str, ResourceFigures] = field(default_factory=dict)
    submitted: int = 0
    admitted: int = 0
    evicted: int = 0
    finished: int = 0
    cancelled: int = 0
    rejected: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    waiting_gpus: int = 0
    running: dict[str, int] = field(default_factory=dict)
    wait_total: int = 0
    wait_most: int = 0
    waits: Counter[int] = field(default_factory=Counter)
    owner_wait_most: int = 0
    entitled: dict[str, int] = field(default_factory=dict)

    def counted(self, what: str) -> ResourceFigures:
        """The figures of GPUS, or of another device."""
        if what == GPUS:
            return self
        found = self.others.get(what)
        if found is None:
            found = self.others[what] = ResourceFigures()
        return found

    def all_counted(self) -> list[tuple[str, ResourceFigures]]:
        """The figures of GPUS, then of each other device."""
        return [(GPUS, self), *self.others.items()]

    def owner_wait(self, now: int) -> int:
        """The longest that a workload waited though it fit what the queue owns and does not use; those that still wait count."""
        return max([self.owner_wait_most, *(now - since for since in self.entitled.values())])

    def room(self) -> dict[str, int]:
        """What it owns, may use and does not use, by flavor in its order; only flavors of which something is left."""
        left = {flavor: self.owns.get(flavor, 0) - self.uses.get(flavor, 0) for flavor in self.order}
        return {flavor: amount for flavor, amount in left.items() if amount > 0}

    def wait(self, workload: str, gpus: int) -> None:
        """Note that a workload waits, and asks for this much now."""
        self.waiting_gpus += gpus - self.waiting.get(workload, 0)
        self.waiting[workload] = gpus

    def wait_no_more(self, workload: str) -> None:
        """Note that a workload does not wait, if it did."""
        self.waiting_gpus -= self.waiting.pop(workload, 0)

    def mean_wait(self) -> Fraction:
        """Mean wait in microseconds; 0 where nothing was admitted."""
        count = sum(self.waits.values())
        return Fraction(self.wait_total, count) if count else Fraction(0)

    def wait_percentile(self, percent: int) -> int:
        """The shortest wait, in whole seconds rounded up, that is at least as long as `percent` in a hundred of all."""
        count = sum(self.waits.values())
        rank = -(-count * percent // 100)
        seen = 0
        for length in sorted(self.waits):
            seen += self.waits[length]
            if seen >= rank:
                return length
        return 0

"""What another policy would decide at each recorded moment, in an open loop: counted, with the largest differences explained."""

from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import Literal

from ...engine.cores import Core
from ...engine.default_core import new_core
from ...engine.explain.standing import Standing
from ...engine.facts import PolicyActivated
from ...journal.errors import DamagedError
from ...journal.journal import Batch, Journal
from ...journal.recorded_policies import PolicyRefusedError, compile_recorded
from ...journal.records import TOLD_EVERY, Progress
from ..drive.policy import Policy
from .closed_loop import Impossible
from .open_loop import Category, OpenLoop, Redecision
from .standing_lookup import standings_at

MOST_SHOWN = 10
"""How many decisions are told one by one."""


class UnlikeError(ValueError):
    """One policy decides at once, the other in cycles, so there are no common moments to compare."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A decision that differs, and where its workload stood in the recorded history then (None: it was not live)."""

    redecision: Redecision
    before: Standing | None


@dataclass(frozen=True, slots=True)
class OpenImpact:
    """The outcome: of `moments` decided again, how many decisions differ by category and queue; and those about most GPUs, most first.

    `first` is the first one; `unexpressed` are recorded events that the policy has no words for.
    """

    policy: Policy
    moments: int
    start: int
    end: int
    tallies: tuple[tuple[Category, str, int], ...]
    first: Shown | None
    shown: tuple[Shown, ...]
    unexpressed: tuple[Impossible, ...]
    activations: int
    loop: Literal["open-loop"] = "open-loop"

    @property
    def changed(self) -> int:
        """How many decisions differ."""
        return sum(count for _, _, count in self.tallies)

    @property
    def nothing_changes(self) -> bool:
        """Whether every recorded decision would be taken again, and no other."""
        return self.changed == 0 and not self.unexpressed


@dataclass(slots=True)
class _Most:
    """The decisions about most GPUs; of two that are alike the earlier one."""

    first: Redecision | None = None
    kept: list[tuple[tuple[int, int, int], Redecision]] = field(default_factory=list)
    seen: int = 0

    def add(self, found: Redecision) -> None:
        """Keep it if it is one of the largest so far."""
        self.first = self.first or found
        self.seen += 1
        entry = ((found.gpus, -found.seq, -self.seen), found)
        if len(self.kept) < MOST_SHOWN:
            heappush(self.kept, entry)
        else:
            heappushpop(self.kept, entry)

    def ordered(self) -> list[Redecision]:
        """The kept decisions, the largest first."""
        return [found for _, found in sorted(self.kept, key=lambda entry: entry[0], reverse=True)]


def open_impact(journal: Journal, policy: Policy, *, core: Core | None = None, progress: Progress | None = None) -> OpenImpact:
    """Decide every moment again that is recorded by now, whatever is appended meanwhile, by a core that nothing has happened to yet.

    Raises UnlikeError, JournalError and DamagedError.
    """
    loop, most = OpenLoop(policy, core or new_core()), _Most()
    tallies: dict[tuple[Category, str], int] = {}
    start = end = 0
    for batch in journal.batches(upto=journal.head.seq):
        end = batch.fact.event.time
        start = start or end
        _check_alike(policy, batch)
        for found in loop.take(batch):
            key = found.category, found.queue
            tallies[key] = tallies.get(key, 0) + 1
            most.add(found)
        if progress is not None and loop.moments % TOLD_EVERY == 0:
            progress(batch.fact.seq)
    first, *shown = _shown(journal, [most.first, *most.ordered()] if most.first is not None else [])
    return OpenImpact(
        policy=policy,
        moments=loop.moments,
        start=start,
        end=end,
        tallies=tuple((*key, tallies[key]) for key in sorted(tallies)),
        first=first,
        shown=tuple(each for each in shown if each is not None),
        unexpressed=tuple(loop.unexpressed),
        activations=loop.activations,
    )


def _check_alike(policy: Policy, batch: Batch) -> None:
    """Compare how a recorded policy decides, at once or in cycles, with how this one does."""
    fact = batch.fact.event
    if not isinstance(fact, PolicyActivated):
        return
    try:
        recorded = compile_recorded(fact)
    except PolicyRefusedError as error:
        message = f"the policy recorded at event {batch.fact.seq} does not compile: {error}"
        raise DamagedError(batch.fact.seq, message, "run `gpol replay`") from None
    ways = ["in cycles" if graph.settings.in_cycles else "at once" for graph in (policy.graph, recorded)]
    if ways[0] != ways[1]:
        raise UnlikeError(f"`{policy.file}` decides {ways[0]}, and the policy recorded at event {batch.fact.seq} {ways[1]}")


def _shown(journal: Journal, found: list[Redecision]) -> list[Shown | None]:
    """Each with where its workload stood as it was recorded; one None where there are none."""
    standings = standings_at(journal, ((each.seq, each.workload) for each in found))
    return [Shown(each, standings.get((each.seq, each.workload))) for each in found] or [None]

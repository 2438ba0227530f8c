"""Compares two policies: what each queue may admit under each and, for each difference, a workload that shows it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dsl.diff.differences import Change
from ..drive.policy import Policy
from .boundary_values import BoundaryValues, Side
from .queue_comparison import QueueChange, queue_change
from .untestable_changes import why_untestable
from .witness_search import SearchResult, WitnessSearch

MOST_TRIED = 300
"""How many scenarios are tried for one change at most."""

MOST_TRIED_IN_ALL = 4_000
"""How many are tried for all changes together, in policies of up to `SMALL` cohorts and queues; in bigger ones as many fewer."""

SMALL = 50
"""The number of cohorts and queues up to which `MOST_TRIED_IN_ALL` scenarios take a few seconds."""

FEWEST_TRIED = 10
"""The least number of scenarios for a change that is searched. If there are too many changes for that, some similar ones are skipped."""


@dataclass(frozen=True, slots=True)
class WitnessedChange:
    """A change, with the result of the search for a workload that shows it. If no test can, `searched` is None and `unshown` says why."""

    change: Change
    searched: SearchResult | None
    unshown: str = ""


def queue_changes(old: Policy, new: Policy) -> dict[str, QueueChange]:
    """For each queue of both policies: how the new one changes what may be admitted there in an otherwise empty cluster.

    Of none if one of the policies decides by passes: without nodes they admit nothing.
    """
    if any(policy.graph.settings.passes is not None for policy in (old, new)):
        return {}
    before, after = Side.of(old.graph), Side.of(new.graph)
    return {queue: queue_change(before, after, queue) for queue in sorted(before.queues) if queue in after.queues}


def findings(old: Policy, new: Policy, changes: Sequence[Change], most: int = MOST_TRIED) -> Iterator[WitnessedChange]:
    """Each of the differences between two policies with its witness, in the order given; `most` scenarios are tried for one."""
    search = WitnessSearch(old, new, BoundaryValues(Side.of(old.graph), Side.of(new.graph)))
    size = max(SMALL, len(old.graph.nodes), len(new.graph.nodes))
    in_all = MOST_TRIED_IN_ALL * SMALL // size
    chosen = _unlike_first(changes)[: max(1, in_all // FEWEST_TRIED)]
    each = min(most, max(FEWEST_TRIED, in_all // max(1, len(chosen))))
    for number, change in enumerate(changes):
        why = why_untestable(old.graph, new.graph, change)
        yield WitnessedChange(change, None, why) if why else WitnessedChange(change, search.find(change, each if number in chosen else 0))


def _unlike_first(changes: Sequence[Change]) -> list[int]:
    """The indices of the changes, with the first of each kind before those that say the same of another subject."""
    met: Counter[tuple[str, ...]] = Counter()
    ranks = []
    for change in changes:
        kind = (change.subject.kind, change.about, change.direction, *((change.old, change.new) if change.thing is not None else ()))
        ranks.append(met[kind])
        met[kind] += 1
    return sorted(range(len(changes)), key=lambda number: (ranks[number], number))

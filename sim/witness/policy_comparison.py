"""Two policies compared: what each queue may be given, and for each difference a workload that shows it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..dsl.differences import Change
from .constants import Constants, Side
from .policy import Policy
from .reach import Verdict, verdict
from .unshown import unshown
from .witness import Search, Searched

MOST_TRIED = 300
"""How many scenarios are tried for one change at most."""

MOST_TRIED_IN_ALL = 4_000
"""How many are tried for all changes together, in policies of up to `SMALL` cohorts and queues; in bigger ones as many fewer."""

SMALL = 50
"""Cohorts and queues of a policy in which all that many scenarios are played in some seconds."""

FEWEST_TRIED = 10
"""How many are tried for a change that is searched: of more changes than that allows for, the last of those that are alike are not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A change with the search for a workload that shows it; where no test can, `searched` is None and `unshown` says why."""

    change: Change
    searched: Searched | None
    unshown: str = ""


def verdicts(old: Policy, new: Policy) -> dict[str, Verdict]:
    """For each queue that both policies have, by name: what may be admitted there alone in the cluster, under the new one."""
    before, after = Side.of(old.graph), Side.of(new.graph)
    return {queue: verdict(before, after, queue) for queue in sorted(before.queues) if queue in after.queues}


def findings(old: Policy, new: Policy, changes: Sequence[Change], most: int = MOST_TRIED) -> Iterator[Finding]:
    """Each of the differences between two policies with its witness, in the order given; `most` scenarios are tried for one."""
    search = Search(old, new, Constants(Side.of(old.graph), Side.of(new.graph)))
    size = max(SMALL, len(old.graph.nodes), len(new.graph.nodes))
    in_all = MOST_TRIED_IN_ALL * SMALL // size
    chosen = _unlike_first(changes)[: max(1, in_all // FEWEST_TRIED)]
    each = min(most, max(FEWEST_TRIED, in_all // max(1, len(chosen))))
    for number, change in enumerate(changes):
        why = unshown(old.graph, new.graph, change)
        yield Finding(change, None, why) if why else Finding(change, search.find(change, each if number in chosen else 0))


def _unlike_first(changes: Sequence[Change]) -> list[int]:
    """The places of the changes, so that the first of each kind come before those that say the same of another subject."""
    met: Counter[tuple[str, ...]] = Counter()
    ranks = []
    for change in changes:
        kind = (change.subject.kind, change.about, change.direction, *((change.old, change.new) if change.thing is not None else ()))
        ranks.append(met[kind])
        met[kind] += 1
    return sorted(range(len(changes)), key=lambda number: (ranks[number], number))

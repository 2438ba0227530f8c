"""Classical victims: the queue's own by priority, and those of queues that borrow, by how near the quota they use is.

Kueue: pkg/scheduler/preemption/classical. A queue has an advantage over others in a cohort above the first one (or itself) that owns
enough for its request: those have to go whatever their priority says about borrowing.
"""

from dataclasses import dataclass
from enum import Enum

from ..workload import Workload
from .candidates import Cluster, Kind, Target, Wish, satisfies, spare
from .levels import fits_in_owned, within_owned


class Variant(Enum):
    """Why a candidate may go; those WITHOUT_BORROWING only where the workload then fits what its queue owns."""

    OWN = "own"
    ADVANTAGE = "advantage"
    WITHOUT_BORROWING = "without borrowing"
    WHILE_BORROWING = "while borrowing"


_KINDS: dict[Variant, Kind] = {
    Variant.OWN: "in-queue",
    Variant.ADVANTAGE: "reclaim",
    Variant.WITHOUT_BORROWING: "reclaim",
    Variant.WHILE_BORROWING: "reclaim-while-borrowing",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A running workload that may go, why, and the cohort (-1: none) below which all on its path have to borrow when it goes."""

    workload: Workload
    variant: Variant
    meeting: int


def targets(cluster: Cluster, wish: Wish) -> list[Target]:
    """The victims without whom a workload fits; none where there are not enough. The tree is as before afterwards."""
    by_advantage, by_priority = _others(cluster, wish)
    own = [Candidate(victim, Variant.OWN, -1) for victim in cluster.candidates(wish.workload.queue, wish)]
    parts = [*by_advantage, *by_priority, *own]
    candidates = sorted(parts, key=lambda candidate: not candidate.workload.evicting)  # stable: else in the order of the parts
    for borrowing in _attempts(cluster, wish, by_advantage, by_priority):
        found = _take(cluster, wish, candidates, borrowing)
        if found:
            return found
    return []


def _attempts(cluster: Cluster, wish: Wish, by_advantage: list[Candidate], by_priority: list[Candidate]) -> tuple[bool, ...]:
    """Whether to try with borrowing, without, or both, and what first."""
    forbidden = cluster.preemption(wish.workload.queue).borrowing == "nothing"
    if not by_advantage and not by_priority:
        return (True,)
    if forbidden and not _under_nominal(cluster, wish):
        return (True,)
    return (False, True) if forbidden and not by_advantage else (True, False)


def _under_nominal(cluster: Cluster, wish: Wish) -> bool:
    """Whether the queue uses less than it owns of every slot in need."""
    queue = wish.workload.queue
    return all(cluster.tree.usage[queue][slot] < cluster.graph.nodes[queue].quotas[slot].nominal for slot in wish.slots)


def _others(cluster: Cluster, wish: Wish) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates of other queues: those over whom the workload has an advantage, and those whose priority decides."""
    tree, queue = cluster.tree, wish.workload.queue
    by_advantage: list[Candidate] = []
    by_priority: list[Candidate] = []
    if cluster.preemption(queue).reclaims == "nothing":
        return by_advantage, by_priority
    advantage, remaining = fits_in_owned(tree, queue, wish.amounts)
    seen, above = queue, tree.parent[queue]
    while above >= 0:
        part = by_advantage if advantage else by_priority
        part += [Candidate(victim, _variant(cluster, wish, victim, advantage), above) for victim in _below(cluster, wish, above, seen)]
        fits, remaining = fits_in_owned(tree, above, remaining)
        advantage = advantage or fits
        seen, above = above, tree.parent[above]
    return _ordered(cluster, wish, by_advantage), _ordered(cluster, wish, by_priority)


def _ordered(cluster: Cluster, wish: Wish, part: list[Candidate]) -> list[Candidate]:
    by_name = {candidate.workload.name: candidate for candidate in part}
    return [by_name[workload.name] for workload in cluster.ordered([candidate.workload for candidate in part], wish)]


def _below(cluster: Cluster, wish: Wish, node: int, skip: int) -> list[Workload]:
    """Candidates of the queues below a cohort, but for one subtree, entering only what uses more than it owns."""
    found: list[Workload] = []
    for child in cluster.graph.nodes[node].children:
        if child == skip or within_owned(cluster.tree, child, wish.slots):
            continue
        if cluster.graph.nodes[child].is_queue:
            found += cluster.candidates(child, wish)
        else:
            found += _below(cluster, wish, child, skip)
    return found


def _variant(cluster: Cluster, wish: Wish, victim: Workload, advantage: bool) -> Variant:
    if advantage:
        return Variant.ADVANTAGE
    preemption = cluster.preemption(wish.workload.queue)
    if preemption.borrowing == "nothing" or not satisfies("lower", wish.workload, victim):
        return Variant.WITHOUT_BORROWING
    if preemption.borrowing_up_to is not None and victim.priority > preemption.borrowing_up_to:
        return Variant.WITHOUT_BORROWING
    return Variant.WHILE_BORROWING


def _take(cluster: Cluster, wish: Wish, candidates: list[Candidate], borrowing: bool) -> list[Target]:
    """Take candidates in order until the workload fits, then spare whom it fits without."""

    def fits() -> bool:
        return cluster.fits(wish.workload.queue, wish.amounts, borrowing)

    taken: list[Target] = []
    for candidate in candidates:
        if not _still_valid(cluster, wish, candidate, borrowing):
            continue
        cluster.take(candidate.workload)
        wish.note(candidate.workload, "taken")
        taken.append(Target(candidate.workload, _KINDS[candidate.variant]))
        if fits():
            kept = spare(cluster, wish, taken, fits)
            for target in kept:
                cluster.give_back(target.workload)
            return kept
    for target in taken:
        cluster.give_back(target.workload)
    return []


def _still_valid(cluster: Cluster, wish: Wish, candidate: Candidate, borrowing: bool) -> bool:
    """Whether a candidate's queue, and every cohort between it and the one where the paths meet, still uses more than it owns."""
    if candidate.variant is Variant.OWN:
        return True
    if borrowing and candidate.variant is Variant.WITHOUT_BORROWING:
        wish.note(candidate.workload, "only without borrowing")
        return False
    node = candidate.workload.queue
    while node != candidate.meeting:
        if within_owned(cluster.tree, node, wish.slots):
            wish.note(candidate.workload, "not borrowing")
            return False
        node = cluster.tree.parent[node]
    return True

"""Classical victims: the queue's own by priority, and those of queues that borrow, by how near the quota they use is.

Kueue: pkg/scheduler/preemption/classical. A queue has an advantage over others in a cohort above the first one (or itself) that owns
enough for its request: those have to go whatever their priority says about borrowing.
"""

from dataclasses import dataclass
from typing import Literal

from ...event_parts import EvictionKind
from ...outcome.nomination import Victim
from ...workload import Workload, victim
from ..state.trial import Trial
from .candidates import candidates, ordered, preemption_of, satisfies
from .rules import Found, Preemptor, fill_back

Ground = Literal["own", "advantage", "without borrowing", "while borrowing"]
"""Why a candidate may go; with `without borrowing` only where the workload then fits what its queue owns."""

_KINDS: dict[Ground, EvictionKind] = {
    "own": "in-queue",
    "advantage": "reclaim",
    "without borrowing": "reclaim",
    "while borrowing": "reclaim-while-borrowing",
}


@dataclass(frozen=True, slots=True)
class ClassicalCandidate:
    """A running workload that may go, why, and the cohort (-1: none) below which all on its path have to borrow when it goes."""

    workload: Workload
    ground: Ground
    meeting: int


def search(trial: Trial, preemptor: Preemptor) -> Found:
    """The victims without whom a workload fits; none where there are not enough. The trial is as before afterwards."""
    found = Found()
    by_advantage, by_priority = _others(trial, preemptor)
    own = [ClassicalCandidate(each, "own", -1) for each in candidates(trial, preemptor.workload.queue, preemptor)]
    parts = [*by_advantage, *by_priority, *own]
    in_order = sorted(parts, key=lambda candidate: not candidate.workload.evicting)  # stable: else in the order of the parts
    for borrowing in _attempts(trial, preemptor, by_advantage, by_priority):
        victims = _take(trial, preemptor, in_order, borrowing, found)
        if victims:
            found.succeed(victims, preemptor.workload.queue)
            break
    return found


def _attempts(
    trial: Trial, preemptor: Preemptor, by_advantage: list[ClassicalCandidate], by_priority: list[ClassicalCandidate]
) -> tuple[bool, ...]:
    """Whether to try with borrowing, without, or both, and what first."""
    forbidden = preemption_of(trial, preemptor.workload.queue).borrowing == "nothing"
    if not by_advantage and not by_priority:
        return (True,)
    if forbidden and not _under_nominal(trial, preemptor):
        return (True,)
    return (False, True) if forbidden and not by_advantage else (True, False)


def _under_nominal(trial: Trial, preemptor: Preemptor) -> bool:
    """Whether the queue uses less than it owns of every slot in need."""
    queue = preemptor.workload.queue
    return all(trial.tree.usage[queue][slot] < trial.graph.nodes[queue].quotas[slot].nominal for slot in preemptor.slots)


def _others(trial: Trial, preemptor: Preemptor) -> tuple[list[ClassicalCandidate], list[ClassicalCandidate]]:
    """Candidates of other queues: those over whom the workload has an advantage, and those whose priority decides."""
    tree, queue = trial.tree, preemptor.workload.queue
    by_advantage: list[ClassicalCandidate] = []
    by_priority: list[ClassicalCandidate] = []
    if preemption_of(trial, queue).reclaims == "nothing":
        return by_advantage, by_priority
    advantage, seen, remaining = False, queue, preemptor.request
    while (above := tree.parent[seen]) >= 0:
        advantage = advantage or not any(tree.exceeds_owned(seen, slot, amount) for slot, amount in remaining)
        remaining = tuple((slot, max(0, amount - tree.local_available(seen, slot))) for slot, amount in remaining)
        part = by_advantage if advantage else by_priority
        part += [
            ClassicalCandidate(each, _ground(trial, preemptor, each, advantage), above) for each in _below(trial, preemptor, above, seen)
        ]
        seen = above
    return _in_order(trial, preemptor, by_advantage), _in_order(trial, preemptor, by_priority)


def _in_order(trial: Trial, preemptor: Preemptor, part: list[ClassicalCandidate]) -> list[ClassicalCandidate]:
    by_name = {candidate.workload.name: candidate for candidate in part}
    return [by_name[each.name] for each in ordered(trial, [candidate.workload for candidate in part], preemptor.workload.queue)]


def _below(trial: Trial, preemptor: Preemptor, node: int, skip: int) -> list[Workload]:
    """Candidates of the queues below a cohort, but for one subtree, entering only what uses more than it owns."""
    found: list[Workload] = []
    for child in trial.graph.nodes[node].children:
        if child == skip or not trial.tree.borrows(child, preemptor.slots):
            continue
        found += candidates(trial, child, preemptor) if trial.graph.nodes[child].is_queue else _below(trial, preemptor, child, skip)
    return found


def _ground(trial: Trial, preemptor: Preemptor, candidate: Workload, advantage: bool) -> Ground:
    if advantage:
        return "advantage"
    preemption = preemption_of(trial, preemptor.workload.queue)
    if preemption.borrowing == "nothing" or not satisfies("lower", preemptor.workload, candidate):
        return "without borrowing"
    if preemption.borrowing_up_to is not None and candidate.priority > preemption.borrowing_up_to:
        return "without borrowing"
    return "while borrowing"


def _take(trial: Trial, preemptor: Preemptor, in_order: list[ClassicalCandidate], borrowing: bool, found: Found) -> list[Victim]:
    """Take candidates in order until the workload fits, then put back those without whom it fits as well."""
    queue = preemptor.workload.queue

    def fits() -> bool:
        within = borrowing or not any(trial.tree.exceeds_owned(queue, slot, amount) for slot, amount in preemptor.request)
        return within and preemptor.fits(trial)

    taken: list[Victim] = []
    with trial.undone():
        for candidate in in_order:
            if not _still_valid(trial, preemptor, candidate, borrowing, found):
                continue
            trial.take(candidate.workload)
            found.note(candidate.workload.name, "taken")
            taken.append(victim(candidate.workload, _KINDS[candidate.ground]))
            if fits():
                return fill_back(trial, taken, fits, found)
    return []


def _still_valid(trial: Trial, preemptor: Preemptor, candidate: ClassicalCandidate, borrowing: bool, found: Found) -> bool:
    """Whether a candidate's queue, and every cohort between it and the one where the paths meet, still uses more than it owns."""
    if candidate.ground == "own":
        return True
    if borrowing and candidate.ground == "without borrowing":
        found.note(candidate.workload.name, "only without borrowing")
        return False
    node = candidate.workload.queue
    while node != candidate.meeting:
        if not trial.tree.borrows(node, preemptor.slots):
            found.note(candidate.workload.name, "not borrowing")
            return False
        node = trial.tree.parent[node]
    return True

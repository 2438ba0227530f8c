"""What every search for victims has in common: what it is for, what it found, and how who is not needed after all is put back."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ...outcome.nomination import CandidateOutcome, ComparedShares, Grade, Note, Request, Victim
from ...workload import Workload
from ..state.trial import Trial


@dataclass(frozen=True, slots=True)
class Preemptor:
    """A workload that looks for victims: the request that is to fit, and the slots on which somebody has to go for it."""

    workload: Workload
    request: Request
    slots: list[int]


@dataclass(slots=True)
class Found:
    """What a search came to: victims without whom the request fits, or none, and what that makes of the flavor.

    `until`: the first moment at which nothing but time will have made room. `notes`: what came of each workload that was looked at, by
    name.
    """

    victims: list[Victim] = field(default_factory=list)
    grade: Grade = Grade.NO_VICTIMS
    until: int | None = None
    notes: dict[str, Note] = field(default_factory=dict)

    def note(self, workload: str, outcome: CandidateOutcome, shares: ComparedShares | None = None) -> None:
        """Note what came of a workload; the last note counts."""
        self.notes[workload] = (outcome, shares)

    def succeed(self, victims: list[Victim], queue: int) -> None:
        """Note that these are enough for a workload of a queue, as Kueue grades it: its own have to go, or only others that borrow."""
        self.victims = victims
        self.grade = Grade.PREEMPT if any(victim.queue == queue for victim in victims) else Grade.RECLAIM


def fill_back(trial: Trial, taken: list[Victim], fits: Callable[[], bool], found: Found | None = None) -> list[Victim]:
    """Put back, last to first and never the last one, every victim without whom the request fits as well; all others stay out."""
    kept = list(taken)
    for each in reversed(taken[:-1]):
        workload = trial.state.workloads[each.workload]
        trial.give_back(workload)
        if fits():
            kept.remove(each)
            if found is not None:
                found.note(each.workload, "spared", each.shares)
        else:
            trial.take(workload)
    return kept


def give_back(trial: Trial, victims: list[Victim]) -> None:
    """Put all victims back."""
    for each in victims:
        trial.give_back(trial.state.workloads[each.workload])

"""In which order a round of Armada comes to gangs: within a queue, and among queues.

A workload is a gang: all its pods start together. Its pods that wait and those that were evicted make one gang; while others of its pods
run, it is not whole, and is not looked at.

Armada: `QueuedGangIterator` and `CostBasedCandidateGangIterator` in internal/scheduler/scheduling/queue_scheduler.go, and
`SchedulingOrderCompare` in internal/scheduler/jobdb/comparison.go.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..session.pods import HOLDING, Pod, PodAmounts, PodStatus, SessionWorkload
from ..session.session import Session
from .armada_queues import ArmadaClass, ArmadaQueue, class_of, together
from .armada_shares import ArmadaCost
from .node_choice import Wants, wants_of

_LIVE = HOLDING | {PodStatus.WAITING}

Likeness = tuple[ArmadaClass, Wants]
"""What decides whether a pod has room: pods alike in that have room together, or none of them has."""

GangTurn = tuple[int, bool, Fraction, Fraction, str]
"""When a queue's next gang has its turn: the least is first."""


@dataclass(frozen=True, slots=True)
class ArmadaGang:
    """The pods of a workload that get nodes together, those that were evicted first. `returns`: all of them were evicted."""

    workload: SessionWorkload
    pods: tuple[Pod, ...]
    amounts: PodAmounts
    returns: bool


class GangLine:
    """The gangs of a queue, in order. A gang is passed over once a pod like one of its waiting pods was found to have no room anywhere.

    `hopeless` are the likenesses of those pods: one collection for all queues, which grows. `passed` are the gangs passed over.
    """

    def __init__(self, queue: ArmadaQueue, gangs: Sequence[ArmadaGang], hopeless: Collection[Likeness]) -> None:
        self.queue = queue
        self._gangs = list(reversed(gangs))
        self._hopeless = hopeless
        self._next: ArmadaGang | None = None
        self.passed: list[ArmadaGang] = []

    def head(self) -> ArmadaGang | None:
        """The next gang, the same until it is taken; None where there is none."""
        while self._next is None and self._gangs:
            gang = self._gangs.pop()
            if any(likeness(gang.workload, pod) in self._hopeless for pod in gang.pods if pod.status is PodStatus.WAITING):
                self.passed.append(gang)
            else:
                self._next = gang
        return self._next

    def take(self) -> None:
        """Go on to the gang after the next."""
        self._next = None

    def only_returning(self) -> None:
        """Have no more gangs but those whose pods were all evicted."""
        self._gangs = [gang for gang in self._gangs if gang.returns]
        if self._next is not None and not self._next.returns:
            self._next = None


def likeness(workload: SessionWorkload, pod: Pod) -> Likeness:
    """What decides whether a pod has room.

    Armada: the scheduling key, internal/scheduler/internaltypes/podutils.go.
    """
    return class_of(workload), wants_of(pod)


def gangs_of(session: Session, queue: int, offered: Collection[int], with_new: bool) -> list[ArmadaGang]:
    """The whole gangs of a queue in their order; `offered` are the evicted pods, by number. With or without pods that wait.

    First those that ran before the round and were evicted: by priority, how long they have run, and the order of their submissions. Then
    the others, which have pods that wait or that started in this round: by priority, and the order of their submissions.
    """
    found = []
    for workload in session.workloads:
        if workload.queue != queue:
            continue
        pods_of = session.pods_of(workload)
        evicted = [pod for pod in pods_of if pod.number in offered]
        waiting = [pod for pod in pods_of if with_new and pod.status is PodStatus.WAITING]
        pods = (*evicted, *waiting)
        # Where pods of a gang are over, those that run are all of it, but those that wait are not.
        live = [pod for pod in pods_of if waiting or pod.number in offered or pod.status in _LIVE]
        if pods and len(pods) == len(live):
            found.append(ArmadaGang(workload, pods, together([pod.requests for pod in pods], len(session.resources)), not waiting))
    return sorted(found, key=_place)


def next_line(lines: Sequence[GangLine], held: Sequence[Sequence[int]], cost: ArmadaCost, large_first: bool) -> GangLine | None:
    """The line whose next gang has its turn; `held` is what each quota node holds. None where no line has any."""
    turns = [(_turn(line.queue, gang, held, cost, large_first), at) for at, line in enumerate(lines) if (gang := line.head()) is not None]
    return lines[min(turns)[1]] if turns else None


def _turn(queue: ArmadaQueue, gang: ArmadaGang, held: Sequence[Sequence[int]], cost: ArmadaCost, large_first: bool) -> GangTurn:
    """By priority; then by what the queue costs by weight with the gang; then by the queue's name.

    With `large_first`, gangs with which a queue stays within its share come before others, by what the queue costs without them, and then
    by their size.
    """
    amounts = held[queue.number]
    priority = -gang.workload.priority
    costs = cost.of(together([tuple(amounts), gang.amounts], len(amounts))) / queue.weight  # exact
    if large_first and costs <= queue.budget:
        without = cost.of(amounts) / queue.weight  # exact
        return priority, False, without, -cost.of(gang.amounts) * queue.weight, queue.name
    return priority, large_first, costs, Fraction(0), queue.name


def _place(gang: ArmadaGang) -> tuple[bool, int, int, int, int]:
    workload = gang.workload
    ran_from = workload.started if gang.returns else None
    return ran_from is None, -workload.priority, ran_from or 0, workload.created, workload.number

"""The queues that take part in a round of Armada: what each wants, should have and may hold at most.

Armada: `constructSchedulingContext` in internal/scheduler/scheduling/scheduling_algo.go, and
internal/scheduler/scheduling/constraints/constraints.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..session.pods import HOLDING, PodAmounts, PodStatus, SessionWorkload
from ..session.session import Session
from .armada_settings import ArmadaSettings, ByResource
from .armada_shares import ArmadaCost, ArmadaShare, divided

ArmadaClass = tuple[int, bool]
"""A priority class: a priority, and whether its workloads may be evicted."""

Cap = tuple[int | None, ...]
"""The most of each resource, in the order of `Session.resources`; None is no cap."""


@dataclass(frozen=True, slots=True)
class ArmadaQueue:
    """A queue with work: its number and name, its weight (above 0), and its share."""

    number: int
    name: str
    weight: Fraction
    share: ArmadaShare

    @property
    def budget(self) -> Fraction:
        """The cost by weight up to which it is within its share."""
        return self.share.capped / self.weight  # exact


def class_of(workload: SessionWorkload) -> ArmadaClass:
    """The priority class of a workload."""
    return workload.priority, workload.preemptible


def cost_of(session: Session, settings: ArmadaSettings) -> ArmadaCost:
    """What amounts cost, by what all nodes have that take part: a cordoned node does as long as something is on it."""
    nodes = [node for node in session.nodes if not node.machine.cordoned or session.pods_on(node.number)]
    total = tuple(sum(node.capacity[index] for node in nodes) for index in range(len(session.resources)))
    measured = dict(settings.measured)
    return ArmadaCost(total, tuple(measured.get(resource, Fraction(0)) for resource in session.resources))


def cap_of(session: Session, cost: ArmadaCost, fractions: ByResource) -> Cap:
    """Fractions of everything as amounts, rounded down."""
    named = dict(fractions)
    parts = zip(session.resources, cost.total, strict=True)
    return tuple(named[resource] * total // 1 if resource in named else None for resource, total in parts)


def exceeds(amounts: Sequence[int], cap: Cap) -> bool:
    """Whether amounts are above a cap in any resource."""
    return any(most is not None and amount > most for amount, most in zip(amounts, cap, strict=True))


def class_caps(session: Session, settings: ArmadaSettings, cost: ArmadaCost) -> dict[ArmadaClass, Cap]:
    """The caps of the priority classes that have one."""
    return {(cap.priority, cap.preemptible): cap_of(session, cost, cap.fractions) for cap in settings.caps}


def active_queues(session: Session, settings: ArmadaSettings, cost: ArmadaCost) -> list[ArmadaQueue]:
    """The queues that have pods which run or wait, by name, each with its share. What a queue wants in a class counts up to its cap."""
    caps = class_caps(session, settings, cost)
    wanted: dict[int, dict[ArmadaClass, list[int]]] = {}
    for workload in session.workloads:
        live = [pod for pod in session.pods_of(workload) if pod.status is PodStatus.WAITING or pod.status in HOLDING]
        if live and workload.queue >= 0:
            of_queue = wanted.setdefault(workload.queue, {})
            sums = of_queue.setdefault(class_of(workload), [0] * len(session.resources))
            for pod in live:
                add(sums, pod.requests)
    numbers = sorted(wanted, key=lambda number: session.quota_nodes[number].name)
    weights = [session.quota_nodes[number].weight[0] for number in numbers]
    demands = [cost.demand(_capped(wanted[number], caps)) for number in numbers]
    shares = divided(weights, demands)
    names = [session.quota_nodes[number].name for number in numbers]
    return [ArmadaQueue(*each) for each in zip(numbers, names, weights, shares, strict=True)]


def add(sums: list[int], amounts: Sequence[int]) -> None:
    """Add amounts to sums."""
    for index, amount in enumerate(amounts):
        sums[index] += amount


def together(amounts: Sequence[PodAmounts], resources: int) -> PodAmounts:
    """The sum of amounts of so many resources."""
    return tuple(sum(each[index] for each in amounts) for index in range(resources))


def _capped(wanted: dict[ArmadaClass, list[int]], caps: dict[ArmadaClass, Cap]) -> PodAmounts:
    by_class = []
    for each in sorted(wanted):
        cap: Cap = caps.get(each, (None,) * len(wanted[each]))
        by_class.append(tuple(amount if most is None else min(amount, most) for amount, most in zip(wanted[each], cap, strict=True)))
    return together(by_class, len(by_class[0]))

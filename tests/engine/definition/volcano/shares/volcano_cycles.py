"""Small cycles for the shares of queues: amounts are cpu in thousandths, memory in bytes, GPUs in thousandths, and pods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gpol.engine.definition.session.pods import NO_NODE, Pod, PodStatus, SessionGroup, SessionWorkload
from gpol.engine.definition.session.quota_nodes import QuotaNode
from gpol.engine.definition.session.session import Session, SessionNode
from gpol.engine.definition.volcano.model.hyper_node_map import hyper_nodes_under_top
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase, PodGroupFacts, SubJob, VolcanoPodFacts, VolcanoQueueFacts
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.model.volcano_settings import VolcanoSettings
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.inventory import Machine

RESOURCES = ("cpu", "memory", "gpu", "pods")
Amounts = tuple[int, int, int]
"""Cpu, memory and GPUs."""


@dataclass(frozen=True, slots=True)
class GivenQueue:
    """A queue; None in an amount: not named."""

    name: str
    weight: int = 1
    deserved: Sequence[int | None] = (None, None, None)
    limit: Sequence[int | None] = (None, None, None)
    guarantee: Amounts = (0, 0, 0)
    parent: str = ""
    hierarchy: str = ""
    weights: str = ""
    open: bool = True


@dataclass(frozen=True, slots=True)
class GivenJob:
    """A PodGroup of `running` and `waiting` pods of one size."""

    queue: str
    size: Amounts
    running: int = 0
    waiting: int = 0
    phase: GroupPhase = GroupPhase.RUNNING
    least: Amounts | None = None


def cycle_with(total: Amounts, queues: Sequence[GivenQueue], jobs: Sequence[GivenJob]) -> VolcanoCycle:
    """A cycle on one large node, on which all pods that run stand."""
    numbers = {queue.name: number for number, queue in enumerate(queues, start=1)}
    parents = {queue.name: numbers.get(queue.parent, 0) for queue in queues}
    nodes = [_node(0, "", -1, parents, numbers, GivenQueue(""))]
    nodes += [_node(numbers[queue.name], queue.name, parents[queue.name], parents, numbers, queue) for queue in queues]
    workloads, pods = [], list[Pod]()
    for number, job in enumerate(jobs):
        first = len(pods)
        for at in range(job.running + job.waiting):
            runs = at < job.running
            status = PodStatus.RUNNING if runs else PodStatus.WAITING
            requests = (*job.size, 1)
            pods.append(Pod(first + at, f"j{number}-{at}", number, 0, requests, _PODS, status, 0 if runs else NO_NODE))
        whose = tuple(range(first, len(pods)))
        workloads.append(SessionWorkload(number, f"j{number}", numbers[job.queue], 0, True, number, None, (_GROUP,), whose))
    machine = SessionNode(0, "node", Machine({}, {}, -1), (*total, 1_000))
    session = Session(RESOURCES, [machine], nodes, workloads, pods)
    facts = [PodGroupFacts(job.phase, None if job.least is None else (*job.least, 0), (SubJob("", 0),)) for job in jobs]
    beside = [VolcanoQueueFacts(), *(VolcanoQueueFacts(queue.open, True, queue.hierarchy, queue.weights) for queue in queues)]
    settings = VolcanoSettings((), ())
    return VolcanoCycle(session, settings, facts, [VolcanoPodFacts(pod.name) for pod in pods], beside, hyper_nodes_under_top([], 1))


_PODS = PodSet(requests={})
_GROUP = SessionGroup("", -1, (), 1)


def _node(number: int, name: str, parent: int, parents: Mapping[str, int], numbers: Mapping[str, int], queue: GivenQueue) -> QuotaNode:
    children = tuple(numbers[child] for child, above in parents.items() if above == number)
    weight = (Fraction(queue.weight),) * len(RESOURCES)
    return QuotaNode(number, name, parent, children, (*queue.deserved, None), (*queue.limit, None), (*queue.guarantee, 0), weight)

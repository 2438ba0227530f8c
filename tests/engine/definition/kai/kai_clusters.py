"""Small KAI clusters for tests: nodes by their GPUs, one department of queues, jobs of equal pods."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from gpol.engine.definition.kai.kai_cycle import KaiCycle
from gpol.engine.definition.kai.kai_passes import PASSES, run_cycle
from gpol.engine.definition.kai.settings import KaiPass, KaiSettings
from gpol.engine.definition.kai.terms import KaiTerms, WorkloadTerms
from gpol.engine.definition.session.pods import NO_NODE, Pod, PodStatus, SessionGroup, SessionWorkload
from gpol.engine.definition.session.quota_nodes import QuotaNode
from gpol.engine.definition.session.session import Session, SessionNode
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.domains import DomainTree
from gpol.engine.nodes.inventory import Machine

RESOURCES = ("cpu", "memory", "gpu", "pods")
_PODS = PodSet(name="main", count=1, requests={"gpu": 1})
_ROOT, _DEPARTMENT, _FIRST_QUEUE = 0, 1, 2


@dataclass(frozen=True)
class Job:
    """A job: its queue by position, the GPUs of each pod, the nodes of those that run (-1: it waits), and how many it needs at least.

    `groups` and `group_of` (a leaf by pod) are for jobs of several groups.
    """

    name: str
    queue: int
    gpus: int
    nodes: tuple[int, ...]
    least: int | None = None
    priority: int = 50
    preemptible: bool = True
    groups: tuple[SessionGroup, ...] = ()
    group_of: tuple[int, ...] = ()
    terms: WorkloadTerms = field(default_factory=WorkloadTerms)


@dataclass(frozen=True)
class Queue:
    """A queue: the GPUs that it owns, its limit of GPUs, and its weight."""

    owned: int | None = 0
    limit: int | None = None
    weight: int = 1
    priority: int = 100


def cycle(
    gpus: Sequence[int],
    queues: Sequence[Queue],
    jobs: Sequence[Job],
    settings: KaiSettings | None = None,
    trees: Sequence[DomainTree] = (),
    machines: Sequence[Machine] = (),
) -> KaiCycle:
    """A cycle over nodes with some GPUs each, named n0, n1 and so on, and more CPU and memory than anybody asks for."""
    made = machines or [Machine({}, {"cpu": 1_000, "memory": 1_000, "gpu": each, "pods": 110}, 0) for each in gpus]
    nodes = [
        SessionNode(number, f"n{number}", machine, (1_000, 1_000, each, 110))
        for number, (machine, each) in enumerate(zip(made, gpus, strict=True))
    ]
    names = tuple(range(_FIRST_QUEUE, _FIRST_QUEUE + len(queues)))
    free, nothing = (None, None), (0,) * 4
    one = (Fraction(1), Fraction(1))
    tree = [
        QuotaNode(_ROOT, "", -1, (_DEPARTMENT,), (*free, None, None), (*free, None, None), nothing, (*one, Fraction(1), Fraction(0))),
        QuotaNode(_DEPARTMENT, "all", _ROOT, names, (*free, None, None), (*free, None, None), nothing, (*one, Fraction(1), Fraction(0))),
    ]
    for number, queue in zip(names, queues, strict=True):
        owned, limit = (*free, queue.owned, None), (*free, queue.limit, None)
        weight = (*one, Fraction(queue.weight), Fraction(0))
        tree.append(QuotaNode(number, f"q{number}", _DEPARTMENT, (), owned, limit, nothing, weight, queue.priority, number))
    pods, workloads = list[Pod](), list[SessionWorkload]()
    for number, job in enumerate(jobs):
        first = len(pods)
        for at, node in enumerate(job.nodes):
            status = PodStatus.WAITING if node == NO_NODE else PodStatus.RUNNING
            group = job.group_of[at] if job.group_of else 0
            pods.append(Pod(first + at, f"{job.name}-{at}", number, group, (1, 1, job.gpus, 1), _PODS, status, node))
        least = len(job.nodes) if job.least is None else job.least
        groups = job.groups or (SessionGroup("", -1, (), least),)
        queue = _FIRST_QUEUE + job.queue
        mine = tuple(range(first, len(pods)))
        workloads.append(SessionWorkload(number, job.name, queue, job.priority, job.preemptible, number, None, groups, mine))
    session = Session(RESOURCES, nodes, tree, workloads, pods, trees)
    return KaiCycle(session, KaiTerms(tuple(job.terms for job in jobs), now=len(jobs)), settings or KaiSettings())


def run(made: KaiCycle, *passes: KaiPass) -> dict[str, tuple[str, int]]:
    """Run some passes (none named: all). Gives the status and the node of each pod that is not as it was, by name."""
    before = [(pod.status, pod.node) for pod in made.session.pods]
    for each in passes:
        PASSES[each](made)
    if not passes:
        run_cycle(made)
    return {pod.name: (pod.status.name, pod.node) for pod in made.session.pods if (pod.status, pod.node) != before[pod.number]}


WAITS = NO_NODE

"""A cluster that plays rounds of Armada one after the other, as Armada's own test of them does.

Armada: `TestPreemptingQueueScheduler` in internal/scheduler/scheduling/preempting_queue_scheduler_test.go. Between rounds, who started runs
on, who was preempted is over, and who did not start is gone. Armada's test counts those that are gone as wanted in later rounds; here a
queue wants what runs or waits, as in Armada's scheduler. No case needs the difference.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from gpol.engine.definition.armada.armada_settings import ArmadaSettings
from gpol.engine.definition.armada.rescheduling import ArmadaRound, reschedule
from gpol.engine.definition.session.pods import NO_NODE, Pod, PodStatus, SessionGroup, SessionWorkload
from gpol.engine.definition.session.quota_nodes import QuotaNode
from gpol.engine.definition.session.session import Session, SessionNode
from gpol.engine.event_parts import PodSet, Toleration
from gpol.engine.nodes.conditions import Taint
from gpol.engine.nodes.domains import domain_tree
from gpol.engine.nodes.inventory import Machine
from gpol.engine.policy_graph import Flavor, Level, Source, Topology

RESOURCES = ("cpu", "memory")
MIB = 1024**2
GIB = 1024**3
ZONE = "nodetype"
"""The label of nodes that gangs may have to share, one that Armada's tests index."""

TEST_SETTINGS = ArmadaSettings(
    measured=(("cpu", Fraction(1)), ("memory", Fraction(1))),
    packing=(("cpu", 1), ("memory", 128 * 1024**2)),
    protected=Fraction(0),
    large_first=True,
)
"""What Armada's tests are configured with (internal/scheduler/testfixtures/testfixtures.go)."""

_TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
_TOPOLOGY = Topology("zones", (Level("zone", ZONE), Level("host", None)), Source("", 1))
_ANY = Flavor("any", (), None, Fraction(1), Source("", 1))


@dataclass(frozen=True, slots=True)
class ArmadaNode:
    """A node; `zone` is its label for that, none where it is empty. A tainted one takes only jobs that tolerate it."""

    capacity: tuple[int, ...] = (32, 256 * GIB)
    zone: str = ""
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class ArmadaJob:
    """A workload of `pods` equal pods. `nodes` are where they run, none while it waits; `started` is the round in which it started.

    `zone` is the one in which it may run (any, where it is empty); `uniform`: all its pods run in one zone.
    """

    name: str
    queue: str
    requests: tuple[int, ...]
    pods: int = 1
    priority: int = 0
    preemptible: bool = True
    zone: str = ""
    uniform: bool = False
    tolerates: bool = False
    started: int | None = None
    nodes: tuple[int, ...] = ()
    submitted: int = 0


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """What a round did: the jobs that started and those that were preempted, by name, and the round as it tells itself."""

    started: tuple[str, ...]
    preempted: tuple[str, ...]
    told: ArmadaRound
    session: Session


@dataclass(slots=True)
class ArmadaCluster:
    """Nodes, queues by name with their weights, and what runs."""

    nodes: Sequence[ArmadaNode]
    weights: Mapping[str, Fraction]
    settings: ArmadaSettings = TEST_SETTINGS
    running: list[ArmadaJob] = field(default_factory=list)
    cordoned: set[int] = field(default_factory=set)
    round: int = 0
    submissions: int = 0

    def play(self, submitted: Sequence[ArmadaJob], over: Collection[str] = ()) -> RoundOutcome:
        """Play a round in which some jobs wait; jobs that are `over` ended before it."""
        self.running = [job for job in self.running if job.name not in over]
        waiting = [replace(job, submitted=self.submissions + at) for at, job in enumerate(submitted)]
        self.submissions += len(waiting)
        jobs = sorted([*self.running, *waiting], key=lambda job: job.submitted)
        session = self.session(jobs)
        told = reschedule(session, self.settings)
        after = [(job, [session.pods[pod] for pod in session.workloads[number].pods]) for number, job in enumerate(jobs)]
        started = [job for job, pods in after if any(pod.status is PodStatus.PLACED for pod in pods)]
        preempted = [job for job, pods in after if any(pod.status is PodStatus.STOPPING for pod in pods)]
        self.running = [
            replace(job, nodes=tuple(pod.node for pod in pods), started=self.round if job.started is None else job.started)
            for job, pods in after
            if all(pod.status in (PodStatus.PLACED, PodStatus.RUNNING) for pod in pods)
        ]
        self.round += 1
        return RoundOutcome(tuple(job.name for job in started), tuple(job.name for job in preempted), told, session)

    def session(self, jobs: Sequence[ArmadaJob]) -> Session:
        """A session of these jobs."""
        names = sorted(self.weights)
        none = (None,) * len(RESOURCES)
        nothing = (0,) * len(RESOURCES)
        above = (Fraction(1),) * len(RESOURCES)
        quota = [QuotaNode(0, "", -1, tuple(range(1, len(names) + 1)), none, none, nothing, above)]
        for number, name in enumerate(names, 1):
            quota.append(QuotaNode(number, name, 0, (), none, none, nothing, (self.weights[name],) * len(RESOURCES)))
        workloads, pods = list[SessionWorkload](), list[Pod]()
        for number, job in enumerate(jobs):
            group = SessionGroup("main", -1, (), job.pods, within=(0, 0) if job.uniform else None)
            own = range(len(pods), len(pods) + job.pods)
            queue = names.index(job.queue) + 1 if job.queue in self.weights else -1
            workloads.append(
                SessionWorkload(number, job.name, queue, job.priority, job.preemptible, job.submitted, job.started, (group,), tuple(own))
            )
            for at, pod in enumerate(own):
                status, node = (PodStatus.RUNNING, job.nodes[at]) if job.nodes else (PodStatus.WAITING, NO_NODE)
                pods.append(Pod(pod, f"{job.name}-{at}", number, 0, job.requests, _pod_set(job), status, node))
        nodes = [SessionNode(number, f"n{number:03}", self.machine(number, each), each.capacity) for number, each in enumerate(self.nodes)]
        trees = [domain_tree(_TOPOLOGY, _ANY, {node.name: node.machine for node in nodes})]
        return Session(RESOURCES, nodes, quota, workloads, pods, trees)

    def machine(self, number: int, node: ArmadaNode) -> Machine:
        """A node as facts tell it."""
        labels = {ZONE: node.zone} if node.zone else {}
        taints = (Taint(**_TAINT),) if node.tainted else ()
        return Machine(labels, dict(zip(RESOURCES, node.capacity, strict=True)), -1, taints, number in self.cordoned)


def _pod_set(job: ArmadaJob) -> PodSet:
    selector = {ZONE: job.zone} if job.zone else {}
    return PodSet(
        name="main", count=1, requests={"cpu": 1}, node_selector=selector, tolerations=(Toleration(**_TAINT),) if job.tolerates else ()
    )

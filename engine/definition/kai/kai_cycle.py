"""One cycle of KAI as its passes share it: the session, what queues are due, and who was evicted for whom."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..session.pods import NO_NODE, Pod, PodStatus
from ..session.session import Session
from .place.topologies import Topologies
from .quota.division import fair_shares
from .quota_state import GPU, KaiQuotas
from .settings import KaiPass, KaiSettings, NodePick
from .terms import KaiTerms
from .views import WorkloadView, whole

NOBODY = -1
"""For whom a broken gang ends."""


class KaiEviction(NamedTuple):
    """Which pass evicted a pod, and for which workload (`NOBODY`: for none)."""

    by: KaiPass
    workload: int


class Standpoint(NamedTuple):
    """Where a pod was before it was evicted for a trial."""

    status: PodStatus
    node: int
    leaving: tuple[int, ...]


class KaiCycle:
    """`evictions` are the pods that were told to stop, or to move; `views` are the workloads with all their pods.

    `tentative` are pods that are evicted for a trial, and where they were. Some can be left at the end of a cycle, as KAI leaves trials in
    its session that it does not commit: nobody has told them to stop.
    """

    def __init__(self, session: Session, terms: KaiTerms, settings: KaiSettings, units: Sequence[int] = ()) -> None:
        self.session = session
        self.terms = terms
        self.settings = settings
        self.quotas = KaiQuotas(session, fair_shares(session, settings.usage_weight, units))
        self.topologies = Topologies(session)
        self.views = tuple(whole(workload, session.pods) for workload in session.workloads)
        ranked = sorted(session.nodes, key=lambda node: node.name)
        self.by_name = tuple(node.number for node in ranked)
        self.spread = settings.pick is NodePick.SPREAD
        self.tentative: dict[int, Standpoint] = {}
        self.evictions: dict[int, KaiEviction] = {}

    def gpus_free_later(self, node: int) -> int:
        """The GPUs of a node that are free, or will be (KAI: idle or releasing)."""
        return self.session.free_later(node)[GPU]

    def evict_tentatively(self, pods: Iterable[Pod]) -> None:
        """Let pods stop, so that a trial can place others, and them again. One that is named twice is paid back twice, as in KAI."""
        named: set[int] = set()
        for pod in pods:
            if pod.number not in named:
                self.tentative[pod.number] = Standpoint(pod.status, pod.node, pod.leaving)
            twice = pod.number in named
            named.add(pod.number)
            self.session.move(pod, PodStatus.STOPPING, pod.node, pod.leaving, pod.overpaid + twice)

    def put_back(self, pod: Pod) -> None:
        """Let a pod stay that was evicted for a trial.

        One that was promised another node before goes back to that promise, wherever it found room now: KAI does not ask whether others
        were given it since.
        """
        before = self.tentative[pod.number]
        self.session.move(pod, before.status, before.node, before.leaving, pod.overpaid)

    def stands_on(self, pod: Pod, node: int) -> bool:
        """Whether a pod takes room of a node, or is promised it."""
        return pod.node == node or node in pod.leaving

    def promise(self, pod: Pod, node: int) -> None:
        """Give a pod room that will be free; where it stops it takes room until then."""
        leaving = pod.leaving if pod.node == NO_NODE else (*pod.leaving, pod.node)
        self.session.move(pod, PodStatus.PROMISED, node, leaving, pod.overpaid)

    def give_up(self, mark: int, tentative: Mapping[int, Standpoint]) -> None:
        """Take a trial back: everything since a mark; `tentative` are the pods that were evicted for trials before it."""
        self.session.undo(mark)
        self.tentative = dict(tentative)

    def decide(self, victims: Iterable[Pod], moved: Iterable[Pod], by: KaiPass, view: WorkloadView) -> None:
        """Keep what a trial did with its `victims`: those that have `moved` are evicted, the others stay."""
        for pod in victims:
            self.tentative.pop(pod.number, None)
        for pod in moved:
            self.evictions[pod.number] = KaiEviction(by, view.workload.number)

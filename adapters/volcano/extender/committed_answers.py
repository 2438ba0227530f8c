"""The answers of a live core: a fold of the decisions that were committed. A question costs the same however many workloads live.

    answers = CommittedAnswers(decider.core, evicted)      # at the end of a journal, before anything is played
    answers.take(decider.commit(...), evicted)             # after each commit

A PodGroup is the workload `NAMESPACE/NAME`, as an import names it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....engine.cores import Core
from ....engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced
from ....engine.facts import WorkloadAdopted, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import NOWHERE, Workload
from ...live.decider import Numbered
from ..queue_names import policy_name
from .verdicts import ExtenderVerdict, Reason

_Over = WorkloadFinished | WorkloadCancelled | WorkloadRejected | WorkloadReplaced


@dataclass(slots=True)
class _Decided:
    """What was decided about a live workload: it runs in `queue`, or it waits."""

    uid: str
    queue: str = ""
    runs: bool = False


class CommittedAnswers:
    """See `VolcanoAnswers`. `core` has to stand at the end of its journal at first; later only the queues of its policy are asked for.

    `evicted` is as `EvictedGroups.now` gives it.
    """

    def __init__(self, core: Core, evicted: Mapping[str, str]) -> None:
        self._core, self._evicted = core, evicted
        self._decided = {workload.name: _standing(workload, core.graph) for workload in core.view.workloads()}
        self._running = Counter(decided.queue for decided in self._decided.values() if decided.runs)

    def take(self, committed: Iterable[Numbered], evicted: Mapping[str, str]) -> None:
        """Take in what was committed, in order, and who is evicted after it."""
        self._evicted = evicted
        for _, event in committed:
            if isinstance(event, WorkloadSubmitted):
                self._decided[event.workload] = _Decided(event.uid)
            elif isinstance(event, WorkloadAdmitted | WorkloadAdopted):
                self._set(event.workload, event.queue, runs=True)
            elif isinstance(event, WorkloadEvicted):
                self._set(event.workload, event.queue, runs=False)
            elif isinstance(event, _Over):
                self._count(self._decided.pop(event.workload), -1)

    def enqueueable(self, pod_group: str, uid: str) -> ExtenderVerdict:
        """Whether it is admitted. Another PodGroup of the same name, which was decided about before, does not count."""
        known = self._decided.get(pod_group)
        if known is None:
            return ExtenderVerdict(False, Reason.UNKNOWN_POD_GROUP)
        if known.uid and known.uid != uid:
            return ExtenderVerdict(False, Reason.ANOTHER_UID)
        waits = Reason.EVICTED if pod_group in self._evicted else Reason.WAITING
        return ExtenderVerdict(known.runs, Reason.ADMITTED if known.runs else waits)

    def overused(self, queue: str) -> ExtenderVerdict:
        """Whether nobody is admitted in the queue.

        Not whether it has quota left: a queue whose quota is given away to the last has pods that are still to be allocated, for those to
        whom it was given. Volcano would allocate none of them, nor let them reclaim, in a queue that is overused.
        """
        name, graph = policy_name(queue), self._core.graph
        if self._running[name]:
            return ExtenderVerdict(False, Reason.SOMEBODY_ADMITTED)
        is_known = graph is not None and name in graph.doors.named
        return ExtenderVerdict(True, Reason.NOBODY_ADMITTED if is_known else Reason.UNKNOWN_QUEUE)

    def evictable(self, evictor: str, evictee: str, in_one_queue: bool) -> ExtenderVerdict:
        """Whether the one is admitted, and the other one was evicted and is not admitted again."""
        asking, known, queue = self._decided.get(evictor), self._decided.get(evictee), self._evicted.get(evictee)
        if asking is None or not asking.runs:
            return ExtenderVerdict(False, Reason.EVICTOR_NOT_ADMITTED)
        if known is not None and known.runs:
            return ExtenderVerdict(False, Reason.RUNS_ON)
        if queue is None:
            return ExtenderVerdict(False, Reason.UNKNOWN_POD_GROUP if known is None else Reason.NEVER_ADMITTED)
        if in_one_queue and asking.queue != queue:
            return ExtenderVerdict(False, Reason.ANOTHER_QUEUE)
        return ExtenderVerdict(True, Reason.EVICTED)

    def _set(self, name: str, queue: str, runs: bool) -> None:
        decided = self._decided[name]
        self._count(decided, -1)
        self._decided[name] = changed = _Decided(decided.uid, queue, runs)
        self._count(changed, 1)

    def _count(self, decided: _Decided, change: int) -> None:
        if decided.runs:
            self._running[decided.queue] += change


def _standing(workload: Workload, graph: PolicyGraph | None) -> _Decided:
    """What was decided about a workload of a core."""
    queue = "" if graph is None or workload.queue == NOWHERE else graph.nodes[workload.queue].name
    return _Decided(workload.fact.uid, queue, workload.admitted is not None)

"""Room for workloads whose pods are to stand together: every HyperNode of a tier is tried, and the best of those that serve is taken.

Volcano: pkg/scheduler/actions/allocate/allocate.go (`allocateForJob`, `allocateForSubJob`), recorder.go. Tiers are tried from the lowest
up.
"""

from dataclasses import dataclass
from fractions import Fraction

from ...session.pods import Pod, PodStatus, SessionWorkload
from ..model.hyper_node_map import CLUSTER_TOP, HyperNodeDomain
from ..model.moving_heap import MovingHeap
from ..model.volcano_cycle import CycleMark, LastTry
from ..votes.tiers import PluginTiers
from .pods_in_turn import PodsInTurn
from .worksheets import Worksheet

_Room = tuple[Pod, PodStatus, int, LastTry | None]
"""A pod that got room in a trial: its status and node there, and what its last trial was before."""


@dataclass(frozen=True, slots=True)
class _JobTrial:
    """How a workload went in one HyperNode: who got which room, what is left, how good it is, and where its sub-jobs then stand."""

    room: list[_Room]
    left: Worksheet
    score: Fraction
    stands_in: dict[int, str]


class InHyperNodes:
    """The trials of one pass."""

    def __init__(self, tiers: PluginTiers) -> None:
        self._tiers = tiers
        self._cycle = tiers.cycle

    def allocate(self, workload: SessionWorkload, sheet: Worksheet) -> bool:
        """Give a workload room in the best HyperNode of the lowest tier in which it finds any; whether it starts there."""
        cycle, tiers = self._cycle, self._tiers
        for gradient in tiers.gradients_for_job(workload, cycle.hyper_nodes.by_name[CLUSTER_TOP]):
            trials: dict[str, _JobTrial] = {}
            for hyper_node in gradient:
                trial = self._try_job(workload, sheet.copy(), hyper_node)
                if trial is not None:
                    trials[hyper_node.name] = trial
            if not trials:
                continue
            best = min(trials, key=lambda name: (-trials[name].score, name))
            mark = cycle.mark()
            self._again(trials[best].room)
            sheet.become(trials[best].left)
            if not tiers.job_is_ready(workload):
                return False
            cycle.commit(mark)
            self._remember(workload, best, trials[best].stands_in)
            return True
        return False

    def _try_job(self, workload: SessionWorkload, sheet: Worksheet, hyper_node: HyperNodeDomain) -> _JobTrial | None:
        """Try a workload in a HyperNode, and take it back; None where it cannot start there, not even once others have left."""
        cycle, tiers = self._cycle, self._tiers
        number = workload.number
        cycle.no_node_for[number].clear()
        before = list(cycle.sub_jobs_in[number])
        tried = self._last_tries(workload)
        mark = cycle.mark()
        score, stands_in = Fraction(0), dict[int, str]()
        while sheet.sub_jobs:
            index = sheet.sub_jobs.pop()
            got = self._sub_job(workload, index, sheet, hyper_node)
            if got is None:
                continue
            score += got
            stands_in[index] = cycle.sub_jobs_in[number][index]
            if sheet.pods[index]:
                sheet.sub_jobs.push(index)
            if tiers.job_is_ready(workload):
                break
        cycle.sub_jobs_in[number] = before
        room = self._room(mark, tried)
        kept = bool(room) and (tiers.job_is_ready(workload) or tiers.job_is_promised(workload))
        cycle.undo(mark)
        return _JobTrial(room, sheet, score, stands_in) if kept else None

    def _sub_job(self, workload: SessionWorkload, index: int, sheet: Worksheet, within: HyperNodeDomain) -> Fraction | None:
        """Give a sub-job room in the best HyperNode of the lowest tier in which it finds any; how good that is, None without any."""
        cycle, tiers = self._cycle, self._tiers
        sub_job = cycle.groups[workload.number].sub_jobs[index]
        for gradient in tiers.gradients_for_sub_job(workload, sub_job, within):
            trials: dict[str, tuple[list[_Room], MovingHeap[Pod]]] = {}
            for hyper_node in gradient:
                self._forget_failures(workload, sub_job.group)
                pods = sheet.pods[index].copy()
                tried = self._last_tries(workload)
                mark = cycle.mark()
                if PodsInTurn(tiers).give_room(workload, sub_job, pods, hyper_node.nodes):
                    room = self._room(mark, tried)
                    if room:
                        trials[hyper_node.name] = (room, pods)
                        cycle.undo(mark)
            if not trials:
                continue
            scores = tiers.hyper_node_scores(workload, sub_job, sorted(trials))
            best = min(trials, key=lambda name: (-scores[name], name))
            room, pods = trials[best]
            self._again(room)
            sheet.pods[index] = pods
            standing = cycle.sub_jobs_in[workload.number]
            standing[index] = cycle.hyper_nodes.common(standing[index], best)
            return scores[best]
        return None

    def _remember(self, workload: SessionWorkload, hyper_node: str, stands_in: dict[int, str]) -> None:
        """Note where a workload that starts stands, and its sub-jobs (`UpdateDecisionToJob`)."""
        cycle = self._cycle
        cycle.allocated_in[workload.number] = cycle.hyper_nodes.common(cycle.allocated_in[workload.number], hyper_node)
        standing = cycle.sub_jobs_in[workload.number]
        for index in sorted(stands_in):
            standing[index] = cycle.hyper_nodes.common(standing[index], stands_in[index])

    def _room(self, mark: CycleMark, tried: dict[int, LastTry | None]) -> list[_Room]:
        return [(pod, pod.status, pod.node, tried.get(pod.number)) for pod in self._cycle.session.changed(mark[0])]

    def _last_tries(self, workload: SessionWorkload) -> dict[int, LastTry | None]:
        return {pod.number: self._cycle.last_try(pod) for pod in self._cycle.session.pods_of(workload)}

    def _again(self, room: list[_Room]) -> None:
        """Give pods the room again that they had in a trial (`RecoverOperations`)."""
        for pod, status, node, tried in room:
            if status is PodStatus.RESERVED:
                self._cycle.reserve(pod, node)
            else:
                self._cycle.promise(pod, node, after_eviction=False)
            self._cycle.forget_try(pod, tried)

    def _forget_failures(self, workload: SessionWorkload, group: int) -> None:
        failed = self._cycle.no_node_for[workload.number]
        for number in [number for number in failed if self._cycle.session.pods[number].group == group]:
            del failed[number]

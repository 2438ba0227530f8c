"""More pods for elastic workloads that run, where a policy decides at once: surplus gets what nobody else can have.

This comes when all who wait were looked at and nobody can be admitted any more. Pods are added one by one. Each queue puts up its first
workload, in the policy's order, that can have one more pod of its surplus, and of these the best one gets it, by the order of queues, as in
admissions. Of several pod sets the one is first that has the least part of its surplus. A pod goes on the flavors that its pod set has,
beside the others, and nobody is evicted for it.

No pod is added with which somebody who waits could be admitted by evictions, now or later: what a workload gets would be what it is
evicted for, as use by which its queue borrows. In a strict queue nothing grows while somebody waits there.
"""

from collections.abc import Callable

from ...elastic.pod_counts import changes_between, fullness, is_elastic, resized, running_pods
from ...event_parts import PlacedPods
from ...intake.holds import holds
from ...nodes.lost_nodes import waits_for_places
from ...outcome.decision import Outcome, Resize
from ...outcome.nomination import FlavorAssignment, Nomination, Request, as_request
from ...workload import Workload
from ..placement.more_places import place_one_more
from ..placement.placer import ToPlace
from ..queue.line import line_key
from ..state.trial import Trial
from ..transition.apply import carry_out
from .entry_order import next_entry


def grow(trial: Trial, nobody_gets_in: Callable[[], bool]) -> list[Outcome]:
    """Give running workloads the pods that they can have; carried out already. `nobody_gets_in` says whether that may stay so."""
    growth = _Growth(trial)
    if not growth.candidates:
        return []
    with trial.undone():
        growth.grow(nobody_gets_in)
        after = [trial.current(trial.state.workloads[name]) for name in growth.grown]
    outcomes: list[Outcome] = []
    for workload in after:
        outcomes.append(growth_of(trial, trial.state.workloads[workload.name], workload))
        carry_out(trial.state, outcomes[-1])
    return outcomes


class _Growth:
    """Adds pods in a trial; `steps` are the workloads as they are with each pod that was added, in order."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.state = trial, trial.state
        self.steps: list[Workload] = []
        self.grown: list[str] = []
        self.stopped: set[str] = set()
        self.candidates = {queue.node: self._candidates(queue.node) for queue in trial.graph.queues}
        self.candidates = {queue: self.candidates[queue] for queue in sorted(self.candidates) if self.candidates[queue]}

    def _candidates(self, queue: int) -> list[str]:
        """Those of a queue that run with fewer pods than they ask for and may have more, in the policy's order."""
        if self.trial.graph.queue_at(queue).strict and self.state.line(queue):
            return []
        found = [each for each in self.trial.running(queue) if is_elastic(each.fact) and self._may_grow(each)]
        return [each.name for each in sorted(found, key=lambda each: line_key(self.trial.graph, each))]

    def _may_grow(self, workload: Workload) -> bool:
        if workload.lost_nodes or waits_for_places(workload) or any(holds(self.trial.graph, workload)):
            return False
        return running_pods(workload) < list(workload.remaining)

    # --- as many as may be ------------------------------------------------------------------------------------------------

    def grow(self, nobody_gets_in: Callable[[], bool]) -> None:
        """Add all the pods that may be added. The workload whose pod would let somebody in gets no more, and the others go on."""
        while True:
            begun = len(self.steps)
            before = self._sizes()
            self._add_pods()
            if len(self.steps) == begun or nobody_gets_in():
                break
            good, bad = begun, len(self.steps)  # so many steps let nobody in, and so many do
            while bad - good > 1:
                middle = (good + bad) // 2
                self._show(before, self.steps[begun:middle])
                good, bad = (middle, bad) if nobody_gets_in() else (good, middle)
            self.stopped.add(self.steps[good].name)
            self._show(before, self.steps[begun:good])
            del self.steps[good:]
        self.grown = list(dict.fromkeys(step.name for step in self.steps))

    def _sizes(self) -> dict[str, Workload]:
        names = [name for queue in self.candidates for name in self.candidates[queue]]
        return {name: self.trial.current(self.state.workloads[name]) for name in names}

    def _show(self, before: dict[str, Workload], steps: list[Workload]) -> None:
        """Let the trial be as it was before, with these steps."""
        sizes = before | {step.name: step for step in steps}
        for name in before:
            if self.trial.current(self.state.workloads[name]) is not sizes[name]:
                self.trial.resize(sizes[name])

    def _add_pods(self) -> None:
        """Add pods one by one until no workload can have another one."""
        full = set(self.stopped)
        while True:
            entries, larger = dict[int, Nomination](), dict[str, Workload]()
            for queue in self.candidates:
                for name in self.candidates[queue]:
                    if name in full:
                        continue
                    workload = self.trial.current(self.state.workloads[name])
                    more = self._with_one_more(workload)
                    if more is None:
                        full.add(name)
                        continue
                    larger[name] = more
                    request = _beyond(more.usage, workload.usage)
                    entries[queue] = Nomination(name, queue, FlavorAssignment(usage=dict(request), whole=dict(request)))
                    break
            best = next_entry(self.trial, entries)
            if best is None:
                return
            self.trial.resize(larger[best.workload])
            self.steps.append(larger[best.workload])

    def _with_one_more(self, workload: Workload) -> Workload | None:
        """A workload with one more pod, if there is room for it as things stand in the trial."""
        pods = running_pods(workload)
        order = sorted(range(len(pods)), key=lambda index: (fullness(workload, pods, index), index))
        for index in (index for index in order if pods[index] < workload.remaining[index]):
            more = [count + (at == index) for at, count in enumerate(pods)]
            places = self._places(workload, index)
            if places is None:
                continue
            larger = resized(workload, self.trial.policy.slot_index, more, places)
            if self.trial.tree.fits(workload.queue, _beyond(larger.usage, workload.usage)):
                return larger
        return None

    def _places(self, workload: Workload, index: int) -> dict[str, tuple[PlacedPods, ...]] | None:
        """The places of a pod set with one more pod, none on flavors that give none; None where it can have no more on its flavors."""
        graph, pod_set = self.trial.graph, workload.fact.pod_sets[index]
        given = next((each for each in workload.assignments if each.pod_set == pod_set.name), None)
        flavors = {flavor.name: number for number, flavor in enumerate(graph.flavors)}
        used = [] if given is None else sorted({flavors.get(name, -1) for name in given.flavors.values()})
        if given is None or any(flavor not in graph.queue_at(workload.queue).flavors for flavor in used):
            return None
        placing = [flavor for flavor in used if graph.flavors[flavor].topology >= 0]
        if not placing:
            return {}
        if not given.places and running_pods(workload)[index]:  # it is not known where its pods stand
            return None
        found = place_one_more(self.trial.places, ToPlace(pod_set, 1, placing[0], ""), given.places)
        return None if found is None else {pod_set.name: found}


def _beyond(more: Request, less: Request) -> Request:
    """What one request has beyond another."""
    before = dict(less)
    return as_request({slot: amount - before.get(slot, 0) for slot, amount in more})


def growth_of(trial: Trial, before: Workload, after: Workload) -> Resize:
    """The decision that a workload has more pods, with what its queue uses and owns of what is added."""
    tree, queue, added = trial.tree, before.queue, _beyond(after.usage, before.usage)
    used = tuple(tree.usage[queue][slot] for slot, _ in added)
    owned = tuple(tree.subtree[queue][slot] for slot, _ in added)
    borrowed = {slot: min(amount, use + amount - own) for (slot, amount), use, own in zip(added, used, owned, strict=True)}
    ran = dict(zip((pod_set.name for pod_set in before.fact.pod_sets), running_pods(before), strict=True))
    changes = changes_between(before.assignments, after.assignments, ran)
    return Resize(before.name, queue, before.priority, changes, after.assignments, after.usage, added, used, owned, as_request(borrowed))

"""Which flavors a workload gets: pod set by pod set, and for each group of resources the best flavor of the queue's list.

The grades, the two choices when to look further and which of two flavors is better are Kueue's (pkg/scheduler/flavorassigner). Each
resource is judged alone, on top of what earlier pod sets took of it; whether all of them fit together is seen later.
"""

from collections.abc import Callable

from ...events import PodSet
from ...graph import Group, PolicyGraph, Queue
from ..state import Active
from ..workload import POD_COUNT, Workload
from .levels import Amounts, level_that_fits
from .matching import selects, untolerated
from .plan import (
    EXCEEDS,
    MODES,
    NO_MATCH,
    WAITING,
    Attempt,
    Chosen,
    Grade,
    Mode,
    Obstacle,
    Plan,
    PodSetPlan,
    Verdict,
    better,
    more_severe,
    reason_of,
)
from .replacing import Held

Simulate = Callable[[int, int], Verdict]
"""Looks for victims for an amount of one slot alone: NO_CANDIDATES, PREEMPT (some are the queue's own) or RECLAIM, and the level then."""


class Assigner:
    """Chooses flavors for one workload, as things stand in the tree.

    `tried` says where the search goes on: the index of the last flavor tried, by pod set and resource. With `nominated` only
    those flavors are considered. `held` is what pod sets of a workload hold whose place this one takes: each stays on its flavors,
    and has to find room only for what it asks for beyond that.
    """

    def __init__(
        self,
        policy: Active,
        height: list[int],
        workload: Workload,
        simulate: Simulate,
        tried: dict[tuple[str, str], int] | None = None,
        nominated: dict[tuple[str, str], int] | None = None,
        held: Held | None = None,
    ) -> None:
        self.policy, self.tree, self.height, self.workload = policy, policy.tree, height, workload
        self.simulate, self.tried, self.nominated, self.held = simulate, tried or {}, nominated, held or {}
        graph = policy.graph
        self.queue: Queue = graph.queue_at(workload.queue)
        self.groups = groups_of(graph, self.queue)
        self.go_on_borrowing = self.queue.looks_on_borrowing(graph.settings)
        self.go_on_evicting = self.queue.looks_on_evicting(graph.settings)

    def plan(self, counts: list[int]) -> Plan:
        """Flavors for the given number of pods of each pod set."""
        plan = Plan([], {}, {}, 0, Mode.FIT)
        for indices in _joined(self.workload):
            pod_sets = [self._podset(index, counts[index]) for index in indices]
            self._serve(plan, indices, pod_sets)
            plan.pod_sets += pod_sets
            if any(pod_set.failed for pod_set in pod_sets):
                break
        plan.mode = min((pod_set.mode for pod_set in plan.pod_sets), default=Mode.FIT)
        if plan.mode is Mode.NO_FIT:
            plan.reason = reason_of(plan, self.groups, self.policy.graph)
        return plan

    def _podset(self, index: int, count: int) -> PodSetPlan:
        pod_set, ignored = self.workload.fact.pod_sets[index], self.policy.graph.ignored
        requests = {resource: pod_set.requests[resource] * count for resource in sorted(pod_set.requests) if resource not in ignored}
        if self._group(POD_COUNT) is not None:
            requests[POD_COUNT] = count
        return PodSetPlan(pod_set.name, count, {resource: requests[resource] for resource in sorted(requests)})

    def _group(self, resource: str) -> Group | None:
        return next((group for group in self.groups if resource in group.resources), None)

    def _serve(self, plan: Plan, indices: list[int], pod_sets: list[PodSetPlan]) -> None:
        """Find flavors for pod sets that get them together, and charge the plan."""
        total: dict[str, int] = {}
        for pod_set in pod_sets:
            for resource in sorted(pod_set.requests):
                total[resource] = total.get(resource, 0) + pod_set.requests[resource]
        found: dict[str, Chosen] = {}
        obstacles: list[Obstacle] = []
        attempts: list[Attempt] = []
        failed = False
        for resource in sorted(total):
            group = self._group(resource)
            if resource in found or (group is None and total[resource] == 0):
                continue
            if group is None:
                obstacles, failed = [Obstacle("unavailable", resource=resource)], True
                break
            chosen, why, tried = self._search(group, indices, total, plan.usage)
            attempts += tried
            if not chosen:
                obstacles, failed = why, True
                break
            found |= chosen
            obstacles += why
        for pod_set in pod_sets:
            pod_set.flavors = {} if failed else {name: found[name] for name in sorted(pod_set.requests) if name in found}
            pod_set.obstacles, pod_set.attempts = tuple(obstacles), tuple(attempts)
            pod_set.failed = failed or (bool(pod_set.requests) and not pod_set.flavors and any(pod_set.requests.values()))
            self._charge(plan, pod_set)

    def _charge(self, plan: Plan, pod_set: PodSetPlan) -> None:
        for resource in sorted(pod_set.flavors):
            chosen = pod_set.flavors[resource]
            slot, asked = self._slot(chosen.flavor, resource), pod_set.requests[resource]
            _, before = self.held.get(pod_set.name, {}).get(resource, ("", 0))
            plan.whole[slot] = plan.whole.get(slot, 0) + asked
            plan.usage[slot] = plan.usage.get(slot, 0) + asked - before
            plan.level = max(plan.level, chosen.level)
            if chosen.mode is Mode.PREEMPT:
                plan.needing.add(slot)

    def _slot(self, flavor: int, resource: str) -> int:
        return self.policy.slot_index[self.policy.graph.flavors[flavor].name, resource]

    def _search(
        self, group: Group, indices: list[int], total: dict[str, int], usage: Amounts
    ) -> tuple[dict[str, Chosen], list[Obstacle], list[Attempt]]:
        """The best flavor of a group for pod sets together, from where the last search stopped."""
        wanted = {resource: total[resource] for resource in sorted(total) if resource in group.resources}
        pod_sets = [self.workload.fact.pod_sets[index] for index in indices]
        first = next(resource for resource in sorted(total) if resource in group.resources)
        best: dict[str, tuple[int, Verdict]] = {}
        best_verdict: Verdict = (Grade.NO_FIT, 0)
        obstacles: list[Obstacle] = []
        attempts: list[Attempt] = []
        last = -1
        for last in range(self.tried.get((pod_sets[0].name, first), -1) + 1, len(group.flavors)):
            flavor = group.flavors[last]
            barrier = self._barrier(flavor, pod_sets, wanted)
            if barrier is not None:
                obstacles.append(barrier)
                if barrier.kind != "other-flavor":
                    attempts.append(self._attempt(flavor, wanted, (Grade.NO_FIT, 0), [barrier], NO_MATCH))
                continue
            verdicts, why, reason = self._judge(flavor, pod_sets, wanted, usage)
            worst = self._worst(verdicts)
            level = max((level for _, level in verdicts.values()), default=0)
            obstacles += why
            attempts.append(self._attempt(flavor, wanted, (worst[0], level), why, reason))
            chosen = {resource: (flavor, verdicts[resource]) for resource in verdicts} if worst[0] is not Grade.NO_FIT else {}
            if self._good_enough(worst):
                best, best_verdict = chosen, worst
                break
            if better(worst, best_verdict, self.queue.rather):
                best, best_verdict = chosen, worst
        tried = -1 if last == len(group.flavors) - 1 else last
        found = {
            resource: Chosen(flavor, MODES.get(verdict[0], Mode.PREEMPT), verdict[1], tried) for resource, (flavor, verdict) in best.items()
        }
        return found, [] if best_verdict[0] is Grade.FIT else obstacles, attempts

    def _attempt(self, flavor: int, wanted: dict[str, int], verdict: Verdict, why: list[Obstacle], reason: str) -> Attempt:
        name = self.policy.graph.flavors[flavor].name
        return Attempt(name, tuple(sorted(wanted)), verdict[0], verdict[1], tuple(why), reason)

    def _barrier(self, flavor: int, pod_sets: list[PodSet], wanted: dict[str, int]) -> Obstacle | None:
        """What keeps these pod sets off a flavor, whatever is free there."""
        known = self.policy.graph.flavors[flavor]
        if self.nominated is not None and not any(
            self.nominated.get((pod_set.name, resource)) == flavor for pod_set in pod_sets for resource in sorted(wanted)
        ):
            return Obstacle("other-flavor", known.name)
        if known.missing:
            return Obstacle("missing", known.name)
        for pod_set in pod_sets:
            if pod_set.flavors and known.name not in pod_set.flavors:
                return Obstacle("affinity", known.name)
            taint = untolerated(known, pod_set)
            if taint is not None:
                return Obstacle("taint", known.name, detail=f"{taint.key}={taint.value}:{taint.effect}")
            if not selects(known, pod_set):
                return Obstacle("affinity", known.name)
        return None

    def _judge(
        self, flavor: int, pod_sets: list[PodSet], wanted: dict[str, int], usage: Amounts
    ) -> tuple[dict[str, Verdict], list[Obstacle], str]:
        """The verdict on each resource, what is short, and the most severe reason."""
        verdicts: dict[str, Verdict] = {}
        obstacles: list[Obstacle] = []
        reason = ""
        for resource in sorted(wanted):
            before, other = self._before(flavor, pod_sets, resource)
            grade, level, obstacle, why = self._fits(flavor, resource, wanted[resource] - before, usage)
            if other is not None:
                grade, why = Grade.NO_FIT, NO_MATCH
                obstacles.append(other)
            verdicts[resource] = (grade, level)
            if obstacle is not None:
                obstacles.append(obstacle)
            reason = more_severe(reason, why)
        return verdicts, obstacles, reason

    def _before(self, flavor: int, pod_sets: list[PodSet], resource: str) -> tuple[int, Obstacle | None]:
        """What pod sets hold of a flavor already, up to the first that holds another one; that one keeps them off it."""
        name, before = self.policy.graph.flavors[flavor].name, 0
        for pod_set in pod_sets:
            if pod_set.name in self.held:
                holds, amount = self.held[pod_set.name].get(resource, ("", 0))
                if holds != name:
                    return before, Obstacle("replaces", name, resource, detail=holds)
                before += amount
        return before, None

    def _fits(self, flavor: int, resource: str, asked: int, usage: Amounts) -> tuple[Grade, int, Obstacle | None, str]:
        slot, queue, tree = self._slot(flavor, resource), self.workload.queue, self.tree
        assumed = usage.get(slot, 0)
        amount = assumed + asked
        available, most = max(0, tree.available(queue, slot)), tree.potential[queue][slot]
        name = self.policy.graph.flavors[flavor].name
        if amount > most:
            obstacle = Obstacle("exceeds", name, resource, assumed=assumed, asked=asked, limit=most, deficit=amount - most)
            return Grade.NO_FIT, 0, obstacle, EXCEEDS
        level, more_above = level_that_fits(tree, self.height, queue, slot, amount)
        if amount <= available:
            return Grade.FIT, level, None, ""
        obstacle = Obstacle("short", name, resource, assumed=assumed, asked=asked, limit=available, deficit=amount - available)
        nominal = self.policy.graph.nodes[queue].quotas[slot].nominal
        if nominal >= amount or more_above or self._may_evict_to_borrow():
            grade, level = self.simulate(slot, amount)
            return grade, level, obstacle, ""
        return Grade.NO_FIT, level, obstacle, WAITING

    def _may_evict_to_borrow(self) -> bool:
        cycles, preemption = self.policy.graph.settings.cycles, self.queue.preemption
        fair = cycles is not None and cycles.victims == "fair"
        return preemption.borrowing != "nothing" or (fair and preemption.reclaims != "nothing")

    def _worst(self, verdicts: dict[str, Verdict]) -> Verdict:
        """The worst of several verdicts, begun with the best there is."""
        worst: Verdict = (Grade.FIT, 0)
        for resource in sorted(verdicts):
            if better(worst, verdicts[resource], self.queue.rather):
                worst = verdicts[resource]
        return worst

    def _good_enough(self, verdict: Verdict) -> bool:
        grade, level = verdict
        if grade in (Grade.NO_FIT, Grade.NO_CANDIDATES):
            return False
        if grade in (Grade.PREEMPT, Grade.RECLAIM) and self.go_on_evicting:
            return False
        return not (level > 0 and self.go_on_borrowing)


def groups_of(graph: PolicyGraph, queue: Queue) -> tuple[Group, ...]:
    """The resource groups of a queue: its own, or those of the whole policy, each with the flavors it may use."""
    if queue.groups:
        return queue.groups
    having = [{resource for resource, _ in flavor.capacity} for flavor in graph.flavors]
    return tuple(
        Group(resources, tuple(flavor for flavor in queue.flavors if having[flavor] & set(resources))) for resources in graph.groups
    )


def companions(index: int, pod_set: PodSet) -> str:
    """What a pod set has in common with those that get their flavors with it, and with no other; `index` is its place in the workload."""
    return f"group {pod_set.group}" if pod_set.group else f"alone {index}"


def _joined(workload: Workload) -> list[list[int]]:
    """The pod sets that get their flavors together, by index, in order of the first of them."""
    groups: dict[str, list[int]] = {}
    for index, pod_set in enumerate(workload.fact.pod_sets):
        groups.setdefault(companions(index, pod_set), []).append(index)
    return sorted(groups.values())

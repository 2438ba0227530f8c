"""Which flavors a workload gets: pod set by pod set, and for each group of resources the best flavor of the queue's list.

The grades, the two choices when to look further and which of two flavors is better are Kueue's (pkg/scheduler/flavorassigner). By the
policy's way of deciding a flavor is judged by all resources of a group together, or by each alone, on top of what earlier pod sets took of
it; whether all groups fit together is seen later (`admission/nominate.py`). Where resources are judged together, a
demand of 0 does not count, and a pod set that has no pods left gets no flavors; where each is judged alone, both count, as in Kueue.

Where they are judged together a flavor that gives places also has to have some for the pods: one with quota and without places is no
better than one without quota. In cycles places are sought once the flavors are found, as in Kueue (`admission/place_pods.py`).
"""

from collections.abc import Callable, Sequence

from ...eligibility import barrier, companions, groups_of, turn, without_places
from ...event_parts import POD_COUNT, ObstacleKind, PodSet
from ...intake.slices import Held
from ...outcome.decision import SearchState
from ...outcome.nomination import Attempt, Chosen, FlavorAssignment, FlavorReason, Grade, Mode, NoPlaces, Obstacle, PodSetFlavors, Verdict
from ...outcome.regrade import no_places, regrade
from ...policy_graph import Group, Queue
from ...workload import Workload
from ..placement.placer import FoundPlaces, ToPlace, find_places
from ..state.state import ActivePolicy
from .tried_places import placed_on

Simulate = Callable[[dict[int, int], Sequence[ToPlace]], Verdict]
"""What a search for victims says of amounts by slot of which some do not fit, and of pods that are to find places: a grade from NO_VICTIMS
to RECLAIM, and the level then."""

FindPlaces = Callable[[Sequence[ToPlace], bool], FoundPlaces]
"""Places for pods, as things stand or (True) on empty nodes."""

Judgement = tuple[dict[str, Verdict], list[Obstacle], FlavorReason]
"""The verdict on each resource, what is short, and the most severe reason."""

BEST: Verdict = (Grade.FIT, 0)

_SEVERITY: tuple[FlavorReason, ...] = (
    "", "TopologyPlacementFailed", "WaitingForQuota", "ExceedsMaxQuota", "PodTooLarge", "NoMatchingFlavor",
)  # fmt: skip


class FlavorAssigner:
    """Chooses flavors for one workload, as things stand in the tree.

    `tried` says where the search goes on: the index of the last flavor tried, by pod set and resource. With `only` just those
    flavors are considered. `held` is what pod sets of a workload hold whose place this one takes: each stays on its flavors,
    and has to find room only for what it asks for beyond that. `find` finds places as if that workload had gone.
    """

    def __init__(
        self,
        policy: ActivePolicy,
        workload: Workload,
        simulate: Simulate,
        tried: SearchState = (),
        only: dict[tuple[str, str], int] | None = None,
        held: Held | None = None,
        find: FindPlaces | None = None,
    ) -> None:
        self.find: FindPlaces = find or (lambda wanted, empty: find_places(policy.places, wanted, empty))
        self.served, self.trying, self.nowhere = list[PodSetFlavors](), list[PodSetFlavors](), list[NoPlaces]()
        self.policy, self.tree, self.workload, self.simulate, self.only = policy, policy.tree, workload, simulate, only
        self.tried, self.held = {(pod_set, resource): index for pod_set, resource, index in tried}, held or {}
        graph = policy.graph
        self.queue: Queue = graph.queue_at(workload.queue)
        self.groups = groups_of(graph, self.queue)
        self.together = graph.settings.judges_together
        self.go_on_borrowing = self.queue.looks_on_borrowing(graph.settings)
        self.go_on_evicting = self.queue.looks_on_evicting(graph.settings)

    def assign(self, counts: Sequence[int]) -> FlavorAssignment:
        """Flavors for the given number of pods of each pod set."""
        assignment = FlavorAssignment()
        self.served, self.nowhere = assignment.pod_sets, []
        for indices in _joined(self.workload, counts if self.together else None):
            pod_sets = [self._pod_set(index, counts[index]) for index in indices]
            self._serve(assignment, indices, pod_sets)
            assignment.pod_sets += pod_sets
            if any(pod_set.failed for pod_set in pod_sets):
                break
        assignment.mode = min((pod_set.mode for pod_set in assignment.pod_sets), default=Mode.FIT)
        if assignment.mode is Mode.NO_FIT:
            unserved = any(obstacle.kind == "unserved" for pod_set in assignment.pod_sets for obstacle in pod_set.obstacles)
            assignment.reason = "NoMatchingFlavor" if self.together and unserved else self._reason(assignment)
            if assignment.reason == "TopologyPlacementFailed" and self.nowhere:
                assignment.unplaced_if_empty = self.nowhere[0]
                regrade(assignment, self.nowhere[0].pod_sets, Grade.NO_MATCH, self.nowhere[0])
        return assignment

    def _reason(self, assignment: FlavorAssignment) -> FlavorReason:
        """Why nothing fits: of each group that a pod set asks the least severe reason of its flavors, and of all these the most severe.

        A flavor in two groups counts in both, whichever of them it was tried for.
        """
        overall: FlavorReason = ""
        for pod_set in assignment.pod_sets:
            if pod_set.mode is not Mode.NO_FIT:
                continue
            if not pod_set.attempts:
                overall = "NoMatchingFlavor"
            useless = [each for each in pod_set.attempts if each.grade.mode is Mode.NO_FIT]
            for group in (self._group(resource) for resource in pod_set.requests):
                reasons = (each.reason for each in useless if group is not None and each.flavor in group.flavors)
                overall = max(overall, min(reasons, key=_SEVERITY.index, default=_SEVERITY[0]), key=_SEVERITY.index)
        return overall

    def _pod_set(self, index: int, count: int) -> PodSetFlavors:
        pod_set, ignored = self.workload.fact.pod_sets[index], self.policy.graph.ignored
        requests = {resource: pod_set.requests[resource] * count for resource in sorted(pod_set.requests) if resource not in ignored}
        if self.together:
            requests = {resource: requests[resource] for resource in requests if requests[resource] > 0}
        if self._group(POD_COUNT) is not None:
            requests[POD_COUNT] = count
        return PodSetFlavors(pod_set.name, count, {resource: requests[resource] for resource in sorted(requests)})

    def _group(self, resource: str) -> Group | None:
        """The group that a resource is looked for in: the first one that names it."""
        return next((group for group in self.groups if resource in group.resources), None)

    # --- one group of resources after the other ---------------------------------------------------------------------------

    def _serve(self, assignment: FlavorAssignment, indices: list[int], pod_sets: list[PodSetFlavors]) -> None:
        """Find flavors for pod sets that get them together, and charge the assignment."""
        self.trying = pod_sets
        asked = sorted({resource for pod_set in pod_sets for resource in pod_set.requests})
        total = {resource: sum(pod_set.requests.get(resource, 0) for pod_set in pod_sets) for resource in asked}
        found: dict[str, Chosen] = {}
        obstacles: list[Obstacle] = []
        attempts: list[Attempt] = []
        failed = False
        for resource in asked:
            group = self._group(resource)
            if resource in found or (group is None and total[resource] == 0):
                continue
            if group is None:
                obstacles, failed = [Obstacle("unserved", resource=resource)], True
                break
            chosen, why, tried = self._search(group, indices, total, assignment.usage)
            attempts += tried
            if not chosen:
                obstacles, failed = why, True
                break
            found |= chosen
            obstacles += why
        for pod_set in pod_sets:
            pod_set.obstacles, pod_set.attempts = tuple(obstacles), tuple(attempts)
            pod_set.flavors = {} if failed else {resource: found[resource] for resource in pod_set.requests if resource in found}
            if not pod_set.requests:
                pod_set.flavors = {} if failed else self._of_companions(pod_set.name, found)
            pod_set.failed = failed or (not pod_set.flavors and any(pod_set.requests.values()))
            if not pod_set.failed:
                self._check_places(pod_set)
            self._charge(assignment, pod_set)

    def _of_companions(self, name: str, found: dict[str, Chosen]) -> dict[str, Chosen]:
        """The flavors of a pod set that asks for nothing: those of its companions that give places, as it stands with them."""
        pod_set = next(each for each in self.workload.fact.pod_sets if each.name == name)
        given = {resource: found[resource] for resource in sorted(found) if self.policy.graph.flavors[found[resource].flavor].topology >= 0}
        return given if pod_set.group and pod_set.asks_for_places else {}

    def _check_places(self, pods: PodSetFlavors) -> None:
        """A pod set stands in one topology: refuse it where several of its flavors give places, or none does and it asks for some."""
        pod_set = next(each for each in self.workload.fact.pod_sets if each.name == pods.name)
        placed = {chosen.flavor for chosen in pods.flavors.values() if self.policy.graph.flavors[chosen.flavor].topology >= 0}
        if len(placed) > 1 or (not placed and pods.count > 0 and pod_set.asks_for_places):
            kind: ObstacleKind = "several-placed" if placed else "without-places"
            pods.obstacles, pods.failed = (*pods.obstacles, Obstacle(kind, min(placed, default=-1))), True
        pods.delayed = pods.count > 0 and any(self.queue.places_come_later(flavor) for flavor in sorted(placed))

    def _charge(self, assignment: FlavorAssignment, pod_set: PodSetFlavors) -> None:
        for resource in sorted(pod_set.flavors):
            chosen = pod_set.flavors[resource]
            slot, asked = self.policy.slot(chosen.flavor, resource), pod_set.requests.get(resource, 0)
            assert slot is not None
            _, before = self.held.get(pod_set.name, {}).get(resource, (-1, 0))
            assignment.whole[slot] = assignment.whole.get(slot, 0) + asked
            assignment.usage[slot] = assignment.usage.get(slot, 0) + asked - before
            assignment.level = max(assignment.level, chosen.level)
            if chosen.grade.mode is Mode.PREEMPT:
                assignment.needing.add(slot)

    # --- one flavor after the other ---------------------------------------------------------------------------------------

    def _search(
        self, group: Group, indices: list[int], total: dict[str, int], usage: dict[int, int]
    ) -> tuple[dict[str, Chosen], list[Obstacle], list[Attempt]]:
        """The best flavor of a group for pod sets together, from where the last search stopped.

        The group serves all that it names, also what another group has served before (GP058).
        """
        wanted = {resource: total[resource] for resource in sorted(total) if resource in group.resources}
        pod_sets = [self.workload.fact.pod_sets[index] for index in indices]
        self.nowhere = []
        best: dict[str, tuple[int, Verdict]] = {}
        best_verdict: Verdict = (Grade.NO_MATCH, 0)
        obstacles: list[Obstacle] = []
        attempts: list[Attempt] = []
        last = -1
        for last in range(self.tried.get((pod_sets[0].name, min(wanted, key=turn)), -1) + 1, len(group.flavors)):
            flavor = group.flavors[last]
            kept_off = self._barrier(group, flavor, pod_sets, wanted)
            if kept_off is not None:
                obstacles.append(kept_off)
                if kept_off.kind != "not-nominated":
                    useless: FlavorReason = "PodTooLarge" if kept_off.kind == "too-large" else "NoMatchingFlavor"
                    attempts.append(Attempt(flavor, tuple(wanted), Grade.NO_MATCH, 0, (kept_off,), useless))
                continue
            verdicts, why, reason = self._judge(flavor, pod_sets, wanted, usage)
            worst = min([BEST, *(verdicts[resource] for resource in wanted)], key=lambda verdict: rank(verdict, self.queue.rather))
            level = max((level for _, level in verdicts.values()), default=0)
            obstacles += why
            attempts.append(Attempt(flavor, tuple(wanted), worst[0], level, tuple(why), reason))
            useful = worst[0].mode is not Mode.NO_FIT
            chosen = {resource: (flavor, verdicts[resource]) for resource in verdicts} if useful else {}
            if self._good_enough(worst):
                best, best_verdict = chosen, worst
                break
            if rank(worst, self.queue.rather) > rank(best_verdict, self.queue.rather):
                best, best_verdict = chosen, worst
        tried = -1 if last == len(group.flavors) - 1 else last
        found = {resource: Chosen(flavor, verdict[0], verdict[1], tried) for resource, (flavor, verdict) in best.items()}
        return found, [] if best_verdict[0] is Grade.FIT else obstacles, attempts

    def _barrier(self, group: Group, flavor: int, pod_sets: list[PodSet], wanted: dict[str, int]) -> Obstacle | None:
        """What keeps these pod sets off a flavor of a group, whatever is free there."""
        if self.only is not None and not any(
            self.only.get((pod_set.name, resource)) == flavor for pod_set in pod_sets for resource in wanted
        ):
            return Obstacle("not-nominated", flavor)
        for resource in wanted:
            if self.policy.slot(flavor, resource) is None:
                return Obstacle("lacks-resource", flavor, resource)
        graph = self.policy.graph
        found = (
            without_places(graph, self.queue, group, flavor, pod_set) or barrier(graph, self.policy.sizes, flavor, pod_set, wanted)
            for pod_set in pod_sets
        )
        return next((each for each in found if each is not None), None)

    def _judge(self, flavor: int, pod_sets: list[PodSet], wanted: dict[str, int], usage: dict[int, int]) -> Judgement:
        verdicts: dict[str, Verdict] = {}
        obstacles: list[Obstacle] = []
        reason: FlavorReason = ""
        asked: dict[str, tuple[int, int]] = {}
        for resource in wanted:
            before, other = self._before(flavor, pod_sets, resource)
            asked[resource] = (wanted[resource], before)
            if other is not None:
                verdicts[resource], reason = (Grade.NO_MATCH, 0), "NoMatchingFlavor"
                obstacles.append(other)
        parts = [[*wanted]] if self.together else [[resource] for resource in wanted]
        for part in parts:
            amounts = [(each, asked[each][0] - asked[each][1]) for each in part]
            verdict, why, mild = self._judge_part(flavor, amounts, usage, may_evict=not any(each in verdicts for each in part))
            verdicts = {**dict.fromkeys(part, verdict), **verdicts}
            obstacles += why
            reason = max(reason, mild, key=_SEVERITY.index)
        return {resource: verdicts[resource] for resource in wanted}, obstacles, reason

    def _before(self, flavor: int, pod_sets: list[PodSet], resource: str) -> tuple[int, Obstacle | None]:
        """What pod sets hold of a flavor already, up to the first that holds another one; that one keeps them off it."""
        before = 0
        for pod_set in pod_sets:
            if pod_set.name in self.held:
                holds, amount = self.held[pod_set.name].get(resource, (-1, 0))
                if holds != flavor:
                    return before, Obstacle("other-flavor", flavor, resource, index=holds)
                before += amount
        return before, None

    def _judge_part(
        self, flavor: int, part: list[tuple[str, int]], usage: dict[int, int], may_evict: bool
    ) -> tuple[Verdict, list[Obstacle], FlavorReason]:
        """The verdict on resources that are judged together, what is short, and the reason where the flavor is of no use.

        Without `may_evict` neither places nor victims are looked for: other pods keep it off the flavor anyway.
        """
        queue, tree = self.workload.queue, self.tree
        wanted = self._to_place(flavor, part) if may_evict else []
        obstacles: list[Obstacle] = []
        amounts: dict[int, int] = {}
        level = 0
        for resource, asked in part:
            slot = self.policy.slot(flavor, resource)
            assert slot is not None
            assumed = usage.get(slot, 0)
            amount = amounts[slot] = assumed + asked
            most, available = tree.most(queue, slot), max(0, tree.room(queue, slot))
            limit = most if amount > most else available
            if amount > limit:
                obstacles.append(Obstacle("exceeds" if amount > most else "short", flavor, resource, -1, assumed, asked, limit))
            from_level, more_above = self._level(slot, amount)
            level = max(level, from_level)
            may_evict = may_evict and (more_above or self._may_evict(slot, amount))
        if any(obstacle.kind == "exceeds" for obstacle in obstacles):
            return (Grade.EXCEEDS, 0), obstacles, "ExceedsMaxQuota"
        lacking, ever = self._lacking(wanted, bool(obstacles))
        if lacking is not None:
            obstacles.append(no_places(lacking, flavor))
        if lacking is not None and not ever:
            self.nowhere.append(lacking)
            return (Grade.NO_MATCH, 0), obstacles, "TopologyPlacementFailed"
        if not obstacles:
            return (Grade.FIT, level), [], ""
        if not may_evict:
            return (Grade.MAY_NOT_EVICT, level), obstacles, "WaitingForQuota"
        grade, after = self.simulate(amounts, wanted)
        return (grade, after if self.policy.graph.settings.counts_levels else level), obstacles, ""

    def _to_place(self, flavor: int, part: list[tuple[str, int]]) -> list[ToPlace]:
        """The pod sets that have to find places on a flavor for it to serve."""
        resources = [resource for resource, _ in part]
        return placed_on(self.policy.graph, self.workload, self.served, self.trying, resources, flavor) if self.together else []

    def _lacking(self, wanted: Sequence[ToPlace], short: bool) -> tuple[NoPlaces | None, bool]:
        """Why pods have no places, as things stand or ever, and whether they have some on empty nodes; where quota is `short` it is asked
        for these alone."""
        if not wanted:
            return None, True
        now = [] if short else self.find(wanted, False).failures
        if not short and not now:
            return None, True
        on_empty = self.find(wanted, True).failures
        return (on_empty[0], False) if on_empty else (now[0] if now else None, True)

    def _level(self, slot: int, amount: int) -> tuple[int, bool]:
        """The level from which an amount would come, and whether something above it could still lend more."""
        if not self.policy.graph.settings.counts_levels:
            return int(self.tree.exceeds_owned(self.workload.queue, slot, amount)), True
        return self.tree.level_that_fits(self.workload.queue, slot, amount)

    def _may_evict(self, slot: int, amount: int) -> bool:
        """Whether somebody may be evicted for an amount: it lies within what the queue owns, or the queue evicts to borrow."""
        preemption, victims = self.queue.preemption, self.policy.graph.settings.victims
        owned = self.policy.graph.nodes[self.workload.queue].quotas[slot].nominal
        return owned >= amount or preemption.borrowing != "nothing" or (victims == "fair" and preemption.reclaims != "nothing")

    def _good_enough(self, verdict: Verdict) -> bool:
        """Whether no later flavor is looked at."""
        grade, level = verdict
        if grade < Grade.PREEMPT or (grade is not Grade.FIT and self.go_on_evicting):
            return False
        return not (level > 0 and self.go_on_borrowing)


def rank(verdict: Verdict, rather: str) -> tuple[int, ...]:
    """How good a verdict is; better is greater. What cannot be done now comes last, whatever the queue would rather do."""
    grade, level = verdict
    if grade < Grade.NO_VICTIMS:
        return (0,)
    return (1 if grade is Grade.NO_VICTIMS else 2, *((-level, grade) if rather == "evict" else (grade, -level)))


def _joined(workload: Workload, counts: Sequence[int] | None) -> list[list[int]]:
    """The pod sets that get their flavors together, by index, in order of the first of them; with `counts` those that have pods."""
    groups: dict[str, list[int]] = {}
    for index, pod_set in enumerate(workload.fact.pod_sets):
        if counts is None or counts[index] > 0:
            groups.setdefault(companions(index, pod_set), []).append(index)
    return sorted(groups.values())

"""Questions about what would be, as things stand or as supposed, answered by the definition. Nothing of the state changes by them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from ..definition.admission.binding_limit import attempt_limits, binding_limit, limit_on
from ..definition.admission.nominate import nominate, preemptor_of, search
from ..definition.admission.place_pods import places_held, without_its_places
from ..definition.admission.settle import reservations
from ..definition.passes.pass_cycle import decide_passes
from ..definition.placement.placer import find_places
from ..definition.preemption.candidates import satisfies
from ..definition.preemption.rules import Found, Preemptor, RuleSearch
from ..definition.queue.line import head, in_turn
from ..definition.state.state import ActivePolicy, State
from ..definition.state.trial import Trial
from ..eligibility import barrier
from ..event_parts import PodSet
from ..facts import WorkloadSubmitted
from ..intake.holds import holds, is_inactive, released
from ..intake.local_usage import usage_rank
from ..outcome.decision import Admission, BindingLimit, Deferral, Eviction, Hold
from ..outcome.nomination import KeptCandidate, Mode, Nomination, NoPlaces, Note, Obstacle, ProtectedVictim, Request, Share
from ..policy_graph import PolicyGraph
from ..workload import Workload
from .keeping import kept, protected_victims


class DefinitionProbe:
    """See `gpol.engine.cores.Probe`. `may_reserve` finds workloads among which are all who reserve room; without it all are looked at."""

    def __init__(
        self,
        state: State,
        policy: ActivePolicy | None = None,
        out: frozenset[str] = frozenset(),
        instead: WorkloadSubmitted | None = None,
        may_reserve: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self._state, self._out, self._instead, self._may_reserve = state, out, instead, may_reserve
        self._policy = policy or state.active

    def suppose(
        self,
        graph: PolicyGraph | None = None,
        capacity: Mapping[int, int] | None = None,
        without: Sequence[str] = (),
        instead: WorkloadSubmitted | None = None,
        charges: Sequence[tuple[int, Request]] = (),
        reserved: Sequence[Nomination] = (),
    ) -> "DefinitionProbe":
        policy = self._policy
        if graph is not None or capacity is not None:
            exists = [amount + (capacity or {}).get(slot, 0) for slot, amount in enumerate(policy.tree.capacity)]
            policy = policy.over(graph or policy.graph, exists, policy.sizes, policy.places.machines)
        gone = [self._state.workloads[name] for name in sorted(set(without) - self._out)]
        if charges or reserved or gone:
            policy = policy.copy()
            for queue, request in charges:
                policy.tree.add(queue, request)
            for kept_for in reserved:
                policy.tree.add(kept_for.queue, kept_for.flavors.request)
                policy.places.add(places_held(policy.places, self._workload(kept_for.workload), kept_for.flavors))
            for each in gone:
                policy.tree.remove(each.queue, each.usage)
                policy.places.remove(policy.places.holdings(each))
        return DefinitionProbe(self._state, policy, self._out.union(without), instead or self._instead)

    @property
    def graph(self) -> PolicyGraph:
        return self._policy.graph

    def _workload(self, name: str) -> Workload:
        workload = self._state.workloads[name]
        if self._instead is None or self._instead.workload != name:
            return workload
        done = {pod_set.name: pod_set.count - left for pod_set, left in zip(workload.fact.pod_sets, workload.remaining, strict=True)}
        left = tuple(max(0, pod_set.count - done.get(pod_set.name, 0)) for pod_set in self._instead.pod_sets)
        return replace(workload, fact=self._instead, remaining=left)

    def _trial(self) -> Trial:
        return Trial(self._state, self._policy, self._out)

    # --- flavors --------------------------------------------------------------------------------------------------------

    def barrier(self, flavor: int, pod_set: PodSet, resources: Collection[str]) -> Obstacle | None:
        return barrier(self.graph, self._policy.sizes, flavor, pod_set, resources)

    # --- quota ----------------------------------------------------------------------------------------------------------

    def available(self, queue: int, slot: int) -> int:
        return self._policy.tree.room(queue, slot)

    def most(self, queue: int, slot: int) -> int:
        return self._policy.tree.most(queue, slot)

    def owned(self, node: int, slot: int) -> int:
        return self._policy.tree.subtree[node][slot]

    def borrows(self, node: int, slots: Sequence[int]) -> bool:
        return self._policy.tree.borrows(node, slots)

    def share(self, node: int) -> Share:
        return self._policy.shares.of(node)

    def fits(self, queue: int, request: Request) -> bool:
        return self._policy.tree.fits(queue, request)

    def limit(self, queue: int, request: Request) -> BindingLimit | None:
        return limit_on(self._policy, queue, request)

    def binding_limit(self, nomination: Nomination) -> BindingLimit | None:
        return binding_limit(self._policy, nomination)

    def obstacle_limits(self, nomination: Nomination, pod_set: int, attempt: int) -> Sequence[BindingLimit]:
        return attempt_limits(self._policy, nomination.queue, nomination.flavors.pod_sets[pod_set].attempts[attempt])

    # --- nominations ----------------------------------------------------------------------------------------------------

    def nominate(self, workload: str) -> Nomination:
        return nominate(self._trial(), self._workload(workload))

    def may_evict(self, workload: str, victim: str, policy: str) -> bool:
        return satisfies(policy, self._workload(workload), self._state.workloads[victim])

    def search_notes(self, nomination: Nomination) -> tuple[Mapping[str, Note], bool]:
        found = search(self._trial(), self._preemptor(nomination)) if nomination.flavors.mode is Mode.PREEMPT else Found()
        return found.notes, bool(found.victims)

    def unplaced_after_victims(self, nomination: Nomination) -> tuple[int, NoPlaces] | None:
        if nomination.flavors.mode is not Mode.PREEMPT or nomination.victims:
            return None
        preemptor = self._preemptor(nomination)
        victims = search(self._trial(), replace(preemptor, to_place=())).victims if preemptor.to_place else []
        if not victims:
            return None
        trial = self._trial()
        with trial.after(victims):
            failures = find_places(trial.places, preemptor.to_place).failures
        return (len(victims), failures[0]) if failures else None

    def protected(self, nomination: Nomination) -> tuple[Sequence[ProtectedVictim], int]:
        if nomination.until is None:
            return [], -1
        with self._rule_search(nomination, nomination.request_then) as present:
            return protected_victims(present, nomination.until)

    def kept(self, nomination: Nomination, most: int) -> Sequence[KeptCandidate]:
        with self._rule_search(nomination, nomination.flavors.request) as present:
            return kept(present, most)

    def triggered(self, nomination: Nomination) -> Sequence[bool]:
        with self._rule_search(nomination, nomination.flavors.request) as present:
            return [present.owner(rule) is not None for rule in self.graph.preempt]

    @contextmanager
    def _rule_search(self, nomination: Nomination, request: Request) -> Iterator[RuleSearch]:
        """The search by preempt rules for a request of a nominated workload, which is charged."""
        trial, flavors = self._trial(), without_its_places(nomination.flavors)
        preemptor = preemptor_of(trial, self._workload(nomination.workload), request, sorted(flavors.needing), flavors)
        present = RuleSearch.present(trial, preemptor)
        with trial.charged(nomination.queue, request):
            yield present

    def _preemptor(self, nomination: Nomination) -> Preemptor:
        flavors = without_its_places(nomination.flavors)
        workload = self._workload(nomination.workload)
        return preemptor_of(self._trial(), workload, flavors.request, sorted(flavors.needing), flavors)

    def next_cycle(self, workload: str) -> Literal["fits", "evicts", "waits"]:
        outcomes = decide_passes(self._state)
        mine = next((outcome for outcome in outcomes if not isinstance(outcome, Eviction) and outcome.workload == workload), None)
        if isinstance(mine, Admission):
            return "fits"
        waits_for_others = isinstance(mine, Deferral) and mine.last.outcome in ("preempting", "deferred")
        return "evicts" if waits_for_others else "waits"

    def reservations(self) -> Sequence[Nomination]:
        if self.graph.settings.defers:
            return []
        return reservations(self._state, None if self._may_reserve is None else self._may_reserve())

    # --- queues ---------------------------------------------------------------------------------------------------------

    def holds(self, workload: str) -> Sequence[Hold]:
        return list(holds(self.graph, self._workload(workload)))

    def released(self, workload: str) -> "DefinitionProbe":
        policy = replace(self._policy, graph=released(self.graph, self._workload(workload).queue))
        return DefinitionProbe(self._state, policy, self._out, self._instead)

    def superiors(self, workload: str) -> Sequence[str]:
        return sorted(self._state.superiors(workload))

    def line(self, queue: int) -> Sequence[str]:
        return [workload.name for workload in in_turn(self._state, queue)]

    def head(self, queue: int) -> str | None:
        first = head(self._state, queue)
        return None if first is None else first.name

    def usage_of(self, workload: str) -> Share | None:
        return usage_rank(self.graph, self._state.consumed, self._state.workloads[workload])

    def is_inactive(self, queue: int) -> bool:
        return is_inactive(self.graph, queue)

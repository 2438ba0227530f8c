"""Nominating a workload: flavors for all of it, victims where it needs them, fewer pods where fewer will do.

An elastic workload is nominated with the most pods that fit as things stand. Nobody is evicted for more than its minimum.

Kueue: pkg/scheduler/scheduler.go, getAssignments; pkg/scheduler/flavorassigner/podset_reducer.go.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ...elastic.pod_counts import is_elastic, least_pods
from ...intake.slices import held_by, replaced_by
from ...outcome.decision import SearchState
from ...outcome.nomination import FlavorAssignment, Grade, Mode, Nomination, Request, Verdict, as_request
from ...workload import Workload
from ..flavor.assigner import FlavorAssigner
from ..placement.placer import FoundPlaces, ToPlace, find_places
from ..preemption import classical, fair_sharing, lookahead
from ..preemption.rules import Found, Preemptor
from ..state.trial import Trial
from .place_pods import judge_places, places_then, pod_sets_to_place

T = TypeVar("T")

SEARCHES: dict[str, Callable[[Trial, Preemptor], Found]] = {
    "rules": lookahead.search,
    "classical": classical.search,
    "fair": fair_sharing.search,
}
"""How victims are looked for, by the policy's choice."""


def nominate(trial: Trial, workload: Workload, tried: SearchState = (), only: dict[tuple[str, str], int] | None = None) -> Nomination:
    """What would be done for a waiting workload, were it the next; `tried` and `only` as in `FlavorAssigner`."""
    return Nominator(trial, workload, tried, only).nominate()


def search(trial: Trial, preemptor: Preemptor) -> Found:
    """The victims for a preemptor, in the way that the policy chose."""
    return SEARCHES[trial.graph.settings.victims](trial, preemptor)


def preemptor_of(trial: Trial, workload: Workload, request: Request, slots: list[int], placed: FlavorAssignment | None) -> Preemptor:
    """A workload that looks for victims; with an assignment it has to find places for it as well."""
    to_place = pod_sets_to_place(trial.policy.places, workload, placed) if placed is not None and trial.gives_places else []
    return Preemptor(workload, request, slots, tuple(to_place))


class Nominator:
    """Nominates one workload as things stand in a trial. `ahead` are the requests for which there will be room later, and when."""

    def __init__(self, trial: Trial, workload: Workload, tried: SearchState, only: dict[tuple[str, str], int] | None) -> None:
        self.trial, self.workload = trial, workload
        self.replaced = replaced_by(workload, trial.running)
        held = held_by(trial.graph, trial.policy.slot_index, self.replaced)
        self.assigner = FlavorAssigner(trial.policy, workload, self._simulate, tried, only, held, self._find)
        self.ahead: list[tuple[int, Request]] = []
        self.may_evict = True

    def nominate(self) -> Nomination:
        """Flavors for all pods if that leads to an admission, else for fewer if fewer will do, else those for all and what is missing.

        Of an elastic workload those for its minimum, if that does not fit as things stand, with what is missing.
        """
        elastic = is_elastic(self.workload.fact)
        chosen = self._attempt(least_pods(self.workload) if elastic else self.workload.remaining)
        if elastic and chosen.fits:
            chosen = self._with_surplus() or chosen
        elif not elastic and not chosen.runs:
            chosen = self._with_fewer_pods() or chosen
        chosen.later = min((until for until, _ in self.ahead), default=None)
        if chosen.until is not None:
            wanted = self._by_resource(chosen.flavors.request)
            chosen.until, chosen.request_then = min(each for each in self.ahead if self._by_resource(each[1]) == wanted)
        return chosen

    def _by_resource(self, request: Request) -> dict[str, int]:
        """What a request asks for, whatever the flavors."""
        amounts: dict[str, int] = {}
        for slot, amount in request:
            resource = self.trial.graph.slots[slot].resource
            amounts[resource] = amounts.get(resource, 0) + amount
        return amounts

    def _attempt(self, counts: Sequence[int]) -> Nomination:
        """Flavors and victims for so many pods of each pod set."""
        flavors = self.assigner.assign(counts)
        with self.trial.without([] if self.replaced is None else [self.replaced]):
            judge_places(self.trial.policy, self.workload, flavors)
        found = self._victims(flavors)
        if flavors.mode is Mode.PREEMPT and self.trial.gives_places:
            with self.trial.after(found.victims):
                places_then(self.trial.policy.places, self.workload, flavors, victims_gone=bool(found.victims))
        replaced = self.replaced.name if self.replaced is not None else None
        return Nomination(self.workload.name, self.workload.queue, flavors, tuple(found.victims), found.until, replaced=replaced)

    def _victims(self, flavors: FlavorAssignment) -> Found:
        """Victims for a whole assignment, all its resources together."""
        hopeless = self.trial.graph.settings.judges_together and flavors.grade is Grade.NO_VICTIMS
        if flavors.mode is not Mode.PREEMPT or hopeless or not self.may_evict:
            return Found()
        return self._search(preemptor_of(self.trial, self.workload, flavors.request, sorted(flavors.needing), flavors))

    def _find(self, wanted: Sequence[ToPlace], empty: bool) -> FoundPlaces:
        """Places for pods of it, as things stand without the workload whose place it takes, or on empty nodes."""
        with self.trial.without([] if self.replaced is None else [self.replaced]):
            return find_places(self.trial.policy.places, wanted, empty)

    def _simulate(self, amounts: dict[int, int], wanted: Sequence[ToPlace]) -> Verdict:
        """What evicting could do for a part of what is asked for, and the level from which that would come then."""
        if not self.may_evict:
            return Grade.NO_VICTIMS, 0
        request, queue = as_request(amounts), self.workload.queue
        slots = sorted(amounts) if wanted else [slot for slot, _ in request]  # a slice that asks for no more may lack places
        found = self._search(Preemptor(self.workload, request, slots, tuple(wanted)))
        with self.trial.after(found.victims):
            levels = [self.trial.tree.level_that_fits(queue, slot, amount)[0] for slot, amount in request]
        return found.grade, max(levels, default=0)

    def _search(self, preemptor: Preemptor) -> Found:
        found = search(self.trial, preemptor)
        if found.until is not None:
            self.ahead.append((found.until, preemptor.request))
        return found

    def _with_surplus(self) -> Nomination | None:
        """What an elastic workload can have with the most pods that fit as things stand, beyond its minimum."""

        def attempt(counts: Sequence[int]) -> Nomination | None:
            nomination = self._attempt(counts)
            return nomination if nomination.fits else None

        self.may_evict = False
        try:
            return fewest_missing(list(self.workload.remaining), least_pods(self.workload), attempt)
        finally:
            self.may_evict = True

    def _with_fewer_pods(self) -> Nomination | None:
        """What can be had with the most pods, where the workload may do with fewer."""

        def attempt(counts: Sequence[int]) -> Nomination | None:
            nomination = self._attempt(counts)
            return nomination if nomination.runs else None

        pod_sets = self.workload.fact.pod_sets
        most = [pod_set.count for pod_set in pod_sets]
        return fewest_missing(most, [pod_set.count if pod_set.min_count is None else pod_set.min_count for pod_set in pod_sets], attempt)


def fewest_missing(most: list[int], least: list[int], attempt: Callable[[list[int]], T | None]) -> T | None:
    """What an attempt with the fewest pods missing gives, searched for by bisection as if fewer pods always did where more do.

    Each list is by pod set; between the two each pod set gives up its part in proportion, rounded down. The bisection is Kueue's, and
    part of what it decides.
    """
    spare = [high - low for high, low in zip(most, least, strict=True)]
    total = sum(spare)
    if total == 0:
        return None
    low, high = 0, total + 1
    found: tuple[int, T] | None = None
    while low < high:
        middle = (low + high) // 2
        result = attempt([count - part * middle // total for count, part in zip(most, spare, strict=True)])
        if result is None:
            low = middle + 1
        else:
            found, high = (middle, result), middle
    return found[1] if found is not None and found[0] == low else None

"""Places for workloads that run: other ones for pods of nodes that they have lost, the first ones once checks have provided nodes.

Kueue: pkg/scheduler/scheduler.go and pkg/scheduler/flavorassigner, for workloads that need a second pass. A workload keeps its flavors and
its quota. Nobody is evicted so that pods of a lost node find places: where there are none, the workload itself is. For places that come
later others may go, as for any workload; and whoever finds none waits, and is looked at again.
"""

from ...intake.holds import turned_away
from ...nodes.lost_nodes import checks_of, needs_places, waits_for_places
from ...outcome.decision import Eviction, Outcome, Placing
from ...outcome.nomination import Chosen, FlavorAssignment, Grade, Mode, Nomination, PodSetFlavors, Victim
from ...policy_graph import PolicyGraph
from ...workload import Workload, victim
from ..placement.replacement import find_replacement
from ..queue.line import line_key
from ..state.state import State
from ..state.trial import Trial
from ..transition.apply import carry_out
from .nominate import preemptor_of, search
from .place_pods import give, judge_places, placed_flavor, places_then


def to_place_again(state: State, queue: int) -> list[Workload]:
    """The workloads of a queue that run and are to get places now, in the order of the submissions."""
    return [each for each in state.running(queue) if needs_places(state.graph, each) and not any(turned_away(state.graph, each))]


def nominate_again(trial: Trial, workload: Workload, may_evict: bool = True) -> Nomination:
    """What would be done for a running workload that is to get places: where its pods would stand, and who would go for that."""
    flavors = flavors_held(trial.graph, workload)
    if not waits_for_places(workload):
        return _other_places(trial, workload, flavors)
    judge_places(trial.policy, workload, flavors)
    victims: tuple[Victim, ...] = ()
    if flavors.mode is Mode.PREEMPT and may_evict:
        asked = workload.usage  # Kueue looks for victims as if all its quota were to be found once more
        victims = tuple(search(trial, preemptor_of(trial, workload, asked, sorted(flavors.needing), flavors)).victims)
        with trial.without(trial.state.workloads[each.workload] for each in victims):
            places_then(trial.places, workload, flavors, victims_gone=bool(victims))
    return Nomination(workload.name, workload.queue, flavors, victims, again="nodes-provided")


def _other_places(trial: Trial, workload: Workload, flavors: FlavorAssignment) -> Nomination:
    """Places for the pods of nodes that a workload has lost; it does not fit where there are none, or none are to be looked for."""
    if trial.graph.settings.lost_nodes == "evict":
        flavors.mode = Mode.NO_FIT
    else:
        placed = {pods.name: flavor for pods in flavors.pod_sets if (flavor := placed_flavor(trial.places, pods)) is not None}
        found = find_replacement(trial.places, workload, placed)
        give(flavors, found)
        if found.failures:
            flavors.mode, flavors.unplaced = Mode.NO_FIT, found.failures[0]
            for pods in flavors.pod_sets:  # what was found for others of its pods keeps nothing free
                pods.places = ()
    return Nomination(workload.name, workload.queue, flavors, again="node-lost")


def flavors_held(graph: PolicyGraph, workload: Workload) -> FlavorAssignment:
    """What a running workload has, as an assignment of flavors that charges nothing."""
    index = {flavor.name: number for number, flavor in enumerate(graph.flavors)}
    left = {pod_set.name: count for pod_set, count in workload.pod_sets()}
    return FlavorAssignment(
        pod_sets=[
            PodSetFlavors(
                name=given.pod_set,
                count=min(given.count, left.get(given.pod_set, 0)),
                requests={},
                flavors={
                    resource: Chosen(index[given.flavors[resource]], Grade.FIT, 0, -1)
                    for resource in sorted(given.flavors)
                    if given.flavors[resource] in index
                },
                places=given.places,
            )
            for given in workload.assignments
        ]
    )


def placing_of(state: State, nomination: Nomination) -> Placing:
    """The decision that a running workload stands where its nomination says."""
    assert nomination.again
    workload = state.workloads[nomination.workload]
    places = {pods.name: pods.places for pods in nomination.flavors.pod_sets}
    given = tuple(each.model_copy(update={"places": places[each.pod_set], "delayed": False}) for each in workload.assignments)
    nodes, checks = workload.lost_nodes, checks_of(state.graph, workload)
    if nomination.again == "node-lost":
        return Placing(workload.name, workload.queue, "node-lost", given, nodes=nodes)
    return Placing(workload.name, workload.queue, "nodes-provided", given, checks=checks)


def eviction_of(state: State, nomination: Nomination) -> Eviction:
    """The decision that a workload goes which has lost nodes, and for whose pods there are no other places, or none are looked for."""
    workload = state.workloads[nomination.workload]
    return Eviction(victim(workload, "node-lost"), nodes=workload.lost_nodes, unplaced=nomination.flavors.unplaced)


def place_at_once(state: State) -> list[Outcome]:
    """Give places to all who run and are to get some, or evict them, in the policy's order of workloads; carried out already."""
    trial = Trial(state)
    decided: list[Outcome] = []
    if not trial.gives_places:
        return decided
    waiting = [each for each in state.in_order() if needs_places(state.graph, each)]
    for workload in sorted(waiting, key=lambda each: line_key(state.graph, each)):
        nomination = nominate_again(trial, workload, may_evict=False)
        if nomination.fits:
            decided.append(placing_of(state, nomination))
        elif nomination.again == "node-lost":
            decided.append(eviction_of(state, nomination))
        else:
            continue
        carry_out(state, decided[-1])
    return decided

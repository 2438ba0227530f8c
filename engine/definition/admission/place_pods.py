"""Places for the pods of a workload once its flavors are found; and what it means for the assignment where there are none.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go, the end of assignFlavors; pkg/scheduler/scheduler.go, updateAssignmentForTAS. A
workload that fits by quota and finds no places needs victims, as if quota were short. One that finds none even on empty nodes never fits.

Where everything is decided at once, places are looked at in the search for flavors already (`flavor/assigner.py`).
"""

from dataclasses import replace

from ...outcome.nomination import FlavorAssignment, Grade, Mode, NoPlaces, PodSetFlavors
from ...outcome.regrade import regrade
from ...workload import Workload
from ..placement.placer import FoundPlaces, ToPlace, find_places, to_place
from ..placement.places import PlaceBook, PodsHeld, held
from ..state.state import ActivePolicy


def pod_sets_to_place(places: PlaceBook, workload: Workload, assignment: FlavorAssignment) -> list[ToPlace]:
    """The pod sets of an assignment whose flavor gives places, and which have none yet and are not to get them later, with their pods."""
    wanting = [pods for pods in assignment.pod_sets if not pods.places and not pods.delayed]
    flavors = {pods.name: flavor for pods in wanting if (flavor := placed_flavor(places, pods)) is not None}
    counts = {pods.name: pods.count for pods in assignment.pod_sets}
    return to_place(workload, [counts.get(pod_set.name, 0) for pod_set in workload.fact.pod_sets], flavors)


def placed_flavor(places: PlaceBook, pods: PodSetFlavors) -> int | None:
    """The flavor of a pod set that gives places; None where none does."""
    found = (pods.flavors[resource].flavor for resource in sorted(pods.flavors))
    return next((flavor for flavor in found if places.trees[flavor] is not None), None)


def judge_places(policy: ActivePolicy, workload: Workload, assignment: FlavorAssignment) -> None:
    """Give pods places where the workload fits by quota, and change the assignment where there are none, now or ever."""
    places = policy.places
    wanted = pod_sets_to_place(places, workload, assignment)
    if not wanted or assignment.mode is Mode.NO_FIT:
        return
    if assignment.mode is Mode.FIT or (policy.graph.settings.judges_together and not _is_short_of_quota(assignment)):
        found = find_places(places, wanted)
        if not found.failures:
            assignment.mode = Mode.FIT
            give(assignment, found)
            return
        assignment.unplaced, assignment.mode = found.failures[0], Mode.PREEMPT
        _grade(policy, assignment, found.failures[0].pod_sets, Grade.PREEMPT, found.failures[0])
    on_empty = find_places(places, wanted, empty=True)
    if on_empty.failures:
        first = on_empty.failures[0]
        assignment.unplaced_if_empty, assignment.mode, assignment.reason = first, Mode.NO_FIT, "TopologyPlacementFailed"
        _grade(policy, assignment, first.pod_sets, Grade.NO_MATCH, first)
    else:
        _grade(policy, assignment, tuple(each.pod_set.name for each in wanted), Grade.PREEMPT, None)


def _is_short_of_quota(assignment: FlavorAssignment) -> bool:
    """Whether there is too little quota on one of the flavors of an assignment; else only places are missing."""
    return any(
        attempt.flavor == chosen.flavor and obstacle.by_quota
        for pods in assignment.pod_sets
        for chosen in pods.flavors.values()
        for attempt in pods.attempts
        for obstacle in attempt.obstacles
    )


def _grade(policy: ActivePolicy, assignment: FlavorAssignment, names: tuple[str, ...], grade: Grade, failure: NoPlaces | None) -> None:
    """Grade all flavors of some pod sets anew: places are found for all of them, or others have to go on all of them."""
    regrade(assignment, names, grade, failure)
    for pods in (each for each in assignment.pod_sets if each.name in names):
        slots = {policy.slot(chosen.flavor, resource) for resource, chosen in pods.flavors.items()}
        assignment.needing |= {slot for slot in slots if slot is not None and grade.mode is Mode.PREEMPT}


def give(assignment: FlavorAssignment, found: FoundPlaces) -> None:
    """Note the places that were found."""
    for pods in assignment.pod_sets:
        pods.places = found.places.get(pods.name, pods.places)


def places_then(places: PlaceBook, workload: Workload, assignment: FlavorAssignment, victims_gone: bool) -> None:
    """The places of a workload that needs victims: with them gone, or where nobody can go, those it would keep free on empty nodes."""
    wanted = pod_sets_to_place(places, workload, assignment)
    if wanted:
        give(assignment, find_places(places, wanted, empty=not victims_gone))


def without_its_places(assignment: FlavorAssignment) -> FlavorAssignment:
    """An assignment as it was before places were sought for it."""
    return replace(assignment, pod_sets=[replace(pods, places=()) for pods in assignment.pod_sets])


def places_held(places: PlaceBook, workload: Workload, assignment: FlavorAssignment) -> list[PodsHeld]:
    """What an assignment takes of places, beyond what the workload has there already."""
    pod_sets = {pod_set.name: pod_set for pod_set in workload.fact.pod_sets}
    before = {(given.pod_set, place.domain): place.pods for given in workload.assignments for place in given.places}
    return [
        holding._replace(pods=more)
        for pods in assignment.pod_sets
        if pods.places and (flavor := placed_flavor(places, pods)) is not None
        for holding in held(flavor, pod_sets[pods.name], pods.places)
        if (more := holding.pods - before.get((pods.name, holding.place), 0)) > 0
    ]

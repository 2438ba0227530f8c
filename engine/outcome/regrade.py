"""Flavors graded anew once it is known whether pods find places there."""

from dataclasses import replace

from .nomination import FlavorAssignment, Grade, NoPlaces, Obstacle


def regrade(assignment: FlavorAssignment, names: tuple[str, ...], grade: Grade, failure: NoPlaces | None) -> None:
    """Grade all flavors of some pod sets no better than that, and note what was in the way: there are no places for all of them."""
    for pods in assignment.pod_sets:
        if pods.name not in names:
            continue
        for resource, chosen in sorted(pods.flavors.items()):
            if chosen.grade.mode > grade.mode:
                pods.flavors[resource] = replace(chosen, grade=grade)
        if failure is not None and not any(each.kind == "no-places" and each.flavor == failure.flavor for each in pods.obstacles):
            pods.obstacles = (*pods.obstacles, no_places(failure, failure.flavor))


def no_places(failure: NoPlaces, flavor: int) -> Obstacle:
    """What was in the way of a flavor that was tried; it is no matter of how much room there is where pods make up no whole slices."""
    of, fit = (failure.of, failure.fit) if failure.kind == "no-room" else (0, 0)
    return Obstacle("no-places", flavor, asked=of, limit=fit)

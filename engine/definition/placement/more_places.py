"""A place for one more pod of a workload that runs: in the domain in which all have to stand, or as near to the others as can be."""

from functools import partial

from ...event_parts import PlacedPods
from ...nodes.domains import DomainPath
from .placer import FoundPlaces, Search, ToPlace
from .places import PlaceBook
from .replacement import merged


def place_one_more(places: PlaceBook, wanted: ToPlace, standing: tuple[PlacedPods, ...]) -> tuple[PlacedPods, ...] | None:
    """Where all pods of a pod set stand with one more; None where there is no room for it, or it is not known where the others are."""
    tree = places.tree(wanted.flavor)
    path_of = partial(places.path_of, wanted.flavor)
    paths = [path_of(place.domain) for place in standing]
    known = [path for path in paths if path is not None]
    said = tree.topology.level(wanted.pod_set.within)
    if said is not None and len(known) < len(paths):
        return None
    for inside in _domains(known, said, wanted.pod_set.near != ""):
        found = FoundPlaces()
        if Search(places, empty=False).place(wanted.flavor, [wanted], found, inside) is None:
            return merged(path_of, (*standing, *found.places[wanted.pod_set.name]))
    return None


def _domains(paths: list[DomainPath], within: int | None, near: bool) -> list[DomainPath]:
    """The domains in which a pod may stand, the first that has room is taken; (): anywhere."""
    if not paths or (within is None and not near):
        return [()]
    if within is not None:
        return [paths[0][: within + 1]]
    common = 0
    while all(len(path) > common and path[common] == paths[0][common] for path in paths):
        common += 1
    return [paths[0][:length] for length in range(common, -1, -1)]

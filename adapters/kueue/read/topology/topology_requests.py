"""What a pod set asks for of where its pods are to stand.

A request that Kueue could never meet, whatever is free, is refused: nothing else in the dump would say why the workload waits for ever.
Source: Kueue, pkg/cache/scheduler/tas_flavor_snapshot.go (levelKey, getSliceSizeWithSinglePodAsDefault, buildSliceSizeAtLevel).
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from .....engine.event_parts import Slice
from .. import known_fields as known
from ..fields import Fields
from ..objects import KueuePodSet

_LAYERS = "podsetSliceRequiredTopologyConstraints"
_MOST_LAYERS = 3
_WISHES = ("required", "preferred", "unconstrained")


class PlacesAsked(NamedTuple):
    """How near to each other pods must stand, as a fact says it."""

    within: str
    near: str
    anywhere: bool
    slices: tuple[Slice, ...]


def places_asked(said: Fields, count: int) -> PlacesAsked:
    """What the topology request of a pod set of so many pods asks for; nothing where it only names pods or groups them."""
    asked = PlacesAsked(_level(said, "required"), _level(said, "preferred"), said.flag("unconstrained", False), _slices(said))
    wishes = [field for field, is_said in zip(_WISHES, asked[:3], strict=True) if is_said]
    if len(wishes) > 1:
        said.wrong(wishes[1], f"stands beside {wishes[0]}", "keep one of them: Kueue lets no job ask for both")
    if not any(asked):
        _refuse_nothing(said)
    elif said.has("podSetSliceSize") and not asked.slices:
        said.found.note("spec.podSets", "has a podSetSliceSize without a level of slices: it counts for nothing, as in Kueue")
    _check_sizes(said, asked.slices, count)
    return asked


def _level(said: Fields, field: str) -> str:
    """The level that a field names; an empty text is no level."""
    return said.name(field) if said.has(field) else ""


def _refuse_nothing(said: Fields) -> None:
    """Refuse a request that only says that pods are to be placed: Kueue then knows no level at which to look."""
    for field in ("unconstrained", "podSetSliceSize"):
        if said.has(field):
            cause = "asks for places and names no level: Kueue never finds any for it"
            said.wrong(field, cause, "say `unconstrained: true`, or remove it")
            return


def _slices(said: Fields) -> tuple[Slice, ...]:
    """The slices in the one way or, where that says nothing, in the older one."""
    layers = tuple(_layer(row.known(known.TOPOLOGY_SLICE)) for row in said.subs(_LAYERS, _MOST_LAYERS))
    level, size = _level(said, "podSetSliceRequiredTopology"), said.whole("podSetSliceSize", 0, 1)
    if layers:
        if (level or size) and (level, size) != (layers[0].level, layers[0].size):
            said.found.note("spec.podSets", f"says slices in two ways: as in Kueue, {_LAYERS} counts")
        return layers
    if level and not size:
        said.wrong("podSetSliceSize", "is missing: Kueue places no slices of unknown size", "write how many pods a slice has")
        return ()
    return (Slice(level=level, size=size),) if level else ()


def _layer(row: Fields) -> Slice:
    if not row.has("size"):
        row.wrong("size", "is missing", "write how many pods a slice has")
    return Slice(level=row.name("topology") or "-", size=row.whole("size", 1, 1, 1_000_000))


def _check_sizes(said: Fields, slices: tuple[Slice, ...], count: int) -> None:
    """Slices are whole, and so are their parts. The one pod of a leader goes with its workers, and is cut into nothing."""
    for wide, narrow in pairwise(slices):
        if wide.size % narrow.size:
            said.wrong(_LAYERS, f"cuts {wide.size} pods into slices of {narrow.size}", "let each size be a whole number of the next one")
    is_leader = count == 1 and bool(said.text("podSetGroupName"))
    if slices and count % slices[0].size and not is_leader:
        cause = f"is {slices[0].size}, and {count} pods are no whole number of such slices: Kueue leaves the rest without a place"
        said.wrong("podSetSliceSize", cause, "let the count be a whole number of slices")


def check_groups(spec: Fields, pod_sets: Iterable[KueuePodSet]) -> None:
    """Report groups that are placed together, and are no leader with its workers: Kueue would leave pods without a place."""
    groups: dict[str, list[KueuePodSet]] = {}
    for pods in pod_sets:
        if pods.group:
            groups.setdefault(pods.group, []).append(pods)
    for name in sorted(groups):
        members = groups[name]
        if not any(pods.asks_for_places for pods in members) or len(members) == 1:
            continue
        if len(members) > 2 or all(pods.count > 1 for pods in members):
            cause = f"has group `{name}`, whose pods are placed together, and which is no leader of one pod with one pod set of workers"
            spec.wrong("podSets", cause, "group two pod sets, one of them of one pod")
        elif len({(pods.within, pods.near, pods.anywhere, pods.slices) for pods in members}) > 1:
            cause = f"has group `{name}`, whose pod sets ask for different places"
            spec.wrong("podSets", cause, "let both ask for the same: Kueue goes by the workers, and lets no job differ")

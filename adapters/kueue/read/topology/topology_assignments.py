"""The places that Kueue gave to the pods of a pod set, in either form: each domain by itself, or domains in compact slices.

A compact slice says per level one value for all of its domains, or one for each, and so for the pods of each domain.
Source: Kueue, pkg/util/tas/tas_assignment.go.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from .....engine.event_parts import PlacedPods
from .. import known_fields as known
from ..fields import Fields
from .topology_levels import MOST_LEVELS

MOST_DOMAINS = 10_000
"""Domains in which the pods of one pod set stand, at most; as many as a fact can name."""

_MOST_PODS = 1_000_000
_LONGEST = 253

_Each = TypeVar("_Each", str, int)


class PlacesGiven(NamedTuple):
    """Pods in domains, and the levels of which the domains name the values; or they are to get places later."""

    levels: tuple[str, ...] = ()
    places: tuple[PlacedPods, ...] = ()
    delayed: bool = False


def places_given(given: Fields) -> PlacesGiven:
    """Where an assignment puts the pods of its pod set; nowhere where it does not say."""
    delayed = given.one_of("delayedTopologyRequest", ("Pending", "Ready"), "Ready") == "Pending"
    if not given.has("topologyAssignment"):
        return PlacesGiven(delayed=delayed)
    said = given.sub("topologyAssignment").known(known.TOPOLOGY_ASSIGNMENT)
    levels = tuple(said.all_texts("levels"))
    if not 0 < len(levels) <= MOST_LEVELS:
        said.wrong("levels", f"has {len(levels)} levels", f"name the levels of which the domains have values, {MOST_LEVELS} at most")
        return PlacesGiven()
    if said.has("domains") and said.has("slices"):
        said.wrong("domains", "stands beside slices", "keep one of them")
    domains = said.subs("domains")
    slices = list(said.subs("slices"))
    counts = [row.known(known.PLACED_SLICE).whole("domainCount", 0, 1) for row in slices]
    most = len(said.rows("domains")) + sum(counts)
    if most > MOST_DOMAINS:
        said.wrong("slices", f"has {most} domains", f"gpol reads at most {MOST_DOMAINS} for a pod set; leave this workload out")
        return PlacesGiven()
    places = [place for row in domains if (place := _domain(row.known(known.PLACED_DOMAIN), len(levels))) is not None]
    for row, count in zip(slices, counts, strict=True):
        places += _slice(row, count, len(levels))
    seen: set[tuple[str, ...]] = set()
    for place in places:
        if place.domain in seen:
            said.wrong(
                "slices" if slices else "domains", f"names `{'/'.join(place.domain)}` twice", "name each domain once, with all its pods"
            )
            return PlacesGiven()
        seen.add(place.domain)
    return PlacesGiven(levels, tuple(places))


def _domain(row: Fields, levels: int) -> PlacedPods | None:
    """A domain that is said by itself; None where it is wrong, and was reported."""
    if not row.has("count"):
        row.wrong("count", "is missing", "write how many pods stand there")
    return _placed(row, "values", row.all_texts("values"), levels, row.whole("count", 1, 1, _MOST_PODS))


def _placed(row: Fields, field: str, values: list[str], levels: int, pods: int) -> PlacedPods | None:
    if len(values) == levels and all(0 < len(value) <= _LONGEST for value in values):
        return PlacedPods(domain=tuple(values), pods=pods)
    row.wrong(field, f"has {len(values)} values for {levels} levels, or values that are no names", "write a value for each level")
    return None


def _slice(row: Fields, count: int, levels: int) -> Iterator[PlacedPods]:
    """The domains of a compact slice."""
    by_level = [_values(values.known(known.PLACED_VALUES), count) for values in row.subs("valuesPerLevel")]
    pods = _counts(row.sub("podCounts").known(known.PLACED_VALUES), count)
    for number in range(count):
        place = _placed(row, "valuesPerLevel", [values[number] for values in by_level], levels, pods[number])
        if place is None:
            return
        yield place


def _values(said: Fields, count: int) -> list[str]:
    """The value of each domain at a level."""
    if said.has("universal"):
        return [said.name("universal")] * count
    parts = said.sub("individual").known(known.PLACED_ROOTS)
    prefix, suffix = parts.text("prefix"), parts.text("suffix")
    return _each(parts, "roots", [f"{prefix}{root}{suffix}" for root in parts.all_texts("roots")], count, "")


def _counts(said: Fields, count: int) -> list[int]:
    """The pods in each domain."""
    if said.has("universal"):
        return [said.whole("universal", 1, 1, _MOST_PODS)] * count
    rows = said.rows("individual")
    numbers = Fields({str(number): row for number, row in enumerate(rows)}, said.at("individual"), said.found)
    return _each(said, "individual", [numbers.whole(str(number), 1, 1, _MOST_PODS) for number in range(len(rows))], count, 1)


def _each(said: Fields, field: str, found: list[_Each], count: int, default: _Each) -> list[_Each]:
    """One for each domain; others are reported."""
    if len(found) == count:
        return found
    said.wrong(field, f"has {len(found)} entries for {count} domains", "write one for each domain")
    return [default] * count

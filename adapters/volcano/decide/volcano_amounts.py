"""Amounts as Volcano's scheduler counts them: cpu in thousandths, memory in bytes, pods one by one, everything else in thousandths.

Source: Volcano, pkg/scheduler/api/resource_info.go (`NewResource`).
"""

from collections.abc import Iterable, Mapping
from math import ceil

from ....engine.event_parts import POD_COUNT
from ....engine.units import INT64_MAX
from ...kueue.read.quantity import QuantityError, parse
from ..read.resource_lists import counts

QuantityByResource = Mapping[str, object]
"""A list of resources as Kubernetes writes it: quantities by name."""

_WHOLE = ("memory", POD_COUNT)
_FIRST = ("cpu", "memory")


def amount(resource: str, quantity: object) -> int:
    """A quantity of a resource as Volcano counts it. Raises ValueError where it is none, below 0, or beyond 64 bits."""
    exact = parse(quantity)
    counted = ceil(exact if resource in _WHOLE else exact * 1000)
    if not 0 <= counted <= INT64_MAX:
        raise QuantityError("is below 0" if counted < 0 else "is beyond 64 bits")
    return counted


def amounts(quantities: QuantityByResource) -> dict[str, int]:
    """The amounts of a list of resources, without those that Volcano does not count. Raises ValueError."""
    return {resource: amount(resource, quantities[resource]) for resource in sorted(quantities) if counts(resource)}


def resource_order(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The resources of a session: cpu and memory, which every amount of Volcano has, then all others that are named, in order of name."""
    named = {resource for each in lists for resource in each if resource not in _FIRST}
    return (*_FIRST, *sorted({*named, POD_COUNT}))

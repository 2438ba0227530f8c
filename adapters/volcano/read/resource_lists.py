"""Lists of resources in Volcano's objects as amounts, and which resources Volcano counts.

A resource counts if a pod can ask for it; a queue's quota of any other name has no effect in Volcano.
Sources: Volcano, pkg/scheduler/api/resource_info.go (NewResource); Kubernetes, pkg/apis/core/v1/helper (IsScalarResourceName).
"""

from fractions import Fraction

from ....engine.event_parts import POD_COUNT
from ...kueue.read.fields import Fields, shortened
from ...kueue.read.quantity import UNLIMITED, amount
from .volcano_objects import AmountsByResource

NATIVE = ("cpu", "memory")
"""Resources of which a capability of 0 is no limit in Volcano: it cannot tell 0 from nothing said."""

_WITHOUT_DOMAIN = (*NATIVE, "ephemeral-storage", POD_COUNT)
_PREFIXES = ("hugepages-", "attachable-volumes-")
_OF_QUOTAS = ("requests.", "limits.", "count/")
"""How the names of the resources of ResourceQuotas begin; Volcano's controller writes them into `minResources` beside the plain ones."""

_DEVICE_CLASS = "deviceclass/"

_NO_EFFECT = "is of no resource that Volcano counts: it has no effect there, and is left out"
_DEVICES = "counts devices that pods claim, and no PodGroup says what its pods claim: it is left out"
_PODS = "limits the number of pods, which a policy that decides at once cannot say: it is left out"
_ZERO = "is 0, which Volcano takes for no limit: it is left out"


def counts(resource: str) -> bool:
    """Whether Volcano counts a resource."""
    if resource.startswith(_OF_QUOTAS) or _of_devices(resource):
        return False
    return resource in _WITHOUT_DOMAIN or resource.startswith(_PREFIXES) or "/" in resource


def _of_devices(resource: str) -> bool:
    return resource.startswith(_DEVICE_CLASS) or f".{_DEVICE_CLASS}" in resource


def quotas(said: Fields, name: str) -> AmountsByResource:
    """A list in a queue. What gpol or Volcano does not count is noted and left out."""
    kept = {}
    quantities, at = said.requests(name), said.at(name)
    for resource in quantities:
        left_out = _DEVICES if _of_devices(resource) else _NO_EFFECT if not counts(resource) else _PODS if resource == POD_COUNT else ""
        if left_out:
            said.found.note(f"{at}.{shortened(resource)}", left_out)
        elif _is_good(said, name, resource, quantities[resource]):
            kept[resource] = amount(quantities[resource], resource)
    return kept


def _is_good(said: Fields, name: str, resource: str, quantity: Fraction) -> bool:
    """Whether a quantity is one that Kubernetes takes for the resource; reported where it is not."""
    at = f"{said.at(name)}.{shortened(resource)}"
    if quantity < 0:
        said.found.problem(at, f"is {shortened(said.sub(name).data[resource])}, below 0", "write 0 or more")
    elif "/" in resource and quantity.denominator != 1:
        said.found.problem(at, "is no whole number, and Kubernetes counts whole ones of it", "write a whole number")
    else:
        return True
    return False


def limits(said: Fields, name: str) -> AmountsByResource:
    """A list in a queue that limits what it uses, without what is no limit."""
    kept = quotas(said, name)
    for resource in NATIVE:
        if kept.get(resource) == 0:
            del kept[resource]
            said.found.note(f"{said.at(name)}.{resource}", _ZERO)
    return {resource: kept[resource] for resource in kept if kept[resource] < UNLIMITED}


def asked(said: Fields, name: str) -> AmountsByResource:
    """What pods ask for together: the resources that count, without the number of pods."""
    quantities = said.requests(name)
    for resource in quantities:
        if quantities[resource] < 0:
            said.wrong(f"{name}.{shortened(resource)}", "is below 0", "write 0 or more")
    names = [resource for resource in quantities if counts(resource) and resource != POD_COUNT]
    return {resource: max(0, amount(quantities[resource], resource)) for resource in names}

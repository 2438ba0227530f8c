"""What a pod asks for, and where it may run: from a pod template.

Requests are summed as Kubernetes does: containers and sidecars run together, other init containers one after the other before them
(component-helpers, resource.PodRequests). A container that states a limit alone asks for that, and so does a pod.
"""

from fractions import Fraction

from ....engine.event_parts import Requirement, Toleration
from .fields import Fields, shortened
from .quantity import amount
from .selectors import requirement, toleration

Requested = dict[str, Fraction]
"""Exact quantities by resource."""

_ZERO = Fraction(0)
_OF_WHOLE_PODS = ("cpu", "memory", "hugepages-")
"""How the names of resources begin that a pod as a whole can ask for; any other counts by its containers."""


def requests(spec: Fields) -> dict[str, int]:
    """What one pod asks for by resource, in gpol's smallest unit, in order of name."""
    total: Requested = {}
    for container in spec.subs("containers"):
        _add(total, _of_container(container))
    if spec.has("initContainers"):
        _with_init_containers(total, spec)
    if spec.has("resources"):
        whole = _of_container(spec)
        total |= {resource: whole[resource] for resource in whole if resource.startswith(_OF_WHOLE_PODS)}
    if spec.has("overhead"):
        _add(total, _quantities(spec, "overhead"))
    return {resource: amount(total[resource], resource) for resource in sorted(total)}


def _with_init_containers(total: Requested, spec: Fields) -> None:
    """Raise a pod's requests for its sidecars, and to what each other init container needs beside the sidecars before it."""
    sidecars: Requested = {}
    peak: Requested = {}
    for container in spec.subs("initContainers"):
        wanted = _of_container(container)
        if container.text("restartPolicy") == "Always":
            _add(total, wanted)
            _add(sidecars, wanted)
            wanted = dict(sidecars)
        else:
            _add(wanted, sidecars)
        _raise(peak, wanted)
    _raise(total, peak)


def _of_container(container: Fields) -> Requested:
    resources = container.sub("resources")
    requested = _quantities(resources, "requests")
    return {**_quantities(resources, "limits"), **requested} if resources.has("limits") else requested


def _quantities(said: Fields, name: str) -> Requested:
    """Quantities by resource. One that is below 0 is reported, and left out."""
    found = said.requests(name)
    for resource in [resource for resource in found if found[resource] < 0]:
        said.wrong(f"{name}.{shortened(resource)}", f"is {shortened(said.data[name][resource])}, below 0", "write 0 or more")
        del found[resource]
    return found


def _add(total: Requested, more: Requested) -> None:
    for resource in sorted(more):
        total[resource] = total.get(resource, _ZERO) + more[resource]


def _raise(total: Requested, least: Requested) -> None:
    for resource in sorted(least):
        total[resource] = max(total.get(resource, _ZERO), least[resource])


def beyond_limits(spec: Fields) -> str:
    """What asks for more of which resource than its own limit; empty where nothing does. Kueue turns such pods away."""
    containers = [container for field in ("initContainers", "containers") for container in spec.subs(field)]
    for what, asking in (*(("a container", container) for container in containers), ("a pod", spec)):
        resources = asking.sub("resources")
        wanted, limits = (resources.requests(field) if resources.has("limits") else {} for field in ("requests", "limits"))
        for resource in limits:
            if wanted.get(resource, _ZERO) > limits[resource]:
                return f"{what} asks for more {resource} than its limit"
    return ""


def affinity(spec: Fields) -> tuple[tuple[Requirement, ...], ...]:
    """The required node affinity: alternatives, each a conjunction of conditions on labels."""
    if not spec.has("affinity"):
        return ()
    required = spec.sub("affinity").sub("nodeAffinity").sub("requiredDuringSchedulingIgnoredDuringExecution")
    return tuple(tuple(requirement(row) for row in term.subs("matchExpressions")) for term in required.subs("nodeSelectorTerms"))


def tolerations(spec: Fields) -> tuple[Toleration, ...]:
    """What the pod puts up with."""
    return tuple(toleration(row) for row in spec.subs("tolerations"))

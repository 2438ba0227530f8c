"""What a pod asks for, and where it may run: from a pod template.

Requests are summed as Kubernetes does: containers and sidecars run together, other init containers one after the other before them
(component-helpers, resource.PodRequests). A container that states a limit alone asks for that.
"""

from fractions import Fraction

from ...engine.events import Requirement, Toleration
from .fields import Fields
from .places import requirement, toleration
from .quantity import amount

Wanted = dict[str, Fraction]
"""Exact quantities by resource."""

_ZERO = Fraction(0)


def requests(spec: Fields) -> dict[str, int]:
    """What one pod asks for by resource, in gpol's smallest unit, in order of name; never below 0."""
    total: Wanted = {}
    for container in spec.subs("containers"):
        _add(total, _of_container(container))
    if spec.has("initContainers"):
        _with_init_containers(total, spec)
    if spec.has("resources"):
        total |= _of_container(spec)
    if spec.has("overhead"):
        _add(total, spec.requests("overhead"))
    return {resource: max(0, amount(total[resource], resource)) for resource in sorted(total)}


def _with_init_containers(total: Wanted, spec: Fields) -> None:
    """Raise a pod's requests for its sidecars, and to what each other init container needs beside the sidecars before it."""
    sidecars: Wanted = {}
    peak: Wanted = {}
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


def _of_container(container: Fields) -> Wanted:
    resources = container.sub("resources")
    return {**resources.requests("limits"), **resources.requests("requests")} if resources.has("limits") else resources.requests("requests")


def _add(total: Wanted, more: Wanted) -> None:
    for resource in sorted(more):
        total[resource] = total.get(resource, _ZERO) + more[resource]


def _raise(total: Wanted, least: Wanted) -> None:
    for resource in sorted(least):
        total[resource] = max(total.get(resource, _ZERO), least[resource])


def beyond_limits(spec: Fields) -> str:
    """The first resource of which a container asks for more than its own limit; empty where none does. Kueue turns such pods away."""
    for field in ("initContainers", "containers"):
        for container in spec.subs(field):
            resources = container.sub("resources")
            if resources.has("limits"):
                wanted, limits = resources.requests("requests"), resources.requests("limits")
                for resource in limits:
                    if wanted.get(resource, _ZERO) > limits[resource]:
                        return resource
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

"""What figures count: GPUs in thousandths, and each other device, such as a MIG slice, by itself; nothing that any machine has."""

from collections.abc import Iterable

from ...engine.event_parts import Charge, PodSet

GPUS = "gpu"
"""As what all GPUs are counted, whatever their resource is called."""

_OF_ANY_MACHINE = ("cpu", "memory", "pods", "storage", "ephemeral-storage")
_OF_ANY_MACHINE_BEGIN = ("hugepages-",)


def is_device(resource: str) -> bool:
    """Whether a resource is a device, such as a GPU, and none that any machine has: a number of pods, or one of Kubernetes' own."""
    return resource not in _OF_ANY_MACHINE and not resource.startswith(_OF_ANY_MACHINE_BEGIN)


def counted_as(resource: str) -> str | None:
    """As what a resource is counted: GPUS, itself where it is another device, or not at all (None)."""
    if thousandths(resource, 1):
        return GPUS
    return resource if is_device(resource) else None


def counted_amount(resource: str, amount: int) -> int:
    """An amount of a counted resource as it is counted: GPUs in thousandths, other devices in their own units."""
    return thousandths(resource, amount) or amount


def thousandths(resource: str, amount: int) -> int:
    """An amount of a resource in thousandths of a GPU; 0 where it is none.

    gpol's own `gpu` is counted in thousandths, a device of Kubernetes such as `nvidia.com/gpu` in whole ones.
    """
    if resource == "gpu":
        return amount
    return amount * 1000 if resource.endswith("/gpu") else 0


def requested(pod_sets: Iterable[PodSet]) -> int:
    """The GPUs that all pods ask for, in thousandths."""
    return sum(thousandths(resource, amount) * pods.count for pods in pod_sets for resource, amount in pods.requests.items())


def charged(charges: tuple[Charge, ...]) -> int:
    """The GPUs among what is charged, in thousandths."""
    return sum(thousandths(charge.resource, charge.amount) for charge in charges)

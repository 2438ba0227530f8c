"""Which resources are GPUs, and how many thousandths of one an amount is."""

from collections.abc import Iterable

from ...engine.event_parts import Charge, PodSet


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

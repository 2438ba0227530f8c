"""Requests and flavors by the names of the policy, as events have them."""

from collections.abc import Mapping

from ..event_parts import Assignment, Charge
from ..policy_graph import PolicyGraph
from .nomination import FlavorAssignment, Request

SlotIndex = Mapping[tuple[str, str], int]
"""The slots of a policy by (flavor name, resource)."""


def charges(graph: PolicyGraph, request: Request) -> tuple[Charge, ...]:
    """A request by slot as charges by name."""
    slots, flavors = graph.slots, graph.flavors
    return tuple(Charge(flavor=flavors[slots[slot].flavor].name, resource=slots[slot].resource, amount=amount) for slot, amount in request)


def charged(slots: SlotIndex, charges: tuple[Charge, ...]) -> Request:
    """Charges by name as a request by slot."""
    return tuple(sorted((slots[charge.flavor, charge.resource], charge.amount) for charge in charges))


def assignments(graph: PolicyGraph, flavors: FlavorAssignment) -> tuple[Assignment, ...]:
    """The flavors of each pod set, by name."""
    return tuple(
        Assignment(
            pod_set=pods.name,
            count=pods.count,
            flavors={resource: graph.flavors[pods.flavors[resource].flavor].name for resource in sorted(pods.flavors)},
            places=pods.places,
            delayed=pods.delayed,
        )
        for pods in flavors.pod_sets
    )

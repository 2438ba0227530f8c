"""What Volcano's webhook refuses of Queues, as its sources say it (pkg/webhooks/admission/queues/validate), for a store of the tests."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from fake_kinds import PRIORITY_CLASS, VOLCANO_QUEUE
from fake_store import FakeStore
from gpol.adapters.kueue.read.quantity import parse

Json = dict[str, Any]
Amounts = Mapping[str, Fraction]


def with_volcano(store: FakeStore) -> FakeStore:
    """A store with the Queues that each cluster with Volcano has, and its webhook. It does not say how a webhook reacts to deletions."""
    for name in ("root", "default"):
        head = {"apiVersion": VOLCANO_QUEUE.api_version, "kind": "Queue", "metadata": {"name": name}}
        parent = {} if name == "root" else {"parent": "root"}
        store.create(VOLCANO_QUEUE, {**head, "spec": {"weight": 1, "reclaimable": name != "root", **parent}}, manager="vc-scheduler")
    store.validate(VOLCANO_QUEUE, lambda old, new, part, by: why_not(store, old, new), 400)
    store.validate(PRIORITY_CLASS, lambda old, new, part, by: "value: is immutable" if old and old["value"] != new["value"] else None, 422)
    return store


def why_not(store: FakeStore, old: Json | None, new: Json) -> str | None:
    """Why a Queue is refused; None where it is taken."""
    name = new["metadata"]["name"]
    queues = {**{each["metadata"]["name"]: each for each in store.list(VOLCANO_QUEUE)["items"]}, name: new}
    if name == "root":
        return "root queue's resource attributes cannot be modified" if old is not None and old["spec"] != new["spec"] else None
    found = [*_own(new), *_in_tree(queues, name)]
    return found[0] if found else None


def _own(queue: Json) -> Iterable[str]:
    """Guarantee at most what is deserved, and that at most the capability."""
    guarantee, deserved, capability = _amounts(queue, "guarantee"), _amounts(queue, "deserved"), _amounts(queue, "capability")
    for resource in guarantee:
        if deserved.get(resource, Fraction(-1)) < guarantee[resource]:
            yield f"deserved[{resource}] must be >= guarantee[{resource}]"
    for resource in deserved:
        if deserved[resource] > capability.get(resource, deserved[resource]):
            yield f"deserved[{resource}] must be <= capability[{resource}]"


def _in_tree(queues: Mapping[str, Json], name: str) -> Iterable[str]:
    parent = queues[name]["spec"].get("parent", "")
    if parent not in ("", "root"):
        if parent not in queues:
            yield f"parent queue {parent} not found"
            return
        yield from _sums(queues, parent)
        for resource, amount in _limits(queues[name]).items():
            above = _limit_above(queues, parent, resource)
            if above is not None and amount > above:
                yield f"queue {name} capability[{resource}] exceeds its ancestor's capability"
    yield from _sums(queues, name)
    for resource, amount in _limits(queues[name]).items():
        if amount < _widest_below(queues, name, resource):
            yield f"queue {name} capability[{resource}] is smaller than its descendants' max capability"


def _sums(queues: Mapping[str, Json], parent: str) -> Iterable[str]:
    below = [each for each in queues.values() if each["spec"].get("parent") == parent]
    for field in ("guarantee", "deserved"):
        of_parent = _amounts(queues[parent], field)
        for resource in {resource for child in below for resource in _amounts(child, field)}:
            if sum(_amounts(child, field).get(resource, Fraction(0)) for child in below) > of_parent.get(resource, 0):
                yield f"queue {parent} validation failed: sum of children's {field} exceeds parent's {field} limit"


def _limit_above(queues: Mapping[str, Json], name: str, resource: str) -> Fraction | None:
    while name not in ("", "root"):
        limits = _limits(queues[name])
        if resource in limits:
            return limits[resource]
        name = queues[name]["spec"].get("parent", "")
    return None


def _widest_below(queues: Mapping[str, Json], name: str, resource: str) -> Fraction:
    children = [child for child, each in queues.items() if each["spec"].get("parent") == name]
    return max((_limits(queues[child]).get(resource) or _widest_below(queues, child, resource) for child in children), default=Fraction(0))


def _limits(queue: Json) -> Amounts:
    """Its capability; a 0 is no limit there."""
    return {resource: amount for resource, amount in _amounts(queue, "capability").items() if amount}


def _amounts(queue: Json, field: str) -> Amounts:
    said = queue["spec"].get(field) or {}
    return {resource: parse(amount) for resource, amount in (said.get("resource") or {} if field == "guarantee" else said).items()}

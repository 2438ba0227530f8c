"""What exists, as far as Queues say it: Volcano takes that from its nodes, and a policy says it itself.

It is what the caller says, and at most what the root may use; without either, what Queues deserve together. A resource of which no Queue
deserves anything is not counted, unless the caller or the root says how much of it there is. Where nodes are known, they say it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....engine.event_parts import POD_COUNT
from ...kueue.problems import Findings
from ...kueue.read.quantity import QuantityError, amount, parse, text
from ..queue_names import ROOT_QUEUE
from ..read.resource_lists import counts
from ..read.volcano_objects import AmountsByResource, VolcanoObjects, VolcanoQueue
from .queue_tree import QueueTree

_ALWAYS_ASKED = ("cpu", "memory")
"""Every pod may ask for these, so a policy that does not count them has to say so."""

_AS_OWNED = "of {} is taken for all that exists: if the cluster has more, say so with --capacity, or in the policy"
_ROOT_SUM = "is left out: at the root Volcano takes what the Queues below it have together"
_ROOT_ENOUGH = "is left out: the nodes have no more, and they say what exists"
_IGNORED = "names {}, of which no Queue deserves anything: the policy ignores it, and would have to name whatever else comes"


@dataclass(frozen=True, slots=True)
class KnownCapacity:
    """How much exists of each resource in `fixed`, of those in `as_owned` as much as is owned, of those `from_nodes` what nodes have;
    `ignored` resources are not counted.
    """

    fixed: AmountsByResource
    as_owned: tuple[str, ...]
    ignored: tuple[str, ...]
    from_nodes: tuple[str, ...] = ()

    @property
    def resources(self) -> list[str]:
        """All resources that are counted."""
        return sorted({*self.fixed, *self.as_owned, *self.from_nodes})


def said_capacity(texts: Iterable[str]) -> AmountsByResource:
    """Amounts as people write them, such as `nvidia.com/gpu=64`. Raises ValueError with what is wrong."""
    made: AmountsByResource = {}
    for said in texts:
        resource, equals, quantity = said.partition("=")
        if not equals or not resource:
            raise ValueError(f"`{said}` says no amount; write it as nvidia.com/gpu=64")
        if not counts(resource) or resource == "pods" or not resource.isprintable() or len(resource) > 253:
            raise ValueError(f"`{resource}` is nothing that a PodGroup asks for; name cpu, memory, or a resource such as nvidia.com/gpu")
        if resource in made:
            raise ValueError(f"`{resource}` is said twice; say it once")
        try:
            exact = parse(quantity)
        except QuantityError as error:
            raise ValueError(f"{resource}: {error}; write it as 64, 500m or 80Gi") from None
        if exact < 0:
            raise ValueError(f"{resource}: {quantity} is below 0; write 0 or more")
        made[resource] = amount(exact, resource)
    return made


def known_capacity(
    objects: VolcanoObjects, tree: QueueTree, said: Mapping[str, int], on_nodes: AmountsByResource | None, found: Findings
) -> KnownCapacity:
    """What exists; what is limited and not known to exist is reported. `on_nodes`: what nodes have, where pods are placed on them."""
    if on_nodes is not None:
        return _of_nodes(objects, tree, said, on_nodes, found)
    owned = {resource: total for resource, total in tree.owned_below("").items() if total}
    fixed = _fixed(tree, said, found)
    for resource in sorted(fixed.keys() & owned.keys()):
        if owned[resource] > fixed[resource]:
            there, total = text(fixed[resource], resource), text(owned[resource], resource)
            found.begin("Queue", ROOT_QUEUE, "")
            cause = f"is {total} in all Queues together, and {there} exist, by the root's capability or --capacity"
            found.problem(f"spec.deserved.{resource}", cause, "let the Queues deserve less, or say a higher number")
    _check_limited(tree, {*fixed, *owned}, found)
    found.begin("Queue", ROOT_QUEUE, "")
    as_owned = tuple(sorted(owned.keys() - fixed.keys()))
    if as_owned:
        found.note("what all Queues deserve", _AS_OWNED.format(", ".join(as_owned)))
    if not fixed and not as_owned:
        cause = "says of no resource how much there is, and no Queue deserves anything, so nothing could run"
        found.problem("spec.capability", cause, "say what the cluster has with --capacity, such as --capacity nvidia.com/gpu=64")
    return KnownCapacity(fixed, as_owned, _ignored(objects, {*fixed, *as_owned}, found))


def _of_nodes(
    objects: VolcanoObjects, tree: QueueTree, said: Mapping[str, int], on_nodes: AmountsByResource, found: Findings
) -> KnownCapacity:
    """What nodes have of all that Queues deserve or limit, or of everything where they do neither."""
    if said:
        found.begin("", "", "--capacity")
        found.problem("", "has no effect: there are HyperNodes, and their nodes say what exists", "leave the option out")
    deserved = tree.owned_below("")
    wanted = {resource for resource in deserved if deserved[resource]}
    wanted.update(resource for queue in tree.queues.values() for resource in queue.capability)
    if tree.root is not None:
        found.begin("Queue", ROOT_QUEUE, tree.root.file)
        wanted.update(tree.root.capability)
        _note_root_sums(tree.root, found)
        for resource, most in tree.root.capability.items():
            there = on_nodes.get(resource, 0)
            if most < there:
                cause = f"is {text(most, resource)}, and the nodes have {text(there, resource)}: places are given on all of them"
                found.problem(f"spec.capability.{resource}", cause, "leave it out, or limit the Queues directly below the root")
            else:
                found.note(f"spec.capability.{resource}", _ROOT_ENOUGH)
    wanted = wanted or {resource for resource in on_nodes if on_nodes[resource] and counts(resource) and resource != POD_COUNT}
    if not wanted:
        found.begin("Queue", ROOT_QUEUE, "")
        found.problem("", "has no resources: no Queue deserves anything, and the nodes in HyperNodes have nothing", "add nodes to the dump")
    return KnownCapacity({}, (), _ignored(objects, wanted, found), tuple(sorted(wanted)))


def _fixed(tree: QueueTree, said: Mapping[str, int], found: Findings) -> AmountsByResource:
    """What the caller and the root's capability say, whichever is less."""
    fixed = dict(said)
    if tree.root is not None:
        found.begin("Queue", ROOT_QUEUE, tree.root.file)
        _note_root_sums(tree.root, found)
        for resource, most in tree.root.capability.items():
            fixed[resource] = min(fixed.get(resource, most), most)
    return {resource: fixed[resource] for resource in sorted(fixed)}


def _note_root_sums(root: VolcanoQueue, found: Findings) -> None:
    for field, amounts in (("deserved", root.deserved), ("guarantee.resource", root.guarantee)):
        if amounts:
            found.note(f"spec.{field}", _ROOT_SUM)


def _check_limited(tree: QueueTree, known: set[str], found: Findings) -> None:
    """Report limits on resources of which nothing says how much there is: without that they would be lost."""
    told: set[str] = set()
    for queue in tree.queues.values():
        found.begin("Queue", queue.name, queue.file)
        for resource in sorted(queue.capability.keys() - known - told):
            told.add(resource)
            cause = "is limited, and nothing says how much of it the cluster has: no Queue deserves any"
            found.problem(f"spec.capability.{resource}", cause, f"say it with --capacity {resource}=AMOUNT")


def _ignored(objects: VolcanoObjects, counted: set[str], found: Findings) -> tuple[str, ...]:
    """The resources that the policy ignores; noted are those that a PodGroup asks for."""
    asked = set(_ALWAYS_ASKED) - counted
    for group in objects.pod_groups:
        found.begin("PodGroup", group.key, group.file)
        for resource in sorted((group.min_resources or {}).keys() - counted) if group.phase != "Completed" else ():
            asked.add(resource)
            found.note("spec.minResources", _IGNORED.format(resource))
    return tuple(sorted(asked))

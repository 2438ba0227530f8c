"""From PodGroups to facts that rebuild the current state: submissions of gangs, and what those that run hold.

A PodGroup says what `minMember` pods ask for together. Pods beyond that, and what each single pod asks for, it does not say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from ....engine.event_parts import PlacedPods, Placement, PodSet
from ....engine.facts import Fact, WorkloadAdopted, WorkloadSubmitted
from ...kueue.problems import Findings
from ..queue_names import policy_name
from ..read.volcano_objects import AmountsByResource, PodGroup, VolcanoObjects
from .topology.gang_places import GangPlaces, WishedPlaces

_NO_QUEUE = "is not there: the PodGroup is left out, as Volcano schedules none of its pods"
_NO_CLASS = "is not there: the default priority counts, as in Volcano"
_UNKNOWN_SIZE = "is missing or empty, and the PodGroup waits: it is left out, as nothing says how much it asks for. {}"
_REMEDY = "Let its owner set spec.minResources to what minMember pods ask for together"
_UNEVEN = "is no multiple of minMember: one pod of the gang counts with the rest, as nothing says what each pod asks for"
_UNEVEN_SLICES = "is no multiple of minMember, and its sub-groups are to be of pods that ask for the same"
_MORE = "is above minMember: the pods beyond it are not charged, as nothing says what they use"
_LOST = "is Unknown: some of its pods run. It counts as running, with all of its gang"

_GANG, _REST = "gang", "rest"
"""The pod sets of a gang: its pods, and where they cannot be alike the one that has what is left over."""


@dataclass(frozen=True, slots=True)
class GangMoment:
    """When the objects were as they are, the flavor of what runs, the resources that the policy counts, and places where pods get any."""

    now: int
    flavor: str
    counted: frozenset[str]
    places: GangPlaces | None = None


def gang_facts(objects: VolcanoObjects, moment: GangMoment, found: Findings) -> list[Fact]:
    """The facts of all PodGroups that are not completed, first those that run, else in the order in which they were given.

    One that runs is submitted on hold, so that nothing is decided about it before the next fact says that it runs.
    """
    writer = _GangWriter(objects, moment, found)
    live = [group for group in objects.pod_groups if group.phase != "Completed"]
    live.sort(key=lambda group: not group.runs)  # running gangs first, so that what they hold is not given to others
    return [fact for group in live for fact in writer.of(group)]


class _GangWriter:
    """Builds the facts, one gang after the other."""

    def __init__(self, objects: VolcanoObjects, moment: GangMoment, found: Findings) -> None:
        self.moment, self.found = moment, found
        self.queues = {queue.name for queue in objects.queues}
        self.classes = {item.name for item in objects.priorities}

    def of(self, group: PodGroup) -> list[Fact]:
        """The facts of a PodGroup; none where it is left out, or cannot be imported, which is reported."""
        self.found.begin("PodGroup", group.key, group.file)
        if group.queue not in self.queues:
            self.found.note("spec.queue", _NO_QUEUE)
            return []
        if group.min_resources is None:
            self._report_unknown_size(group)
            return []
        try:
            return list(self._facts(group, group.min_resources))
        except ValidationError as error:
            told = "; ".join(item["msg"].removeprefix("Value error, ") for item in error.errors(include_url=False, include_context=False))
            self.found.problem("", f"cannot be imported: {told}", "correct the object, or leave it out")
            return []

    def _report_unknown_size(self, group: PodGroup) -> None:
        """A gang of unknown size that waits is left out; one that runs would be charged nothing, and others would get what it uses."""
        if group.runs:
            cause = "is missing or empty, and the PodGroup runs: nothing says how much it uses"
            self.found.problem("spec.minResources", cause, "set it to what minMember pods ask for together, or leave the PodGroup out")
        else:
            self.found.note("spec.minResources", _UNKNOWN_SIZE.format(_REMEDY))

    def _facts(self, group: PodGroup, asked: AmountsByResource) -> Iterator[Fact]:
        pod_sets = self._pod_sets(group, asked)
        yield WorkloadSubmitted(
            time=self.moment.now,
            workload=group.key,
            queue=policy_name(group.queue),
            namespace=group.namespace,
            workload_kind=group.kind,
            labels=group.labels,
            priority=self._priority(group),
            pod_sets=pod_sets,
            created=group.created,
            uid=group.uid,
            hold=group.runs,
        )
        if group.runs:
            standing = {} if self.moment.places is None else self.moment.places.standing(group, pod_sets)
            yield self._adopted(group, pod_sets, standing)

    def _priority(self, group: PodGroup) -> str | None:
        if group.priority_class and group.priority_class not in self.classes:
            self.found.note("spec.priorityClassName", _NO_CLASS)
            return None
        return group.priority_class or None

    def _pod_sets(self, group: PodGroup, asked: AmountsByResource) -> tuple[PodSet, ...]:
        """The gang: alike pods, and one more with the rest where their sum is no multiple."""
        pods = group.min_member
        each = {resource: amount // pods for resource, amount in asked.items()}
        wished = WishedPlaces() if self.moment.places is None else self.moment.places.wished(group)
        if all(each[resource] * pods == asked[resource] for resource in asked):
            return (_pod_set(_GANG, pods, each, wished),)
        self.found.note("spec.minResources", _UNEVEN)
        if wished.slices:
            self.found.problem("spec.minResources", _UNEVEN_SLICES, "let it be a multiple of minMember")
        rest = {resource: asked[resource] - each[resource] * (pods - 1) for resource in asked}
        together = _GANG if wished.within or wished.near else ""
        return (_pod_set(_GANG, pods - 1, each, wished, together), _pod_set(_REST, 1, rest, wished, together))

    def _adopted(self, group: PodGroup, pod_sets: tuple[PodSet, ...], standing: Mapping[str, tuple[PlacedPods, ...]]) -> WorkloadAdopted:
        """What the gang holds: what it asks for, of all that the policy counts."""
        if group.phase == "Unknown":
            self.found.note("status.phase", _LOST)
        if group.running > group.min_member:
            self.found.note("status.running", _MORE)
        since = group.scheduled if group.scheduled is not None else group.created
        return WorkloadAdopted(
            time=self.moment.now,
            workload=group.key,
            queue=policy_name(group.queue),
            since=self.moment.now if since is None else since,
            placements=tuple(self._placement(pod_set, standing.get(pod_set.name, ())) for pod_set in pod_sets),
        )

    def _placement(self, pods: PodSet, places: tuple[PlacedPods, ...]) -> Placement:
        held = {resource: amount * pods.count for resource, amount in pods.requests.items() if resource in self.moment.counted}
        return Placement(pod_set=pods.name, count=pods.count, flavors=dict.fromkeys(held, self.moment.flavor), usage=held, places=places)


def _pod_set(name: str, count: int, requests: AmountsByResource, wished: WishedPlaces, group: str = "") -> PodSet:
    asked = {resource: amount for resource, amount in requests.items() if amount}
    return PodSet(name=name, count=count, requests=asked, group=group, within=wished.within, near=wished.near, slices=wished.slices)

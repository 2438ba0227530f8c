"""From workloads to facts that rebuild the current state: submissions, what is known of each, and what it holds already."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ....engine.event_parts import Placement, PodSet
from ....engine.facts import Fact, UsageReported, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ....engine.units import INT64_MAX, format_time
from ..policy_names import PolicyNames
from ..problems import Findings
from ..read.objects import Configuration, KueueAdmission, KueueWorkload, Objects
from .topologies import are_to_come, one_place_each, places_that_count, topologies_of_flavors


@dataclass(frozen=True, slots=True)
class Moment:
    """When the objects were as they are, and what the facts are played under: a policy that decides in cycles or at once.

    `clock` is the time of all facts, where it is another. `queues` are the ClusterQueues of workloads that name no LocalQueue, by the
    workload's `namespace/name`.
    """

    now: int
    in_cycles: bool
    queues: Mapping[str, str] = field(default_factory=dict)
    clock: int | None = None


def facts(objects: Objects, moment: Moment, found: Findings, nodes: Collection[str] = ()) -> list[Fact]:
    """The facts of all workloads that are not finished, first those that run, else in the order of the dump. `nodes` are those that are
    imported, by the names of places.

    One that runs, or of which more is known than a submission says, is submitted on hold, so that no policy decides about it before the
    next fact says the rest.
    """
    writer = _Writer(objects, moment, found, nodes)
    live = [workload for workload in objects.workloads if not workload.finished]
    live.sort(key=lambda workload: workload.admission is None)  # running workloads first, so that their quota is not given to others
    return [*writer.usage(objects), *(fact for workload in live for fact in writer.of(workload))]


class _Writer:
    """Builds the facts, one workload after the other."""

    def __init__(self, objects: Objects, moment: Moment, found: Findings, nodes: Collection[str]) -> None:
        self.now, self.in_cycles, self.assigned, self.found = moment.now, moment.in_cycles, moment.queues, found
        self.clock = moment.now if moment.clock is None else moment.clock
        self.names, self.namespaces = PolicyNames(objects), objects.namespaces
        self.topologies, self.nodes = topologies_of_flavors(objects), nodes
        self.settings = objects.configuration or Configuration()
        self.queues = {queue.name for queue in objects.cluster_queues}
        self.local_queues = {f"{local.namespace}/{local.name}" for local in objects.local_queues}
        self.selective = any(queue.selector is not None and queue.selector.requirements for queue in objects.cluster_queues)

    def usage(self, objects: Objects) -> Iterator[UsageReported]:
        """What local queues have used so far, where the policy goes by that."""
        by_usage = {queue.name for queue in objects.cluster_queues if queue.by_usage}
        for local in objects.local_queues:
            if self.in_cycles and self.settings.usage is not None and local.consumed and local.cluster_queue in by_usage:
                as_of = None if local.updated is None else min(local.updated, self.now)
                name = f"{local.namespace}/{local.name}"
                yield UsageReported(time=self.clock, local_queue=name, consumed=dict(local.consumed), as_of=as_of)

    def of(self, workload: KueueWorkload) -> list[Fact]:
        """The facts of a workload; none where it cannot be imported, which is reported."""
        self.found.begin("Workload", workload.key, workload.file)
        if self._left_out(workload):
            return []
        try:
            return list(self._facts(workload))
        except ValidationError as error:
            self.found.problem("", f"cannot be imported: {_described(error)}", "correct the object, or leave it out of the dump")
            return []

    def _left_out(self, workload: KueueWorkload) -> bool:
        """Whether a workload counts for nothing; noted."""
        if not workload.pod_sets:
            self.found.note("spec.podSets", "has no pods at all: the workload is left out")
            return True
        if workload.admission is not None and workload.admission.cluster_queue not in self.queues:
            self.found.note("status.admission.clusterQueue", "is not there: the workload is left out, as Kueue charges nobody for it")
            return True
        return False

    def _facts(self, workload: KueueWorkload) -> Iterator[Fact]:
        known, held = self._known(workload), self._held(workload)
        yield self._submitted(workload, on_hold=self._runs(workload) or bool(known or held))
        if known:
            release = None if held or self._runs(workload) else False
            yield WorkloadUpdated(time=self.clock, workload=workload.key, hold=release, **known)
        admission = workload.admission
        if admission is None:
            return
        if not self._runs(workload):
            self.found.note("status.conditions", "has been told to stop: in a policy that decides at once it waits again already")
        else:
            adopted = self._adopted(workload, admission)
            yield adopted
            lost = self._lost(workload, adopted)
            if lost and not admission.evicting:
                yield WorkloadUpdated(time=self.clock, workload=workload.key, lost_nodes=lost)

    def _lost(self, workload: KueueWorkload, adopted: WorkloadAdopted) -> tuple[str, ...]:
        """The nodes that a workload has lost and that have to be told. At once it loses those that are not there by its adoption, and gets
        other places or is evicted with that: what is said of its nodes afterwards may not be true any more."""
        under = {place.domain[-1] for given in adopted.placements for place in given.places}
        lost = tuple(node for node in workload.lost_nodes if node in under)
        if self.in_cycles or under.issubset(self.nodes):
            return lost
        for node in lost:
            if node in self.nodes:
                self.found.note("status.unhealthyNodes", f"names {node} beside nodes that are not there: only those are treated as lost")
        return ()

    def _submitted(self, workload: KueueWorkload, on_hold: bool) -> WorkloadSubmitted:
        local_queue = f"{workload.namespace}/{workload.queue}" if workload.queue else None
        if local_queue is not None and local_queue not in self.local_queues and workload.admission is None:
            self.found.note("spec.queueName", "is no LocalQueue of the dump: the workload waits for it")
        requests = self._within_64_bits(workload)
        return WorkloadSubmitted(
            time=self.clock,
            workload=workload.key,
            queue=self.names.queue(self.assigned[workload.key]) if workload.key in self.assigned else None,
            namespace=workload.namespace,
            workload_kind=workload.kind,
            labels=workload.labels,
            priority=workload.priority,
            pod_sets=tuple(
                PodSet(
                    name=pods.name,
                    count=pods.count,
                    requests=requests[pods.name],
                    min_count=pods.min_count,
                    node_selector=pods.node_selector,
                    affinity=pods.affinity,
                    tolerations=pods.tolerations,
                    group=pods.group,
                    within=pods.within,
                    near=pods.near,
                    anywhere=pods.anywhere,
                    slices=pods.slices,
                )
                for pods in workload.pod_sets
            ),
            local_queue=local_queue,
            namespace_labels=self._labels(workload.namespace),
            created=workload.created,
            uid=workload.uid,
            boost=self._boost(workload),
            hold=on_hold,
            misconfigured=self._misconfigured(workload),
            replaces=workload.replaces or None,
        )

    def _misconfigured(self, workload: KueueWorkload) -> str:
        if workload.misconfigured:
            self.found.note("spec.podSets", f"is never admitted: {workload.misconfigured}")
        return workload.misconfigured

    def _runs(self, workload: KueueWorkload) -> bool:
        """Whether a workload is adopted; one that was told to stop waits again already where the policy decides at once."""
        return workload.admission is not None and (self.in_cycles or not workload.admission.evicting)

    def _within_64_bits(self, workload: KueueWorkload) -> dict[str, dict[str, int]]:
        """What one pod of each pod set asks for, so that all together is no more than 64 bits hold: as in Kueue, sums end there."""
        left: dict[str, int] = {}
        kept: dict[str, dict[str, int]] = {}
        for pods in workload.pod_sets:
            kept[pods.name] = {}
            for resource, asked in pods.requests.items():
                rest = left.get(resource, INT64_MAX)
                given = asked if asked * pods.count <= rest else rest // pods.count
                if given < asked:
                    self.found.note("spec.podSets", f"asks for more {resource} than 64 bits hold: it counts as the most that they do")
                left[resource] = rest - given * pods.count
                kept[pods.name][resource] = given
        return kept

    def _labels(self, namespace: str) -> dict[str, str]:
        """The labels of a namespace; of one that is not in the dump the one that every namespace has."""
        known = self.namespaces.get(namespace)
        if known is not None:
            return known
        if self.selective:
            self.found.note("metadata.namespace", "is not in the dump: of its labels only kubernetes.io/metadata.name is known")
        return {"kubernetes.io/metadata.name": namespace} if namespace else {}

    def _boost(self, workload: KueueWorkload) -> int:
        if workload.boost and not self.settings.boost:
            self.found.note("metadata.annotations", "has a priority boost, which counts for nothing: its feature gate is off by default")
            return 0
        return workload.boost

    def _known(self, workload: KueueWorkload) -> dict[str, Any]:
        """What is known of a workload beyond its submission, as fields of WorkloadUpdated; empty where there is nothing."""
        by_creation = workload.timed_out and self.settings.requeue_by_creation
        known = {
            "checks": workload.checks,
            "reclaimable": workload.reclaimable,
            "requeued": None if by_creation else workload.requeued,
        }
        return {field: value for field, value in known.items() if value is not None and value != {}}

    def _held(self, workload: KueueWorkload) -> bool:
        """Whether its owner or Kueue holds a workload; noted."""
        held = workload.held or self._backs_off(workload)
        if held:
            self.found.note("", f"is held: {held}")
        return bool(held)

    def _backs_off(self, workload: KueueWorkload) -> str:
        until = workload.backs_off_until
        if until is None or until <= self.now or workload.admission is not None:
            return ""
        return f"it backs off until {format_time(until)}; release it then"

    def _adopted(self, workload: KueueWorkload, admission: KueueAdmission) -> WorkloadAdopted:
        """What the workload holds; charged even where nothing is left to be charged."""
        since = self.now if admission.since is None else admission.since
        if since > self.now:
            self.found.problem("status.conditions", "has a reservation of later than the import's time", "import as of a later time")
        placements = tuple(
            Placement(
                pod_set=given.pod_set,
                count=given.count,
                flavors=given.flavors,
                usage=given.usage,
                places=places_that_count(given, self.topologies, self.found),
                delayed=are_to_come(given, self.topologies, self.found),
            )
            for given in admission.assignments
        )
        if not self.in_cycles:
            placements = one_place_each(placements, workload.reclaimable)
        return WorkloadAdopted(
            time=self.clock,
            workload=workload.key,
            queue=self.names.queue(admission.cluster_queue),
            since=since,
            evicting=admission.evicting,
            placements=placements or (Placement(pod_set=workload.pod_sets[0].name, count=0, flavors={}, usage={}),),
        )


def _described(error: ValidationError) -> str:
    """What is wrong with a fact, by field."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [(".".join(str(step) for step in item["loc"]), item["msg"].removeprefix("Value error, ")) for item in found]
    return "; ".join(f"{field}: {message}" if field else message for field, message in told)

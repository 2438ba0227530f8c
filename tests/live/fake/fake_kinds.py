"""Which kinds the server of the tests serves, and what it has to know of each: paths, subresource, lists with keys.

The server has no schemas. What a schema would say about merging stands in a `Shape`: a list with keys is merged item by item, a set
value by value. Every list that is not named is atomic: it has one owner, and is replaced whole. Every object is merged field by field
unless it is named as atomic. The Kueue rows follow the CRDs of Kueue 0.20 (`x-kubernetes-list-type`, `x-kubernetes-map-type`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

Json = dict[str, Any]
"""An object as JSON has it."""

Value = TypeVar("Value")


def copied(value: Value) -> Value:
    """A copy of a JSON value that shares nothing with it."""
    return cast(Value, _copied(value))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


METADATA_LISTS = {"metadata.finalizers": (), "metadata.ownerReferences": ("uid",)}


@dataclass(frozen=True)
class Shape:
    """How objects of one kind are merged. A place is written `status.conditions`, and inside the items of a list `spec.podSets[].name`."""

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The lists that are merged by item: the fields that are an item's key; no field for a set of plain values."""
    atomic: frozenset[str] = frozenset()
    """The objects that have one owner and are replaced whole."""

    def keys_of(self, place: str) -> tuple[str, ...] | None:
        """The key fields of the list at a place; none if the list is atomic."""
        return METADATA_LISTS.get(place, self.lists.get(place))

    def is_atomic(self, place: str) -> bool:
        """Whether the object at a place is replaced whole."""
        return place == "metadata.ownerReferences[]" or place in self.atomic


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind that is served. Two kinds are the same only if they are one object."""

    group: str
    version: str
    name: str
    plural: str
    namespaced: bool = True
    has_status: bool = False
    """Whether there is a subresource `status`. Without it, a field `status` is like any other, and `/status` answers 404."""
    built_in: bool = False
    """Built-in kinds leave apiVersion and kind out of the items of a list, and take objects that do not say them."""
    unconditional: bool = False
    """Whether an update may leave out the resourceVersion. Custom resources and leases refuse that."""
    counts_generation: bool = True
    """Whether metadata.generation goes up when anything but metadata and status changes."""
    shape: Shape = Shape()

    @property
    def api_version(self) -> str:
        """The group and version, as an object says them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The plural name with its group, as messages have it: `workloads.kueue.x-k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_name(self) -> str:
        """The kind with its group, as messages have it: `Workload.kueue.x-k8s.io`."""
        return f"{self.name}.{self.group}" if self.group else self.name


def _by(key: str, *places: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(places, (key,))


_CONDITIONS = _by("type", "status.conditions")
_FLAVOR_USAGE = _by(
    "name", *(place for usage in ("status.flavorsReservation", "status.flavorsUsage") for place in (usage, f"{usage}[].resources"))
)
_POD_LISTS = ("containers", "initContainers")


def _core(name: str, plural: str, lists: Mapping[str, tuple[str, ...]] | None = None, **more: Any) -> Kind:
    return Kind("", "v1", name, plural, built_in=True, unconditional=True, counts_generation=False, shape=Shape(lists or {}), **more)


def _kueue(name: str, plural: str, shape: Shape = Shape(), **more: Any) -> Kind:
    return Kind("kueue.x-k8s.io", "v1beta2", name, plural, shape=shape, **more)


NAMESPACE = _core("Namespace", "namespaces", _CONDITIONS, namespaced=False, has_status=True)
NODE = _core("Node", "nodes", {**_CONDITIONS, **_by("type", "status.addresses")}, namespaced=False, has_status=True)
CONFIG_MAP = _core("ConfigMap", "configmaps")
CORE_EVENT = _core("Event", "events")
SECRET = _core("Secret", "secrets")

WORKLOAD = _kueue(
    "Workload",
    "workloads",
    has_status=True,
    shape=Shape(
        {
            **_CONDITIONS,
            **_by("name", "spec.podSets", "spec.preemptionGates", "status.admission.podSetAssignments", "status.admissionChecks"),
            **_by("name", "status.preemptionGates", "status.reclaimablePods", "status.resourceRequests", "status.unhealthyNodes"),
            **_by("name", *(f"spec.podSets[].template.spec.{each}" for each in _POD_LISTS)),
            "status.schedulingStats.evictions": ("reason", "underlyingCause"),
        }
    ),
)
CLUSTER_QUEUE = _kueue(
    "ClusterQueue",
    "clusterqueues",
    namespaced=False,
    has_status=True,
    shape=Shape(
        {
            **_CONDITIONS,
            **_FLAVOR_USAGE,
            **_by("name", "spec.admissionChecksStrategy.admissionChecks"),
            "spec.admissionChecksStrategy.admissionChecks[].onFlavors": (),
        },
        frozenset({"spec.namespaceSelector"}),
    ),
)
LOCAL_QUEUE = _kueue("LocalQueue", "localqueues", Shape({**_CONDITIONS, **_FLAVOR_USAGE}), has_status=True)
COHORT = _kueue("Cohort", "cohorts", namespaced=False, has_status=True)
RESOURCE_FLAVOR = _kueue("ResourceFlavor", "resourceflavors", Shape(atomic=frozenset({"spec.nodeLabels"})), namespaced=False)
ADMISSION_CHECK = _kueue("AdmissionCheck", "admissionchecks", Shape(_CONDITIONS), namespaced=False, has_status=True)
WORKLOAD_PRIORITY_CLASS = _kueue("WorkloadPriorityClass", "workloadpriorityclasses", namespaced=False)

VOLCANO_QUEUE = Kind("scheduling.volcano.sh", "v1beta1", "Queue", "queues", namespaced=False, has_status=True)
POD_GROUP = Kind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")

PRIORITY_CLASS = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False, built_in=True, unconditional=True)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases", built_in=True, counts_generation=False)
EVENT = Kind("events.k8s.io", "v1", "Event", "events", built_in=True, unconditional=True, counts_generation=False)
JOB = Kind(
    "batch",
    "v1",
    "Job",
    "jobs",
    has_status=True,
    built_in=True,
    unconditional=True,
    shape=Shape(_by("name", *(f"spec.template.spec.{each}" for each in _POD_LISTS))),
)

KINDS: tuple[Kind, ...] = (
    *(NAMESPACE, NODE, CONFIG_MAP, CORE_EVENT, SECRET),
    *(WORKLOAD, CLUSTER_QUEUE, LOCAL_QUEUE, COHORT, RESOURCE_FLAVOR, ADMISSION_CHECK, WORKLOAD_PRIORITY_CLASS),
    *(VOLCANO_QUEUE, POD_GROUP),
    *(PRIORITY_CLASS, LEASE, EVENT, JOB),
)
"""The kinds that a controller for Kueue or Volcano meets. The two kinds of Event are stored apart; a real server shows one as the other."""


def checks_stay_as_they_were(old: Json | None, new: Json, subresource: str, manager: str) -> str | None:
    """A rule of Kueue's webhook for workloads, for `FakeStore.validate`: while a check stays Ready, its podSetUpdates do not change."""
    before = {check["name"]: check for check in _checks(old or {})}
    for number, check in enumerate(_checks(new)):
        earlier = before.get(check["name"])
        stays_ready = earlier is not None and earlier.get("state") == check.get("state") == "Ready"
        if earlier is not None and stays_ready and (earlier.get("podSetUpdates") or []) != (check.get("podSetUpdates") or []):
            value = _short(check.get("podSetUpdates"))
            return f"status.admissionChecks[{number}].podSetUpdates: Invalid value: {value}: field is immutable"
    return None


def _checks(workload: Json) -> Iterable[Json]:
    found: Iterable[Json] = workload.get("status", {}).get("admissionChecks") or []
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."

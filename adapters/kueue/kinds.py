"""From raw objects to typed ones: which kind each is, in which version, and that there is one of each name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from . import cluster, queues
from .configuration import configuration
from .fields import Fields
from .objects import Objects
from .problems import Findings
from .workloads import workload

GROUP = "kueue.x-k8s.io"
CONFIG_GROUP = "config.kueue.x-k8s.io"
VERSIONS = ("v1beta1", "v1beta2")

_LONGEST = 253
"""Characters of a name in gpol, `namespace/` included."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An object as it was read, and its file. `kind` is given where the object itself does not say it."""

    data: Any
    file: str = ""
    kind: str = ""


@dataclass(slots=True)
class _Reader:
    """Objects read so far, and the names taken by kind."""

    found: Findings
    made: Objects = field(default_factory=Objects)
    taken: set[tuple[str, str]] = field(default_factory=set)

    def read(self, raw: Raw) -> None:
        self.found.begin(raw.kind or "object", "", raw.file)
        whole = Fields(raw.data, "", self.found)
        kind = raw.kind or self._kind(whole)
        if kind == "Configuration":
            self._configure(whole)
        elif kind in _KINDS:
            self._read_named(kind, raw, whole)
        elif kind:
            self.found.begin(kind, whole.sub("metadata").text("name"), raw.file)
            self.found.note("", "is of no kind that is imported")

    def _kind(self, whole: Fields) -> str:
        """The kind that an object says it is of; empty where that is of no use, and was reported."""
        kind, version = whole.text("kind"), whole.text("apiVersion")
        if not kind:
            whole.wrong("kind", "is missing", "give objects as `kubectl get -o yaml` writes them")
            return ""
        self.found.begin(kind, whole.sub("metadata").text("name"), self.found.file)
        group, _, version = version.rpartition("/")
        wanted = _GROUPS.get(kind)
        if wanted is None or (whole.text("apiVersion") and group not in wanted):
            self.found.note("", "is of no kind that is imported")
            return ""
        if group and version not in (*VERSIONS, "v1"):
            whole.wrong("apiVersion", f"is {group}/{version[:40]}", f"read the objects as {group}/{VERSIONS[-1]}")
            return ""
        return kind

    def _read_named(self, kind: str, raw: Raw, whole: Fields) -> None:
        metadata = whole.sub("metadata")
        namespaced = kind in _NAMESPACED
        namespace = metadata.optional_name("namespace") if namespaced else ""
        name = metadata.text("name")
        shown = f"{namespace}/{name}" if namespaced else name
        self.found.begin(kind, shown, raw.file)
        metadata.name("name")
        if namespaced and len(shown) > _LONGEST:
            metadata.wrong("name", f"has {len(shown)} characters with its namespace", f"use {_LONGEST} at most")
        if "/" in name or "/" in namespace:
            metadata.wrong("name", "has a slash", "no name of Kubernetes has one")
        if (kind, shown) in self.taken:
            self.found.problem("metadata.name", "is there twice", "keep one of the two objects")
        self.taken.add((kind, shown))
        _KINDS[kind](self.made, namespace, name, raw.file, whole)

    def _configure(self, whole: Fields) -> None:
        self.found.begin("Configuration", "", self.found.file)
        if self.made.configuration is not None:
            self.found.problem("", "is there twice", "keep one")
        self.made.configuration = configuration(whole)


def read_objects(raws: Iterable[Raw], found: Findings) -> Objects:
    """All objects that are of use, typed; what is wrong with them, and what is of no use, goes to `found`."""
    reader = _Reader(found)
    for raw in raws:
        reader.read(raw)
    return reader.made


# --- by kind


def _cluster_queue(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.cluster_queues.append(queues.cluster_queue(name, file, whole))


def _cohort(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.cohorts.append(queues.cohort(name, file, whole))


def _local_queue(made: Objects, namespace: str, name: str, file: str, whole: Fields) -> None:
    if not namespace:
        whole.wrong("metadata.namespace", "is missing", "a LocalQueue lives in a namespace")
    made.local_queues.append(queues.local_queue(namespace, name, file, whole))


def _resource_flavor(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.flavors.append(cluster.resource_flavor(name, file, whole))


def _priority_class(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.priorities.append(cluster.priority_class(name, file, whole))


def _admission_check(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.checks.append(cluster.admission_check(name, file, whole))


def _namespace(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.namespaces[name] = whole.sub("metadata").text_map("labels")


def _workload(made: Objects, namespace: str, name: str, file: str, whole: Fields) -> None:
    made.workloads.append(workload(namespace, name, file, whole))


_Read = Callable[[Objects, str, str, str, Fields], None]
_KINDS: dict[str, _Read] = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LocalQueue": _local_queue,
    "ResourceFlavor": _resource_flavor,
    "WorkloadPriorityClass": _priority_class,
    "AdmissionCheck": _admission_check,
    "Namespace": _namespace,
    "Workload": _workload,
}
_NAMESPACED = ("LocalQueue", "Workload")
_GROUPS = {**dict.fromkeys(_KINDS, (GROUP,)), "Namespace": ("", "core"), "Configuration": (CONFIG_GROUP,)}

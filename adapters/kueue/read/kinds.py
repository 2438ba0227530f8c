"""From raw objects to typed ones: the kind and the version of each; names must be unique within a kind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..problems import Findings
from . import cluster_kinds as cluster
from . import known_fields as known
from . import queues
from .configuration import configuration
from .fields import Fields
from .objects import Objects
from .topology import cluster_nodes, topology_levels
from .workloads import workload

GROUP = "kueue.x-k8s.io"
CONFIG_GROUP = "config.kueue.x-k8s.io"
VERSIONS = ("v1beta1", "v1beta2")

CONFIG_NAMESPACE, CONFIG_MAP, CONFIG_KEY = "kueue-system", "kueue-manager-config", "controller_manager_config.yaml"
"""Where Kueue's manager finds its Configuration: in a ConfigMap, as a text under a key."""

_NO_KIND = "is of no kind that is imported"
_WHOLE_LIST = "give all of its parts, or dump it whole by `kubectl get`, which asks for one part after the other"

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
        self.found.begin(raw.kind or "object", _shown_name(raw.data), raw.file)
        whole = Fields(raw.data, "", self.found)
        kind = raw.kind or self._kind(whole)
        if kind == "Configuration":
            self._configure(whole)
        elif kind in _KINDS:
            self._read_named(kind, raw, whole)
        elif kind:
            self.found.begin(kind, _shown_name(raw.data), raw.file)
            self.found.note("", _NO_KIND)

    def _kind(self, whole: Fields) -> str:
        """The kind that an object says it is of; empty where that is of no use, and was reported."""
        kind, version = whole.text("kind"), whole.text("apiVersion")
        if whole.lacks("kind"):
            whole.wrong("kind", "is missing", "give objects as `kubectl get -o yaml` writes them")
        if not kind:
            return ""
        self.found.begin(kind, _shown_name(whole.data), self.found.file)
        if kind.endswith("List"):
            self._note_rest(whole.sub("metadata"))
            return ""
        group, _, version = version.rpartition("/")
        wanted = _GROUPS.get(kind)
        if wanted is None or (whole.text("apiVersion") and group not in wanted):
            self.found.note("", _NO_KIND)
            return ""
        if group and version not in (*VERSIONS, "v1"):
            whole.wrong("apiVersion", f"is {group}/{version[:40]}", f"read the objects as {group}/{VERSIONS[-1]}")
            return ""
        return kind

    def _note_rest(self, metadata: Fields) -> None:
        """Say that a List ends before all objects are told: it has a place to go on from."""
        if metadata.has("continue") or metadata.has("remainingItemCount"):
            rest = metadata.whole("remainingItemCount", 0, 0)
            told = f"{rest} objects are" if rest > 1 else "a part is"
            self.found.note("metadata.continue", f"is cut off, {told} missing: {_WHOLE_LIST}")

    def _read_named(self, kind: str, raw: Raw, whole: Fields) -> None:
        metadata = whole.sub("metadata")
        namespaced = kind in _NAMESPACED
        namespace = metadata.optional_name("namespace") if namespaced else ""
        name = metadata.name("name")
        shown = f"{namespace}/{name}" if namespaced else name
        self.found.begin(kind, shown, raw.file)
        if namespaced and metadata.lacks("namespace") and (kind == "LocalQueue" or not raw.kind):  # scenarios leave it out
            metadata.wrong("namespace", "is missing", f"a {kind} lives in a namespace")
        if namespaced and len(shown) > _LONGEST:
            metadata.wrong("name", f"has {len(shown)} characters with its namespace", f"use {_LONGEST} at most")
        if "/" in name or "/" in namespace:
            metadata.wrong("name", "has a slash", "no name of Kubernetes has one")
        if (kind, shown) in self.taken:
            self.found.problem("metadata.name", "is there twice", "keep one of the two objects")
        self.taken.add((kind, shown))
        whole.known(known.OBJECT | known.PRIORITY_CLASS if kind == "WorkloadPriorityClass" else known.OBJECT)
        _KINDS[kind](self.made, namespace, name, raw.file, whole)

    def _configure(self, whole: Fields) -> None:
        self.found.begin("Configuration", "", self.found.file)
        if self.made.configuration is not None:
            self.found.problem("", "is there twice", "keep one")
        self.made.configuration = configuration(whole)


def _shown_name(data: Any) -> str:
    """What an object is called in what is told of it; nothing where its name is of no use, which is told elsewhere."""
    metadata = data.get("metadata") if isinstance(data, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name.isprintable() and len(name) <= _LONGEST else ""


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


def _topology(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.topologies.append(topology_levels.topology(name, file, whole))


def _node(made: Objects, _: str, name: str, file: str, whole: Fields) -> None:
    made.nodes.append(cluster_nodes.node(name, file, whole))


def _pod(made: Objects, namespace: str, name: str, file: str, whole: Fields) -> None:
    pod = cluster_nodes.other_pod(f"{namespace}/{name}", file, whole)
    made.pods += [] if pod is None else [pod]


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
    "Topology": _topology,
    "Node": _node,
    "Pod": _pod,
}
_NAMESPACED = ("LocalQueue", "Workload", "Pod")
_GROUPS = {
    **dict.fromkeys(_KINDS, (GROUP,)),
    **dict.fromkeys(("Namespace", "Node", "Pod"), ("", "core")),
    "Configuration": (CONFIG_GROUP,),
}

"""From raw objects to typed ones: the kind and the version of each; names must be unique within a kind.

Nodes and their pods are of use only where there are HyperNodes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...kueue.export.kubernetes_names import is_subdomain
from ...kueue.problems import Findings
from ...kueue.read.fields import Fields, shortened
from ...kueue.read.kinds import Raw
from ...kueue.read.topology.cluster_nodes import node
from . import volcano_fields as known
from .pod_groups import pod_group
from .topology.hyper_nodes import hyper_node
from .topology.standing_pods import standing_pod
from .volcano_objects import ClusterPriorityClass, VolcanoObjects
from .volcano_queues import queue

GROUP = "scheduling.volcano.sh"
VERSION = f"{GROUP}/v1beta1"
PRIORITY_VERSION = "scheduling.k8s.io/v1"
TOPOLOGY_VERSION = "topology.volcano.sh/v1alpha1"

_NO_KIND = "is of no kind that is imported"
_WHOLE_LIST = "give all of its parts, or dump it whole by `kubectl get`, which asks for one part after the other"
_NEVER = "is Never, which a policy cannot say: workloads of the class may evict others"
_LONGEST = 253
"""Characters of a name in gpol, `namespace/` included."""


@dataclass(slots=True)
class _ObjectReader:
    """Objects read so far, and the names taken by kind."""

    found: Findings
    places: bool
    made: VolcanoObjects = field(default_factory=VolcanoObjects)
    taken: set[tuple[str, str]] = field(default_factory=set)

    def read(self, raw: Raw) -> None:
        self.found.begin("object", _shown_name(raw.data), raw.file)
        whole = Fields(raw.data, "", self.found)
        kind = self._kind(whole)
        if kind:
            self._read_named(kind, raw.file, whole)

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
        wanted = _VERSIONS.get(kind, "")
        is_for_nothing = kind in _ABOUT_PLACES and not self.places
        if not wanted or is_for_nothing or (version and version.rpartition("/")[0] != wanted.rpartition("/")[0]):
            self.found.note("", _NO_KIND)
            return ""
        if version and version != wanted:
            whole.wrong("apiVersion", f"is {shortened(version)}", f"read the objects as {wanted}")
            return ""
        return kind

    def _note_rest(self, metadata: Fields) -> None:
        """Say that a List ends before all objects are told: it has a place to go on from."""
        if metadata.has("continue") or metadata.has("remainingItemCount"):
            self.found.note("metadata.continue", f"is cut off, a part is missing: {_WHOLE_LIST}")

    def _read_named(self, kind: str, file: str, whole: Fields) -> None:
        metadata = whole.sub("metadata")
        namespaced = kind in ("PodGroup", "Pod")
        namespace = metadata.name("namespace") if namespaced else ""
        name = metadata.name("name")
        shown = f"{namespace}/{name}" if namespaced else name
        self.found.begin(kind, shown, file)
        for said, text in (("name", name), ("namespace", namespace)):
            if text and not is_subdomain(text):
                metadata.wrong(said, f"is `{shortened(text)}`, which Kubernetes does not allow", "use small letters, digits, `-` and `.`")
        if len(shown) > _LONGEST:
            metadata.wrong("name", f"has {len(shown)} characters with its namespace", f"use {_LONGEST} at most")
        if (kind, shown) in self.taken:
            self.found.problem("metadata.name", "is there twice", "keep one of the two objects")
        self.taken.add((kind, shown))
        whole.known(known.OBJECT | known.PRIORITY_CLASS if kind == "PriorityClass" else known.OBJECT)
        if kind == "PodGroup":
            self.made.pod_groups.append(pod_group(namespace, name, file, whole, self.places))
        else:
            _READERS[kind](self.made, namespace, name, file, whole)


def _shown_name(data: Any) -> str:
    """What an object is called in what is told of it; nothing where its name is of no use, which is told elsewhere."""
    metadata = data.get("metadata") if isinstance(data, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name.isprintable() and len(name) <= _LONGEST else ""


def _is_hyper_node(data: Any) -> bool:
    version = data.get("apiVersion") if isinstance(data, dict) else None
    in_group = not version or (isinstance(version, str) and version.rpartition("/")[0] == TOPOLOGY_VERSION.rpartition("/")[0])
    return isinstance(data, dict) and data.get("kind") == "HyperNode" and in_group


def read_volcano(raws: Iterable[Raw], found: Findings) -> VolcanoObjects:
    """All objects that are of use, typed; what is wrong with them, and what is of no use, goes to `found`."""
    given = list(raws)
    reader = _ObjectReader(found, any(_is_hyper_node(raw.data) for raw in given))
    for raw in given:
        reader.read(raw)
    return reader.made


# --- by kind


def _queue(made: VolcanoObjects, _: str, name: str, file: str, whole: Fields) -> None:
    made.queues.append(queue(name, file, whole))


def _priority_class(made: VolcanoObjects, _: str, name: str, file: str, whole: Fields) -> None:
    """A PriorityClass; its value stands beside its metadata."""
    if not whole.has("value"):
        whole.wrong("value", "is missing", "write a whole number")
    if whole.one_of("preemptionPolicy", ("PreemptLowerPriority", "Never"), "PreemptLowerPriority") == "Never":
        whole.found.note("preemptionPolicy", _NEVER)
    made.priorities.append(ClusterPriorityClass(name, file, whole.whole("value", 0), whole.flag("globalDefault", False)))


def _hyper_node(made: VolcanoObjects, _: str, name: str, file: str, whole: Fields) -> None:
    made.hyper_nodes.append(hyper_node(name, file, whole))


def _node(made: VolcanoObjects, _: str, name: str, file: str, whole: Fields) -> None:
    made.nodes.append(node(name, file, whole))


def _pod(made: VolcanoObjects, namespace: str, name: str, file: str, whole: Fields) -> None:
    pod = standing_pod(namespace, name, file, whole)
    made.pods += [] if pod is None else [pod]


_ReadKind = Callable[[VolcanoObjects, str, str, str, Fields], None]
_READERS: dict[str, _ReadKind] = {
    "Queue": _queue,
    "PriorityClass": _priority_class,
    "HyperNode": _hyper_node,
    "Node": _node,
    "Pod": _pod,
}
_ABOUT_PLACES = ("Node", "Pod")
_VERSIONS = {
    "Queue": VERSION,
    "PodGroup": VERSION,
    "PriorityClass": PRIORITY_VERSION,
    "HyperNode": TOPOLOGY_VERSION,
    "Node": "v1",
    "Pod": "v1",
}

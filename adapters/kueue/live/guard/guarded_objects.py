"""The objects that a guard keeps as a policy says: those of the export, and what the export leaves to Kueue's defaults, said in full.

A default that nobody says would be free for anybody to change. So a guarded ClusterQueue says that it evicts nobody, and does not just
leave it out. For some fields there is no value that says nothing, such as the name of a cohort: they are named in `absent`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .....engine.policy_graph import PolicyGraph
from ....kubernetes.api import Plain
from ....kubernetes.resource_kinds import Kind
from ...export.export_policy import export
from ..protocol import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, PRIORITY_CLASS, RESOURCE_FLAVOR

GUARDED_KINDS = (RESOURCE_FLAVOR, PRIORITY_CLASS, COHORT, CLUSTER_QUEUE, LOCAL_QUEUE)
"""The kinds that are guarded, in the order in which they are applied."""

GUARD_LABEL = "gpol.dev/guard"
"""The label of a guarded object: the name of the guard that keeps it."""

FieldPath = tuple[str, ...]
"""The names of fields from the top of an object down."""

_DEFAULTS: Mapping[str, Plain] = {
    CLUSTER_QUEUE.kind: {
        "queueingStrategy": "BestEffortFIFO",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}},
        "fairSharing": {"weight": 1},
        "resourceGroups": [],
    },
    COHORT.kind: {"fairSharing": {"weight": 1}, "resourceGroups": []},
}
"""What Kueue takes for a field of a spec that is not said. Source: the default markers of Kueue's v1beta2 API."""

_NO_NEUTRAL_VALUE: Mapping[str, tuple[FieldPath, ...]] = {
    CLUSTER_QUEUE.kind: (
        ("spec", "cohortName"),
        ("spec", "namespaceSelector"),
        ("spec", "flavorFungibility", "preference"),
        ("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
        ("spec", "admissionScope"),
    ),
    COHORT.kind: (("spec", "parentName"),),
}
"""Fields that decide, and that have to be absent where the policy does not say them."""

AS_IF_ABSENT: Mapping[FieldPath, Any] = {
    ("spec", "flavorFungibility", "preference"): "BorrowingOverPreemption",
    ("spec", "admissionScope"): {"admissionMode": "NoAdmissionFairSharing"},
}
"""Values that mean the same as no value. They cannot always be applied: Kueue refuses a preference beside some other fields."""


@dataclass(frozen=True, slots=True)
class GuardedObject:
    """An object of the policy: the body to apply, the fields in it that are only Kueue's defaults, and those that have to be absent."""

    kind: Kind
    namespace: str
    name: str
    body: Plain
    filled: frozenset[FieldPath]
    absent: tuple[FieldPath, ...]

    @property
    def key(self) -> str:
        """Its name among all guarded objects."""
        return key_in(self.kind, f"{self.namespace}/{self.name}" if self.namespace else self.name)

    @property
    def path(self) -> str:
        """Where the API server has it."""
        return self.kind.path(self.namespace, self.name)


def key_in(kind: Kind, name: str) -> str:
    """The name of an object among all guarded objects; `name` is `namespace/name`, or `name` where the kind has no namespaces."""
    return f"{kind.plural} {name}"


def parted(key: str) -> tuple[Kind, str, str]:
    """The kind, the namespace and the name in a key."""
    plural, _, full = key.partition(" ")
    namespace, _, name = full.rpartition("/")
    return next(kind for kind in GUARDED_KINDS if kind.plural == plural), namespace, name


def guarded_objects(graph: PolicyGraph, gpu: str, guard: str) -> tuple[dict[str, GuardedObject], list[str]]:
    """The objects of a policy by their keys, in the order in which to apply them, and notes about what they do not say.

    `gpu` is what the resource `gpu` is called in the cluster, `guard` the name of the guard. Raises ExportRefused.
    """
    exported = export(graph, gpu)
    kinds = {kind.kind: kind for kind in GUARDED_KINDS}
    made = [_guarded(kinds[str(item["kind"])], item, guard) for item in exported.objects if item["kind"] in kinds]
    made.sort(key=lambda each: GUARDED_KINDS.index(each.kind))
    notes = [str(note) for note in exported.notes]
    if len(made) < len(exported.objects):
        notes.append("the Configuration of Kueue's manager is not guarded: put it there as `gpol export kueue` writes it")
    return {each.key: each for each in made}, notes


def _guarded(kind: Kind, item: Plain, guard: str) -> GuardedObject:
    metadata = item["metadata"]
    body = {**item, "metadata": {**metadata, "labels": {GUARD_LABEL: guard}}}
    filled: set[FieldPath] = {("metadata", "labels", GUARD_LABEL)}  # it is gpol's own, and not of the policy
    if kind.kind in _DEFAULTS:
        body["spec"] = _completed(item.get("spec") or {}, _DEFAULTS[kind.kind], ("spec",), filled)
    absent = tuple(path for path in _NO_NEUTRAL_VALUE.get(kind.kind, ()) if value_at(body, path) is None)
    return GuardedObject(kind, metadata.get("namespace", ""), metadata["name"], body, frozenset(filled), absent)


def _completed(said: Plain, defaults: Plain, path: FieldPath, filled: set[FieldPath]) -> Plain:
    """What is said, with defaults where it says nothing; the paths of these are added to `filled`."""
    made = dict(said)
    for name, default in defaults.items():
        if isinstance(default, dict):
            made[name] = _completed(made.get(name) or {}, default, (*path, name), filled)
        elif name not in made:
            made[name] = default
            filled.add((*path, name))
    return made


def value_at(plain: Plain, path: FieldPath) -> Any:
    """What stands at a path; None where nothing does."""
    found: Any = plain
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found

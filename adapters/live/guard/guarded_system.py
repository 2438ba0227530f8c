"""The objects that a guard keeps as a policy says, and what has to be known of a system whose objects they are.

A default that nobody says would be free for anybody to change. So a guarded object says in full what decides, also where that is the
system's default. For some fields there is no value that says nothing, such as the name of a cohort: they are named in `absent`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....engine.policy_graph import PolicyGraph
from ...kubernetes.api import Plain
from ...kubernetes.resource_kinds import Kind

GUARD_LABEL = "gpol.dev/guard"
"""The label of a guarded object: the name of the guard that keeps it."""

FieldPath = tuple[str, ...]
"""The names of fields from the top of an object down."""


@dataclass(frozen=True, slots=True)
class GuardedObject:
    """An object of the policy: the body to apply, the fields in it that are only the system's defaults, those that have to be absent, and
    the objects in it that have no fields but those of the body."""

    kind: Kind
    namespace: str
    name: str
    body: Plain
    filled: frozenset[FieldPath]
    absent: tuple[FieldPath, ...]
    closed: tuple[FieldPath, ...] = ()

    @property
    def key(self) -> str:
        """Its name among all guarded objects."""
        return key_in(self.kind, f"{self.namespace}/{self.name}" if self.namespace else self.name)

    @property
    def path(self) -> str:
        """Where the API server has it."""
        return self.kind.path(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class FieldForms:
    """How the API server and people write the fields of a system's objects.

    `whole`: the names of objects that are replaced whole; `by_name` and `sets`: of lists that are merged by the names of their items, and
    value by value. All other lists are replaced whole. `quantities`: the names of fields that are quantities; `amounts`: of objects
    whose fields all are; `in_parts`: of fields that are told part by part. `as_if_absent`: values that mean the same as no value.
    """

    whole: tuple[str, ...] = ()
    by_name: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    in_parts: Mapping[str, "PartsOf"] = field(default_factory=dict)
    as_if_absent: Mapping[FieldPath, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartsOf:
    """A field that is told part by part: its parts by their places, None for a value of another form; and its layout as a text."""

    parts: Callable[[Any], Mapping[str, Plain] | None]
    layout: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class GuardedSystem:
    """A system whose objects are guarded.

    `kinds` are guarded, in the order in which they are applied. `objects` makes those of a policy by their keys, in the order in which to
    apply them, with notes about what they do not say; it is given what the policy's `gpu` is called in the cluster, and the name of the
    guard, and raises ExportRefused. `fixed`: kinds of which no field can be changed, so that only a new object helps.
    """

    name: str
    kinds: tuple[Kind, ...]
    objects: Callable[[PolicyGraph, str, str], tuple[dict[str, GuardedObject], list[str]]]
    forms: FieldForms
    fixed: tuple[Kind, ...] = ()

    def parted(self, key: str) -> tuple[Kind, str, str]:
        """The kind, the namespace and the name in a key."""
        plural, _, full = key.partition(" ")
        namespace, _, name = full.rpartition("/")
        return next(kind for kind in self.kinds if kind.plural == plural), namespace, name


@dataclass(frozen=True, slots=True)
class SaidInFull:
    """What a kind takes for fields that are not said, which fields have to be absent then, and which objects in it are closed."""

    defaults: Plain = field(default_factory=dict)
    absent: tuple[FieldPath, ...] = ()
    closed: tuple[FieldPath, ...] = ()


def guarded_object(kind: Kind, item: Plain, guard: str, full: SaidInFull) -> GuardedObject:
    """An exported object as a guard of some name keeps it."""
    metadata = item["metadata"]
    filled: set[FieldPath] = {("metadata", "labels", GUARD_LABEL)}  # it is gpol's own, and not of the policy
    body = _completed({**item, "metadata": {**metadata, "labels": {GUARD_LABEL: guard}}}, full.defaults, (), filled)
    absent = tuple(path for path in full.absent if value_at(body, path) is None)
    return GuardedObject(kind, metadata.get("namespace", ""), metadata["name"], body, frozenset(filled), absent, full.closed)


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


def key_in(kind: Kind, name: str) -> str:
    """The name of an object among all guarded objects; `name` is `namespace/name`, or `name` where the kind has no namespaces."""
    return f"{kind.plural} {name}"


def value_at(plain: Plain, path: FieldPath) -> Any:
    """What stands at a path; None where nothing does."""
    found: Any = plain
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found

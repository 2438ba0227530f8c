"""Policy graphs in which one field is another: every field of every part, but for what other fields already say."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gpol.engine import guard as expr
from gpol.engine import policy_graph as graph
from gpol.engine import policy_settings
from gpol.engine.guard import Type
from gpol.engine.policy import pass_settings
from gpol.engine.policy_graph import Source

DERIVED = {
    ("PolicyGraph", "digest"): "is over all the others",
    ("PolicyGraph", "slots"): "the resources of all flavors",
    ("Slot", "flavor"): "a number for one of the flavors",
    ("Slot", "resource"): "one of a flavor's resources",
    ("Node", "children"): "the nodes of which it is the parent",
    ("Node", "queue"): "a number for one of the queues",
    ("Queue", "node"): "a number for one of the nodes",
    ("Const", "text"): "the way in which the value was written",
}
"""Fields that mean nothing by themselves. So do places: fields called source, and those that end in it."""

NUMBERED = (
    {("PolicyGraph", field) for field in ("flavors", "nodes", "queues", "topologies")}
    | {("Node", "quotas")}
    | {("QueueTerms", field) for field in ("limits", "owns_all", "guaranteed", "weights")}
)
"""Lists that others point into by number: their parts are changed, and none is left out."""

INDICES = {("Queue", "flavors"), ("Group", "flavors"), ("Check", "flavors"), ("ProtectRule", "nodes"), ("AdmissionRule", "nodes")}
"""Lists of numbers for other parts."""

INDEXES = {("Node", "parent"), ("Flavor", "topology")}
"""Numbers for other parts, of which there are two at least."""

ORDERED = {
    ("Queue", "flavors"),
    ("Group", "flavors"),
    ("Queue", "groups"),
    ("Cycles", "strategies"),
    ("PolicyGraph", "preempt"),
    ("Topology", "levels"),
    ("Settings", "room_kept"),
    ("Passes", "order"),
    ("Passes", "place_by"),
    ("PassSearch", "votes"),
} | {(where, field) for where, field in (("PreemptRule", "order"), ("Settings", "queue_order"), ("Settings", "workload_order"))}
"""Lists whose order means something."""

ALIKE = {("Settings", "placing"): {"", "packed"}, ("Settings", "lost_nodes"): {"", "replace"}}
"""Values of a field that mean the same: nothing said, and what holds by default."""

ALWAYS_THERE = {("Node", "terms")}
"""Optional parts that all nodes of a policy have, or none."""

Path = tuple[tuple[str, str], ...]
"""Fields, each by its class and name, from the whole to a part."""

SAMPLES: dict[Any, Any] = {int: 7, bool: True, str: "else", Fraction: Fraction(7, 3)}


def is_place(name: str) -> bool:
    """Whether a field says where something stands."""
    return name == "source" or name.endswith("_source")


def every_field() -> set[tuple[str, str]]:
    """Every field of every dataclass that a graph is made of."""
    parts = [
        each
        for module in (graph, policy_settings, pass_settings, expr)
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each)
    ]
    return {(part.__name__, field.name) for part in parts if part is not Source for field in fields(part) if not is_place(field.name)}


def mutants(part: Any) -> Iterator[tuple[Path, Any]]:
    """A part with one field changed, here or below: the fields on the way to it, and the changed part."""
    hints = get_type_hints(type(part))
    for field in fields(part):
        where = (type(part).__name__, field.name)
        if is_place(field.name) or where in DERIVED:
            continue
        for path, other in _others(where, hints[field.name], getattr(part, field.name), outermost=True):
            mutant = replace(part, **{field.name: other})
            if not isinstance(mutant, graph.PolicyGraph) or all(each.topology < len(mutant.topologies) for each in mutant.flavors):
                yield (where, *path), mutant


def _others(where: tuple[str, str], hint: Any, value: Any, outermost: bool) -> Iterator[tuple[Path, Any]]:
    if is_dataclass(value):
        yield from mutants(value)
    if isinstance(value, tuple):
        yield from _of_list(where, value, outermost)
    elif where in INDEXES:
        yield (), 1 if value == 0 else 0
    else:
        alike = ALIKE.get(where, set())
        others = (other for other in _values(hint, value) if other is not None or where not in ALWAYS_THERE)
        yield from (((), other) for other in others if not {value, other} <= alike)


def _of_list(where: tuple[str, str], value: tuple[Any, ...], outermost: bool) -> Iterator[tuple[Path, Any]]:
    """Lists without their last part, turned around, or with another part. Pairs in a list stay pairs."""
    if value and where not in NUMBERED and (outermost or is_dataclass(value[0])):
        yield (), value[:-1]
    if outermost and where in ORDERED and value[::-1] != value:
        yield (), value[::-1]
    for index, each in enumerate(value if where not in INDICES else ()):
        for path, other in _others(where, type(each), each, outermost=False):
            yield path, (*value[:index], other, *value[index + 1 :])


def _values(hint: Any, value: Any) -> Iterator[Any]:
    """Other values of a type; of an optional one also none, or something."""
    if get_origin(hint) is Literal:
        yield from (each for each in get_args(hint) if each != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | Fraction):
        yield value + 1
    elif isinstance(value, Type):
        yield next(each for each in Type if each is not value)
    elif isinstance(value, str):
        yield f"{value}x"
    kinds = get_args(hint)
    if value is not None and NoneType in kinds:
        yield None
    if value is None:
        yield from (SAMPLES[kind] for kind in kinds if kind in SAMPLES)
        yield from (get_args(kind)[0] for kind in kinds if get_origin(kind) is Literal)

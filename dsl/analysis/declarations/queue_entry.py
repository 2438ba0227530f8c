"""Which workloads may enter a queue: namespaces, admission checks and local queues."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from ....engine import policy_graph as graph
from ....engine.nodes.conditions import Requirement
from ...syntax import tree
from ..context import Context

_NOBODY = (Requirement("", "In", ()),)
"""A condition that no labels meet."""

_OPERATORS = {"in": "In", "not in": "NotIn", "exists": "Exists", "absent": "DoesNotExist"}


def stop(statement: tree.Spanned | None) -> Literal["", "hold", "drain"]:
    """What `stopped` says of a queue or a local queue."""
    if not isinstance(statement, tree.Stopped):
        return ""
    return "drain" if statement.drained else "hold"


def namespaces(context: Context, statement: tree.Spanned | None) -> tuple[Requirement, ...] | None:
    """The conditions on the labels of a workload's namespace, in an order of their own; None where all may come."""
    if not isinstance(statement, tree.Namespaces):
        return None
    seen: dict[str, tree.Spanned] = {}
    made = []
    for test in statement.tests:
        context.named(test.key, "label")
        values: dict[str, tree.Spanned] = {}
        kept = sorted(value.text for value in test.values if context.once(values, value.text, value, f'"{value.text}"'))
        requirement = Requirement(test.key.text, _OPERATORS[test.test], tuple(kept))
        if context.once(seen, repr(requirement), test, "this condition"):
            made.append(requirement)
    return tuple(sorted(made, key=repr)) if statement.tests else _NOBODY


def checks(context: Context, item: tree.QueueItem, flavors: Mapping[str, int]) -> tuple[graph.Check, ...]:
    """The admission checks that a queue needs, in order of name."""
    seen: dict[str, tree.Spanned] = {}
    made = []
    for statement in item.body:
        if not isinstance(statement, tree.NeedsCheck):
            continue
        context.named(statement.check, "check")
        if context.once(seen, statement.check.text, statement, f"check `{statement.check.text}`"):
            made.append(graph.Check(statement.check.text, _flavors(context, statement, flavors), statement.for_nodes))
    return tuple(sorted(made, key=lambda check: check.name))


def _flavors(context: Context, statement: tree.NeedsCheck, flavors: Mapping[str, int]) -> tuple[int, ...]:
    seen: dict[str, tree.Spanned] = {}
    found = []
    for name in statement.flavors:
        if name.text not in flavors:
            context.unknown("flavor", name, flavors)
        elif context.once(seen, name.text, name, f"flavor `{name.text}`"):
            found.append(flavors[name.text])
    return tuple(sorted(found))


def local_queues(context: Context, item: tree.QueueItem) -> tuple[graph.LocalQueue, ...]:
    """The local queues of a queue, in order of name; a name is taken once in the whole policy."""
    made = []
    for statement in item.body:
        if isinstance(statement, tree.LocalQueueStatement):
            _check_name(context, statement.name)
            if context.once(context.local_queues, statement.name.text, statement.name, f"local queue `{statement.name.text}`"):
                made.append(_local_queue(context, statement))
    return tuple(sorted(made, key=lambda local: local.name))


def _check_name(context: Context, name: tree.Name) -> None:
    context.named(name, "local queue")
    namespace, slash, rest = name.text.partition("/")
    if not (namespace and slash and rest) or "/" in rest:
        message = f"`{name.text}` names no local queue: it lives in a namespace, and both are said"
        context.error("GP042", message, name, "not of the form", 'write it as `"namespace/name"`')


def _local_queue(context: Context, item: tree.LocalQueueStatement) -> graph.LocalQueue:
    seen: dict[str, tree.Spanned] = {}
    weight, stopped = Fraction(1), None
    for statement in item.body:
        match statement:
            case tree.Weight(number):
                if context.once(seen, "weight", statement, f"the weight of local queue `{item.name.text}`"):
                    weight = context.at_least_zero(number, "weight", weight)
            case tree.Stopped():
                if context.once(seen, "stopped", statement, f"`stopped` in local queue `{item.name.text}`"):
                    stopped = statement
    return graph.LocalQueue(item.name.text, weight, stop(stopped), context.source(item))

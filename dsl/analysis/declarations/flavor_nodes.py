"""What a flavor says about its nodes: labels, taints, tolerations and places, or that the flavor is missing."""

from dataclasses import replace

from ....engine import policy_graph as graph
from ....engine.nodes.conditions import Taint, Toleration
from ...syntax import tree
from ..context import Context
from .topologies import placed_in


def with_nodes(context: Context, item: tree.FlavorItem, flavor: graph.Flavor) -> graph.Flavor:
    """The flavor, with what its statements say of its nodes."""
    seen: dict[str, tree.Spanned] = {}
    labels: list[tuple[str, str]] = []
    taints: list[Taint] = []
    tolerations: list[Toleration] = []
    missing = False
    for statement in item.body:
        match statement:
            case tree.NodeLabel(label):
                _check_key(context, label.key, statement)
                if context.once(seen, f"label {label.key}", statement, f"label `{label.key}`"):
                    labels.append((label.key, label.value.text))
            case tree.TaintStatement():
                taint = _taint(context, statement)
                if context.once(seen, repr(taint), statement, "this taint"):
                    taints.append(taint)
            case tree.Tolerates():
                toleration = _toleration(context, statement)
                if context.once(seen, repr(toleration), statement, "this toleration"):
                    tolerations.append(toleration)
            case tree.Missing():
                missing = context.once(seen, "missing", statement, f"`missing` of flavor `{item.name.text}`") or missing
    _check_missing(context, item)
    return replace(
        flavor,
        labels=tuple(sorted(labels)),
        taints=tuple(sorted(taints, key=repr)),
        tolerations=tuple(sorted(tolerations, key=repr)),
        missing=missing,
        topology=placed_in(context, item),
    )


def _taint(context: Context, statement: tree.TaintStatement) -> Taint:
    _check_key(context, statement.key, statement)
    return Taint(statement.key, "" if statement.value is None else statement.value.text, statement.effect)


def _toleration(context: Context, statement: tree.Tolerates) -> Toleration:
    effect = statement.effect or ""
    if statement.key is None:
        return Toleration("", "Exists", "", effect)
    _check_key(context, statement.key, statement)
    if statement.value is None:
        return Toleration(statement.key, "Exists", "", effect)
    return Toleration(statement.key, "Equal", statement.value.text, effect)


def _check_key(context: Context, key: str, place: tree.Spanned) -> None:
    context.named(tree.Name(key, span=place.span), "label")


def _check_missing(context: Context, item: tree.FlavorItem) -> None:
    """Report labels, taints, tolerations and places of a missing flavor."""
    missing = next((statement for statement in item.body if isinstance(statement, tree.Missing)), None)
    about_nodes = tree.NodeLabel | tree.TaintStatement | tree.Tolerates | tree.PlacedIn
    said = next((statement for statement in item.body if isinstance(statement, about_nodes)), None)
    if missing is not None and said is not None:
        message = f"flavor `{item.name.text}` is missing, and has labels, taints, tolerations or places"
        context.error("GP027", message, said, "of what nothing defines", "remove it, or remove `missing`")

"""Checks what `test` blocks say of nodes, and of the places of pods."""

from collections.abc import Collection
from itertools import pairwise

from ...engine.nodes.wishes import LEADER_REMEDY, PlacesSaid, leader_asking_otherwise
from ..syntax import tree
from ..syntax.names import closest
from .context import POD_COUNT, Context

_MOST_SLICES = 16
_MOST_LABELS = 256
_MOST_TAINTS = 64
"""What a set of pods and a node may have at most, as the events say."""

_MOST_DIGITS = 7
"""A number of pods has no more."""


# --- nodes ----------------------------------------------------------------------------------------------------------


def check_node(context: Context, action: tree.SetNode) -> None:
    """Check a node that is added or changed: somebody must count it, and it must say what it has."""
    context.named(action.node, "node")
    if not _counts_nodes(context):
        message = "no flavor of the policy takes anything from nodes"
        help_text = "place a flavor (`placed on nodes`)" if context.in_cycles else "write `gpu from nodes where ...` in a flavor"
        context.error("GP034", message, action.node, "a node of no flavor", f"{help_text}, or remove this step")
    seen: dict[str, tree.Spanned] = {}
    labels, taints, amounts = 0, 0, 0
    for entry in action.entries:
        match entry:
            case tree.NodeAmounts():
                amounts += 1
                _check_amounts(context, entry, seen)
            case tree.NodeLabel(label):
                labels += 1
                _check_key(context, label.key, entry)
                context.once(seen, f"label {label.key}", entry, f"label `{label.key}`")
            case tree.TaintStatement(key, value, effect):
                taints += 1
                _check_key(context, key, entry)
                context.once(seen, f"taint {(key, value, effect)}", entry, "this taint")
            case tree.Cordoned():
                context.once(seen, "cordoned", entry, "`cordoned`")
    if amounts == 0:
        help_text = "say all that the node has, such as `8 gpu`; `0 gpu` for nothing"
        context.error("GP034", f"node `{action.node.text}` has no amounts", action.node, "has what?", help_text)
    for count, most, what in ((labels, _MOST_LABELS, "labels"), (taints, _MOST_TAINTS, "taints")):
        if count > most:
            message = f"the node has {count} {what}; at most {most} are read"
            context.error("GP034", message, action.node, "too many", "leave some out")


def _counts_nodes(context: Context) -> bool:
    """Whether nodes mean anything to the policy."""
    parts = [part for flavor in context.merged.flavors for part in flavor.body]
    return any(isinstance(part, tree.PlacedIn | tree.FromNodes) for part in parts)


def _check_amounts(context: Context, entry: tree.NodeAmounts, seen: dict[str, tree.Spanned]) -> None:
    for amount in entry.amounts:
        resource = amount.resource.text
        if resource not in context.resources and not (resource == POD_COUNT and _places_pods(context)):
            context.unknown("resource", amount.resource, context.resources)
        elif context.once(seen, f"amount {resource}", amount, f"`{resource}`"):
            context.amount(amount.number, resource)


def _check_key(context: Context, key: str, place: tree.Spanned) -> None:
    context.named(tree.Name(key, span=place.span), "label")


def check_there(context: Context, node: tree.Name, there: Collection[str]) -> None:
    """Check that a node was added and not removed since."""
    if node.text not in there:
        guess = closest(node.text, there)
        help_text = f"did you mean `{guess}`?" if guess else f"add it first: `at 0s node {node.text} {{ 8 gpu }}`"
        context.error("GP034", f"node `{node.text}` is not there", node, "not added so far", help_text)


def check_expected_nodes(context: Context, nodes: tuple[tree.Name, ...], added: Collection[str]) -> None:
    """Check the nodes on which a workload is expected: added before, each named once, in a policy that places pods."""
    if nodes and not _places_pods(context):
        _no_places(context, nodes[0])
    seen: dict[str, tree.Spanned] = {}
    for node in nodes:
        check_there(context, node, added)
        context.once(seen, node.text, node, f"node `{node.text}`")


# --- places ---------------------------------------------------------------------------------------------------------


def check_places(context: Context, pods: tree.Pods) -> None:
    """Check what a set of pods says of its places: levels that a topology has, from wide to narrow, and slices that make up one another."""
    if pods.place is None and not pods.slices:
        return
    if not _places_pods(context):
        _no_places(context, pods.place or pods.slices[0])
        return
    sizes = [context.integer(each.size, "size of a slice", 1, 1_000_000) or 1 for each in pods.slices]
    for (wide, narrow), place in zip(pairwise(sizes), pods.slices[1:], strict=True):
        if wide % narrow:
            message = f"slices of {wide} pods are no whole number of slices of {narrow}"
            context.error("GP034", message, place.size, f"{wide} is no multiple of {narrow}", "choose sizes of which one divides the other")
    if len(pods.slices) > _MOST_SLICES:
        message = f"the pods are in {len(pods.slices)} kinds of slices; a submission has at most {_MOST_SLICES}"
        context.error("GP034", message, pods.slices[_MOST_SLICES], "one too many", "leave some out")
    _check_levels(context, pods)


def check_leader(context: Context, group: tree.PodSetGroup) -> None:
    """Check that a leader asks for no other places than its workers, with which it stands."""
    counts = [1 if pods.count is None else _whole(pods.count) for pods in group.pods]
    leader = leader_asking_otherwise([(count, _asked(pods)) for count, pods in zip(counts, group.pods, strict=True)])
    if leader is not None and _places_pods(context):
        pods = group.pods[leader]
        which, workers = ("first", "second") if leader == 0 else ("second", "first")
        why = "as both have one pod" if counts == [1, 1] else "as it has one pod"
        cause = f"the {which} pod set of group `{group.name.text}` is its leader, {why}"
        message = f"{cause}: it stands where the {workers} one stands, and asks for other places"
        context.error("GP034", message, pods.place or pods.slices[0], "has no effect", LEADER_REMEDY)


def _asked(pods: tree.Pods) -> PlacesSaid:
    """What a set of pods says of its places, as a submission has it."""
    wish = "" if pods.place is None else pods.place.wish
    level = "" if pods.place is None or pods.place.level is None else pods.place.level.text
    slices = tuple((each.level.text, _whole(each.size)) for each in pods.slices)
    return level if wish == "within" else "", level if wish == "near" else "", wish == "anywhere", slices


def _whole(number: tree.Number) -> int:
    """A number of pods; 0 for what is none, which is told where it stands."""
    return int(number.text) if number.text.isdecimal() and len(number.text) <= _MOST_DIGITS else 0


def _check_levels(context: Context, pods: tree.Pods) -> None:
    known = {level for levels in context.topologies.values() for level in levels}
    above = pods.place.level if pods.place is not None else None
    named = [level for level in (above, *(each.level for each in pods.slices)) if level is not None]
    unknown = [level for level in named if level.text not in known]
    for level in unknown:
        context.unknown("level", level, known)
    if unknown or any(_in_order(levels, above, pods.slices) for levels in context.topologies.values()):
        return
    path = ", ".join(f"`{level.text}`" for level in named)
    message = f"no topology has the levels {path} in this order"
    context.error("GP034", message, named[-1], "not from wide to narrow", "name levels of one topology, from wide to narrow")


def _in_order(levels: tuple[str, ...], above: tree.Name | None, slices: tuple[tree.InSlices, ...]) -> bool:
    """Whether a topology has the levels, slices each narrower than the one before. A slice may be as wide as the domain of all pods."""
    if not {each.level.text for each in slices} | ({above.text} if above is not None else set()) <= {*levels}:
        return False
    depths = [levels.index(each.level.text) for each in slices]
    top = levels.index(above.text) if above is not None else 0
    return all(depth >= top for depth in depths) and all(wide < narrow for wide, narrow in pairwise(depths))


def _places_pods(context: Context) -> bool:
    return any(isinstance(part, tree.PlacedIn) for flavor in context.merged.flavors for part in flavor.body)


def _no_places(context: Context, node: tree.Spanned) -> None:
    help_text = "say in a flavor where its pods get places, such as `placed on nodes`"
    context.error("GP034", "no flavor of the policy places pods", node, "without places", help_text)

"""How pods are placed, and what becomes of them where a node is lost: choices of policies that decide at once."""

from typing import Literal

from ...engine.units import format_amount
from ..syntax import tree
from .context import Context


def placing(context: Context) -> Literal["", "packed", "spread", "keeping-room"]:
    """How pods are placed; empty where neither the policy nor its profile says it, and in cycles."""
    choice = context.merged.choices.get("PlacePods")
    return choice.way if isinstance(choice, tree.PlacePods) and not context.in_cycles else ""


def lost_nodes(context: Context) -> Literal["", "replace", "evict", "wait"]:
    """What becomes of workloads on a node that is lost; empty where nothing says it, and in cycles."""
    choice = context.merged.choices.get("LostNodes")
    return choice.deed if isinstance(choice, tree.LostNodes) and not context.in_cycles else ""


def room_kept(context: Context) -> tuple[tuple[tuple[str, int], ...], ...]:
    """The sizes of pods for which room is kept, the most important first: resources in order of name, amounts in the smallest unit."""
    choice = context.merged.choices.get("PlacePods")
    if not isinstance(choice, tree.PlacePods):
        return ()
    context.at(choice)
    seen: dict[str, tree.Spanned] = {}
    sizes = []
    for said in choice.sizes:
        size = _size(context, said)
        told = " and ".join(f"{format_amount(amount, resource)} {resource}" for resource, amount in size)
        if size and context.once(seen, told, said, f"the size `{told}`"):
            sizes.append(size)
    return () if context.in_cycles else tuple(sizes)


def _size(context: Context, said: tree.PodSize) -> tuple[tuple[str, int], ...]:
    """What a pod of one size asks for; empty where a part of it is wrong, which is reported."""
    seen: dict[str, tree.Spanned] = {}
    found = {}
    for amount in said.amounts:
        resource = amount.resource.text
        if resource not in context.resources:
            context.unknown("resource", amount.resource, context.resources)
        elif context.once(seen, resource, amount, f"how much `{resource}` a pod of this size asks for"):
            found[resource] = _above_zero(context, amount)
    amounts = [(resource, each) for resource in sorted(found) if (each := found[resource]) is not None]
    return tuple(amounts) if len(amounts) == len(said.amounts) else ()


def _above_zero(context: Context, said: tree.Amount) -> int | None:
    amount = context.amount(said.number, said.resource.text)
    if amount != 0:
        return amount
    message = f"room for `{said.number.text} {said.resource.text}` is room for nothing"
    context.error("GP023", message, said.number, "here", "write what such a pod asks for, above 0, or leave it out")
    return None

"""Warnings for policies that decide in cycles: settings under which whoever was evicted comes back and takes the room, for ever.

A victim waits again, and the room that it left is given away only in a later cycle. Whether its beneficiary or the victim itself gets it
is a matter of whose turn comes first there. Two settings let the victim be first although it had to go: both were seen to go on for ever.
"""

from ..engine import graph
from . import queues, tree
from .context import Context

_HELP = "it may never come to rest; `use gpol.fair`, which gives the room to whom it was made for"


def turns(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn of queues that evict while they borrow, and of a strategy that looks at the share before the eviction alone."""
    cycles = policy.settings.cycles
    if cycles is None:
        return
    reclaiming = [queue for queue in policy.queues if queue.preemption.reclaims != "nothing" and policy.nodes[queue.node].parent > 0]
    if cycles.victims == "classical":
        _while_borrowing(context, policy, reclaiming)
    elif reclaiming and "initial-share" in cycles.strategies:
        _by_initial_share(context)


def _while_borrowing(context: Context, policy: graph.PolicyGraph, reclaiming: list[graph.Queue]) -> None:
    items = queues.items(context)
    context.at(context.merged.header)
    for queue in reclaiming:
        if queue.preemption.borrowing == "nothing":
            continue
        name = policy.nodes[queue.node].name
        statement = next(part for part in items[name].body if isinstance(part, tree.Evicts) and part.occasion == "borrowing")
        message = (
            f"queue `{name}` evicts while it borrows, and whoever borrows comes last: a victim that fits what its queue owns goes first"
        )
        context.warn("GP057", message, statement, "its victims may take the room back", _HELP)


def _by_initial_share(context: Context) -> None:
    way, header = context.merged.choices.get("preempt by"), context.merged.header
    if header is None or way is None:
        return
    own = context.merged.origin[id(way)] is context.merged.origin[id(header)]
    use = next((choice for choice in header.choices if isinstance(choice, tree.Use)), header.name)
    context.at(header)
    message = "`initial share` takes a victim whose side has less than the preemptor's afterwards: then it is its turn first"
    context.warn(
        "GP057", message, way if own else use, "its victims may take the room back", f"write `preempt fairly by final share`; else {_HELP}"
    )

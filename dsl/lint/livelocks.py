"""Warnings about livelocks in policies that decide in cycles: settings under which victims come back and evict again, without end.

A victim waits again. The quota that it freed is given away only in a later cycle, to the workload that comes first there. Eviction and
admission use different orders, so a victim may come first although it was evicted. Between queues, no setting makes the two orders equal
for all workloads: `docs/language.md` shows a livelock under each. Within a queue the two orders are equal as long as its workloads are
ordered by what lets one evict another. `tests/property/test_cycles_at_rest.py` checks this.
"""

from ...engine import policy_graph as graph
from ...engine.policy_settings import OrderKey
from ..analysis.context import Context
from ..analysis.declarations import queues
from ..syntax import tree

_LABEL = "its victims may take the room back"
_BETWEEN = "it may never come to rest; `use gpol.fair`, which gives the room to whom it was made for, or evict within queues only"
_NOT_BY_USAGE = "leave out `admits by usage`, and the queue admits by priority"
_BY_RANK = "`order workloads by priority desc, submitted asc`"
_RANKED = (OrderKey("priority", True), OrderKey("submitted", False))


def turns(context: Context, policy: graph.PolicyGraph) -> None:
    """Warn once about queues that evict from others, and once about queues that evict and admit their own workloads in different orders."""
    cycles = policy.settings.cycles
    if cycles is None:
        return
    evicting = [queue for queue in policy.queues if queue.preemption.reclaims != "nothing" and _others_borrow(policy, queue)]
    bold = [queue for queue in evicting if cycles.victims == "classical" and queue.preemption.borrowing != "nothing"]
    if evicting:
        first, occasion = (bold[0], "borrowing") if bold else (evicting[0], "reclaims")
        message = f"{_named(policy, bold or evicting)} from other queues, whose turn may come first: {_when(policy, evicting, bold)}"
        _warn(context, policy, first, occasion, message, _BETWEEN)
    unranked = [queue for queue in policy.queues if _admits_victims_first(policy, queue)]
    if unranked:
        message = f"{_named(policy, unranked)} their own of lower priority, and may admit those first"
        _warn(context, policy, unranked[0], "own", message, _NOT_BY_USAGE if unranked[0].by_usage else _BY_RANK)


def _warn(
    context: Context,
    policy: graph.PolicyGraph,
    queue: graph.Queue,
    occasion: str,
    message: str,
    help_text: str,
) -> None:
    item = queues.items(context)[policy.nodes[queue.node].name]
    statement = next(part for part in item.body if isinstance(part, tree.Evicts) and part.occasion == occasion)
    context.at(context.merged.header)
    context.warn("GP057", message, statement, _LABEL, help_text)


def _named(policy: graph.PolicyGraph, found: list[graph.Queue]) -> str:
    """The subject and verb of a message about some queues, the first of them by name."""
    first = f"queue `{policy.nodes[found[0].node].name}`"
    return f"{first} evicts" if len(found) == 1 else f"{first} and {len(found) - 1} more evict"


# --- queues that evict from others


def _others_borrow(policy: graph.PolicyGraph, queue: graph.Queue) -> bool:
    """Whether another queue of the same tree may borrow: only from such a queue can workloads be evicted."""
    others = [other for other in policy.queues if other.node != queue.node and _root(policy, other) == _root(policy, queue)]
    return any(_may_borrow(policy, other) for other in others)


def _root(policy: graph.PolicyGraph, queue: graph.Queue) -> int:
    node = queue.node
    while policy.nodes[node].parent > 0:
        node = policy.nodes[node].parent
    return node


def _may_borrow(policy: graph.PolicyGraph, queue: graph.Queue) -> bool:
    quotas = zip(policy.slots, policy.nodes[queue.node].quotas, strict=True)
    return any(slot.flavor in queue.flavors and quota.borrowing_limit != 0 for slot, quota in quotas)


def _when(policy: graph.PolicyGraph, evicting: list[graph.Queue], bold: list[graph.Queue]) -> str:
    """When a victim comes first again; of several causes, the one that needs the fewest conditions."""
    cycles = policy.settings.cycles
    assert cycles is not None
    if bold:
        return "whoever borrows comes last, and this one evicts while it borrows"
    if cycles.victims == "fair":
        return "the smaller share comes first, though what is owned is taken back whatever the shares"
    if any(len(queue.flavors) > 1 for queue in evicting):
        return "once they are gone, a workload may be given a flavor in which it borrows, and whoever borrows comes last"
    return "a workload that may do with fewer pods evicts for few, then asks for all, and whoever borrows comes last"


# --- queues that evict their own


def _admits_victims_first(policy: graph.PolicyGraph, queue: graph.Queue) -> bool:
    """Whether a victim of its own queue may be the next one admitted there: by usage, or by an order that the policy sets.

    The admission order must agree with the order of eviction: priority and, if the queue evicts newer workloads, age.
    """
    own = queue.preemption.own
    ranks = 0 if own == "nothing" else 1 if own == "lower" else 2
    return ranks > 0 and (queue.by_usage or policy.settings.workload_order[:ranks] != _RANKED[:ranks])

"""Queues as a tree, for the plugin `capacity`: what each may have below the one above it, and how near two of them are.

The quota node above all others stands for the cluster; below it is the queue `root` alone.
Volcano: pkg/scheduler/plugins/capacity/capacity.go (`buildHierarchicalQueueAttrs`, `checkHierarchicalQueue`, `getQueueLevel`).
"""

from collections.abc import Sequence
from fractions import Fraction

from ...quota.fair_share import nearest_double
from ...session.quota_nodes import ROOT, QuotaNode
from ...session.session import Session
from ..model.volcano_cycle import VolcanoCycle
from .queue_books import QueueBooks
from .resource_rows import UNLIMITED, add, at_least, at_most, exceeding, is_empty, with_more

GREATEST = 1 << 63
"""What the root may have of other resources that nodes have, where it does not say: the greatest 64-bit integer, as a double."""

TREE_ROOT = "root"
"""The queue that is above all others."""


def is_tree(nodes: Sequence[QuotaNode]) -> bool:
    """Whether all queues are below `root`."""
    return [nodes[child].name for child in nodes[ROOT].children] == [TREE_ROOT]


def open_tree(cycle: VolcanoCycle, books: QueueBooks) -> None:
    """Begin the books of all queues, from the root down. What is left of a queue once all below it have their guarantees, each may have."""
    nodes = cycle.session.quota_nodes
    root = nodes[nodes[ROOT].children[0]]
    capability = {root.number: _root_capability(cycle, root)}
    guarantee, deserved = _below(nodes, root)
    books.open(root.number, guarantee, capability[root.number], deserved)
    unread = [root.number]
    while unread:
        parent = unread.pop()
        guaranteed = _sum([_named(nodes[child].guaranteed) for child in nodes[parent].children], len(cycle.total))
        free = _rounded(exceeding(books.books[parent].real, guaranteed))
        for child in nodes[parent].children:
            node = nodes[child]
            own = _named(node.guaranteed)
            capability[child] = _inherited(node.limit, capability[parent])
            real = at_most(_rounded(with_more(free, own)), capability[child])
            books.open(child, own, real, at_least(_with_native(node.owned), own))
            unread.append(child)


def _root_capability(cycle: VolcanoCycle, root: QuotaNode) -> list[int | None]:
    said = _with_native(root.limit)
    if not is_empty(said, cycle.session.resources):
        return said
    return [UNLIMITED if index < 2 else GREATEST if amount else None for index, amount in enumerate(cycle.total)]


def _rounded(row: Sequence[int | None]) -> list[int | None]:
    """A row as doubles: only the greatest amounts are not exact."""
    return [each if each is None else int(nearest_double(Fraction(each))) for each in row]


def _below(nodes: Sequence[QuotaNode], root: QuotaNode) -> tuple[list[int | None], list[int | None]]:
    """What the queues below the root are guaranteed, and deserve, together."""
    size = len(root.owned)
    guarantees = [_named(nodes[child].guaranteed) for child in root.children]
    deserved = [at_least(_with_native(nodes[child].owned), own) for child, own in zip(root.children, guarantees, strict=True)]
    return _sum(guarantees, size), _sum(deserved, size)


def _inherited(limit: Sequence[int | None], above: Sequence[int | None]) -> list[int | None]:
    """The capability of a queue; of what it does not name, that of the queue above it. Of cpu and memory, 0 counts as not named."""
    return [other if one is None or (one == 0 and index < 2) else one for index, (one, other) in enumerate(zip(limit, above, strict=True))]


def _named(row: Sequence[int]) -> list[int | None]:
    return _with_native([amount or None for amount in row])


def _with_native(row: Sequence[int | None]) -> list[int | None]:
    return [0 if each is None and index < 2 else each for index, each in enumerate(row)]


def _sum(rows: Sequence[Sequence[int | None]], size: int) -> list[int | None]:
    total = [0] * size
    for row in rows:
        add(total, row)
    is_named = [index < 2 or any(row[index] is not None for row in rows) for index in range(size)]
    return [amount if there else None for amount, there in zip(total, is_named, strict=True)]


def ancestors_of(session: Session, queue: int) -> list[int]:
    """The queues above one, from the root down."""
    return [each for each in reversed(session.paths[queue][1:]) if each != ROOT]


def level_in_common(session: Session, one: int, other: int) -> int:
    """The level of the lowest queue above two queues; 0 is that of the root."""
    level = 0
    for at, (left, right) in enumerate(zip(ancestors_of(session, one), ancestors_of(session, other), strict=False)):
        if left != right:
            break
        level = at
    return level


def in_order_of_tree(session: Session, left: int, right: int) -> tuple[int, int]:
    """The queues whose shares decide between two leaves: those just below the lowest queue above both, or the leaves themselves."""
    below = level_in_common(session, left, right) + 1
    above = ancestors_of(session, left), ancestors_of(session, right)
    one, other = (each[below] if below < len(each) else queue for each, queue in zip(above, (left, right), strict=True))
    return one, other

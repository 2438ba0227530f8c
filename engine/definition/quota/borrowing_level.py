"""How far up the tree quota has to come from: 0 from the queue itself, else the height of the cohort that has it.

Kueue: pkg/scheduler/preemption/classical/hierarchical_preemption.go.
"""

from ...outcome.nomination import Request
from ...policy_graph import PolicyGraph
from .tree import QuotaTree


def heights(graph: PolicyGraph) -> list[int]:
    """The distance of each node to its furthest leaf; a queue has 0, a cohort at least 1, unless nothing is below it."""
    found = [0 for _ in graph.nodes]

    def visit(node: int) -> int:
        below = [visit(child) for child in graph.nodes[node].children]
        found[node] = 1 + max(below) if below else 0
        return found[node]

    visit(0)
    return found


def exceeds_owned(tree: QuotaTree, node: int, slot: int, amount: int) -> bool:
    """Whether a node would use more than its subtree owns, with this amount on top."""
    return tree.usage[node][slot] + amount > tree.subtree[node][slot]


def level_that_fits(tree: QuotaTree, height: list[int], queue: int, slot: int, amount: int) -> tuple[int, bool]:
    """The level from which an amount could come, and whether something above it could still lend more to it.

    Where no level has enough it is the height of the whole tree.
    """
    node = queue
    remaining = amount
    while exceeds_owned(tree, node, slot, remaining) and tree.parent[node] >= 0:
        remaining -= tree.local_available(node, slot)
        node = tree.parent[node]
    return height[node], tree.parent[node] >= 0


def fits_in_owned(tree: QuotaTree, node: int, request: Request) -> tuple[bool, Request]:
    """Whether a node's subtree owns enough for a request, and what of each slot its parent would have to carry."""
    fits = not any(exceeds_owned(tree, node, slot, amount) for slot, amount in request)
    return fits, tuple((slot, max(0, amount - tree.local_available(node, slot))) for slot, amount in request)

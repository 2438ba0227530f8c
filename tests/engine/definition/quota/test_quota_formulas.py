"""The quota tree against its formulas: whatever the tree and the history of charges, it is what they say of what is in use now.

The formulas are Kueue's (pkg/cache/scheduler/resource_node.go), written down here once more, from scratch and without any state.
"""

from dataclasses import dataclass, replace

from gpol.dsl import compile_policy
from gpol.engine.definition.quota.tree import QuotaTree
from gpol.engine.policy_graph import PolicyGraph, Quota
from hypothesis import given
from hypothesis import strategies as st

ONE_QUEUE = compile_policy('policy "p" { }\nflavor a { gpu 1 }\nqueue q { owns nothing }\n', "t.gpol")


@dataclass(frozen=True)
class Formulas:
    """The formulas for one slot, over nodes whose parents come before them; `used` is what each queue uses."""

    parents: tuple[int, ...]
    quotas: tuple[Quota, ...]
    capacity: int
    used: dict[int, int]

    def children(self, node: int) -> list[int]:
        """The nodes right below a node."""
        return [child for child, parent in enumerate(self.parents) if parent == node]

    def nominal(self, node: int) -> int:
        """What a node owns itself; the root what nobody else does."""
        return self.quotas[node].nominal if node else self.capacity - sum(quota.nominal for quota in self.quotas[1:])

    def local(self, node: int) -> int:
        """What a node does not lend."""
        limit = self.quotas[node].lending_limit
        return 0 if limit is None else max(0, self.subtree(node) - limit)

    def subtree(self, node: int) -> int:
        """What a node has, with what those below it lend."""
        return self.nominal(node) + sum(self.subtree(child) - self.local(child) for child in self.children(node))

    def usage(self, node: int) -> int:
        """What a node carries: its own use, and what its children cannot keep local."""
        carried = sum(max(0, self.usage(child) - self.local(child)) for child in self.children(node))
        return self.used.get(node, 0) + carried

    def available(self, node: int) -> int:
        """What a node may still use."""
        if node == 0:
            return self.subtree(0) - self.usage(0)
        from_parent, limit = self.available(self.parents[node]), self.quotas[node].borrowing_limit
        if limit is not None:
            stored, used = self.subtree(node) - self.local(node), max(0, self.usage(node) - self.local(node))
            from_parent = min(from_parent, stored - used + limit)
        return max(0, self.local(node) - self.usage(node)) + from_parent

    def potential(self, node: int) -> int:
        """What a node could use, were everything else idle."""
        if node == 0:
            return self.subtree(0)
        reach, limit = self.local(node) + self.potential(self.parents[node]), self.quotas[node].borrowing_limit
        return reach if limit is None else min(reach, self.subtree(node) + limit)


def graph_of(parents: tuple[int, ...], quotas: tuple[Quota, ...]) -> PolicyGraph:
    """A graph with nothing but a quota tree of one slot."""
    root, queue = ONE_QUEUE.nodes
    nodes = []
    for node, (parent, quota) in enumerate(zip(parents, quotas, strict=True)):
        children = tuple(child for child, other in enumerate(parents) if other == node)
        made = replace(queue if node else root, name=f"n{node}", parent=parent, children=children, quotas=(quota,))
        nodes.append(replace(made, queue=-1 if children else 0))
    return replace(ONE_QUEUE, nodes=tuple(nodes))


limits = st.one_of(st.none(), st.integers(0, 6))
quotas = st.builds(Quota, nominal=st.integers(0, 8), borrowing_limit=limits, lending_limit=limits)


@given(st.data())
def test_the_tree_is_what_the_formulas_say(data: st.DataObject) -> None:
    """After every charge and every charge taken back, all nodes carry, have, may use and could use what the formulas give."""
    size = data.draw(st.integers(2, 8))
    parents = (-1, *(data.draw(st.integers(0, node - 1)) for node in range(1, size)))
    below = (Quota(), *(data.draw(quotas) for _ in range(1, size)))
    capacity = data.draw(st.integers(0, 30))
    leaves = [node for node in range(1, size) if node not in parents]
    tree, used, charges = QuotaTree(graph_of(parents, below), [capacity]), dict.fromkeys(leaves, 0), list[tuple[int, int]]()
    for _ in range(data.draw(st.integers(1, 8))):
        if charges and data.draw(st.booleans()):
            queue, amount = charges.pop(data.draw(st.integers(0, len(charges) - 1)))
            tree.remove(queue, ((0, amount),))
            used[queue] -= amount
        else:
            queue, amount = data.draw(st.sampled_from(leaves)), data.draw(st.integers(1, 9))
            charges.append((queue, amount))
            tree.add(queue, ((0, amount),))
            used[queue] += amount
        expected = Formulas(parents, below, capacity, used)
        for node in range(size):
            assert (tree.subtree[node][0], tree.local[node][0]) == (expected.subtree(node), expected.local(node) if node else 0)
            assert (tree.usage[node][0], tree.potential[node][0]) == (expected.usage(node), expected.potential(node))
            assert tree.available(node, 0) == expected.available(node)
            assert tree.available(node, 0) <= tree.free(0) == capacity - sum(used.values())
        for charged, amount in charges:
            rest = Formulas(parents, below, capacity, {**used, charged: used[charged] - amount})
            tree.remove(charged, ((0, amount),))
            assert [tree.usage[node][0] for node in tree.paths[charged]] == [rest.usage(node) for node in tree.paths[charged]]
            tree.add(charged, ((0, amount),))
            assert [tree.usage[node][0] for node in tree.paths[charged]] == [expected.usage(node) for node in tree.paths[charged]]

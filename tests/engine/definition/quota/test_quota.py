"""The quota tree: what each node owns, keeps, lends and may borrow, worked out by hand on three levels.

    cluster          20 exist, 13 are owned, so 7 belong to everybody
      top            owns 2, borrows up to 3
        mid          lends up to 4, borrows up to 2
          left       owns 6, guarantees 2 (lends 4), borrows up to 3
          right      owns 4
        side         owns nothing
      out            owns 1

mid has 4 + 4 = 8 from below, and keeps 4 of it. top has 2 + 4 = 6. The root has 7 + 6 + 1 = 14.
"""

import pytest
from gpol.dsl import compile_policy
from gpol.engine.definition.quota.tree import QuotaTree

POLICY = """policy "tree" { }
flavor a100 { gpu 20 }
cohort top {
  owns 2 gpu
  borrows up to 3 gpu
  cohort mid {
    lends up to 4 gpu
    borrows up to 2 gpu
    queue left {
      owns 6 gpu
      guarantees 2 gpu
      borrows up to 3 gpu
    }
    queue right { owns 4 gpu }
  }
  queue side { owns nothing }
}
queue out { owns 1 gpu }
"""

QUEUES = ("left", "right", "side", "out")


class Tree:
    """The tree by names and whole GPUs."""

    def __init__(self, exists: int = 20) -> None:
        graph = compile_policy(POLICY, "t.gpol")
        self.tree = QuotaTree(graph, [exists * 1000])
        self.index = {node.name: index for index, node in enumerate(graph.nodes)}

    def use(self, queue: str, gpus: int) -> None:
        """Charge a queue, or take back what is negative."""
        change = self.tree.add if gpus > 0 else self.tree.remove
        change(self.index[queue], ((0, abs(gpus) * 1000),))

    def by_name(self, amounts: list[list[int]]) -> dict[str, int]:
        """An array of the tree by node, in whole GPUs."""
        return {name: amounts[index][0] // 1000 for name, index in self.index.items()}

    def available(self) -> tuple[int, ...]:
        """What each of the four queues may still use."""
        return tuple(self.tree.available(self.index[queue], 0) // 1000 for queue in QUEUES)

    def binding(self, queue: str) -> tuple[int, str, str]:
        """What limits a queue: how much is left, at which node, by which limit."""
        found = self.tree.binding(self.index[queue], 0, asked=1)
        return found.available // 1000, self.tree.nodes[found.node].name, found.kind


def test_owned_kept_and_within_reach() -> None:
    """A node owns what it and those below bring, keeps what it does not lend, and reaches as far as the limits on its path."""
    tree = Tree()

    assert tree.by_name(tree.tree.subtree) == {"cluster": 14, "top": 6, "mid": 8, "left": 6, "right": 4, "side": 0, "out": 1}
    assert tree.by_name(tree.tree.local) == {"cluster": 0, "top": 0, "mid": 4, "left": 2, "right": 0, "side": 0, "out": 0}
    assert tree.by_name(tree.tree.potential) == {"cluster": 14, "top": 9, "mid": 10, "left": 9, "right": 10, "side": 9, "out": 14}


@pytest.mark.parametrize(
    ("uses", "left"),
    [
        ((), (9, 10, 9, 14)),
        ((("left", 7),), (2, 5, 8, 13)),
        ((("left", 7), ("side", 8)), (0, 0, 0, 5)),
        ((("side", 9),), (6, 4, 0, 5)),
        ((("out", 14),), (6, 4, 0, 0)),
        ((("right", 4),), (8, 6, 9, 14)),
        ((("left", 2),), (7, 10, 9, 14)),
    ],
)
def test_available(uses: tuple[tuple[str, int], ...], left: tuple[int, ...]) -> None:
    """What is left to left, right, side and out: guarantees stay, borrowing stops at every limit on the way up."""
    tree = Tree()
    for queue, gpus in uses:
        tree.use(queue, gpus)

    assert tree.available() == left


def test_carried_use() -> None:
    """Of 7 used by left it keeps 2, mid keeps 4, and 1 reaches the top; totals count all 7 everywhere."""
    tree = Tree()
    tree.use("left", 7)

    assert tree.by_name(tree.tree.usage) == {"cluster": 1, "top": 1, "mid": 5, "left": 7, "right": 0, "side": 0, "out": 0}
    assert tree.by_name(tree.tree.total) == {"cluster": 7, "top": 7, "mid": 7, "left": 7, "right": 0, "side": 0, "out": 0}


@pytest.mark.parametrize(
    ("uses", "queue", "limit"),
    [
        ((("left", 7),), "left", (2, "left", "borrowing")),
        ((("left", 7),), "right", (5, "mid", "borrowing")),
        ((("left", 7),), "side", (8, "top", "borrowing")),
        ((("left", 7),), "out", (13, "cluster", "capacity")),
        ((("side", 9),), "out", (5, "cluster", "owned")),
        ((("left", 7), ("side", 8)), "right", (0, "top", "borrowing")),
    ],
)
def test_binding(uses: tuple[tuple[str, int], ...], queue: str, limit: tuple[int, str, str]) -> None:
    """The tightest limit on the way up is named; what exists is named where it is no looser than quota."""
    tree = Tree()
    for who, gpus in uses:
        tree.use(who, gpus)

    assert tree.binding(queue) == limit


def test_taking_back_undoes_in_any_order() -> None:
    """Charges are taken back in an order other than theirs, and nothing is left of them."""
    tree = Tree()
    for queue, gpus in (("left", 7), ("right", 3), ("side", 2), ("right", -3), ("left", -7), ("side", -2)):
        tree.use(queue, gpus)

    assert set(tree.by_name(tree.tree.usage).values()) == {0}
    assert tree.available() == (9, 10, 9, 14)


def test_less_exists_than_is_owned() -> None:
    """With 10 GPUs for 13 owned, the shared part is a debt of 3: all together get 4 beyond what left and mid keep."""
    tree = Tree(exists=10)

    assert tree.by_name(tree.tree.subtree)["cluster"] == 4
    assert tree.available() == (9, 8, 4, 4)
    tree.use("left", 9)
    assert tree.binding("side") == (1, "cluster", "capacity")


@pytest.mark.parametrize("exists", [0, 3, 10, 20])
def test_quota_never_promises_what_does_not_exist(exists: int) -> None:
    """However little exists and however much is over-admitted, no queue may use more by quota than is free."""
    tree = Tree(exists)
    for queue, gpus in (("side", 3), ("left", 1), ("out", 5), ("right", 7), ("left", 4)):
        tree.use(queue, gpus)
        assert max(tree.available()) <= tree.tree.free(0) // 1000


def test_a_request_fits_to_the_thousandth() -> None:
    """Of 10 GPUs right holds 8: left may have the 2 that it keeps to itself, and not a thousandth more."""
    tree = Tree(exists=10)
    left = tree.index["left"]
    assert tree.tree.fits(left, ((0, 9000),))

    tree.use("right", 8)

    assert tree.tree.fits(left, ((0, 2000),))
    assert not tree.tree.fits(left, ((0, 2001),))


def test_owning_and_borrowing() -> None:
    """A node borrows from the first thousandth beyond what its subtree owns."""
    tree = Tree()
    right = tree.index["right"]
    tree.use("right", 4)

    assert not tree.tree.borrows(right, [0])
    assert tree.tree.exceeds_owned(right, 0, 1)
    tree.tree.add(right, ((0, 1),))
    assert tree.tree.borrows(right, [0])


def test_sides() -> None:
    """Two queues meet below their lowest common ancestor: its children on their paths are the sides."""
    tree, name = Tree(), Tree().index

    assert tree.tree.sides(name["left"], name["right"]) == (name["left"], name["right"])
    assert tree.tree.sides(name["left"], name["side"]) == (name["mid"], name["side"])
    assert tree.tree.sides(name["left"], name["out"]) == (name["top"], name["out"])


@pytest.mark.parametrize(
    ("gpus", "left"),
    [
        (7, {"left": 0, "mid": 3, "top": 0, "cluster": 0}),
        (3, {"left": 4, "mid": 5, "top": 1, "cluster": 1}),
        (1, {"left": 6, "mid": 7, "top": 3, "cluster": 3}),
    ],
)
def test_use_without_a_charge(gpus: int, left: dict[str, int]) -> None:
    """What the nodes above left carry without some of its 7, beside right's 3; charged again, all is as before.

    left keeps 2, so mid has 5 + 3; mid keeps 4 of it, and top and the root have 4.
    """
    tree = Tree()
    tree.use("left", 7)
    tree.use("right", 3)
    before = tree.by_name(tree.tree.usage)
    assert [before[node] for node in left] == [7, 8, 4, 4]

    tree.use("left", -gpus)
    without = tree.by_name(tree.tree.usage)
    tree.use("left", gpus)

    assert {node: without[node] for node in left} == left
    assert tree.by_name(tree.tree.usage) == before


def test_what_is_short() -> None:
    """Of a request for several slots those are named that a queue cannot take now."""
    graph = compile_policy('policy "p" { }\nflavor a {\n  gpu 4\n  cpu 8\n}\nqueue q { owns nothing }\n', "t.gpol")
    tree = QuotaTree(graph, [8000, 4000])  # cpu, gpu
    queue = graph.queues[0].node

    assert tree.short(queue, ((0, 8000), (1, 4000))) == []
    assert tree.short(queue, ((0, 8001), (1, 4000))) == [0]
    tree.add(queue, ((1, 1000),))
    assert tree.short(queue, ((0, 8000), (1, 4000))) == [1]

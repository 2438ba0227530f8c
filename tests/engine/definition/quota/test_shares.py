"""Shares: exact fractions of what a node has beyond its due, worked out by hand."""

from fractions import Fraction

import pytest
from gpol.dsl import compile_policy
from gpol.engine.definition.quota.fair_share import ZERO, Shares
from gpol.engine.definition.quota.tree import QuotaTree
from gpol.engine.explain.wording import show_share

POLICY = """policy "shares" { CHOICE }
flavor a100 {
  gpu 8
  cpu 100
}
flavor h100 {
  gpu 4
  worth 2.5
}
cohort all {
  queue owner { owns 2 gpu on a100 }
  queue guest { weight 2 }
  queue last { weight 0 }
}
"""


def charged(choice: str) -> tuple[Shares, QuotaTree, dict[str, int]]:
    """Shares with owner on 3 GPUs of a100, and guest on 2 GPUs of h100 and 50 CPUs; slots are a100 cpu, a100 gpu, h100 gpu."""
    graph = compile_policy(POLICY.replace("CHOICE", choice), "t.gpol")
    tree = QuotaTree(graph, [100_000, 8000, 4000])
    index = {node.name: number for number, node in enumerate(graph.nodes)}
    tree.add(index["owner"], ((1, 3000),))
    tree.add(index["guest"], ((0, 50_000), (2, 2000)))
    return Shares(graph, tree), tree, index


@pytest.mark.parametrize(
    ("choice", "owner", "guest"),
    [
        # 1 borrowed GPU of 8 + 4 x 2.5 = 18 worth; guest: 2 x 2.5 of 18 is less than 50 of 100 CPUs, by weight 2
        ("share borrowed", Fraction(1, 18), Fraction(1, 4)),
        ("share used", Fraction(3, 18), Fraction(1, 4)),
        ("share none", Fraction(0), Fraction(0)),
    ],
)
def test_shares(choice: str, owner: Fraction, guest: Fraction) -> None:
    """The dominant resource counts, flavors by their worth, over the weight."""
    shares, _, index = charged(choice)

    assert shares.of(index["owner"]) == (0, owner)
    assert shares.of(index["guest"]) == (0, guest)
    assert shares.of(0) == ZERO


def test_weight_nothing() -> None:
    """With weight 0 a share is 0 while nothing is borrowed, and above every finite share as soon as something is."""
    shares, tree, index = charged("share borrowed")

    assert shares.of(index["last"]) == ZERO
    tree.add(index["last"], ((0, 1),))
    assert shares.of(index["last"]) == (1, Fraction(1, 100_000))
    assert shares.of(index["last"]) > shares.of(index["guest"])
    assert show_share(shares.of(index["last"])) == "infinite"
    assert show_share((0, Fraction(3, 4))) == "3/4"


def test_a_share_without_a_charge() -> None:
    """What is left of a share once a workload is gone, with the charge as before afterwards."""
    shares, _, index = charged("share borrowed")

    assert shares.after(index["guest"], index["guest"], ((0, 50_000),)) == (0, Fraction(5, 36))  # 2 x 2.5 of 18, by weight 2
    assert shares.of(index["guest"]) == (0, Fraction(1, 4))

"""Short constructors of syntax-tree nodes that the import builds often."""

from typing import Literal

from ....dsl.syntax import tree

In = Literal["in", "not in", "exists", "absent"]
"""A test of a label."""


def name(text: str) -> tree.Name:
    """A name."""
    return tree.Name(text)


def number(text: str) -> tree.Number:
    """A number with its suffix."""
    return tree.Number(text)


def quota_amount(text: str, resource: str) -> tree.Amount:
    """An amount of a resource."""
    return tree.Amount(tree.Number(text), tree.Name(resource))

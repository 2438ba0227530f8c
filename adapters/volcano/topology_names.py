"""The names of HyperNodes in an imported policy: its topology, and labels of gpol's own, by which nodes belong to a HyperNode of each tier.

HyperNodes name their nodes, and a topology goes by labels of nodes. No node in a cluster has these labels: the import gives them to the
nodes of its facts, and the export knows by them which HyperNodes there were.
"""

TOPOLOGY = "hypernodes"
"""The topology of a policy that came from HyperNodes."""

IN_TOPOLOGY = "gpol.dev/topology"
"""A label of all nodes that are in HyperNodes; its value is the topology."""

_TIER = "gpol.dev/hypernode-tier-"


def tier_label(number: int) -> str:
    """The label whose value is the HyperNode of a tier."""
    return f"{_TIER}{number}"


def tier_of_label(label: str | None) -> int | None:
    """The tier of such a label; None for any other one."""
    number = (label or "").removeprefix(_TIER)
    return int(number) if number != label and number.isascii() and number.isdigit() and len(number) <= 10 else None

"""Topologies: labels of nodes, from the widest level down. Kueue's own limits are checked, as scenarios pass no webhook."""

from .. import known_fields as known
from ..fields import Fields
from ..objects import HOSTNAME, KueueTopology

MOST_LEVELS = 16
"""Levels of a topology, at most; Kueue's own limit."""


def topology(name: str, file: str, whole: Fields) -> KueueTopology:
    """A Topology."""
    spec = whole.sub("spec").known(known.TOPOLOGY)
    levels = tuple(row.known(known.TOPOLOGY_LEVEL).name("nodeLabel") for row in spec.subs("levels", MOST_LEVELS))
    if not spec.broken and spec.data.get("levels") in (None, []):
        spec.wrong("levels", "is empty", "a topology has levels, from the widest down")
    if len(set(levels)) < len(levels):
        spec.wrong("levels", "has a label twice", "name each once")
    if HOSTNAME in levels[:-1]:
        spec.wrong("levels", f"has {HOSTNAME} above another level", "nothing is narrower than a node: let it be the last one")
    return KueueTopology(name, file, levels)

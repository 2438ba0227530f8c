"""The import: from Volcano's objects to a policy, the facts that rebuild its state, and notes about what was changed.

`docs/volcano.md` lists what becomes of each field.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....dsl.syntax import tree
from ....engine.facts import Fact
from ...kueue.import_.load import latest_moment, read_files
from ...kueue.problems import ConversionNote, Findings, ImportRefused
from ...kueue.read.kinds import Raw
from ..read.volcano_kinds import read_volcano
from ..read.volcano_objects import VolcanoObjects
from .gangs import GangMoment, gang_facts
from .known_capacity import known_capacity, said_capacity
from .queue_checks import check_pod_groups, check_queues
from .queue_tree import QueueTree
from .topology.gang_places import GangPlaces, pods_by_group
from .topology.placed_nodes import amounts_of_nodes, placed_nodes
from .topology.tiers import tiers
from .volcano_policy import volcano_policy

__all__ = ["FLAVOR", "ImportRefused", "VolcanoImport", "latest_moment", "load_volcano", "read_files", "said_capacity"]

FLAVOR = "default"
"""What the only flavor of an imported policy is called, where the caller does not say otherwise: Volcano has no flavors."""


@dataclass(frozen=True, slots=True)
class VolcanoImport:
    """A cluster as a policy and the facts that follow its activation, all at one moment; `objects` are what was read."""

    tree: tree.File
    facts: list[Fact]
    notes: list[ConversionNote]
    objects: VolcanoObjects


def load_volcano(raws: Iterable[Raw], now: int, flavor: str = FLAVOR, capacity: Mapping[str, int] | None = None) -> VolcanoImport:
    """Import objects as of a moment (microseconds since the epoch).

    `flavor` is what the only flavor is called; `capacity` is how much there is of each resource, in gpol's smallest unit, as far as the
    caller knows it. Where there are HyperNodes the nodes say it, and the flavor gives places. Raises ImportRefused, with all problems
    found.
    """
    found = Findings()
    objects = read_volcano(raws, found)
    queues = QueueTree(objects.queues)
    check_queues(queues, found)
    check_pod_groups(queues, objects.pod_groups, found)
    found.check()
    queues.note_owned(found)
    of_nodes = tiers(objects, found)
    found.check()
    on_nodes = None if of_nodes is None else amounts_of_nodes(objects, of_nodes)
    known = known_capacity(objects, queues, capacity or {}, on_nodes, found)
    made = volcano_policy(objects, queues, known, flavor, of_nodes, found)
    places = None if of_nodes is None else GangPlaces(of_nodes, pods_by_group(objects.pods), found)
    facts: list[Fact] = gang_facts(objects, GangMoment(now, flavor, frozenset(known.resources), places), found)
    if of_nodes is not None and places is not None:
        facts = [*placed_nodes(objects, of_nodes, places.charged, now, found), *facts]
    found.check()
    return VolcanoImport(made, facts, found.notes(), objects)

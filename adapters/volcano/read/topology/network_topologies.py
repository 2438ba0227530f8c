"""What PodGroups ask for of HyperNodes, for all their pods or for groups of them.

Source: Volcano, apis/pkg/apis/scheduling/v1beta1/types.go (NetworkTopologySpec, SubGroupPolicySpec).
"""

from ....kueue.read.fields import Fields
from .. import volcano_fields as known
from .network_objects import NetworkTopology, SubGroup

_BOTH = "stands beside highestTierAllowed: as in Volcano, the number counts"


def network_topology(spec: Fields) -> NetworkTopology | None:
    """The `networkTopology` of a PodGroup or of a sub-group; None where nothing is said."""
    if not spec.has("networkTopology"):
        return None
    said = spec.sub("networkTopology").known(known.NETWORK_TOPOLOGY)
    soft = said.one_of("mode", ("hard", "soft"), "hard") == "soft"
    tier = said.whole("highestTierAllowed", 0, 0) if said.has("highestTierAllowed") else None
    name = said.optional_name("highestTierName")
    if name and tier is not None:
        said.found.note(f"{said.path}.highestTierName", _BOTH)
    return NetworkTopology(said.path, soft, tier, name)


def sub_groups(spec: Fields) -> tuple[SubGroup, ...]:
    """The sub-groups of a PodGroup."""
    made = []
    for row in spec.subs("subGroupPolicy"):
        row.known(known.SUB_GROUP)
        size, least = row.whole("subGroupSize", 1, 1), row.whole("minSubGroups", 0, 0)
        made.append(SubGroup(row.path, size, least, network_topology(row)))
    return tuple(made)

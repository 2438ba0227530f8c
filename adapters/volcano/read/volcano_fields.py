"""The fields of Volcano's objects that an import knows: honoured, refused, noted by name, or without effect.

What becomes of each stands in `docs/volcano.md`. Any other field is told as not imported.
Source: Volcano, apis/pkg/apis/scheduling/v1beta1/types.go and apis/pkg/apis/topology/v1alpha1/hypernode_types.go.
"""


def _fields(names: str) -> frozenset[str]:
    return frozenset(names.split())


OBJECT = _fields("apiVersion kind metadata spec status")

QUEUE = _fields("weight capability deserved guarantee reclaimable priority parent dequeueStrategy affinity type extendClusters")
GUARANTEE = _fields("resource")
QUEUE_STATUS = _fields("state unknown pending running inqueue completed reservation allocated")

POD_GROUP = _fields("minMember minTaskMember queue priorityClassName minResources networkTopology subGroupPolicy")
POD_GROUP_STATUS = _fields("phase conditions running succeeded failed")

NETWORK_TOPOLOGY = _fields("mode highestTierAllowed highestTierName")
SUB_GROUP = _fields("name networkTopology subGroupSize minSubGroups labelSelector matchLabelKeys")

HYPER_NODE = _fields("tier tierName members")
HYPER_NODE_MEMBER = _fields("type selector")
HYPER_NODE_SELECTOR = _fields("exactMatch regexMatch labelMatch")
EXACT_MATCH = _fields("name")
REGEX_MATCH = _fields("pattern")
HYPER_NODE_STATUS = _fields("conditions nodeCount")

PRIORITY_CLASS = _fields("value globalDefault description preemptionPolicy")

QUEUE_ANNOTATIONS = ("volcano.sh/hierarchy", "volcano.sh/hierarchy-weights", "volcano.sh/nodegroup-resource-limits")
"""Annotations of a Queue by which plugins of Volcano decide: a tree of queues apart from `spec.parent`, and limits for groups of nodes."""

PREEMPTABLE = "volcano.sh/preemptable"
"""An annotation or label: whether pods may be evicted."""

POD_GROUP_ANNOTATIONS = (
    "sla-waiting-time",
    "volcano.sh/cooldown-time",
    "volcano.sh/jdb-max-unavailable",
    "volcano.sh/jdb-min-available",
    "volcano.sh/revocable-zone",
    "volcano.sh/sla-waiting-time",
)
"""Annotations of a PodGroup by which plugins of Volcano decide: how long it may wait, which nodes it may use, how much of it may stop."""

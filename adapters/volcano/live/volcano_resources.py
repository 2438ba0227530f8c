"""The kinds of Volcano's API that gpol follows or writes on a cluster."""

from ...kubernetes.resource_kinds import Kind

VOLCANO_GROUP, VOLCANO_VERSION = "scheduling.volcano.sh", "v1beta1"
"""Volcano's API of Queues and PodGroups."""

QUEUE = Kind(VOLCANO_GROUP, VOLCANO_VERSION, "Queue", "queues", namespaced=False)
POD_GROUP = Kind(VOLCANO_GROUP, VOLCANO_VERSION, "PodGroup", "podgroups")
"""A PodGroup has no subresource `status`: a write to it is a write to the whole object."""

CLUSTER_PRIORITY = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False)
"""The PriorityClasses of Kubernetes, which Volcano goes by."""

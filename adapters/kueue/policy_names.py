"""The names of queues and cohorts in an imported policy: Kueue's own names, with a prefix where two would be equal.

That is so if a Cohort and a ClusterQueue share a name, or if one has the name of gpol's root. The prefix ends with a slash, which no name
in Kueue contains, so an export can remove it.
"""

from ...engine.policy_graph import ROOT
from .read.objects import Objects

_COHORT, _QUEUE = "cohort/", "queue/"


class PolicyNames:
    """The names of queues and cohorts of a cluster in its policy."""

    def __init__(self, objects: Objects) -> None:
        self._queues = {queue.name for queue in objects.cluster_queues}

    def queue(self, cluster_queue: str) -> str:
        """The queue of a ClusterQueue."""
        return _QUEUE + cluster_queue if cluster_queue == ROOT else cluster_queue

    def cohort(self, cohort: str) -> str:
        """The cohort of a Cohort."""
        return _COHORT + cohort if cohort == ROOT or cohort in self._queues else cohort


def kueue_name(name: str) -> str:
    """The name in Kueue of a queue or cohort of an imported policy."""
    return name.removeprefix(_COHORT).removeprefix(_QUEUE)

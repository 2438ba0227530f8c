"""Names in the policy: Kueue's own, but where a cohort and a ClusterQueue share one, or one is called as the root of gpol's tree.

A slash, which no name of Kueue has, keeps them apart, and shows the way back.
"""

from ...engine.graph import ROOT
from .objects import Objects

_COHORT, _QUEUE = "cohort/", "queue/"


class Names:
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

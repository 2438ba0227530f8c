"""The names by which gpol and Kueue know each other on a cluster, and the mark that a decision leaves on a workload.

The state of an admission check alone does not say which decision it comes from: when Kueue evicts a workload for a reason of its own, it
sets the check back to Pending, as it was before gpol decided. So each decision leaves a mark in the same write, a condition of gpol's own,
which Kueue keeps. A decision whose mark is there was carried out, whatever became of it since; one whose mark is missing was not.
"""

import re
from typing import NamedTuple

from ...kubernetes.resource_kinds import FIELD_MANAGER, Kind

GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
"""Kueue's API. v1beta1 calls fields otherwise, and is refused."""

WORKLOAD = Kind(GROUP, VERSION, "Workload", "workloads")
CLUSTER_QUEUE = Kind(GROUP, VERSION, "ClusterQueue", "clusterqueues", namespaced=False)
LOCAL_QUEUE = Kind(GROUP, VERSION, "LocalQueue", "localqueues")
COHORT = Kind(GROUP, VERSION, "Cohort", "cohorts", namespaced=False)
RESOURCE_FLAVOR = Kind(GROUP, VERSION, "ResourceFlavor", "resourceflavors", namespaced=False)
ADMISSION_CHECK = Kind(GROUP, VERSION, "AdmissionCheck", "admissionchecks", namespaced=False)
PRIORITY_CLASS = Kind(GROUP, VERSION, "WorkloadPriorityClass", "workloadpriorityclasses", namespaced=False)

CONTROLLER = FIELD_MANAGER
"""The controller of the admission check, and the field manager of all that gpol writes."""

DECIDED = "gpol.dev/Decided"
"""The type of the condition that is the mark. True: let run; False: told to stop, or turned away."""

DECISION, FLAVORS, PLACE = "gpol.dev/decision", "gpol.dev/flavors", "gpol.dev/place"
"""Annotations of pods: the event that lets them run, the flavor of each resource, and where they stand, as the journal has it."""

WORKLOAD_UID = "gpol.dev/workload"
"""The label of pods that names the uid of their workload, by which gpol sees whether all of them are gone."""

SLICE_REPLACED = "WorkloadSliceReplaced"
"""The reason for which Kueue finishes a slice of an elastic job whose place a later one takes."""

_MARK = re.compile(r"Journal_([0-9a-f]{32})_Event_([1-9][0-9]{0,18})")


class Mark(NamedTuple):
    """The decision that was carried out last: its event, and the journal that has it."""

    journal: str
    seq: int

    @property
    def reason(self) -> str:
        """The mark as the reason of a condition, which is for programs; the condition's message is for people."""
        return f"Journal_{self.journal}_Event_{self.seq}"

    @classmethod
    def read(cls, reason: str) -> "Mark | None":
        """The mark in a condition's reason; None for a text that is none."""
        found = _MARK.fullmatch(reason)
        return cls(found[1], int(found[2])) if found else None

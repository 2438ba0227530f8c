"""Where gpol decides no places: a workload that asks for some, or has some, is a problem there instead of counting as if it did not."""

from ...problems import Findings
from ..objects import KueueWorkload

_ASKS = "asks for a topology, which gpol does not decide on a live cluster yet"
_HAS = "is of a topology, which gpol does not decide on a live cluster yet"


def refuse_places(workload: KueueWorkload, found: Findings) -> None:
    """Report what a workload asks for, or was given, of places."""
    for pods in workload.pod_sets:
        if pods.asks_for_places:
            found.problem(
                "spec.podSets.topologyRequest", f"{_ASKS} (pod set `{pods.name}`)", "remove the request, or leave this workload out"
            )
    given = workload.admission.assignments if workload.admission is not None else ()
    if any(each.places or each.delayed for each in given):
        found.problem("status.admission.podSetAssignments.topologyAssignment", _HAS, "leave this workload out")
